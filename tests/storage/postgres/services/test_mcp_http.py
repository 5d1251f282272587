"""The MCP server over HTTP, on a team's database."""

# ruff: noqa: F401, F403, F821 - the very tests; the settings come last, instead of theirs
from tests.server.mcp.conftest import anyio_backend, app, notes, online, serve, server, token
from tests.server.mcp.test_mcp_over_http import *
from tests.storage.postgres.services.team import settings

# these spoil the file of a SQLite store
del test_requests_are_refused_if_tokens_cannot_be_read
