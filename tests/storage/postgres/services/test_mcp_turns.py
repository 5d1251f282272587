"""Turns of the MCP server, on a team's database."""

# ruff: noqa: F401, F403 - the very tests; the settings come last, instead of theirs
from tests.mcp.conftest import anyio_backend, harness, notes, online, serve, server, token, workbench
from tests.mcp.test_turns import *
from tests.storage.postgres.services.team import settings
