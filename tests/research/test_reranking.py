"""Reranking of search results."""

from typing import Any

from harness.cache import Cache
from harness.errors import ReaderError
from harness.research.reranking import Found, reranked
from tests.fakes import MemoryStore, WordEmbedder, WordReader

QUESTION = "red apple"
TEXTS = ("a blue car", "a green pear", "an old house", "a red apple", "a red apple again")
FOUND: list[Found] = [(f"https://example.org/{n}", [{"title": "", "body": text}]) for n, text in enumerate(TEXTS)]


class CountingReader(WordReader):
    """A reader that can be broken."""

    broken = False

    def answers(self, question: str, texts: Any) -> list[float]:
        """See `Reader.answers`."""
        if self.broken:
            raise ReaderError("the reader cannot be loaded")
        return super().answers(question, texts)


def order(reader: WordReader, cache: Cache, most: int) -> list[int]:
    """Return the places of the results in their new order."""
    found = reranked(QUESTION, FOUND, reader, WordEmbedder(), cache, most=most, ttl=60)
    return [FOUND.index(each) for each in found]


def test_relevant_results_move_up_and_the_rest_follows() -> None:
    """Only the first `most` are read, each once: the second time the order comes from the cache."""
    cache, reader = Cache(MemoryStore()), CountingReader()
    assert order(reader, cache, 4)[0] in {0, 3}
    assert order(reader, cache, 4).index(3) < 3
    assert order(reader, cache, 4)[4] == 4
    assert len(reader.read) == 4


def test_a_single_result_is_not_read() -> None:
    """There is nothing to order."""
    reader = CountingReader()
    assert reranked(QUESTION, FOUND[:1], reader, WordEmbedder(), Cache(MemoryStore()), most=9, ttl=60) == FOUND[:1]
    assert reader.read == []


def test_a_statement_leaves_the_order() -> None:
    """The reader has learned what answers questions, so it reads nothing."""
    reader, claim = CountingReader(), "A red apple is eaten by the house of the pear."
    assert reranked(claim, FOUND, reader, WordEmbedder(), Cache(MemoryStore()), most=9, ttl=60) == FOUND
    assert reader.read == []


def test_a_broken_reader_leaves_the_order() -> None:
    """Nothing is cached, so that it is read once the reader works."""
    cache, reader = Cache(MemoryStore()), CountingReader()
    reader.broken = True
    assert order(reader, cache, 5) == [0, 1, 2, 3, 4]
    reader.broken = False
    assert order(reader, cache, 5) != [0, 1, 2, 3, 4]


def test_a_damaged_order_is_made_again() -> None:
    """A cached row may come from another user's file."""
    from msgspec.structs import replace

    store = MemoryStore()
    first = order(CountingReader(), Cache(store), 5)
    [entry] = store.listings.scan("research_evidence", "default")
    store.rows.put("research_evidence", "default", replace(entry, payload=b"[0,0,7]"))
    assert order(CountingReader(), Cache(store), 5) == first
