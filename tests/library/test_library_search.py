"""The search of a library: by words and by meaning, with limits, with a reader and without."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.cache import Cache
from harness.core.freshness import DAY, HOUR
from harness.core.page_numbers import page_of
from harness.errors import EmbeddingError, InvalidInput, ReaderError, StoreError
from harness.library import FoundPassage, Library, LibraryPolicy
from harness.library.library_search import MAX_READ_CHARS
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder, WordReader, refusing
from tests.library.documents import NOW, POOL, TEXT, document, held, result

FACTS = [
    "A pool holds ten connections.",
    "A pool of water is cold.",
    "Connections are checked before use.",
    "The weather in Oslo is mild.",
    "A timeout ends a request.",
]


class BrokenReader(WordReader):
    """A reader whose weights are damaged."""

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """Fail."""
        raise ReaderError("the reader cannot be loaded")


class ContraryReader(WordReader):
    """A reader for which the later of the texts that it is given answer better."""

    def answers(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Reader.answers`."""
        self.read += texts
        return [len(self.read) / 10]


def fill(library: Library, texts: Sequence[str] = FACTS, **changes: Any) -> None:
    """Add a document for each text."""
    for number, text in enumerate(texts):
        library.index.add(document(text, f"file:///{number}", **changes))


def found(library: Library, query: str, k: int = 10, **how: Any) -> list[str]:
    """Return the texts that a query finds, best first."""
    return [each.passage.text for each in library.search(query, k, **how)]


def with_reader(store: Store, clock: FakeClock, reader: WordReader) -> Library:
    """Return the library with a reader."""
    return Library(store, WordEmbedder(), reader=reader, clock=clock)


# --- order


def test_the_best_by_words_and_meaning_comes_first(library: Library) -> None:
    """A passage has ranks and a similarity. Found by meaning only, it has no rank by words."""
    fill(library)
    first, *others = library.search("pool holds connections")
    assert (first.passage.text, first.by_words, first.by_meaning) == (FACTS[0], 1, 1)
    assert first.similarity is not None
    assert 0.3 < first.similarity <= 1
    assert first.relevance is None
    assert len(others) == 4
    oslo = next(each for each in others if each.passage.text == FACTS[3])
    assert oslo.by_words is None
    assert oslo.by_meaning is not None


def test_ranks_are_fused(library: Library) -> None:
    """Reciprocal ranks of both lists are added up, and no passage is found twice."""
    fill(library)
    library.index.add(document("A pool without a vector.", "file:///unembedded"), seconds=0)
    library._search.store.nearest.unembedded = lambda *_: []  # type: ignore[method-assign]

    def score(each: FoundPassage) -> float:
        return sum(1 / (60 + rank) for rank in (each.by_words, each.by_meaning) if rank is not None)

    for query in ("connections of a pool", "pool", "the weather", "how cold is water in a pool", "a"):
        answers = library.search(query)
        assert [score(each) for each in answers] == sorted(map(score, answers), reverse=True)
        assert len({each.passage.key for each in answers}) == len(answers) == 6 - (query == "the weather")
        for ranks in ([each.by_words for each in answers], [each.by_meaning for each in answers]):
            given = sorted(rank for rank in ranks if rank is not None)
            assert given == list(range(1, len(given) + 1))
    unembedded = next(each for each in library.search("pool") if each.passage.url == "file:///unembedded")
    assert (unembedded.by_meaning, unembedded.similarity) == (None, None)


def test_a_word_of_the_title_finds_its_passage(library: Library) -> None:
    """The text itself does not need to have the word."""
    fill(library)
    library.index.add(document("It holds ten.", "file:///titled", title="Semaphores"))
    assert library.search("semaphores")[0].passage.url == "file:///titled"


def test_a_query_of_small_words_finds_them(library: Library) -> None:
    """Small words count if the query has no others. Signs find by meaning only."""
    fill(library)
    assert {each.passage.text for each in library.search("in before") if each.by_words} == {FACTS[2], FACTS[3]}
    assert [each.by_words for each in library.search("?!")] == [None] * 5


def test_a_search_catches_up(cache: Cache, library: Library) -> None:
    """Results cached a moment ago are indexed first and found, and progress is shown."""
    cache.searches.put("pools", [result()])
    shown: list[str] = []
    assert found(library, "pool", progress=lambda what, _done, _total: shown.append(what)) == [TEXT]
    assert "indexing passages" in shown


# --- limits


def test_only_some_passages(library: Library) -> None:
    """`only` selects passages, and ranks are given after that."""
    fill(library)
    answers = library.search("connections of a pool", only=lambda each: each.url in {"file:///1", "file:///2"})
    assert {each.passage.url for each in answers} == {"file:///1", "file:///2"}
    assert sorted(each.by_meaning or 0 for each in answers) == [1, 2]
    assert found(library, "pool", only=lambda _: False) == []


def test_the_age_is_limited(library: Library, clock: FakeClock) -> None:
    """Passages up to and including `max_age` seconds are found."""
    fill(library, FACTS[:1])
    clock.advance(HOUR)
    fill(library, FACTS[2:3], fetched_at=clock.now)
    library.index.add(document(FACTS[0], "file:///old"))
    assert found(library, "connections", max_age=HOUR - 1) == [FACTS[2]]
    assert len(found(library, "connections", max_age=HOUR)) == 2
    assert found(library, "connections", max_age=0) == [FACTS[2]]
    assert len(found(library, "connections")) == 2


@pytest.mark.parametrize("query", ["latest pool", "pool today", "pool 2023", "price of a pool"])
def test_old_passages_do_not_answer_about_the_present(library: Library, clock: FakeClock, query: str) -> None:
    """Passages of the last hour do; `max_age` can only make that shorter. Other questions find all."""
    fill(library, FACTS[:1])
    clock.advance(HOUR + 1)
    fill(library, ["A pool holds twenty."], fetched_at=clock.now - HOUR / 2)
    library.index.add(document(FACTS[0], "file:///old"))
    assert found(library, query) == ["A pool holds twenty."]
    assert found(library, query, max_age=DAY) == ["A pool holds twenty."]
    assert found(library, query, max_age=60) == []
    assert len(found(library, "size of a pool")) == 2


def test_the_age_for_the_present_is_a_setting(store: Store, clock: FakeClock) -> None:
    """The policy sets it."""
    library = Library(store, WordEmbedder(), policy=LibraryPolicy(volatile_ttl=DAY), clock=clock)
    fill(library, FACTS[:1])
    clock.advance(2 * HOUR)
    assert found(library, "latest pool") == FACTS[:1]


def test_expired_passages_are_not_found(library: Library, clock: FakeClock) -> None:
    """An expired majority does not hide a fresh passage."""
    fill(library, [f"{number} connections of a pool" for number in range(80)], expires_at=clock.now + 1)
    clock.advance(DAY)
    library.index.add(document("A pool of another kind.", "file:///fresh", fetched_at=clock.now))
    clock.now = NOW + 7 * DAY
    assert found(library, "connections of a pool") == ["A pool of another kind."]


@pytest.mark.parametrize("k", [1, 2, 5, 100])
def test_at_most_k_passages(library: Library, k: int) -> None:
    """The first ones of the same order."""
    fill(library)
    assert found(library, "connections of a pool", k) == found(library, "connections of a pool", 100)[:k]


@pytest.mark.parametrize("k", [0, -1, 101, 10**9])
def test_a_number_out_of_range_is_refused(library: Library, k: int) -> None:
    """The error names the range."""
    with pytest.raises(InvalidInput, match="1 to 100 passages"):
        library.search("pool", k)


@pytest.mark.parametrize("query", ["", "  \n", "\0", "a\0b", "x" * 10_001, None, 7, ["pool"]])
def test_an_invalid_query_is_refused(library: Library, cache: Cache, query: Any) -> None:
    """The error comes before an update."""
    cache.searches.put("pools", [result()])
    with pytest.raises(InvalidInput):
        library.search(query)
    assert library.stats().total == 0


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_a_query_or_refused(library: Library, query: str) -> None:
    """Operators of the databases' query languages are only text."""
    if not library.stats().total:
        fill(library)
    try:
        assert len(library.search(query)) == 5
    except InvalidInput:
        assert not query.strip() or "\0" in query


def test_an_empty_library_finds_nothing(library: Library) -> None:
    """The result is empty, without an error."""
    assert library.search("pool") == []
    assert (library.stats().total, library.stats().oldest, library.stats().unembedded) == (0, None, 0)


# --- the reader


def test_the_reader_orders_the_first_passages(store: Store, clock: FakeClock) -> None:
    """Relevance and earlier ranks are fused, and each passage has its relevance."""
    reader = WordReader()
    library = with_reader(store, clock, reader)
    fill(library)
    answers = library.search("water in a pool")
    plain = Library(store, WordEmbedder(), clock=clock).search("water in a pool")
    relevances = [each.relevance for each in answers]
    assert all(each is not None and 0 <= each <= 1 for each in relevances)
    assert answers[0].passage.text == FACTS[1]
    assert answers[0].relevance == max(each for each in relevances if each is not None)
    before = [each.passage.key for each in plain]
    likeliest = sorted(answers, key=lambda each: (-(each.relevance or 0), before.index(each.passage.key)))
    ranks = {each.passage.key: place for place, each in enumerate(likeliest)}

    def fused(each: FoundPassage) -> float:
        return -1 / (61 + ranks[each.passage.key]) - 1 / (61 + before.index(each.passage.key))

    scores = [fused(each) for each in answers]
    assert scores == sorted(scores)


def test_the_ranks_before_weigh_as_much_as_the_reader(store: Store, clock: FakeClock) -> None:
    """Opposite orders put the two ends first and the middle last."""
    reader = ContraryReader()
    reader.calibration = replace(reader.calibration, embedder="none", weights=(1.0, 0.0, 0.0))
    library = with_reader(store, clock, reader)
    fill(library)
    before = [each.passage.key for each in Library(store, WordEmbedder(), clock=clock).search("connections of a pool")]
    answers = library.search("connections of a pool")
    assert [before.index(each.passage.key) for each in answers] == [4, 0, 3, 1, 2]
    assert answers[1].relevance == min(each.relevance or 1 for each in answers)


def test_only_the_first_passages_are_read(store: Store, clock: FakeClock) -> None:
    """Others follow in the order of their ranks, without a relevance. With `read=0`, no text is read."""
    reader = WordReader()
    library = with_reader(store, clock, reader)
    fill(library)
    plain = Library(store, WordEmbedder(), clock=clock).search("connections of a pool")
    answers = library.search("connections of a pool", read=2)
    assert [each.relevance is not None for each in answers] == [True, True, False, False, False]
    assert answers[2:] == plain[2:]
    assert len(reader.read) == 2
    assert library.search("connections of a pool", read=0) == plain
    assert len(reader.read) == 2


def test_long_passages_are_read_in_part(store: Store, clock: FakeClock) -> None:
    """The reader gets title, heading and text, up to a number of characters."""
    reader = WordReader()
    library = with_reader(store, clock, reader)
    library.index.add(document("# Size\n\n" + "pool " * 199, title="Pools " * 40))
    library.search("pool")
    assert [len(each) for each in reader.read] == [MAX_READ_CHARS]
    assert reader.read[0].startswith("Pools Pools")
    assert "Size" in reader.read[0]


def test_reading_is_shown(store: Store, clock: FakeClock) -> None:
    """One step for each passage."""
    library = with_reader(store, clock, WordReader())
    fill(library)
    shown: list[tuple[str, int, int]] = []
    library.search("pool", read=2, progress=lambda *step: shown.append(step))
    assert shown == [("reading passages", 0, 2), ("reading passages", 1, 2), ("reading passages", 2, 2)]


def test_a_broken_reader_leaves_the_order_of_ranks(
    store: Store, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Passages have no relevance, and a warning says why."""
    library = with_reader(store, clock, BrokenReader())
    fill(library)
    assert library.search("pool") == Library(store, WordEmbedder(), clock=clock).search("pool")
    assert "the reader cannot be loaded" in caplog.text


def test_a_broken_embedder_leaves_the_words(
    library: Library, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning says why there is nothing by meaning."""
    fill(library)

    def broken(_: Sequence[str]) -> None:
        raise EmbeddingError("the model is missing")

    monkeypatch.setattr(embedder, "embed", broken)
    caplog.set_level(logging.WARNING)
    answers = library.search("connections")
    assert {each.passage.text for each in answers} == {FACTS[0], FACTS[2]}
    assert [(each.by_words, each.by_meaning) for each in answers] == [(1, None), (2, None)]
    assert "the model is missing" in caplog.text


def test_a_broken_store_is_an_error(clock: FakeClock) -> None:
    """Errors of the store are raised; the result is not empty instead."""
    for method in ("nearest.by_words", "nearest.search", "listings.outlines"):
        store = refusing(StoreError("the disk failed"), method)
        with pytest.raises(StoreError, match="the disk failed"):
            Library(store, WordEmbedder(), clock=clock).search("pool")


def test_the_least_relevance_is_the_readers(store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold is `None` without a reader and with a broken one."""
    assert Library(store, WordEmbedder(), clock=clock).least_relevance is None
    assert with_reader(store, clock, WordReader(0.0)).least_relevance == 0.0
    assert with_reader(store, clock, WordReader(0.7)).least_relevance == 0.7

    def broken(_: object) -> None:
        raise ReaderError("its file is missing")

    monkeypatch.setattr(WordReader, "calibration", property(broken, lambda *_: None), raising=False)
    assert with_reader(store, clock, WordReader()).least_relevance is None


# --- single passages


def test_passages_of_a_source_are_in_order(cache: Cache, library: Library) -> None:
    """Document after document, each from its beginning."""
    numbers = range(12)
    library.index.add(document("\n".join(f"# {n}\n\nPassage {n}.\n" for n in numbers), POOL, source="page"))
    cache.searches.put("pools", [result(body="An excerpt.")])
    library.index.update()
    listed = library.passages_of(f"{POOL}/#top")
    assert [each.text for each in listed] == [*(f"Passage {n}." for n in numbers), "An excerpt."]
    assert library.passages_of("https://a.org") == []
    assert len({each.key for each in listed}) == len(listed)
    assert sorted(held(library)) == sorted((POOL, each.text) for each in listed)


# --- the engine


def test_the_engine_says_where_pages_begin(cache: Cache, library: Library) -> None:
    """After a heading, too; a passage read without pages has none, and a passage of a search keeps its own."""
    text = "# Size\n\nA pool holds ten.\n\n# Growth\n\nA pool may grow."
    starts = ((8, 3), (text.index("A pool may"), 7))
    library.index.add(document(text, POOL, title="Pools", source="page", page_starts=starts))
    library.index.add(document("A pool is a set.", POOL, title="Pools", source="snippet"))
    cache.searches.put("pool", [{**result("https://a.org/1", "A pool of pages."), "page_starts": [[0, 5]]}])
    paged, other = sorted(library.engine().search("how does a pool grow", 10), key=lambda each: each["href"] != POOL)
    bodies = ("A pool holds ten.", "A pool may grow.", "A pool is a set.")
    assert [page_of(each, paged["body"], paged["page_starts"]) for each in bodies] == [3, 7, 0]
    assert other["page_starts"] == ((0, 5),)


def test_the_engine_has_one_result_for_each_source(library: Library) -> None:
    """The body has the found passages in the order of the document, with headings, but without a repeated title."""
    library.index.add(document("# Size\n\nA pool holds ten.\n\n# Growth\n\nA pool may grow.", POOL, title="Size"))
    library.index.add(document("A pool of water.", "https://a.org/water", title="Water"))
    engine = library.engine()
    assert engine.name == "library"
    pool, water = sorted(engine.search("how does a pool grow", 10), key=lambda each: each["href"] != POOL)
    assert pool == {"title": "Size", "href": POOL, "body": "A pool holds ten.\n\n# Growth\n\nA pool may grow."}
    assert water == {"title": "Water", "href": "https://a.org/water", "body": "A pool of water."}
    assert len(engine.search("pool", 1)) == 1


def test_a_change_of_the_library_changes_the_engine(cache: Cache, library: Library, clock: FakeClock) -> None:
    """The options change, and so do the keys of cached results. Without a change they stay."""
    seen = [library.engine().options]
    assert library.engine().options == seen[0]

    def changed() -> None:
        assert library.engine().options not in seen
        seen.append(library.engine().options)

    cache.searches.put("pools", [result()])
    changed()
    library.index.add(document("Whole."))
    changed()
    library.index.add(document("Other.", fetched_at=clock.now + 1))
    changed()
    library.forget(POOL)
    changed()
    clock.advance(DAY)
    assert library.engine().options == seen[-1]
