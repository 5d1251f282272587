"""Commands on a corpus without vectors: searches say that words alone ranked them, researches wait."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import Program

QUESTION = "How do retries use exponential backoff?"
ADVICE = "`harness index corpus:...` makes them"


@pytest.fixture(autouse=True)
def meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corpora are searched by meaning, as by default; no command lives long enough to
    make vectors in the background.
    """
    monkeypatch.setenv("HARNESS_CORPUS_MEANING", "true")
    monkeypatch.setattr("harness.sources.corpus.embedding.VectorMaker.start", lambda maker: None)


@pytest.fixture
def large(tmp_path: Path) -> str:
    """The engine for more notes than a search embeds in passing."""
    folder = tmp_path / "large"
    folder.mkdir()
    for number in range(40):
        (folder / f"note{number}.md").write_text(
            f"# Note {number}\n\nRetries of service {number} use exponential backoff, {number} times at most.\n"
        )
    return f"corpus:{folder}"


def test_a_search_says_that_words_alone_ranked_it(harness: Program, large: str) -> None:
    """On standard error and in JSON, live and from the cache; with vectors, it no longer says so."""
    live, cached = (harness("search", "retries", "-e", large) for _ in range(2))
    assert "results, ranked by words alone, from corpus; 1 live call" in live.err
    assert "results, ranked by words alone, from the cache" in cached.err
    assert ADVICE in live.err
    assert ADVICE in cached.err
    assert harness("search", "retries", "-e", large, "--json").told["ranked_by"] == "words"
    assert "is ready" in harness("index", large).err
    after = harness("search", "retries", "-e", large, "--json")
    assert (after.told["ranked_by"], after.told["live_calls"]) == ("hybrid", 1)
    assert ADVICE not in after.err


def test_words_alone_as_it_is_set_need_no_advice(harness: Program, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With vectors switched off, the ranking is named, and no vectors are recommended."""
    monkeypatch.setenv("HARNESS_CORPUS_MEANING", "false")
    ended = harness("search", "retries", "-e", large)
    assert "ranked by words alone" in ended.err
    assert ADVICE not in ended.err


@pytest.mark.slow
def test_a_research_waits_for_the_vectors(harness: Program, large: str) -> None:
    """Its first run ranks by them, so that the second costs nothing and gives the same bytes."""
    assert "ranked by words alone" in harness("search", QUESTION, "-e", large).err
    first, second = (harness("research", QUESTION, "-e", large) for _ in range(2))
    assert first.code == 0
    assert ADVICE not in first.err
    assert "0 live calls" in second.err
    assert second.out == first.out
    assert harness("search", "retries", "-e", large, "--json").told["ranked_by"] == "hybrid"


def test_a_research_by_words_alone_says_so(harness: Program, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus with more passages than a research waits for."""
    monkeypatch.setattr("harness.sources.corpus.engine.EMBED_AT_ONCE", 5)
    assert ADVICE in harness("research", QUESTION, "-e", large).err


@pytest.mark.slow
def test_an_interrupt_while_it_embeds_loses_nothing(harness: Program, tmp_path: Path) -> None:
    """Ctrl-C ends `harness index` at once with 130; the next run goes on with what is missing."""
    notes = tmp_path / "many"
    notes.mkdir()
    for number in range(150):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Retry {number} waits for the server. " * 30)
    data = tmp_path / "data"
    command = [sys.executable, "-m", "harness.cli.main", "index", f"corpus:{notes}", "-v", "--data-dir", str(data)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        while len(vectors := _vectors(data)) < 32:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, said = process.communicate(timeout=30)
    assert (process.returncode, time.monotonic() - began < 5) == (130, True)
    assert "interrupted" in said
    kept = _vectors(data)
    assert kept.items() >= vectors.items()
    assert len(kept) < 150
    assert "is ready" in harness("index", f"corpus:{notes}", "--data-dir", data).err
    assert (after := _vectors(data)).items() >= kept.items()
    assert len(after) == 150


def _vectors(data: Path) -> dict[bytes, bytes]:
    import sqlite3
    from contextlib import closing

    for path in data.glob("corpora/*.db"):
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone():
                return dict(connection.execute("SELECT digest, vector FROM vectors"))
    return {}
