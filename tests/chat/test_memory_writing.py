"""Storing exchanges, texts and documents: whole or not at all, with secrets masked."""

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
    """Return a store that fails every write."""
    return refusing(StoreBusy("the database is locked; try again"), "rows.put", "rows.replace")


class Speechless(WordEmbedder):
    """An embedder that fails until tests enable it."""

    works = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Fail, or see `Embedder.embed`."""
        if not self.works:
            raise EmbeddingError("the model is missing; install it")
        return super().embed(texts)


# --- exchanges


def test_an_exchange_is_stored_unchanged(memory: Memory) -> None:
    """With every field; it is found by id, thread and session."""
    exchange = said("e2", "hello", "hi", prior=("e1",), continuation=3)
    assert memory.writer.remember(exchange) == exchange
    assert memory.listing.get("e2") == exchange
    assert memory.listing.thread("t1") == [exchange]
    assert memory.listing.session("s1") == [exchange]
    assert exchange.thread_session_id == "t1_s1"


def test_both_messages_are_embedded(memory: Memory, embedder: WordEmbedder) -> None:
    """Each with its role."""
    memory.writer.remember(said("e1", "hello", "hi"))
    assert embedder.texts == ["User: hello\nAssistant: hi"]


def test_secrets_are_masked_before_storing_and_embedding(memory: Memory, embedder: WordEmbedder) -> None:
    """Neither the row nor the embedded text contains them; the stored exchange is returned."""
    kept = memory.writer.remember(said("e1", f"my key is {KEY}", f"I shall not tell {KEY}"))
    assert KEY not in "".join(embedder.texts)
    assert "[redacted:" in kept.user_message
    assert memory.listing.get("e1") == kept
    assert KEY not in kept.text


def test_patterns_of_the_settings_are_masked_too(remembering: Remembering) -> None:
    """Matches of a regular expression in the settings are masked."""
    kept = remembering(redact=("PROJ-[0-9]+",)).writer.remember(said("e1", "see PROJ-42"))
    assert "PROJ-42" not in kept.text


def test_an_exchange_without_a_vector_is_stored(remembering: Remembering) -> None:
    """Its words find it, and a later `remember` embeds it."""
    model = Speechless()
    memory = remembering(model=model)
    memory.writer.remember(said("e1", "the ferret is called Otto"))
    assert memory.listing.stats().not_embedded == 1
    model.works = True
    assert [each.remembered.id for each in memory.search.query("ferret")] == ["e1"]
    memory.writer.remember(said("e2", "anything"))
    assert memory.listing.stats().not_embedded == 0


def test_other_collections_are_not_embedded(remembering: Remembering) -> None:
    """Two collections of one tenant may have different models."""
    remembering(model=Speechless(), collection_name="other").writer.remember(said("e1", "hello"))
    memory = remembering()
    memory.writer.remember(said("e2", "hello"))
    assert memory.listing.stats().not_embedded == 1


def test_messages_are_cleaned_and_bounded(memory: Memory) -> None:
    """Control characters, and everything beyond 200,000 characters, are removed."""
    kept = memory.writer.remember(said("e1", "a\x00b\x1b[31m", "x" * (MAX_MESSAGE + 1)))
    assert kept.user_message == "ab[31m"
    assert len(kept.assistant_message) == MAX_MESSAGE


def test_an_invalid_time_is_refused(memory: Memory) -> None:
    """Nothing is stored."""
    with pytest.raises(InvalidInput, match="yesterday"):
        memory.writer.remember(replace(said("e1", "hello"), timestamp="yesterday"))


def test_vectors_of_another_dimension_than_set_are_refused(remembering: Remembering) -> None:
    """The dimension in the settings is checked."""
    with pytest.raises(EmbeddingError, match="embedding_dimensions is 65"):
        remembering(embedding_dimensions=65).writer.add_text("hello")


def test_creating_a_memory_reads_nothing(embedder: WordEmbedder, journal: Path) -> None:
    """Neither store nor embedder is used, also at a start without a journal."""

    def opens() -> NoReturn:
        raise AssertionError("the store was opened")

    memory = Memory(opens, embedder, journal=journal)
    assert memory.writer.retry_journal() == 0
    memory.close()
    assert embedder.texts == []


# --- failures and the journal


def test_an_unstored_exchange_waits_for_the_next_start(remembering: Remembering, store: Store, journal: Path) -> None:
    """The error says so; the next start stores it once, and the journal is gone."""
    exchange = said("e1", f"remember {KEY}")
    with pytest.raises(StoreError, match=r"locked.*waits in .*journal\.jsonl"):
        remembering(opens=failing_store()).writer.remember(exchange)
    assert KEY not in journal.read_text()
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    later = remembering()
    assert later.writer.retry_journal() == 1
    assert not journal.exists()
    assert later.writer.retry_journal() == 0
    assert later.listing.get("e1").id == "e1"


def test_a_store_that_does_not_open_loses_nothing(remembering: Remembering) -> None:
    """Exchanges wait in the journal."""

    def opens() -> NoReturn:
        raise StoreError("unable to open the database; check the folder")

    with pytest.raises(StoreError, match=r"unable to open.*waits"):
        remembering(opens=opens).writer.remember(said("e1", "hello"))
    assert remembering().writer.retry_journal() == 1


def test_exchanges_wait_as_long_as_storing_fails(remembering: Remembering, journal: Path) -> None:
    """A failed start loses nothing and keeps the order."""
    failing = remembering(opens=failing_store())
    for number in range(3):
        with pytest.raises(StoreError):
            failing.writer.remember(said(f"e{number}", "hello"))
    before = journal.read_bytes()
    with pytest.raises(StoreBusy):
        failing.writer.retry_journal()
    assert journal.read_bytes() == before
    memory = remembering()
    assert memory.writer.retry_journal() == 3


def test_lines_of_others_stay_in_the_journal(remembering: Remembering) -> None:
    """Another tenant's or collection's lines are not stored under this one."""
    with pytest.raises(StoreError):
        remembering(opens=failing_store(), tenant="ann").writer.remember(said("e1", "hello"))
    with pytest.raises(StoreError):
        remembering(opens=failing_store(), collection_name="other").writer.remember(said("e2", "hello"))
    assert remembering().writer.retry_journal() == 0
    assert remembering(tenant="ann").writer.retry_journal() == 1
    assert remembering(collection_name="other").writer.retry_journal() == 1


def test_without_a_journal_the_error_is_from_the_store() -> None:
    """The message does not mention a journal."""
    memory = Memory(failing_store(), WordEmbedder())
    with pytest.raises(StoreBusy, match=r"^the database is locked; try again$"):
        memory.writer.remember(said("e1", "hello"))


# --- texts and documents


def test_a_short_text_is_one_chunk(memory: Memory) -> None:
    """It is found unchanged, with its source."""
    added = memory.writer.add_text("Otto is a ferret", session_id="s1")
    assert (added.chunks, added.characters, added.replaced, added.masked) == (1, 16, 0, 0)
    (chunk,) = memory.listing.find(added.document_id)
    assert isinstance(chunk, DocumentChunk)
    assert (chunk.text, chunk.source, chunk.session_id) == ("Otto is a ferret", "vadd_command", "s1")


def test_a_long_text_is_cut_and_numbered(remembering: Remembering) -> None:
    """No chunk exceeds the limit, and each has its position."""
    memory = remembering(chunk_size=100, chunk_overlap=10, max_chunk_size=150)
    added = memory.writer.add_text("A sentence about ferrets. " * 40)
    chunks = [each for each in memory.listing.find(added.document_id) if isinstance(each, DocumentChunk)]
    assert added.chunks == len(chunks) > 5
    assert [each.chunk_index for each in chunks] == list(range(len(chunks)))
    assert {each.total_chunks for each in chunks} == {len(chunks)}
    assert max(len(each.text) for each in chunks) <= 150


def test_a_line_of_5000_characters_is_cut(memory: Memory, tmp_path: Path) -> None:
    """Even without spaces or sentences."""
    file = tmp_path / "line.txt"
    file.write_text("x" * 5_000)
    added = memory.writer.add_document(file)
    assert added.chunks >= 4
    assert all(
        len(each.text) <= 1_500 for each in memory.listing.find(added.document_id) if isinstance(each, DocumentChunk)
    )


def test_a_document_added_again_replaces_its_old_version(memory: Memory, tmp_path: Path) -> None:
    """The old chunks are gone, and their words no longer find them."""
    file = tmp_path / "pets.md"
    file.write_text("Otto is a ferret")
    first = memory.writer.add_document(file)
    file.write_text("Otto is a badger")
    second = memory.writer.add_document(file)
    assert (second.document_id, second.replaced) == (first.document_id, 1)
    (chunk,) = memory.listing.find(first.document_id)
    assert isinstance(chunk, DocumentChunk)
    assert (chunk.text, chunk.source, chunk.source_file) == ("Otto is a badger", "file", str(file))


def test_secrets_in_documents_are_masked(memory: Memory, embedder: WordEmbedder, tmp_path: Path) -> None:
    """Across chunk boundaries, and counted."""
    file = tmp_path / "env.txt"
    file.write_text("x " * 495 + KEY + " y" * 600)
    added = memory.writer.add_document(file)
    assert added.masked == 1
    assert KEY[:12] not in "".join(embedder.texts)


@pytest.mark.parametrize("broken", ["store", "embedder"])
def test_a_failed_document_stores_nothing(remembering: Remembering, broken: str, tmp_path: Path) -> None:
    """Embedding or the store fails: a typed error, and no chunk."""
    file = tmp_path / "long.txt"
    file.write_text("A sentence about ferrets. " * 400)
    failing = remembering(opens=failing_store()) if broken == "store" else remembering(model=Speechless())
    with pytest.raises((StoreBusy, EmbeddingError)):
        failing.writer.add_document(file)
    assert failing.listing.stats().document_chunks == 0


@pytest.mark.parametrize("text", ["", " \n ", "\x00"])
def test_an_empty_text_is_refused(memory: Memory, text: str) -> None:
    """With a clear message."""
    with pytest.raises(InvalidInput, match="the text is empty"):
        memory.writer.add_text(text)


def test_progress_is_reported(store: Store, embedder: WordEmbedder) -> None:
    """Start and end, for a text of many chunks."""
    told: list[tuple[str, int, int]] = []
    settings = replace(Memory(store, embedder).settings, chunk_size=50, chunk_overlap=0, max_chunk_size=60)
    memory = Memory(store, embedder, settings, progress=lambda *at: told.append(at))
    chunks = memory.writer.add_text("A sentence about ferrets and badgers. " * 60).chunks
    assert told[0] == ("embedding", 0, chunks)
    assert told[-1] == ("embedding", chunks, chunks)
