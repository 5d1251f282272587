"""Hostile rows of searches, pages and knowledge: no error, and the passages stay bounded."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.freshness import DAY
from harness.core.tables import KNOWLEDGE, PAGES, READ, SEARCHES, KnowledgeColumns, PageColumns, SearchColumns
from harness.core.text import clean
from harness.library import HeldPassage, Library
from harness.library.held_passages import (
    MAX_DOCUMENT_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    documents_in,
    passage_of,
    rows_of,
)
from harness.ports import Store
from tests.fakes import FakeClock, put_payload
from tests.library.documents import NOW, POOL, TEXT, Pages, result, search_row

OWN: dict[str, Any] = {
    SEARCHES: SearchColumns(10, "ddgs", "{}"),
    PAGES: PageColumns("web"),
    KNOWLEDGE: KnowledgeColumns("", 1),
}
CONTROL = "\x00\x1b\x07\u202e\x9b\ufeff"
MEGABYTES = 10 * 2**20


def one(**fields: object) -> bytes:
    """Return the payload of a search with one result."""
    return orjson.dumps([{"title": "Title", "href": "https://a.org/hostile", "body": "Body.", **fields}])


PAYLOADS = {
    "results that are no dicts": b'[1, null, "text", [{"href": "https://a.org", "body": "x"}], {}, true, 1e308]',
    "no list": b'{"href": "https://a.org", "body": "x"}',
    "a number": b"7",
    "null": b"null",
    "no JSON": b"{",
    "nothing": b"",
    "a lone surrogate": b'[{"href": "https://a.org/hostile", "body": "\\ud800 text"}]',
    "deep": b"[" * 100_000,
    "a deep title": one().replace(b'"Title"', b"[" * 900 + b"]" * 900),
    "numbers": one(href=7, title=7, body=7),
    "lists": one(href=["https://a.org"], title=[], body=["x"]),
    "objects": one(href={}, title={}, body={"x": None}),
    "nulls": one(href=None, title=None, body=None),
    "a body of ten megabytes": one(body="word " * (MEGABYTES // 5)),
    "a word of ten megabytes": one(body="x" * MEGABYTES),
    "ten megabytes of lines": one(body="#\n" * (MEGABYTES // 2)),
    "ten megabytes of headings": one(body="# x\n\ny\n\n" * (MEGABYTES // 8)),
    "a title of a megabyte": one(title="title " * 200_000),
    "a URL of 5,000 characters": one(href="https://a.org/" + "a" * 5_000),
    "a URL that grows": one(href="https://a.org/" + "é" * 1_900),
    "control characters": one(body=f"{CONTROL}Body{CONTROL}", title=f"T{CONTROL}", href=f"https://a.org/{CONTROL}"),
    "control characters only": one(body=CONTROL, title=CONTROL, href=CONTROL),
    "no host": one(href="https://[::1", body="Body."),
    "a script": one(href="javascript:alert(1)"),
    "many results": orjson.dumps([result(f"https://a.org/{number}", f"Fact {number}.") for number in range(500)]),
}


def assert_bounded(passage: HeldPassage) -> None:
    """Check the lengths and the characters of a passage."""
    assert 0 < len(passage.text) <= 1_000
    assert 0 < len(passage.url) <= MAX_URL_CHARS
    assert 0 < len(passage.title) <= MAX_TITLE_CHARS
    assert len(passage.section) <= 200
    assert len(passage.found_by) <= MAX_TITLE_CHARS
    for text in (passage.text, passage.url, passage.title, passage.section):
        assert clean(text, len(text)) == text.strip()
        text.encode()
    assert "\n" not in passage.title


@pytest.mark.slow
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_hostile_search_is_no_obstacle(library: Library, store: Store, cache: Cache, name: str) -> None:
    """Its passages are bounded and clean, and other rows are read."""
    put_payload(store, SEARCHES, search_row(PAYLOADS[name], "hostile"))
    cache.searches.put("pools", [result()])
    library.index.update(seconds=0)
    assert TEXT in {each.text for each in library.passages()}
    for each in library.passages():
        assert_bounded(each)
    assert sum(len(each.text) for each in library.passages_of("https://a.org/hostile")) <= MAX_DOCUMENT_CHARS
    assert len({each.key for each in library.passages()}) == library.stats().total
    for found in library.search("body text word title"):
        assert_bounded(found.passage)
    assert library.index.update(seconds=0) == 0


def test_most_of_them_give_no_passage(library: Library, store: Store) -> None:
    """A result without a text or without a URL is left out."""
    names = [
        "results that are no dicts", "no list", "a number", "null", "no JSON", "nothing", "a lone surrogate", "deep",
        "nulls", "objects", "a URL of 5,000 characters", "a URL that grows", "control characters only",
    ]  # fmt: skip
    for name in names:
        put_payload(store, SEARCHES, search_row(PAYLOADS[name], name))
    library.index.update()
    assert [(each.url, each.text) for each in library.passages()] == []


def test_a_payload_that_is_no_text(library: Library, store: Store) -> None:
    """Damage can write one; it gives no passage."""
    put_payload(store, SEARCHES, search_row(b'[{"href": "https://a.org", "body": "\xff\xfe"}]'))
    assert library.index.update() == 0


def test_a_row_with_an_infinite_time_is_no_obstacle(library: Library, store: Store, cache: Cache) -> None:
    """Other rows are read."""
    row = search_row(b'[{"href": "https://a.org", "body": "x"}]', created_at=float("inf"))
    store.rows.put(SEARCHES, "default", row)
    cache.searches.put("pools", [result()])
    library.index.update()
    assert TEXT in {each.text for each in library.passages()}


def test_a_long_page_is_cut(cache: Cache, library: Library) -> None:
    """The first 200,000 characters become passages, each once."""
    cache.pages.answer(POOL, Pages({POOL: "\n\n".join(f"Sentence number {n} of a long page." for n in range(20_000))}))
    added = library.index.update(seconds=0)
    held = library.passages_of(POOL)
    assert len(held) == added
    assert 150 < added < 300
    assert [each.position for each in held] == list(range(added))
    assert held[0].text.startswith("Sentence number 0 of")
    assert 190_000 < sum(len(each.text) for each in held) <= MAX_DOCUMENT_CHARS


def test_a_repeated_paragraph_is_stored_once(cache: Cache, library: Library) -> None:
    """A page that repeats one paragraph a hundred times gives one passage."""
    paragraph = "x" * 900
    cache.pages.answer(POOL, Pages({POOL: "\n\n".join([paragraph] * 100)}))
    assert library.index.update() == 1
    assert [each.text for each in library.passages()] == [paragraph]


def test_damaged_passages_are_left_out(library: Library, store: Store, clock: FakeClock) -> None:
    """A row whose details are not valid JSON is not found and not listed. Other rows are."""
    from harness.core.tables import LIBRARY, LibraryColumns

    for number, payload in enumerate((b"[]", b"{", b'{"position": -1}', b'{"section": 7}', b"\xff")):
        own = LibraryColumns("d", POOL, "Pools", "page", "web")
        put_payload(store, LIBRARY, Entry(f"k{number}", TEXT, payload, NOW, NOW + DAY, NOW, own))
        assert f"k{number}" not in {each.key for each in library.passages()}
    own = LibraryColumns("e", "https://a.org", "Pools", "page", "web")
    put_payload(store, LIBRARY, Entry("whole", TEXT, b"{}", NOW, NOW + DAY, NOW, own))
    assert [each.passage.key for each in library.search("pool connections")] == ["whole"]
    assert [each.key for each in library.passages()] == ["whole"]
    assert library.passages_of(POOL) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["href", "body", "title", "text", "url", "content", "source_url", "x"]), inner, max_size=6
        )
    ),
    max_leaves=12,
)


@given(table=st.sampled_from(READ), payload=JSON.map(orjson.dumps) | st.binary(max_size=40), text=st.text(max_size=40))
def test_any_row_has_bounded_documents_or_none(table: str, payload: bytes, text: str) -> None:
    """Every passage is within the limits and is a part of its document."""
    row = Entry("k", text, payload, NOW, NOW + DAY, NOW, OWN[table])
    for found in documents_in(table, row):
        assert len(found.id) == 64
        assert found.volatile in {True, False}
        for made in rows_of(found, found.expires_at):
            passage = passage_of(made)
            assert passage is not None
            assert_bounded(passage)
            assert passage.url == found.url
            assert passage.text in found.text or " ".join(passage.text.split()) in " ".join(found.text.split())
