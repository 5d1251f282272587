"""The language of passages: that of their page, else the detector's; a search can be limited to one."""

import orjson
import pytest

from harness.cache import Cache
from harness.core.entries import Entry
from harness.core.tables import LIBRARY, PAGES, LibraryColumns, PageColumns
from harness.errors import InvalidInput
from harness.library import Library, in_language
from harness.library.held_passages import documents_in, passage_of, rows_of
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder
from tests.library.documents import NOW, POOL, TEXT, document, result

GERMAN = "Ein Pool hält zehn Verbindungen."
RUSSIAN = "Пул держит десять соединений."


class Umlauts:
    """A detector for which a text with an umlaut is German, and no other text has a language."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def language(self, text: str) -> str:
        """See `LanguageDetector.language`."""
        self.texts.append(text)
        return "de" if "ä" in text else ""


@pytest.fixture
def detector() -> Umlauts:
    """Return the detector."""
    return Umlauts()


@pytest.fixture
def library(store: Store, embedder: WordEmbedder, clock: FakeClock, detector: Umlauts) -> Library:
    """Return a library with a detector."""
    return Library(store, embedder, clock=clock, detector=detector)


def languages(library: Library) -> dict[str, str]:
    """Return the language of every text."""
    return {each.text: each.language for each in library.passages()}


def test_the_detector_finds_the_language(library: Library, cache: Cache, detector: Umlauts) -> None:
    """Each passage has its own. Caching an answer detects nothing, and each text is looked at once."""
    cache.searches.put("pools", [result(body=GERMAN), result("https://a.org", TEXT)])
    assert detector.texts == []
    library.index.update()
    assert languages(library) == {GERMAN: "de", TEXT: ""}
    library.index.update()
    assert sorted(detector.texts) == sorted([GERMAN, TEXT])


@pytest.mark.parametrize(
    ("declared", "text", "language", "asked"),
    [
        ("en", TEXT, "en", False),
        ("en-GB", TEXT, "en", False),
        ("en", GERMAN, "en", False),
        ("ru", RUSSIAN, "ru", False),
        ("en", RUSSIAN, "", True),
        ("ru", GERMAN, "de", True),
        ("", GERMAN, "de", True),
        ("xx", GERMAN, "de", True),
        ("english", GERMAN, "de", True),
        ("<script>", TEXT, "", True),
    ],
)
def test_a_declared_language_counts_if_the_script_agrees(
    library: Library, detector: Umlauts, declared: str, text: str, language: str, *, asked: bool
) -> None:
    """An invalid tag, or one of another script, leaves the passage to the detector."""
    library.index.add(document(text, language=declared))
    assert languages(library) == {text: language}
    assert detector.texts == ([text] if asked else [])


@pytest.mark.parametrize(
    ("declared", "language"),
    [("en", "en"), ("", ""), (7, ""), (None, ""), (["en"], ""), ("e" * 10**6, "")],
    ids=lambda value: ascii(value)[:30],
)
def test_a_cached_page_declares_its_language(declared: object, language: str) -> None:
    """Any other value than a tag is no language."""
    payload = orjson.dumps({"text": TEXT, "title": "Pools", "language": declared})
    row = Entry("k", POOL, payload, NOW, NOW + 60, NOW, PageColumns("web"))
    (found,) = documents_in(PAGES, row)
    held = passage_of(rows_of(found, NOW + 60)[0])
    assert held is not None
    assert held.language == language


def test_without_a_detector_only_pages_have_a_language(store: Store, embedder: WordEmbedder, clock: FakeClock) -> None:
    """Other passages have none."""
    library = Library(store, embedder, clock=clock)
    library.index.add(document(GERMAN))
    library.index.add(document(TEXT, POOL, language="en"))
    assert languages(library) == {GERMAN: "", TEXT: "en"}


@pytest.mark.parametrize(
    ("stored", "language"),
    [(None, ""), ("", ""), ("de", "de"), ("<b>", ""), ("x" * 10**5, "")],
    ids=lambda value: ascii(value)[:30],
)
def test_a_stored_language_is_a_tag_or_nothing(stored: str | None, language: str) -> None:
    """Older rows have none, damaged and imported ones may have anything."""
    own = LibraryColumns("d", POOL, "Pools", "page", "web", stored)
    held = passage_of(Entry("k", TEXT, b"{}", NOW, NOW + 60, NOW, own))
    assert held is not None
    assert held.language == language


def test_an_older_passage_gets_its_language_when_it_is_read_again(
    store: Store, library: Library, embedder: WordEmbedder, clock: FakeClock
) -> None:
    """Its vector stays."""
    Library(store, embedder, clock=clock).index.add(document(GERMAN))
    row = next(iter(store.listings.scan(LIBRARY, "default")))
    embedded = len(embedder.texts)
    library.index.add(document(GERMAN))
    assert languages(library) == {GERMAN: ""}
    library.index.add(document(GERMAN, fetched_at=NOW + 1))
    assert languages(library) == {GERMAN: "de"}
    assert len(embedder.texts) == embedded
    assert next(iter(store.listings.scan(LIBRARY, "default"))).embedding == row.embedding


def test_a_search_is_limited_to_a_language(library: Library) -> None:
    """Passages without a certain language are left out; the order of the others is unchanged."""
    for number in range(60):
        library.index.add(document(f"Pool number {number}.", f"https://a.org/{number}", language="en"))
    library.index.add(document("Pool: zehn Verbindungen hält er.", "https://a.org/de"))
    library.index.add(document("Pool pool pool.", "https://a.org/none"))
    found = library.search("pool", 5, only=in_language("de-AT"))
    assert [each.passage.url for each in found] == ["https://a.org/de"]
    assert {each.passage.language for each in library.search("pool", 50, only=in_language("en"))} == {"en"}
    assert library.search("pool", only=in_language("fr")) == []
    assert library.search("pool", only=in_language("")) == library.search("pool")
    with pytest.raises(InvalidInput, match="unknown language"):
        in_language("elvish")
