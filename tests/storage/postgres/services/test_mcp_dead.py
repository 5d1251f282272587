"""The MCP server while the team's database is away."""

import pytest
from mcp.client import Client

from harness.app import App
from harness.server.mcp.server import build_server
from harness.settings import Settings
from harness.storage.postgres.store import PostgresStore
from tests.server.mcp.conftest import anyio_backend, notes  # noqa: F401
from tests.server.mcp.test_agent_session import failed, payload
from tests.storage.postgres.servers import Server
from tests.storage.postgres.services.team import settings  # noqa: F401

LOOK_UP = {"action": "lookup", "cache_type": "job_search", "query": "python jobs"}


@pytest.mark.slow
@pytest.mark.anyio
async def test_every_tool_says_that_the_database_is_away(settings: Settings, postgres: Server) -> None:  # noqa: F811
    """In the envelope, and in time; when it is back, the same server answers."""
    with App(settings) as app:
        app.databases.__dict__["store"] = PostgresStore(postgres.url, busy_seconds=0.5)
        async with Client(build_server(app)) as client:
            stored = await payload(client, "research_cache", **LOOK_UP | {"action": "store", "data": [1]})
            assert stored["found"]
            postgres.stop()
            try:
                for name, arguments in (
                    ("research_cache", LOOK_UP),
                    ("cache_lookup", {"query": "retries"}),
                    ("knowledge_write", {"title": "a", "content": "b"}),
                    ("knowledge_get", {"id": "a"}),
                    ("search", {"query": "retries"}),
                ):
                    expected = "search_backend_error" if name == "cache_lookup" else "store_busy"
                    assert (await failed(client, name, **arguments))["code"] == expected, name
            finally:
                postgres.start()
            assert (await payload(client, "research_cache", **LOOK_UP))["results"] == [1]
