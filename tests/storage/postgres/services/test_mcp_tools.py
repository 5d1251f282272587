"""The tools of the MCP server, on a team's database."""

# ruff: noqa: F401, F403 - the very tests; the settings come last, instead of theirs
from tests.server.mcp.conftest import anyio_backend, app, notes, online, serve, server, token
from tests.server.mcp.test_tools import *
from tests.storage.postgres.services.team import settings
