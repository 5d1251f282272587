"""What is kept: exchanges, texts and documents, whole or not at all, without secrets."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from msgspec.structs import replace

from harness.chat import DocumentChunk, Memory
from harness.chat.exchanges import MAX_MESSAGE
from harness.errors import EmbeddingError, InvalidInput, StoreBusy, StoreError
from harness.ports import Store
from tests.chat.said import said
from tests.fakes import WordEmbedder, refusing

Remembering = Callable[..., Memory]
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def failing_store() -> Any:
    """Return a store that writes nothing."""
    return refusing(StoreBusy("the database is locked; try again"), "rows.put", "rows.replace")


class Speechless(WordEmbedder):
    """An embedder that makes vectors only when it is told to."""

    works = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Fail, or see `Embedder.embed`."""
        if not self.works:
            raise EmbeddingError("the model is missing; install it")
        return super().embed(texts)


# --- exchanges


def test_an_exchange_comes_back_as_it_was_said(memory: Memory) -> None:
    """Every field is kept, and it is found by its id, thread and session."""
    exchange = said("e2", "hello", "hi", prior=("e1",), continuation=3)
    assert memory.remember(exchange) == exchange
    assert memory.get("e2") == exchange
    assert memory.thread("t1") == [exchange]
    assert memory.session("s1") == [exchange]
    assert exchange.thread_session_id == "t1_s1"


def test_what_is_embedded_is_both_messages(memory: Memory, embedder: WordEmbedder) -> None:
    """User and assistant, each by name."""
    memory.remember(said("e1", "hello", "hi"))
    assert embedder.texts == ["User: hello\nAssistant: hi"]


def test_secrets_are_masked_before_anything_is_made_of_them(memory: Memory, embedder: WordEmbedder) -> None:
    """Neither the row nor what was embedded holds them, and what is returned says what was kept."""
    kept = memory.remember(said("e1", f"my key is {KEY}", f"I shall not tell {KEY}"))
    assert KEY not in "".join(embedder.texts)
    assert "[redacted:" in kept.user_message
    assert memory.get("e1") == kept
    assert KEY not in kept.text


def test_patterns_of_the_settings_are_masked_too(remembering: Remembering) -> None:
    """What a regular expression of the settings matches is masked."""
    kept = remembering(redact=("PROJ-[0-9]+",)).remember(said("e1", "see PROJ-42"))
    assert "PROJ-42" not in kept.text


def test_without_a_vector_an_exchange_is_kept_all_the_same(remembering: Remembering) -> None:
    """It is found by its words once there is a model for the question, and embedded by a later `remember`."""
    model = Speechless()
    memory = remembering(model=model)
    memory.remember(said("e1", "the ferret is called Otto"))
    assert memory.stats().not_embedded == 1
    model.works = True
    assert [each.remembered.id for each in memory.query("ferret")] == ["e1"]
    memory.remember(said("e2", "anything"))
    assert memory.stats().not_embedded == 0


def test_no_other_collection_is_embedded_anew(remembering: Remembering) -> None:
    """Two collections of one tenant may have different models."""
    remembering(model=Speechless(), collection_name="other").remember(said("e1", "hello"))
    memory = remembering()
    memory.remember(said("e2", "hello"))
    assert memory.stats().not_embedded == 1


def test_messages_are_cleaned_and_bounded(memory: Memory) -> None:
    """Control characters go, and so does what is beyond 200,000 characters."""
    kept = memory.remember(said("e1", "a\x00b\x1b[31m", "x" * (MAX_MESSAGE + 1)))
    assert kept.user_message == "ab[31m"
    assert len(kept.assistant_message) == MAX_MESSAGE


def test_a_time_that_is_none_is_refused(memory: Memory) -> None:
    """Nothing is kept of it."""
    with pytest.raises(InvalidInput, match="yesterday"):
        memory.remember(replace(said("e1", "hello"), timestamp="yesterday"))


def test_vectors_of_another_dimension_than_set_are_refused(remembering: Remembering) -> None:
    """The settings name one, and it is compared."""
    with pytest.raises(EmbeddingError, match="embedding_dimensions is 65"):
        remembering(embedding_dimensions=65).add_text("hello")


def test_making_a_memory_reads_nothing(embedder: WordEmbedder, journal: Path) -> None:
    """Neither is the store opened nor the embedder asked, and without a journal that stays so at a start."""

    def opens() -> NoReturn:
        raise AssertionError("the store was opened")

    memory = Memory(opens, embedder, journal=journal)
    assert memory.retry_journal() == 0
    memory.close()
    assert embedder.texts == []


# --- failures and the journal


def test_what_cannot_be_kept_waits_for_the_next_start(remembering: Remembering, store: Store, journal: Path) -> None:
    """The error says so; the next start keeps it, once, and the journal is gone."""
    exchange = said("e1", f"remember {KEY}")
    with pytest.raises(StoreError, match=r"locked.*waits in .*journal\.jsonl"):
        remembering(opens=failing_store()).remember(exchange)
    assert KEY not in journal.read_text()
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    later = remembering()
    assert later.retry_journal() == 1
    assert not journal.exists()
    assert later.retry_journal() == 0
    assert later.get("e1").id == "e1"


def test_a_store_that_does_not_open_loses_nothing(remembering: Remembering) -> None:
    """What is said meanwhile waits, too."""

    def opens() -> NoReturn:
        raise StoreError("unable to open the database; check the folder")

    with pytest.raises(StoreError, match=r"unable to open.*waits"):
        remembering(opens=opens).remember(said("e1", "hello"))
    assert remembering().retry_journal() == 1


def test_as_long_as_it_cannot_be_kept_it_waits(remembering: Remembering, journal: Path) -> None:
    """A start that fails loses nothing and keeps the order."""
    failing = remembering(opens=failing_store())
    for number in range(3):
        with pytest.raises(StoreError):
            failing.remember(said(f"e{number}", "hello"))
    before = journal.read_bytes()
    with pytest.raises(StoreBusy):
        failing.retry_journal()
    assert journal.read_bytes() == before
    memory = remembering()
    assert memory.retry_journal() == 3


def test_what_is_somebody_elses_stays_in_the_journal(remembering: Remembering) -> None:
    """Another tenant, or another collection, is not kept under this one."""
    with pytest.raises(StoreError):
        remembering(opens=failing_store(), tenant="ann").remember(said("e1", "hello"))
    with pytest.raises(StoreError):
        remembering(opens=failing_store(), collection_name="other").remember(said("e2", "hello"))
    assert remembering().retry_journal() == 0
    assert remembering(tenant="ann").retry_journal() == 1
    assert remembering(collection_name="other").retry_journal() == 1


def test_without_a_journal_the_error_is_the_stores() -> None:
    """Nothing is said of a journal that there is none."""
    memory = Memory(failing_store(), WordEmbedder())
    with pytest.raises(StoreBusy, match=r"^the database is locked; try again$"):
        memory.remember(said("e1", "hello"))


# --- texts and documents


def test_a_short_text_is_one_chunk(memory: Memory) -> None:
    """It is found again as it was typed, with where it came from."""
    added = memory.add_text("Otto is a ferret", session_id="s1")
    assert (added.chunks, added.characters, added.replaced, added.masked) == (1, 16, 0, 0)
    (chunk,) = memory.find(added.document_id)
    assert isinstance(chunk, DocumentChunk)
    assert (chunk.text, chunk.source, chunk.session_id) == ("Otto is a ferret", "vadd_command", "s1")


def test_a_long_text_is_cut_and_numbered(remembering: Remembering) -> None:
    """No chunk is over the limit, and each knows its place."""
    memory = remembering(chunk_size=100, chunk_overlap=10, max_chunk_size=150)
    added = memory.add_text("A sentence about ferrets. " * 40)
    chunks = [each for each in memory.find(added.document_id) if isinstance(each, DocumentChunk)]
    assert added.chunks == len(chunks) > 5
    assert [each.chunk_index for each in chunks] == list(range(len(chunks)))
    assert {each.total_chunks for each in chunks} == {len(chunks)}
    assert max(len(each.text) for each in chunks) <= 150


def test_a_line_of_5000_characters_is_cut(memory: Memory, tmp_path: Path) -> None:
    """Without a space or a sentence, too."""
    file = tmp_path / "line.txt"
    file.write_text("x" * 5_000)
    added = memory.add_document(file)
    assert added.chunks >= 4
    assert all(len(each.text) <= 1_500 for each in memory.find(added.document_id) if isinstance(each, DocumentChunk))


def test_a_document_that_is_added_again_replaces_what_was_there(memory: Memory, tmp_path: Path) -> None:
    """The old chunks go with the new ones' coming, and are not found by their words any more."""
    file = tmp_path / "pets.md"
    file.write_text("Otto is a ferret")
    first = memory.add_document(file)
    file.write_text("Otto is a badger")
    second = memory.add_document(file)
    assert (second.document_id, second.replaced) == (first.document_id, 1)
    (chunk,) = memory.find(first.document_id)
    assert isinstance(chunk, DocumentChunk)
    assert (chunk.text, chunk.source, chunk.source_file) == ("Otto is a badger", "file", str(file))


def test_secrets_in_documents_are_masked(memory: Memory, embedder: WordEmbedder, tmp_path: Path) -> None:
    """Wherever a chunk would have been cut, and told how many."""
    file = tmp_path / "env.txt"
    file.write_text("x " * 495 + KEY + " y" * 600)
    added = memory.add_document(file)
    assert added.masked == 1
    assert KEY[:12] not in "".join(embedder.texts)


@pytest.mark.parametrize("broken", ["store", "embedder"])
def test_of_a_document_that_fails_nothing_is_kept(remembering: Remembering, broken: str, tmp_path: Path) -> None:
    """No vector, or no room in the store: a typed error, and not one chunk."""
    file = tmp_path / "long.txt"
    file.write_text("A sentence about ferrets. " * 400)
    failing = remembering(opens=failing_store()) if broken == "store" else remembering(model=Speechless())
    with pytest.raises((StoreBusy, EmbeddingError)):
        failing.add_document(file)
    assert failing.stats().document_chunks == 0


@pytest.mark.parametrize("text", ["", " \n ", "\x00"])
def test_nothing_is_no_text(memory: Memory, text: str) -> None:
    """It is refused in plain words."""
    with pytest.raises(InvalidInput, match="no text"):
        memory.add_text(text)


def test_progress_is_told(store: Store, embedder: WordEmbedder) -> None:
    """Of a text of many chunks, begin and end."""
    told: list[tuple[str, int, int]] = []
    settings = replace(Memory(store, embedder).settings, chunk_size=50, chunk_overlap=0, max_chunk_size=60)
    memory = Memory(store, embedder, settings, progress=lambda *at: told.append(at))
    chunks = memory.add_text("A sentence about ferrets and badgers. " * 60).chunks
    assert told[0] == ("embedding", 0, chunks)
    assert told[-1] == ("embedding", chunks, chunks)
