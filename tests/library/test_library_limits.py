"""Limits with many passages: the wanted ones are found, and the size of a library stays bounded."""

from harness.core.freshness import HOUR
from harness.core.tables import LIBRARY
from harness.library import Library, LibraryPolicy
from harness.library.library_index import stored_bytes
from harness.ports import Store
from tests.fakes import FakeClock, WordEmbedder
from tests.library.documents import document

NEW = "file:///new"


def fill(library: Library, title: str = "zebra", count: int = 60) -> None:
    """Add documents that match the word "zebra" better than that of `add_new`."""
    for number in range(count):
        library.index.add(document(f"zebra zebra {number}", f"file:///{number}", title=title))


def add_new(library: Library, fetched_at: float) -> None:
    """Add a document that matches the word "zebra" less well."""
    library.index.add(document("A long text about one zebra in the wild.", NEW, fetched_at=fetched_at))


def urls(library: Library, query: str, max_age: float | None = None) -> list[str]:
    """Return the URLs of the passages that a query finds."""
    return [each.passage.url for each in library.search(query, max_age=max_age)]


def test_young_passages_are_found_behind_many_old_ones(library: Library, clock: FakeClock) -> None:
    """`max_age` is applied before the number of passages is limited."""
    fill(library)
    clock.advance(2 * HOUR)
    add_new(library, clock.now)
    assert urls(library, "zebra", max_age=HOUR) == [NEW]


def test_fresh_passages_answer_about_the_present_behind_many_old_ones(library: Library, clock: FakeClock) -> None:
    """The limit of an hour is applied before the number of passages is limited."""
    fill(library, title="latest zebra")
    clock.advance(2 * HOUR)
    add_new(library, clock.now)
    assert urls(library, "latest zebra") == [NEW]


def test_selected_passages_are_found_behind_many_others(library: Library, clock: FakeClock) -> None:
    """`only` is applied before the number of passages is limited."""
    fill(library)
    add_new(library, clock.now)
    (found,) = library.search("zebra", only=lambda each: each.url == NEW)
    assert found.passage.url == NEW


def test_a_hundred_passages_are_found(library: Library) -> None:
    """The largest number that can be asked for is found if there are as many."""
    fill(library, title="", count=120)
    assert len(library.search("zebra", 100)) == 100


def test_the_size_is_limited_over_many_short_commands(store: Store, clock: FakeClock) -> None:
    """Every command and request makes a new `Library`, and each of them checks the size."""
    policy = LibraryPolicy(max_mb=20_000 / 2**20)
    for number in range(600):
        library = Library(store, WordEmbedder(), policy=policy, clock=clock)
        library.index.add(document(f"Fact {number} of many.", f"file:///{number}", fetched_at=clock.now))
        clock.advance(1)
    assert sum(map(stored_bytes, store.listings.recent(LIBRARY, "default", 1_000))) < 2 * 20_000
