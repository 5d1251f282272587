"""The agent's vector cache: both layers on both stores, with a word embedder and the real model."""

import doctest
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import inf, nan
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import vector_cache
from harness.core.tables import CHUNKS, QUERIES
from harness.errors import EmbeddingError, HarnessError, InvalidInput, StoreCorrupt, StoreError
from harness.models.local.embedder import MiniLM
from harness.ports import Store
from harness.storage.replay_store import replay_store
from harness.storage.sqlite.store import SqliteStore
from harness.vector_cache import Anchor, QueryHit, StoredChunk, VectorCache
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.storage.entries import SEARCHES, TENANT, an_entry

HOURS = 3_600.0
LONG = "lorem ipsum dolor sit amet " * 60
"""300 words."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a database."""
    return tmp_path / "agent.db"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    """Return an empty store: one in memory, and one in a file."""
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(path)
    yield made
    made.close()


@pytest.fixture
def cache(store: Store, embedder: WordEmbedder, clock: FakeClock) -> VectorCache:
    """Return a cache with a lower threshold for chunks."""
    return VectorCache(store, embedder, chunk_threshold=0.1, clock=clock)


def payloads(cache: VectorCache, *queries: str) -> list[Any]:
    """Return the payload of the answer to each query, `None` without one."""
    return [(hit := cache.get_query(query)) and hit.payload for query in queries]


# Solved queries ------------------------------------------------------------------------------------------------------


def test_a_solved_query_is_answered(cache: VectorCache, clock: FakeClock) -> None:
    """The hit has the payload, the stored query, the similarity, and the age."""
    cache.put_query("semantic cache false positives", {"answer": [1, None, "中文"]})
    clock.advance(90)
    hit = cache.get_query("false positives semantic cache")
    assert hit == QueryHit(
        {"answer": [1, None, "中文"]}, "semantic cache false positives", pytest.approx(1.0, abs=1e-5), 90.0
    )


@pytest.mark.parametrize("payload", [None, False, 0, 0.5, "", "text", [], {}, {"a": {"b": [1, "\0", "🦄"]}}], ids=repr)
def test_any_json_value_is_a_payload(cache: VectorCache, payload: Any) -> None:
    """It is returned unchanged: `None` is an answer, too."""
    cache.put_query("query", payload)
    hit = cache.get_query("query")
    assert hit is not None
    assert hit.payload == payload
    assert type(hit.payload) is type(payload)


def test_the_most_similar_answers(cache: VectorCache) -> None:
    """Not the newest, and not the first."""
    cache.put_query("a b c d e f g h", "eight")
    cache.put_query("a b c d e f g h i", "nine")
    cache.put_query("a b c d e f g h i j", "ten")
    assert payloads(cache, "i h g f e d c b a") == ["nine"]


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.85, 1.0])
def test_nothing_below_the_threshold_answers(store: Store, threshold: float) -> None:
    """0.0 is a value, at which the nearest always answers; at 1.0 only the same words do."""
    cache = VectorCache(store, WordEmbedder(), threshold=threshold)
    cache.put_query("alpha beta gamma", "stored")
    assert payloads(cache, "gamma beta alpha") == ["stored"]
    near, far = payloads(cache, "alpha beta delta", "omega psi chi")
    assert (near == "stored") == (threshold <= 0.5)
    assert (far == "stored") == (threshold == 0.0)


def test_similarities_are_from_0_to_1(store: Store) -> None:
    """For any two texts."""
    cache = VectorCache(store, WordEmbedder(), threshold=0.0)
    cache.put_query("one", 1)
    for query in ("one", *map(str, range(30))):
        hit = cache.get_query(query)
        assert hit is not None
        assert 0.0 <= hit.similarity <= 1.0


def test_the_same_query_is_one_entry(cache: VectorCache, store: Store, embedder: WordEmbedder) -> None:
    """Case and spacing do not matter; the later answer counts, with one embedding per put."""
    cache.put_query("What is  RAG", "old")
    cache.put_query(" what is rag\n", "new")
    assert len(embedder.texts) == 2
    assert payloads(cache, "WHAT IS RAG") == ["new"]
    assert [entry.text for entry in store.listings.scan(QUERIES, TENANT)] == ["what is rag"]


def test_an_answer_lives_48_hours(cache: VectorCache, clock: FakeClock) -> None:
    """At exactly that age it is expired."""
    cache.put_query("query", "payload")
    clock.advance(48 * HOURS - 1)
    assert payloads(cache, "query") == ["payload"]
    clock.advance(1)
    assert payloads(cache, "query") == [None]


def test_the_lifetime_is_set_for_all_or_for_one(store: Store, clock: FakeClock) -> None:
    """A query put with its own lifetime keeps it; others have that of the cache."""
    cache = VectorCache(store, WordEmbedder(), ttl=60, clock=clock)
    cache.put_query("short", 1, ttl=10)
    cache.put_query("usual", 2)
    cache.put_query("long", 3, ttl=100)
    clock.advance(10)
    assert payloads(cache, "short", "usual", "long") == [None, 2, 3]
    clock.advance(50)
    assert payloads(cache, "usual", "long") == [None, 3]


def test_an_expired_candidate_is_deleted_and_the_next_one_answers(
    cache: VectorCache, store: Store, clock: FakeClock
) -> None:
    """The nearest, if expired, hides no valid answer."""
    cache.put_query("a b c d e f g h", "fresh")
    cache.put_query("a b c d e f g h i", "expired", ttl=10)
    clock.advance(10)
    assert len(list(store.listings.scan(QUERIES, TENANT))) == 2
    assert payloads(cache, "a b c d e f g h i") == ["fresh"]
    assert [entry.text for entry in store.listings.scan(QUERIES, TENANT)] == ["a b c d e f g h"]


def test_an_expired_row_below_the_threshold_stays(cache: VectorCache, store: Store, clock: FakeClock) -> None:
    """It is not a candidate: the first one below the threshold ends the search."""
    cache.put_query("alpha", 1, ttl=10)
    clock.advance(10)
    assert payloads(cache, "omega") == [None]
    assert len(list(store.listings.scan(QUERIES, TENANT))) == 1


@pytest.mark.parametrize(("candidates", "found"), [(1, None), (2, None), (3, "fresh")])
def test_the_number_of_candidates_is_bounded(
    cache: VectorCache, clock: FakeClock, candidates: int, found: str | None
) -> None:
    """A valid answer beyond them is not searched."""
    cache.put_query("a b c d e f g h i j k l", "fresh")
    for more in ("m", "n"):
        cache.put_query(f"a b c d e f g h i j k l {more}", "expired", ttl=10)
    clock.advance(10)
    hit = cache.get_query("a b c d e f g h i j k l m n", candidates=candidates)
    assert (hit and hit.payload) == found


def test_a_renewed_answer_is_not_deleted(path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may put the query again between the read and the deletion: its row stays."""
    store = SqliteStore(path)
    cache = VectorCache(store, WordEmbedder(), clock=clock)
    cache.put_query("query", "old", ttl=10)
    clock.advance(10)
    delete = store.rows.delete

    def renewed_first(*args: Any, **options: Any) -> int:
        cache.put_query("query", "new")
        return delete(*args, **options)

    monkeypatch.setattr(store.rows, "delete", renewed_first)
    cache.get_query("query")
    assert payloads(cache, "query") == ["new"]
    store.close()


def test_a_put_deletes_expired_answers(cache: VectorCache, store: Store, clock: FakeClock) -> None:
    """So that they do not displace valid ones."""
    cache.put_query("old", 1, ttl=10)
    clock.advance(10)
    cache.put_query("new", 2)
    assert [entry.text for entry in store.listings.scan(QUERIES, TENANT)] == ["new"]


def test_the_least_recently_used_answer_is_evicted(store: Store, clock: FakeClock) -> None:
    """A hit is a use, and so is a put; a miss is none."""
    cache = VectorCache(store, WordEmbedder(), max_queries=3, clock=clock)
    for name in ("one", "two", "three"):
        clock.advance(1)
        cache.put_query(name, name)
    clock.advance(1)
    assert payloads(cache, "one", "unknown") == ["one", None]
    clock.advance(1)
    cache.put_query("four", "four")
    assert payloads(cache, "one", "two", "three", "four") == ["one", None, "three", "four"]


def test_eviction_affects_queries_only(store: Store, clock: FakeClock) -> None:
    """No chunk is evicted, and no query of another space or tenant."""
    others = [VectorCache(store, WordEmbedder(), clock=clock, **other) for other in ({"space": "b"}, {"tenant": "ann"})]
    for other in others:
        other.put_query("kept", "kept")
    cache = VectorCache(store, WordEmbedder(), max_queries=1, chunk_threshold=0.1, clock=clock)
    cache.add_document("doc", "a chunk that stays")
    for number in range(5):
        clock.advance(1)
        cache.put_query(f"query{number}", number)
    assert payloads(cache, "query3", "query4") == [None, 4]
    assert len(cache.search_chunks("a chunk that stays")) == 1
    assert [payloads(other, "kept") for other in others] == [["kept"], ["kept"]]


def test_200_queries_are_kept_by_default(store: Store, clock: FakeClock) -> None:
    """The 201st evicts the first."""
    cache = VectorCache(store, WordEmbedder(), clock=clock)
    for number in range(201):
        clock.advance(1)
        cache.put_query(f"q{number}", number)
    assert payloads(cache, "q0", "q1", "q200") == [None, 1, 200]


_actions = st.lists(
    st.tuples(st.sampled_from(["put", "get", "wait"]), st.sampled_from("abcdef"), st.integers(1, 60)), max_size=40
)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=_actions)
def test_queries_behave_like_an_lru_dict(kind: str, path: Path, actions: list[tuple[str, str, int]]) -> None:
    """After any puts, gets and waits, the answers are those of an LRU dict with expiries."""
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(path)
    store.admin.clear(QUERIES, TENANT)
    clock = FakeClock()
    cache = VectorCache(store, WordEmbedder(), max_queries=3, clock=clock)
    held: dict[str, tuple[int, float]] = {}  # the least recently used first
    for number, (action, query, seconds) in enumerate(actions):
        clock.advance(1)
        if action == "wait":
            clock.advance(seconds)
        elif action == "put":
            cache.put_query(query, number, ttl=seconds)
            held = {key: value for key, value in held.items() if value[1] > clock() and key != query}
            held[query] = number, clock() + seconds
            held = dict(list(held.items())[-3:])
        else:
            value = held.pop(query, (None, 0.0))
            if value[1] > clock():
                held[query] = value
            assert payloads(cache, query) == [value[0] if query in held else None]
    store.close()


def test_a_vector_of_another_embedder_does_not_answer(store: Store) -> None:
    """Vectors of two models are never compared; the identical query needs none."""
    other = WordEmbedder()
    other.id = "others-64"
    VectorCache(store, other).put_query("a query", "payload")
    assert payloads(VectorCache(store, WordEmbedder()), "query a", "A  query") == [None, "payload"]


def test_a_rejected_query_is_skipped(cache: VectorCache) -> None:
    """The caller accepts or rejects each, nearest first, until one is accepted."""
    for stored in ("a b c d e f g h", "a b c d e f g h i", "a b c d e f g h i j"):
        cache.put_query(stored, len(stored))
    offered: list[tuple[str, float]] = []

    def accept(query: str, similarity: float) -> bool:
        offered.append((query, similarity))
        return query == "a b c d e f g h"

    hit = cache.get_query("i h g f e d c b a", accept=accept)
    assert hit is not None
    assert hit.query == "a b c d e f g h"
    assert offered[0][0] == "a b c d e f g h i"
    assert offered[-1] == (hit.query, hit.similarity)
    assert [similarity for _, similarity in offered] == sorted((each for _, each in offered), reverse=True)
    assert cache.get_query("i h g f e d c b a", accept=lambda query, similarity: False) is None


def test_a_rejected_query_is_not_a_use(store: Store, clock: FakeClock) -> None:
    """It is evicted as if it had not been read."""
    cache = VectorCache(store, WordEmbedder(), max_queries=2, clock=clock)
    for name in ("a b c", "x y z"):
        clock.advance(1)
        cache.put_query(name, name)
    clock.advance(1)
    assert cache.get_query("c b a", accept=lambda query, similarity: False) is None
    cache.put_query("new", "new")
    assert payloads(cache, "a b c", "x y z") == [None, "x y z"]


def test_only_candidates_are_offered(cache: VectorCache) -> None:
    """At most `candidates`, none below the threshold, none expired; the identical query needs no acceptance."""
    for stored in ("a b c d e f g h", "a b c d e f g h i", "a b c d e f g h i j", "omega"):
        cache.put_query(stored, stored)
    cache.put_query("h g f e d c b a", "expired", ttl=1e-9)
    offered: list[str] = []

    def refuse(query: str, similarity: float) -> bool:
        offered.append(query)
        return False

    assert cache.get_query("i h g f e d c b a", candidates=9, accept=refuse) is None
    assert sorted(offered) == ["a b c d e f g h", "a b c d e f g h i", "a b c d e f g h i j"]
    offered.clear()
    assert cache.get_query("i h g f e d c b a", candidates=2, accept=refuse) is None
    assert len(offered) == 2
    offered.clear()
    hit = cache.get_query(" A  b C d e f g h", accept=refuse)
    assert hit is not None
    assert (hit.payload, hit.similarity, offered) == ("a b c d e f g h", 1.0, [])


@pytest.mark.parametrize("query", ["query", " QUERY\n", "another query", "query another"])
def test_the_identical_query_is_found_without_a_vector(
    cache: VectorCache, embedder: WordEmbedder, clock: FakeClock, query: str
) -> None:
    """With `same_only`, no other one answers; an expired one does not, and nothing is embedded."""
    cache.put_query("query", 1)
    cache.put_query("another one", 2)
    embedder.texts.clear()
    hit = cache.get_query(query, same_only=True)
    assert (hit and hit.payload) == (1 if query.lower().split() == ["query"] else None)
    clock.advance(48 * HOURS)
    assert cache.get_query(query, same_only=True) is None
    assert embedder.texts == []


@pytest.mark.parametrize("same_only", [True, False])
def test_a_hit_on_the_identical_query_embeds_nothing(
    cache: VectorCache, embedder: WordEmbedder, same_only: bool
) -> None:
    """Neither does a lookup in an empty cache."""
    assert cache.get_query("query", same_only=same_only) is None
    cache.put_query("query", 1)
    cache.put_query("another", 2)
    embedder.texts.clear()
    assert cache.get_query("query", same_only=same_only) is not None
    assert embedder.texts == []


class Full(MemoryStore):
    """A store that answers, and refuses writes once it is full."""

    full = False

    def touch(self, table: str, tenant: str, key: str, now: float) -> None:
        """See `Rows.touch`."""
        self._refuse()
        super().touch(table, tenant, key, now)

    def delete(self, table: str, tenant: str, keys: Any, *, expired_at: float | None = None) -> int:
        """See `Rows.delete`."""
        self._refuse()
        return super().delete(table, tenant, keys, expired_at=expired_at)

    def _refuse(self) -> None:
        if self.full:
            raise StoreError("the disk is full; make room")


def test_a_store_that_cannot_be_written_still_answers(clock: FakeClock) -> None:
    """Only the use or the expiry is not recorded."""
    store = Full()
    cache = VectorCache(store, WordEmbedder(), clock=clock)
    cache.put_query("query", 1)
    cache.put_query("old", 2, ttl=10)
    clock.advance(10)
    store.full = True
    assert payloads(cache, "query", "old") == [1, None]


# Chunks --------------------------------------------------------------------------------------------------------------


def test_a_document_is_found_by_its_chunks(cache: VectorCache) -> None:
    """An anchor has the text, its similarity, the document's metadata, and its position."""
    text = "alpha " * 250 + "\n\n" + "gamma " * 250
    assert cache.add_document("doc", text, {"title": "T", "tags": ["a"]}, "Introduction") == 2
    anchors = cache.search_chunks("gamma")
    assert [type(anchor) for anchor in anchors] == [Anchor]
    assert anchors[0].text == ("gamma " * 250).strip()
    assert anchors[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert anchors[0].metadata == {
        "title": "T", "tags": ["a"], "document": "doc", "chunk_index": 1, "section": "Introduction"
    }  # fmt: skip


def test_chunks_have_200_to_350_tokens_of_the_embedder(cache: VectorCache, embedder: WordEmbedder) -> None:
    """Except the last one; together they are the document."""
    text = " ".join(f"word{number}." for number in range(1_234))
    number = cache.add_document("doc", text)
    chunks = [chunk.text for chunk in cache.document_chunks("doc")]
    assert len(chunks) == number
    assert all(200 <= tokens <= 350 for tokens in embedder.count_tokens(chunks))
    assert " ".join(chunks) == text


def test_adding_a_document_again_replaces_its_chunks(cache: VectorCache, store: Store) -> None:
    """All of them, also if the new text is shorter; other documents stay."""
    cache.add_document("doc", f"alpha\n\n{LONG}\n\nbeta\n\n{LONG}\n\n{LONG}")
    cache.add_document("other", "gamma")
    assert cache.add_document("doc", "delta") == 1
    assert [chunk.text for chunk in cache.document_chunks("doc")] == ["delta"]
    assert sorted(entry.text for entry in store.listings.scan(CHUNKS, TENANT)) == ["delta", "gamma"]
    assert cache.search_chunks("alpha", threshold=0.5) == []


def test_a_document_that_cannot_be_embedded_leaves_the_old_one(
    cache: VectorCache, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding comes before writing."""
    cache.add_document("doc", "old")

    def fail(texts: object) -> None:
        raise EmbeddingError("the model is missing")

    monkeypatch.setattr(embedder, "embed", fail)
    with pytest.raises(EmbeddingError):
        cache.add_document("doc", "new")
    with pytest.raises(EmbeddingError):
        cache.put_query("query", 1)
    assert [chunk.text for chunk in cache.document_chunks("doc")] == ["old"]


def test_a_removed_document_is_not_found(cache: VectorCache) -> None:
    """The number of removed chunks is returned; 0 for an unknown document."""
    cache.add_document("doc", f"{LONG}\n\n{LONG}")
    cache.add_document("other", "lorem")
    assert cache.remove_document("doc") == 2
    assert cache.remove_document("doc") == 0
    assert [anchor.metadata["document"] for anchor in cache.search_chunks("lorem")] == ["other"]


def test_anchors_come_in_falling_similarity_down_to_the_threshold(cache: VectorCache) -> None:
    """The threshold of the cache, or that of the call; 0.0 is a value."""
    for text in ("a b", "a b c d", "a b c d e f g h", "x y z"):
        cache.add_document(text, text)
    found = cache.search_chunks("a b", threshold=0.0)
    assert [anchor.text for anchor in found[:3]] == ["a b", "a b c d", "a b c d e f g h"]
    similarities = [anchor.similarity for anchor in found]
    assert similarities == sorted(similarities, reverse=True)
    assert len(found) == 4
    assert [anchor.text for anchor in cache.search_chunks("a b", threshold=similarities[1])] == ["a b", "a b c d"]
    assert len(cache.search_chunks("a b", 1)) == 1


def test_the_threshold_of_chunks_defaults_to_that_of_queries(store: Store) -> None:
    """`None` means the same one; 0.0 does not mean `None`."""
    for chunk_threshold, found in ((None, 0), (0.0, 1)):
        cache = VectorCache(store, WordEmbedder(), chunk_threshold=chunk_threshold)
        cache.add_document("doc", "a b c d e f g h")
        assert len(cache.search_chunks("a b")) == found


@pytest.mark.slow
def test_the_cap_per_document_loses_no_result(cache: VectorCache) -> None:
    """However many chunks of one document are nearest, others fill the places, by repeated searches."""
    near = "\n\n".join(f"target {'target ' * 250}" for _ in range(40))
    assert cache.add_document("near", near) >= 30
    for number in range(6):
        cache.add_document(f"far{number}", f"target other{number}")
    found = [anchor.metadata["document"] for anchor in cache.search_chunks("target", 5, per_document=2)]
    assert found[:2] == ["near", "near"]
    assert len(set(found)) == 4
    assert len(cache.search_chunks("target", 20, per_document=1)) == 7


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=st.lists(st.lists(st.sampled_from(["a b", "a", "a c", "b c d", "a b c d e"]), min_size=1), max_size=5),
    k=st.integers(1, 8),
    cap=st.integers(1, 3),
    least=st.sampled_from([0.0, 0.3, 0.6]),
    min_chunks=st.integers(1, 4),
)
def test_a_search_equals_a_sorted_list(
    documents: list[list[str]], k: int, cap: int, least: float, min_chunks: int
) -> None:
    """The best of each document up to the cap, sorted, cut at the threshold and at `k`, or none if too few."""
    embedder = WordEmbedder()
    cache = VectorCache(MemoryStore(), embedder)
    asked = embedder.embed(["a b"])[0]
    expected: list[float] = []
    for number, chunks in enumerate(documents):
        text = "\n\n".join(f"{words} " * (240 // len(words.split())) for words in chunks)
        assert cache.add_document(str(number), text) == len(chunks)
        similarities = sorted((max(0.0, float(vector @ asked)) for vector in embedder.embed(chunks)), reverse=True)
        expected += [similarity for similarity in similarities[:cap] if similarity >= least]
    expected = sorted(expected, reverse=True)[:k]
    min_chunks = min(min_chunks, k)
    found = cache.search_chunks("a b", k, threshold=least, per_document=cap, min_chunks=min_chunks)
    assert [anchor.similarity for anchor in found] == pytest.approx(
        expected if len(expected) >= min_chunks else [], abs=1e-5
    )


def test_too_few_chunks_are_none(cache: VectorCache) -> None:
    """With `min_chunks`, the result has enough chunks or none."""
    for name in ("one", "two"):
        cache.add_document(name, f"alpha {name}")
    assert len(cache.search_chunks("alpha", min_chunks=2)) == 2
    assert cache.search_chunks("alpha", min_chunks=3) == []


def test_neighbours_of_a_chunk_are_read(cache: VectorCache) -> None:
    """One by its index, or all in order; `None` beyond either end."""
    cache.add_document("doc", "\n\n".join(f"part{number} {LONG}" for number in range(3)), {"title": "T"})
    chunks = cache.document_chunks("doc")
    assert [chunk.metadata["chunk_index"] for chunk in chunks] == [0, 1, 2]
    assert [chunk.text.split()[0] for chunk in chunks] == ["part0", "part1", "part2"]
    assert [cache.chunk("doc", index) for index in (-1, 0, 1, 2, 3)] == [None, *chunks, None]
    assert isinstance(chunks[0], StoredChunk)
    assert chunks[0].metadata["title"] == "T"
    assert (cache.chunk("unknown", 0), cache.document_chunks("unknown")) == (None, [])


def test_chunks_do_not_expire(cache: VectorCache, clock: FakeClock) -> None:
    """A document stays until it is replaced or removed."""
    cache.add_document("doc", "alpha")
    clock.advance(10 * 365 * 24 * HOURS)
    assert len(cache.search_chunks("alpha")) == 1


def test_an_expired_document_is_not_found(cache: VectorCache, store: Store, clock: FakeClock) -> None:
    """It expires at exactly that second; others stay and take its place. `drop_expired` deletes it."""
    cache.add_document("short", "alpha beta", ttl=10)
    cache.add_document("long", "alpha beta gamma", ttl=20)
    cache.add_document("for ever", "alpha beta gamma delta")
    found = [[anchor.metadata["document"] for anchor in cache.search_chunks("alpha beta", 2)]]
    for _ in range(2):
        clock.advance(10)
        found.append([anchor.metadata["document"] for anchor in cache.search_chunks("alpha beta", 2)])
    assert found == [["short", "long"], ["long", "for ever"], ["for ever"]]
    assert cache.drop_expired() == 2
    assert [entry.own[1] for entry in store.listings.scan(CHUNKS, TENANT)] == ["for ever"]
    assert cache.drop_expired() == 0


def test_expired_chunks_of_every_space_are_dropped(store: Store, clock: FakeClock) -> None:
    """Queries are not."""
    for space in ("a", "b"):
        VectorCache(store, WordEmbedder(), space=space, clock=clock).add_document("doc", "alpha", ttl=10)
    cache = VectorCache(store, WordEmbedder(), clock=clock)
    cache.put_query("query", 1, ttl=10)
    clock.advance(10)
    assert cache.drop_expired() == 2
    assert len(list(store.listings.scan(QUERIES, TENANT))) == 1


@pytest.mark.parametrize("ttl", [0, -1.0, nan, inf, "day"])
def test_an_invalid_lifetime_is_refused(cache: VectorCache, store: Store, ttl: Any) -> None:
    """Nothing is stored."""
    for add in (cache.add_document, cache.embedded_document):
        with pytest.raises(InvalidInput):
            add("doc", "alpha", ttl=ttl)
    assert list(store.listings.scan(CHUNKS, TENANT)) == []


def test_an_embedded_document_is_added_once(cache: VectorCache, embedder: WordEmbedder) -> None:
    """Chunks and vectors are those that a search compares; the second time, nothing is embedded or counted."""
    text = "\n\n".join(f"part{number} {LONG}" for number in range(3))
    first = cache.embedded_document("doc", text, {"title": "T"})
    assert [each.text.split()[0] for each in first] == ["part0", "part1", "part2"]
    assert [each.metadata for each in first] == [chunk.metadata for chunk in cache.document_chunks("doc")]
    made = embedder.embed([each.text for each in first])
    assert all((each.vector == vector).all() for each, vector in zip(first, made, strict=True))
    embedder.texts.clear()
    again = cache.embedded_document("doc", text, {"title": "T"})
    assert embedder.texts == []
    assert [(each.text, each.metadata) for each in again] == [(each.text, each.metadata) for each in first]
    assert all((one.vector == other.vector).all() for one, other in zip(again, first, strict=True))


def test_a_document_of_another_embedder_is_replaced(store: Store, embedder: WordEmbedder) -> None:
    """As a whole: one document never has rows of two embedders."""
    other = WordEmbedder()
    other.id, other.dimension = "others-8", 8
    text = f"{LONG}\n\n{LONG}"
    VectorCache(store, embedder).embedded_document("doc", text)
    chunks = VectorCache(store, other).embedded_document("doc", text)
    assert [each.vector.shape for each in chunks] == [(8,), (8,)]
    assert {entry.embedder for entry in store.listings.scan(CHUNKS, TENANT)} == {"others-8"}
    assert len(list(store.listings.scan(CHUNKS, TENANT))) == 2


def test_an_expired_document_is_added_again(cache: VectorCache, clock: FakeClock) -> None:
    """Otherwise a document in use would not be found, and would be deleted."""
    cache.embedded_document("doc", "alpha", ttl=10)
    clock.advance(10)
    assert len(cache.embedded_document("doc", "alpha", ttl=10)) == 1
    assert len(cache.search_chunks("alpha")) == 1


def test_an_incomplete_document_is_added_again(cache: VectorCache, store: Store) -> None:
    """`verify --repair` may have deleted a damaged row."""
    text = "\n\n".join(f"part{number} {LONG}" for number in range(3))
    whole = [each.text for each in cache.embedded_document("doc", text)]
    first = next(entry for entry in store.listings.scan(CHUNKS, TENANT) if entry.own[2] == 0)
    store.rows.delete(CHUNKS, TENANT, [first.key])
    assert [each.text for each in cache.embedded_document("doc", text)] == whole


@pytest.mark.parametrize("damage", ["x''", "x'00'", "NULL", "zeroblob(64)"])
def test_a_damaged_vector_is_reported_or_replaced(path: Path, damage: str) -> None:
    """Never a vector of another length, or an error of another library."""
    store = SqliteStore(path)
    cache = VectorCache(store, WordEmbedder())
    cache.embedded_document("doc", "alpha")
    store._connections.write(lambda connection: connection.execute(f"UPDATE agent_chunks SET embedding = {damage}"))
    try:
        [chunk] = cache.embedded_document("doc", "alpha")
    except StoreCorrupt:
        pass
    else:
        assert chunk.vector.shape == (64,)
    store.close()


def test_cutting_stores_nothing(cache: VectorCache, store: Store) -> None:
    """It returns the chunks that adding would store, and refuses the same input."""
    text = "\n\n".join(f"part{number} {LONG}" for number in range(3))
    cut = cache.cut("doc", text, {"title": "T"})
    assert list(store.listings.scan(CHUNKS, TENANT)) == []
    kept = cache.embedded_document("doc", text, {"title": "T"})
    assert [(each.text, each.metadata) for each in cut] == [(each.text, each.metadata) for each in kept]
    assert all((one.vector == other.vector).all() for one, other in zip(cut, kept, strict=True))
    for wrong in (("", "text"), ("new", " \n"), ("new", "\ud800"), ("new", "x" * 2_000_001)):
        with pytest.raises(InvalidInput):
            cache.cut(*wrong)
        with pytest.raises(InvalidInput):
            cache.embedded_document(*wrong)
    with pytest.raises(InvalidInput):
        cache.cut("doc", "text", {"chunk_index": 1})


@pytest.mark.parametrize("text", ["指数退避" * 3_000, "\u200b" * 50, "🦄 " * 900, "x" * 100_000, "ก" * 40_000], ids=len)
def test_any_text_is_cut(cache: VectorCache, text: str) -> None:
    """Without losing text; every vector has numbers."""
    chunks = cache.embedded_document("doc", text)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())
    assert all(abs(float(chunk.vector @ chunk.vector) - 1.0) < 1e-5 for chunk in chunks)


def test_the_layers_are_never_merged(cache: VectorCache) -> None:
    """A document does not answer like a solved query, and a solved query is not a passage."""
    cache.add_document("doc", "alpha beta")
    cache.put_query("gamma delta", 1)
    assert payloads(cache, "alpha beta") == [None]
    assert cache.search_chunks("gamma delta", threshold=0.5) == []


# Spaces, tenants, restarts, processes --------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [{"space": "b"}, {"tenant": "ann"}, {"space": "b", "tenant": "ann"}], ids=str)
def test_spaces_and_tenants_never_see_each_other(store: Store, other: dict[str, str]) -> None:
    """The same query and document in both: neither finds, changes or removes the other's."""
    mine, theirs = (VectorCache(store, WordEmbedder(), chunk_threshold=0.1, **own) for own in ({}, other))
    mine.put_query("query", "mine")
    mine.add_document("doc", "mine")
    assert payloads(theirs, "query") == [None]
    assert (theirs.search_chunks("mine"), theirs.document_chunks("doc"), theirs.chunk("doc", 0)) == ([], [], None)
    theirs.put_query("query", "theirs")
    theirs.add_document("doc", "theirs")
    assert (payloads(mine, "query"), payloads(theirs, "query")) == (["mine"], ["theirs"])
    assert theirs.remove_document("doc") == 1
    assert [chunk.text for chunk in mine.document_chunks("doc")] == ["mine"]


def test_everything_survives_a_restart(path: Path, clock: FakeClock) -> None:
    """Answers, chunks, and the order of use."""
    for step in range(2):
        store = SqliteStore(path)
        cache = VectorCache(store, WordEmbedder(), max_queries=2, chunk_threshold=0.1, clock=clock)
        if step == 0:
            cache.put_query("one", 1)
            clock.advance(1)
            cache.put_query("two", 2)
            clock.advance(1)
            assert payloads(cache, "one") == [1]
            cache.add_document("doc", "alpha")
        else:
            clock.advance(1)
            cache.put_query("three", 3)
            assert payloads(cache, "one", "two", "three") == [1, None, 3]
            assert len(cache.search_chunks("alpha")) == 1
        store.close()


def _use_elsewhere(path: str) -> list[Any]:
    """In another process: read everything and add to it."""
    store = SqliteStore(Path(path))
    cache = VectorCache(store, WordEmbedder(), chunk_threshold=0.1)
    found = [*payloads(cache, "ours"), *(anchor.text for anchor in cache.search_chunks("ours"))]
    cache.put_query("theirs", "theirs")
    cache.add_document("doc", "replaced by theirs")
    store.close()
    return found


@pytest.mark.slow
def test_two_processes_share_a_cache(path: Path) -> None:
    """Each sees the other's writes at once."""
    store = SqliteStore(path)
    cache = VectorCache(store, WordEmbedder(), chunk_threshold=0.1)
    cache.put_query("ours", "ours")
    cache.add_document("doc", "ours")
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(_use_elsewhere, (str(path),)) == ["ours", "ours"]
        pool.close()
        pool.join()
    assert payloads(cache, "ours", "theirs") == ["ours", "theirs"]
    assert [anchor.text for anchor in cache.search_chunks("ours theirs")] == ["replaced by theirs"]
    store.close()


# Refusals -------------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[VectorCache], object], str]] = {
    "no query": (lambda cache: cache.put_query(" \n", 1), "query is empty"),
    "a query that is no text": (lambda cache: cache.put_query(5, 1), "must be text"),
    "a broken query": (lambda cache: cache.put_query("a\ud800", 1), "lone surrogate"),
    "an endless query": (lambda cache: cache.put_query("a" * 10_001, 1), "10,000"),
    "an object": (lambda cache: cache.put_query("q", object()), "not JSON"),
    "a date": (lambda cache: cache.put_query("q", datetime(2026, 1, 1, tzinfo=UTC)), "not JSON"),
    "NaN": (lambda cache: cache.put_query("q", [nan]), "not JSON"),
    "infinity": (lambda cache: cache.put_query("q", inf), "not JSON"),
    "a tuple": (lambda cache: cache.put_query("q", {"a": (1, 2)}), "lists, not tuples"),
    "bytes": (lambda cache: cache.put_query("q", b"x"), "not JSON"),
    "numbers as keys": (lambda cache: cache.put_query("q", {1: 2}), "not JSON"),
    "a broken text": (lambda cache: cache.put_query("q", "\ud800"), "not JSON"),
    "a huge payload": (lambda cache: cache.put_query("q", "x" * 9 * 2**20), "at most 8,388,608"),
    "no lifetime": (lambda cache: cache.put_query("q", 1, ttl=0), "ttl must be"),
    "an endless lifetime": (lambda cache: cache.put_query("q", 1, ttl=inf), "ttl must be"),
    "no candidates": (lambda cache: cache.get_query("q", candidates=0), "candidates must be"),
    "no id": (lambda cache: cache.add_document("", "text"), "a document needs an id"),
    "a blank id": (lambda cache: cache.add_document(" ", "text"), "a document needs an id"),
    "an id that is no text": (lambda cache: cache.add_document(None, "text"), "a document needs an id"),
    "nothing to remove": (lambda cache: cache.remove_document(""), "a document needs an id"),
    "chunks of nothing": (lambda cache: cache.document_chunks(""), "a document needs an id"),
    "a chunk of nothing": (lambda cache: cache.chunk("", 0), "a document needs an id"),
    "no text": (lambda cache: cache.add_document("doc", " \n"), "remove_document"),
    "text of another type": (lambda cache: cache.add_document("doc", 5), "must be text"),
    "a broken document": (lambda cache: cache.add_document("doc", "\ud800"), "lone surrogate"),
    "an endless document": (lambda cache: cache.add_document("doc", "a " * 1_000_001), "split it"),
    "reserved metadata": (lambda cache: cache.add_document("doc", "x", {"section": 1}), "another name"),
    "metadata of another type": (lambda cache: cache.add_document("doc", "x", ["a"]), "mapping"),
    "metadata that is not JSON": (lambda cache: cache.add_document("doc", "x", {"a": {1}}), "not JSON"),
    "no chunks": (lambda cache: cache.search_chunks("q", 0), "k must be"),
    "half a chunk": (lambda cache: cache.search_chunks("q", 1.5), "k must be"),
    "none of a document": (lambda cache: cache.search_chunks("q", per_document=0), "per_document must be"),
    "too many at least": (lambda cache: cache.search_chunks("q", 2, min_chunks=3), "at most k"),
    "no similarity": (lambda cache: cache.search_chunks("q", threshold=1.5), "from 0 to 1"),
    "an empty search": (lambda cache: cache.search_chunks(""), "query is empty"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_bad_input_writes_nothing(
    cache: VectorCache, store: Store, embedder: WordEmbedder, call: Callable[[VectorCache], object], words: str
) -> None:
    """The error is one line; nothing is embedded and no row changes."""
    cache.put_query("q", "kept")
    cache.add_document("doc", "kept")
    before = [list(store.listings.scan(table, TENANT)) for table in (QUERIES, CHUNKS)], len(embedder.texts)
    with pytest.raises(InvalidInput, match=words) as raised:
        call(cache)
    assert "\n" not in str(raised.value)
    assert ([list(store.listings.scan(table, TENANT)) for table in (QUERIES, CHUNKS)], len(embedder.texts)) == before


@pytest.mark.parametrize(
    "settings",
    [{"threshold": -0.1}, {"threshold": 1.1}, {"threshold": nan}, {"threshold": "high"}, {"chunk_threshold": 2},
     {"ttl": 0}, {"ttl": nan}, {"max_queries": 0}, {"max_queries": 1.5}, {"space": ""}, {"tenant": " "},
     {"space": "\ud800"}, {"tenant": None}],
    ids=ascii,
)  # fmt: skip
def test_unusable_settings_are_refused(settings: dict[str, Any]) -> None:
    """Creating the cache raises."""
    with pytest.raises(InvalidInput):
        VectorCache(MemoryStore(), WordEmbedder(), **settings)


def test_a_damaged_row_is_an_error(path: Path) -> None:
    """It is not served, and is not a miss."""
    store = SqliteStore(path)
    cache = VectorCache(store, WordEmbedder(), chunk_threshold=0.1)
    cache.put_query("query", 1)
    cache.add_document("doc", "alpha")
    connection = sqlite3.connect(path)
    connection.executescript(
        "UPDATE agent_queries SET payload = '[{', checksum = NULL; "  # as of an older program
        "UPDATE agent_chunks SET metadata = '[]', checksum = NULL;"
    )
    connection.close()
    for call in (lambda: cache.get_query("query"), lambda: cache.search_chunks("alpha"), lambda: cache.chunk("doc", 0)):
        with pytest.raises(StoreCorrupt, match="verify --repair"):
            call()
    assert len(store.admin.verify(repair=True)) == 2
    assert store.admin.verify(repair=False) == []
    assert payloads(cache, "query") == [None]
    store.close()


# Guarantees of the store beyond its contract --------------------------------------------------------------------------


def test_an_undamaged_cache_passes_the_check_of_its_store(store: Store, clock: FakeClock) -> None:
    """`verify` accepts the rows of both layers."""
    cache = VectorCache(store, WordEmbedder(), clock=clock)
    cache.put_query("query", [1])
    cache.add_document("doc", "alpha", {"a": 1})
    assert store.admin.verify(repair=False) == []


def test_a_refused_replacement_changes_nothing(path: Path) -> None:
    """If the database refuses one of the new rows, all old ones remain."""
    store = SqliteStore(path)
    store.rows.put(SEARCHES, TENANT, an_entry("old"))
    with pytest.raises(StoreError):
        store.rows.replace(
            SEARCHES, TENANT, [an_entry("a"), an_entry("b", expires_at=nan)], instead_of={"engine": "ddgs"}
        )
    assert [entry.key for entry in store.listings.scan(SEARCHES, TENANT)] == ["old"]
    store.close()


def test_a_snapshot_is_read_and_never_written() -> None:
    """Its store refuses the new methods that write, and supports the new one that reads."""
    store = replay_store([])
    assert store.listings.find(CHUNKS, TENANT, {"document": "doc"}) == []
    for write in (
        lambda: store.rows.replace(CHUNKS, TENANT, [], instead_of={"document": "doc"}),
        lambda: store.rows.evict(QUERIES, TENANT, ("default",), 1),
        lambda: store.rows.delete(QUERIES, TENANT, ["k"], expired_at=0.0),
    ):
        with pytest.raises(StoreError, match="read-only"):
            write()


def test_chunks_and_their_neighbours_are_found_by_index(path: Path) -> None:
    """Evicted rows, too: neither reads unneeded rows."""
    store = SqliteStore(path)
    store.close()
    connection = sqlite3.connect(path)
    asked = {
        "SELECT * FROM agent_chunks WHERE tenant = 't' AND space = 's' AND document = 'd'": "agent_chunks_document",
        "SELECT seq FROM agent_queries WHERE tenant = 't' AND space = 's' ORDER BY last_used_at DESC, seq DESC "
        "LIMIT -1 OFFSET 9": "COVERING INDEX agent_queries_last_used_at",
    }
    for sql, index in asked.items():
        plan = " / ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}"))
        assert index in plan
        assert "TEMP B-TREE" not in plan
    connection.close()


def test_a_foreign_table_with_a_new_name_is_renamed(path: Path) -> None:
    """A file with another program's table `completions` opens, and that table is only renamed."""
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE completions (id INTEGER, body TEXT); INSERT INTO completions VALUES (1, 'x')"
    )
    connection.close()
    store = SqliteStore(path)
    assert store.listings.stats("completions", TENANT, 0.0).total == 0
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT * FROM completions_kept").fetchall() == [(1, "x")]
    connection.close()


def test_more_neighbours_than_a_statement_binds_are_found(path: Path) -> None:
    """Any number of rows is read, in parts."""
    store = SqliteStore(path)
    vector = WordEmbedder().embed(["same"])[0]
    entries = [
        an_entry(f"{number:04}", own=(10, "ddgs", "{}"), embedding=vector.tobytes(), embedder="words-64")
        for number in range(1_200)
    ]
    store.rows.replace(SEARCHES, TENANT, entries, instead_of={"engine": "ddgs"})
    found = store.nearest.search(SEARCHES, TENANT, ("ddgs", "{}"), vector, embedder="words-64", k=1_200, now=0.0)
    assert [each.entry for each in found] == entries
    store.close()


# The real model ------------------------------------------------------------------------------------------------------


def test_the_real_model_counts_its_word_pieces(minilm: MiniLM) -> None:
    """Without special tokens and without a limit; a broken text is an error."""
    assert minilm.count_tokens(["", "hello world", "tokenization", "word " * 1_000]) == [0, 2, 2, 1_000]
    assert minilm.count_tokens([]) == []
    with pytest.raises(EmbeddingError, match="surrogate"):
        minilm.count_tokens(["\ud800"])


def test_an_agent_finds_its_solutions_and_documents(path: Path, minilm: MiniLM) -> None:
    """With the real model: a paraphrase is answered, another question is not, and a passage is found in a document."""
    store = SqliteStore(path)
    cache = VectorCache(store, minilm, chunk_threshold=0.3)
    cache.put_query("best practices for rag pipelines", {"answer": "chunk well"})
    assert payloads(cache, "rag pipeline best practices", "how do whales sleep") == [{"answer": "chunk well"}, None]
    filler = "The harbour was busy in the morning, and ships came and went until the evening bell rang. " * 14
    whales = "Blue whales are the largest animals that have ever lived; an adult weighs up to 190 tonnes. " * 12
    bread = "Sourdough bread rises because wild yeast in the starter ferments the dough over many hours. " * 12
    number = cache.add_document("book", f"{filler}\n\n{whales}\n\n{bread}", {"title": "A book"})
    chunks = [chunk.text for chunk in cache.document_chunks("book")]
    assert len(chunks) == number >= 3
    assert all(200 <= tokens <= 350 for tokens in minilm.count_tokens(chunks)[:-1])
    anchors = cache.search_chunks("How heavy is the largest animal on Earth?", 2)
    assert "Blue whales" in anchors[0].text
    neighbour = cache.chunk("book", anchors[0].metadata["chunk_index"] + 1)
    assert neighbour is not None
    assert "bread" in neighbour.text
    store.close()


def test_the_examples_of_the_docstring_run() -> None:
    """Unchanged, with the real model."""
    assert doctest.testmod(vector_cache).failed == 0


def test_every_error_is_one_of_the_harness(cache: VectorCache) -> None:
    """A caller that catches `HarnessError` catches every refusal."""
    with pytest.raises(HarnessError):
        cache.put_query("", 1)
