"""Research over local text by words and meaning: vectors made once, in batches, and never half a mode."""

import contextlib
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.core.keys import search_key
from harness.core.text import stems
from harness.errors import EmbeddingError, EngineUnavailable, StoreBusy
from harness.models.local.embedder import MiniLM
from harness.ports import Vectors
from harness.sources.corpus import embedding, passage_vectors
from harness.sources.corpus import engine as corpus_module
from harness.sources.corpus.engine import Corpus, open_corpus

SYNONYMS = {"car": "vehicle", "automobil": "vehicle", "physician": "doctor"}


class ConceptEmbedder:
    """Texts are alike by the concepts that they share; `embedded` notes every text of a document."""

    id = "concepts"
    dimension = 64

    def __init__(self, delay: float = 0.0) -> None:
        self.embedded: list[str] = []
        self._delay = delay
        self._places: dict[str, int] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        self.embedded += [text for text in texts if "\n" in text]
        time.sleep(self._delay)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        with self._lock:
            for row, text in enumerate(texts):
                for concept in {SYNONYMS.get(stem, stem) for stem in stems(text)}:
                    vectors[row, self._places.setdefault(concept, len(self._places) % self.dimension)] = 1.0
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return [len(text.split()) for text in texts]


class FailingEmbedder(ConceptEmbedder):
    """A model that is not there."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        raise EmbeddingError("the model is missing")


Open = Callable[..., Corpus]


def quiet(what: str, done: int, total: int) -> None:
    """Take no note of progress."""


def names(corpus: Corpus, query: str, max_results: int = 10) -> list[str]:
    """Return the file names of the results, best first."""
    return [result["href"].rsplit("/", 1)[-1] for result in corpus.search(query, max_results)]


@pytest.fixture
def embedder() -> ConceptEmbedder:
    """The embedder."""
    return ConceptEmbedder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "garage.md").write_text("# Garage\n\nThe car stands inside.\n")
    (folder / "clinic.md").write_text("# Clinic\n\nA doctor is always there.\n")
    (folder / "garden.md").write_text("# Garden\n\nThe roses flower until autumn.\n")
    return folder


@pytest.fixture
def opened(tmp_path: Path, embedder: ConceptEmbedder) -> Open:
    """Open a corpus with its index in the test's folder."""
    return lambda path, used=embedder, waits=True: open_corpus(
        str(path), tmp_path / "indexes", quiet, used, waits=waits
    )


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set how many passages opening embeds."""
    return lambda number: monkeypatch.setattr(corpus_module, "EMBED_AT_ONCE", number)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store two vectors at a time."""
    monkeypatch.setattr(embedding, "BATCH", 2)


def many(folder: Path, number: int) -> None:
    """Fill `folder` with notes that differ."""
    folder.mkdir(exist_ok=True)
    for n in range(number):
        (folder / f"note{n:03}.md").write_text(f"# Note {n}\n\nIt tells of thing{n} and of nothing else.\n")


def on_index(tmp_path: Path, statement: str) -> list[tuple[object, ...]]:
    """Run one SQL statement on the index."""
    [path] = (tmp_path / "indexes").glob("*.db")
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_an_index_of_an_older_version_keeps_its_vectors(
    folder: Path, opened: Open, embedder: ConceptEmbedder, tmp_path: Path
) -> None:
    """Files are read again, for what the newer one stores of them; their texts are not embedded again."""
    before = opened(folder).options["version"]
    made = len(embedder.embedded)
    on_index(tmp_path, "ALTER TABLE passages DROP COLUMN pages")
    on_index(tmp_path, "PRAGMA user_version = 2")
    again = opened(folder)
    assert (again.options["version"], again.options["mode"]) == (before, "hybrid")
    assert names(again, "automobile") == ["garage.md"]
    assert len(embedder.embedded) == made == 3


# --- results


def test_what_means_the_same_in_other_words_is_found(folder: Path, opened: Open) -> None:
    """The note has no word of the question."""
    assert names(opened(folder), "automobile") == ["garage.md"]
    assert names(opened(folder, None), "automobile") == []


def test_words_and_meaning_together_decide(folder: Path, opened: Open) -> None:
    """A note with the word and the meaning comes before one with the meaning alone."""
    (folder / "street.md").write_text("# Street\n\nAn automobile stands inside.\n")
    assert names(opened(folder), "automobile inside")[:2] == ["street.md", "garage.md"]


def test_what_is_about_something_else_is_not_found(folder: Path, opened: Open) -> None:
    """Some passage is always nearest; one that is far away is no result."""
    assert opened(folder).search("zeppelin", 5) == []


def test_a_question_without_words_has_no_results(folder: Path, opened: Open) -> None:
    """Signs have no meaning that a vector could tell."""
    assert opened(folder).search("?!", 5) == []


def test_a_result_shows_the_passages_that_match(tmp_path: Path, opened: Open) -> None:
    """A long document returns its passages with the words or the meaning, in text order."""
    parts = ["An automobile.", "Roses flower.", "Rain falls.", "One more car."]
    (tmp_path / "long.md").write_text("\n\n".join(f"## Part {n}\n\n{text}" for n, text in enumerate(parts)))
    [result] = opened(tmp_path / "long.md").search("car", 5)
    assert [text for text in parts if text in result["body"]] == ["An automobile.", "One more car."]
    assert result["body"].index("automobile") < result["body"].index("One more car")


def test_results_do_not_depend_on_how_the_index_was_made(folder: Path, opened: Open, tmp_path: Path) -> None:
    """Two machines with the same files and the same embedder have the same options and results."""
    many(folder, 30)
    first = opened(folder)
    again = open_corpus(str(folder), tmp_path / "others", quiet, ConceptEmbedder())
    assert again.options == first.options
    for query in ("thing3 and thing4", "vehicle", "doctor inside the garden"):
        assert again.search(query, 10) == first.search(query, 10) == first.search(query, 10)


def test_the_real_embedder_finds_what_is_said_otherwise(folder: Path, opened: Open) -> None:
    """MiniLM knows that a physician is a doctor."""
    assert names(opened(folder, MiniLM()), "Where is a physician on duty?")[0] == "clinic.md"


@pytest.mark.parametrize("held", [0, 64 * 2**20])
def test_an_index_rebuilt_under_an_open_corpus_answers_the_same(
    folder: Path, opened: Open, tmp_path: Path, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors held in memory are let go when another process has given the same passages other numbers."""
    monkeypatch.setattr(passage_vectors, "HELD_BYTES", held)
    corpus = opened(folder)
    expected = corpus.search("automobile doctor", 5)
    for name in ("garage.md", "clinic.md", "garden.md"):  # the same text under other numbers
        text = (folder / name).read_text()
        (folder / name).write_text("# Filler\n\nFor a while.\n" * 3)
        opened(folder)
        (folder / name).write_text(text)
        opened(folder)
    assert sorted(r["href"] for r in corpus.search("automobile doctor", 5)) == sorted(r["href"] for r in expected)


# --- modes


def test_the_options_tell_the_mode(folder: Path, opened: Open) -> None:
    """Results by words are never reused for words and meaning, or for another embedder."""
    words, hybrid = opened(folder, None).options, opened(folder).options
    assert (words["mode"], hybrid["mode"], hybrid["embedder"]) == ("words", "hybrid", "concepts")
    assert words["version"] == hybrid["version"]


def test_a_search_never_waits_for_a_large_corpus(
    folder: Path, opened: Open, at_once: Callable[[int], None], embedder: ConceptEmbedder
) -> None:
    """With more missing than is made at once, opening embeds nothing and the answer comes by words."""
    at_once(2)
    corpus = opened(folder)
    assert embedder.embedded == []
    assert corpus.options["mode"] == "words"
    assert names(corpus, "car") == ["garage.md"]
    corpus.close()


def test_an_open_corpus_stays_at_its_mode(folder: Path, opened: Open, at_once: Callable[[int], None]) -> None:
    """Vectors that are made meanwhile change no answer of what is open; the next one searches by them."""
    at_once(0)
    corpus = opened(folder)
    options = dict(corpus.options)
    corpus.embed()
    assert (corpus.options, corpus.search("automobile", 5)) == (options, [])
    assert names(opened(folder), "automobile") == ["garage.md"]


def test_words_alone_rank_the_same_with_and_without_an_embedder(
    folder: Path, opened: Open, at_once: Callable[[int], None]
) -> None:
    """The mode names what answered: results by words are the same, whether vectors are on their way or not."""
    at_once(0)
    pending, without = opened(folder), opened(folder, None)
    assert pending.options == without.options
    assert pending.search("car doctor roses", 5) == without.search("car doctor roses", 5)
    pending.close()


# --- making vectors


def test_vectors_are_made_once(folder: Path, opened: Open, embedder: ConceptEmbedder) -> None:
    """The second time embeds no document."""
    opened(folder)
    assert len(embedder.embedded) == 3
    opened(folder)
    assert len(embedder.embedded) == 3


def test_only_what_is_new_is_embedded(folder: Path, opened: Open, embedder: ConceptEmbedder) -> None:
    """A change costs the passages that changed; a touched or moved file costs nothing."""
    opened(folder)
    embedder.embedded.clear()
    os.utime(folder / "garage.md", ns=(1, 1))
    (folder / "clinic.md").rename(folder / "hospital.md")
    (folder / "garden.md").write_text("# Garden\n\nThe roses flower until autumn.\n\n## Pond\n\nIt has fish.\n")
    assert names(opened(folder), "doctor") == ["hospital.md"]
    assert embedder.embedded == ["Garden\nPond\nIt has fish."]


def test_vectors_of_what_is_gone_are_forgotten(folder: Path, opened: Open, tmp_path: Path) -> None:
    """The index keeps no vector without a passage."""
    opened(folder)
    (folder / "garden.md").unlink()
    opened(folder)
    assert on_index(tmp_path, "SELECT count(*) FROM vectors") == [(2,)]


def test_equal_passages_share_a_vector(tmp_path: Path, opened: Open, embedder: ConceptEmbedder) -> None:
    """Copies of a note are embedded once, and all are found."""
    (tmp_path / "notes").mkdir()
    for name in "abc":
        (tmp_path / "notes" / f"{name}.md").write_text("# Garage\n\nThe car stands inside.\n")
    assert names(opened(tmp_path / "notes"), "automobile") == ["a.md", "b.md", "c.md"]
    assert len(embedder.embedded) == 1


def test_progress_counts_the_vectors(folder: Path, tmp_path: Path, small_batches: None) -> None:
    """Progress of embedding goes from 0 to the number of missing vectors."""
    told: list[tuple[str, int, int]] = []
    open_corpus(str(folder), tmp_path / "indexes", lambda *step: told.append(step), ConceptEmbedder())
    assert [(done, total) for what, done, total in told if what.startswith("embedding")] == [(0, 3), (2, 3), (3, 3)]


def test_an_interrupted_embedding_goes_on_where_it_stopped(
    folder: Path, opened: Open, tmp_path: Path, embedder: ConceptEmbedder, small_batches: None
) -> None:
    """Ctrl-C loses no batch that was stored, and the corpus is not taken for a whole one."""
    many(folder, 7)

    def interrupted(what: str, done: int, total: int) -> None:
        if what.startswith("embedding") and done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_corpus(str(folder), tmp_path / "indexes", interrupted, embedder)
    assert len(embedder.embedded) == 4
    assert opened(folder).options["mode"] == "hybrid"
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 10


def test_a_process_that_dies_loses_one_batch(folder: Path, opened: Open, tmp_path: Path, small_batches: None) -> None:
    """Vectors stored before the crash are kept, the lock is free, and the rest is made."""
    many(folder, 7)
    program = """
import os, sys
from pathlib import Path
from harness.sources.corpus import embedding, passage_vectors
from harness.sources.corpus.engine import open_corpus
from tests.sources.corpus.test_vectors import ConceptEmbedder
embedding.BATCH = 2
class Dying(ConceptEmbedder):
    def embed(self, texts):
        if len(self.embedded) == 6:
            os._exit(9)
        return super().embed(texts)
open_corpus(sys.argv[1], Path(sys.argv[2]), lambda *step: None, Dying())
"""
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "indexes")]
    assert subprocess.run(command, check=False, timeout=60).returncode == 9
    after = ConceptEmbedder()
    assert opened(folder, after).options["mode"] == "hybrid"
    assert len(after.embedded) == 4


def test_nothing_is_embedded_twice_at_the_same_time(folder: Path, opened: Open, small_batches: None) -> None:
    """Four who open a new corpus at once share the work, and all search by meaning."""
    many(folder, 17)
    embedder = ConceptEmbedder(delay=0.01)
    with ThreadPoolExecutor(4) as pool:
        modes = list(pool.map(lambda _: opened(folder, embedder).options["mode"], range(4)))
    assert modes == ["hybrid"] * 4
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 20


def test_another_embedder_makes_its_own_vectors(folder: Path, opened: Open, embedder: ConceptEmbedder) -> None:
    """Vectors of different embedders are never compared, whatever their dimensions, and may lie side by side."""
    opened(folder)
    other = ConceptEmbedder()
    other.id, other.dimension = "other", 100
    corpus = opened(folder, other)
    assert corpus.options["embedder"] == "other"
    assert names(corpus, "automobile") == ["garage.md"]
    opened(folder)
    assert (len(embedder.embedded), len(other.embedded)) == (3, 3)


def test_without_its_model_a_corpus_is_searched_by_words(
    folder: Path, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing model costs a warning, not the search."""
    corpus = opened(folder, FailingEmbedder())
    assert corpus.options["mode"] == "words"
    assert names(corpus, "car") == ["garage.md"]
    assert "by words only: the model is missing" in caplog.text
    corpus.close()


def test_a_question_that_cannot_be_embedded_is_no_answer(folder: Path, opened: Open) -> None:
    """Results by words would be cached as those by words and meaning: an error instead."""
    opened(folder)
    corpus = opened(folder, FailingEmbedder())
    with pytest.raises(EngineUnavailable, match="the model is missing"):
        corpus.search("car", 5)


# --- behind the searches


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most ten seconds."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_vectors_are_made_behind_the_searches(folder: Path, opened: Open, at_once: Callable[[int], None]) -> None:
    """The first search by words begins them; who opens the corpus afterwards has them."""
    at_once(0)
    corpus = opened(folder)
    assert corpus.unembedded() == 3
    corpus.search("car", 5)
    wait_until(lambda: corpus.unembedded() == 0)
    assert opened(folder).options["mode"] == "hybrid"
    corpus.close()


def test_closing_ends_the_making_and_keeps_what_is_made(
    folder: Path, opened: Open, at_once: Callable[[int], None]
) -> None:
    """The thread ends after the text that it is at; searching goes on working."""
    at_once(0)
    many(folder, 200)
    corpus = opened(folder, ConceptEmbedder(delay=0.02))
    corpus.search("car", 5)
    time.sleep(0.2)
    corpus.close()
    left = corpus.unembedded()
    assert 0 < left < 203
    assert names(corpus, "car") == ["garage.md"]
    time.sleep(0.1)
    assert corpus.unembedded() == left


@pytest.mark.slow
def test_the_end_of_the_program_does_not_wait_for_the_vectors(folder: Path, tmp_path: Path) -> None:
    """A command that has its answer ends, however much is left to embed, and keeps what was made."""
    many(folder, 500)
    program = """
import sys, time
from pathlib import Path
from harness.sources.corpus import engine as corpus
from tests.sources.corpus.test_vectors import ConceptEmbedder
corpus.EMBED_AT_ONCE = 0
notes = corpus.open_corpus(sys.argv[1], Path(sys.argv[2]), lambda *step: None, ConceptEmbedder(delay=0.05))
notes.search("car", 5)
time.sleep(0.5)
"""
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "indexes")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=15)  # all would take 25 s
    assert (done.returncode, done.stderr) == (0, "")
    [(made,)] = on_index(tmp_path, "SELECT count(*) FROM vectors")
    assert isinstance(made, int)
    assert made > 0


def test_a_failure_behind_the_searches_is_told_once(
    folder: Path, opened: Open, at_once: Callable[[int], None], caplog: pytest.LogCaptureFixture
) -> None:
    """The model is missing: searches by words go on, with one warning."""
    at_once(0)
    corpus = opened(folder, FailingEmbedder())
    for _ in range(3):
        assert names(corpus, "car") == ["garage.md"]
        time.sleep(0.05)
    corpus.close()
    assert [r.levelno for r in caplog.records].count(logging.WARNING) == 1


# --- not waiting


LOCK_HOLDER = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock_held(tmp_path: Path) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Hold the lock of the index in another process, which makes no vectors: as one that is suspended does."""

    @contextlib.contextmanager
    def held() -> Iterator[None]:
        [index] = (tmp_path / "indexes").glob("*.db")
        command = [sys.executable, "-c", LOCK_HOLDER, f"{index}.lock"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield
            process.communicate()

    return held


def test_who_does_not_wait_is_answered_by_words_first(folder: Path, opened: Open, embedder: ConceptEmbedder) -> None:
    """Opening embeds nothing, the answer comes by words, and its vectors follow in the background."""
    many(folder, corpus_module.EMBED_IN_PASSING)
    corpus = opened(folder, waits=False)
    assert (corpus.options["mode"], embedder.embedded) == ("words", [])
    assert names(corpus, "car") == ["garage.md"]
    wait_until(lambda: corpus.unembedded() == 0)
    after = opened(folder, waits=False)
    assert (after.options["mode"], names(after, "automobile")) == ("hybrid", ["garage.md"])
    corpus.close()


def test_a_small_corpus_is_embedded_in_passing(folder: Path, opened: Open) -> None:
    """A few notes take less than a second: their first search is by meaning, too."""
    assert names(opened(folder, waits=False), "automobile") == ["garage.md"]


def test_what_ranks_by_words_has_a_key_of_its_own(folder: Path, opened: Open) -> None:
    """Results cached before the vectors existed never answer a search that ranks by them."""
    many(folder, corpus_module.EMBED_IN_PASSING)
    before, after = opened(folder, waits=False).options, opened(folder).options
    assert search_key("car", "corpus", before) != search_key("car", "corpus", after)


@pytest.mark.slow
def test_a_search_does_not_wait_for_a_stuck_process(
    folder: Path, opened: Open, lock_held: Callable[[], contextlib.AbstractContextManager[None]]
) -> None:
    """While another process holds the lock and makes nothing, a search is answered by words within seconds."""
    opened(folder)
    (folder / "more.md").write_text("# More\n\nAn automobile.\n")
    with lock_held():
        began = time.monotonic()
        corpus = opened(folder, waits=False)
        assert (corpus.options["mode"], names(corpus, "automobile")) == ("words", ["more.md"])
        assert time.monotonic() - began < 5
    corpus.close()


@pytest.mark.slow
def test_who_waits_gets_an_error_for_a_stuck_process(
    folder: Path,
    opened: Open,
    lock_held: Callable[[], contextlib.AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A caller that waits does not get a ranking by words instead: an error names the lock."""
    opened(folder)
    (folder / "more.md").write_text("# More\n\nAn automobile.\n")
    monkeypatch.setattr(corpus_module, "STUCK_SECONDS", 0.1)
    with lock_held(), pytest.raises(StoreBusy, match=r"holds .*\.lock and makes no vectors"):
        opened(folder)
    assert opened(folder).options["mode"] == "hybrid"


@pytest.mark.slow
def test_who_waits_takes_over_from_the_background(folder: Path, opened: Open, small_batches: None) -> None:
    """The thread behind the searches makes one text at a time; it gives way to a research, which makes many."""
    many(folder, 40)

    class Noting(ConceptEmbedder):
        most = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.most = max(self.most, len(texts))
            return super().embed(texts)

    slow = Noting(delay=0.05)
    corpus = opened(folder, slow, waits=False)
    corpus.search("car", 5)
    assert opened(folder, slow).options["mode"] == "hybrid"
    assert corpus._maker is not None
    assert corpus._maker._thread is not None
    wait_until(lambda: not corpus._maker._thread.is_alive())
    assert (slow.most, len(slow.embedded), len(set(slow.embedded))) == (2, 43, 43)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from harness.sources.corpus import engine as corpus_module
from harness.sources.corpus.engine import open_corpus
from harness.errors import StoreError
from tests.sources.corpus.test_vectors import ConceptEmbedder
folder, indexes = sys.argv[1], Path(sys.argv[2])
corpus_module.EMBED_IN_PASSING = 1_000
[index] = indexes.glob("*.db")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (index.stat().st_size,) * 2)  # as a full disk: no file grows any more
found = open_corpus(folder, indexes, lambda *step: None, ConceptEmbedder(), waits=False)
print(found.options["mode"], len(found.search("car", 5)))
found.close()
try:
    open_corpus(folder, indexes, lambda *step: None, ConceptEmbedder())
except StoreError as error:
    print(error)
"""


def test_a_full_disk_costs_the_vectors_alone(folder: Path, opened: Open, tmp_path: Path) -> None:
    """A search is answered by words; what waits for the vectors says what to do; with room again nothing was lost."""
    many(folder, 300)
    opened(folder, None)  # the words are indexed
    command = [sys.executable, "-c", FULL_DISK, str(folder), str(tmp_path / "indexes")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    mode, error = done.stdout.splitlines()
    assert mode == "words 1"
    assert "free space or delete that file" in error
    embedder = ConceptEmbedder()
    assert opened(folder, embedder).options["mode"] == "hybrid"
    assert len(embedder.embedded) <= 303


@pytest.mark.slow
def test_a_process_that_is_killed_in_the_background_loses_one_batch(folder: Path, opened: Open, tmp_path: Path) -> None:
    """After SIGKILL the index is whole, the lock is free, and the next one makes only what is missing."""
    many(folder, 200)
    program = """
import os, signal, sys, time
from pathlib import Path
from harness.sources.corpus import embedding
from harness.sources.corpus.engine import open_corpus
from tests.sources.corpus.test_vectors import ConceptEmbedder
embedding.BATCH, embedding.YIELD_SECONDS = 4, 0.01
notes = open_corpus(sys.argv[1], Path(sys.argv[2]), lambda *step: None, ConceptEmbedder(delay=0.01), waits=False)
notes.search("car", 5)
while notes.unembedded() > 150:
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "indexes")]
    assert subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL
    assert on_index(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    after = ConceptEmbedder()
    assert opened(folder, after).options["mode"] == "hybrid"
    assert 0 < len(after.embedded) <= 150


# --- damage


@pytest.mark.parametrize("waits", [True, False])
def test_a_file_that_is_no_index_is_replaced(folder: Path, opened: Open, tmp_path: Path, waits: bool) -> None:
    """Opening makes the index again, for callers that wait and those that do not."""
    opened(folder)
    [path] = (tmp_path / "indexes").glob("*.db")
    path.write_bytes(b"no database at all" * 1_000)
    corpus = opened(folder, waits=waits)
    assert names(corpus, "automobile") == ["garage.md"]


def test_an_index_of_an_older_version_is_rebuilt(folder: Path, opened: Open, tmp_path: Path) -> None:
    """One without vectors, as the first version had it, is replaced."""
    expected = opened(folder).search("car", 5)
    [path] = (tmp_path / "indexes").glob("*.db")
    path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE parts (part TEXT PRIMARY KEY, state TEXT NOT NULL, digest TEXT NOT NULL);"
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, part TEXT NOT NULL, title TEXT NOT NULL, href TEXT NOT NULL);"
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, title TEXT NOT NULL, "
        "section TEXT NOT NULL, text TEXT NOT NULL);"
        "CREATE VIRTUAL TABLE words USING fts5 (title, section, text, content = 'passages', content_rowid = 'id');"
        "INSERT INTO parts VALUES ('/gone.md', '1:1', 'digest'); PRAGMA user_version = 1;"
    )
    connection.close()
    assert opened(folder).search("car", 5) == expected


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET vector = substr(vector, 1, 10)",
        "UPDATE vectors SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB)",  # a scale that is no number
        "DROP TABLE vectors",
    ],
)
def test_damaged_vectors_are_rebuilt(
    folder: Path, opened: Open, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is a copy: an open corpus makes it again, vectors and all, and answers the same."""
    monkeypatch.setattr(passage_vectors, "HELD_BYTES", 0)
    corpus = opened(folder)
    expected = corpus.search("automobile", 5)
    on_index(tmp_path, damage)
    assert corpus.search("automobile", 5) == expected


def test_lost_vectors_are_no_answer(
    folder: Path, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results by words would be cached as those by words and meaning: an error says to try again, which works."""
    monkeypatch.setattr(passage_vectors, "HELD_BYTES", 0)
    corpus = opened(folder)
    expected = corpus.search("automobile", 5)
    on_index(tmp_path, "DELETE FROM vectors")
    with pytest.raises(EngineUnavailable, match="try again"):
        corpus.search("automobile", 5)
    assert opened(folder).search("automobile", 5) == expected
