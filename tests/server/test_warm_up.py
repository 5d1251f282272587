"""Corpora of a server, opened in the background."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.app import App
from harness.ports import Vectors
from harness.server import warm_up
from harness.server.warm_up import WarmUp
from harness.settings import Settings
from harness.sources.corpus import embedding

COUNT = 30


class SlowEmbedder:
    """Embedder with a delay for each batch; `may` lets it start."""

    id = "slow"
    dimension = 2

    def __init__(self) -> None:
        self.may = threading.Event()
        self.batches = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        assert self.may.wait(10)
        self.batches += 1
        time.sleep(0.05)
        return np.full((len(texts), 2), np.sqrt(0.5), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return [len(text.split()) for text in texts]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> SlowEmbedder:
    """The embedder; two vectors are stored at a time, and all work is reported."""
    monkeypatch.setattr(embedding, "BATCH", 2)
    monkeypatch.setattr(warm_up, "QUIET_SECONDS", 0.0)
    return SlowEmbedder()


@pytest.fixture
def app(tmp_path: Path, embedder: SlowEmbedder) -> App:
    """An app with a corpus of notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(COUNT):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nRetries of service {number}.\n")
    made = App(Settings(data_dir=tmp_path / "data", engine=(f"corpus:{notes}",), semantic=False))
    made.models.__dict__["embedder"] = embedder
    return made


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most ten seconds."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@pytest.mark.slow
def test_it_reports_the_start_and_the_end(app: App, embedder: SlowEmbedder) -> None:
    """One line each; then searches rank by vectors. A search in between is ranked by words at once."""
    payload: list[str] = []
    with app, WarmUp(app, payload.append) as background:
        background.start()
        until(lambda: any(line.startswith("embedding") for line in payload))
        [asked], results = app.search("retries")
        assert (asked.ranked_by, len(results)) == ("words", 10)
        embedder.may.set()
        until(lambda: "done" in payload[-1] and "embedding" in payload[-1])
        assert [line.split(": ")[1] for line in payload if line.startswith("embedding")] == [
            f"0 of {COUNT}, in the background",
            f"done, {COUNT} of {COUNT}",
        ]
        assert app.search("retries")[0][0].ranked_by == "hybrid"


@pytest.mark.slow
def test_it_stops_with_the_server(app: App, embedder: SlowEmbedder) -> None:
    """After the current batch; finished vectors are kept."""
    embedder.may.set()
    with app:
        with WarmUp(app, lambda line: None) as background:
            background.start()
            until(lambda: embedder.batches >= 2)
        assert embedder.batches < COUNT / 2
        [engine] = app.sources.engines(waits=True)
        assert engine.options["mode"] == "hybrid"
        assert embedder.batches == COUNT / 2


def test_an_empty_corpus_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture, embedder: SlowEmbedder) -> None:
    """The server keeps running."""
    (tmp_path / "empty").mkdir()
    settings = Settings(data_dir=tmp_path / "data", engine=(f"corpus:{tmp_path / 'empty'}",))
    with App(settings) as app, WarmUp(app, lambda line: None) as background:
        background.start()
        until(lambda: bool(caplog.records))
    assert "an engine is not ready: nothing to read" in caplog.text


def test_leaving_it_unstarted_is_no_error(app: App) -> None:
    """As when the port is taken."""
    with WarmUp(app, lambda line: None):
        pass
