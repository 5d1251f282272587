"""Tools on a corpus without vectors: a search reports it, a research makes the vectors first."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from harness.app import App
from harness.models.local.embedder import MiniLM
from harness.ports import Vectors
from harness.server.mcp.server import build_server
from harness.settings import Settings

pytestmark = pytest.mark.anyio


class Slow(MiniLM):
    """MiniLM with a delay for every batch."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        time.sleep(0.05)
        return super().embed(texts)


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """An app with more notes than one search embeds, and no background thread for vectors."""
    monkeypatch.setattr("harness.sources.corpus.embedding.VectorMaker.start", lambda maker: None)
    monkeypatch.setattr("harness.sources.corpus.embedding.BATCH", 4)
    monkeypatch.setattr("harness.server.mcp.worker_threads.REPORT_EVERY", 0.01)
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nRetries of service {number} use backoff.\n")
    with App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{folder}",))) as opened:
        opened.models.__dict__["embedder"] = Slow()
        yield opened


@pytest.mark.slow
async def test_a_search_ranks_by_words_until_a_research_has_made_the_vectors(app: App) -> None:
    """The research reports this work as progress."""
    steps: list[str] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    async with Client(build_server(app)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            reply = await client.call_tool(tool, arguments, progress_callback=note)
            assert not reply.is_error
            assert reply.structured_content is not None
            return reply.structured_content

        first = await call("search", query="retries")
        assert (first["ranked_by_words"], first["total"]) == (True, 10)
        assert (await call("research", question="How do retries use backoff?"))["found"]
        assert any("embedding" in step for step in steps)
        after = await call("search", query="retries")
        assert (after["ranked_by_words"], after["live_calls"]) == (False, 1)
