"""The whole story of the MCP server, over standard input and output and HTTP, on a team's database."""

# ruff: noqa: F401, F403, F821 - the very tests; the settings come last, instead of theirs
from tests.server.mcp.conftest import anyio_backend, app, notes, online, serve, server, token
from tests.server.mcp.test_agent_session import *
from tests.storage.postgres.services.team import settings

# these spoil the file of a SQLite store
del test_an_unusable_database_is_an_error_response
