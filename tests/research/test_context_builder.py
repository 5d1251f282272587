"""Anchors, widened by their neighbours within a budget."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.research.context_builder import Window, build_context
from harness.vector_cache import Anchor, StoredChunk

TEXTS = {"a": [f"a{n} one two" for n in range(6)], "b": [f"b{n} one two" for n in range(3)]}


class Chunks:
    """Chunks of two documents; three words each."""

    def chunk(self, document: str, index: int) -> StoredChunk | None:
        """Return one, if it is there."""
        texts = TEXTS.get(document, [])
        about = {"document": document, "chunk_index": index, "section": f"section {document}"}
        return StoredChunk(text=texts[index], metadata=about) if 0 <= index < len(texts) else None


def words(texts: Sequence[str]) -> list[int]:
    """Count words as tokens."""
    return [len(text.split()) for text in texts]


def anchor(document: str, index: int, similarity: float) -> Anchor:
    """Return a chunk that matched."""
    about = {"document": document, "chunk_index": index, "section": f"section {document}"}
    return Anchor(text=TEXTS[document][index], metadata=about, similarity=similarity)


def build(anchors: Sequence[Anchor], budget: int) -> list[Window]:
    """Build over the two documents."""
    return build_context(anchors, Chunks(), budget=budget, count=words)  # type: ignore[arg-type]


def spans(windows: Sequence[Window]) -> list[tuple[str, int, int]]:
    """Return which chunks each window holds."""
    return [(window.document, window.first, window.last) for window in windows]


def test_without_room_the_anchors_stand_alone() -> None:
    """Neighbours come only into what is left."""
    assert spans(build([anchor("a", 2, 0.9), anchor("b", 1, 0.8)], 6)) == [("a", 2, 2), ("b", 1, 1)]


def test_an_anchor_gets_its_neighbours_in_turn() -> None:
    """Before, behind, then the next ones."""
    assert spans(build([anchor("a", 2, 0.9)], 9)) == [("a", 1, 3)]
    assert spans(build([anchor("a", 2, 0.9)], 12)) == [("a", 0, 3)]


def test_windows_that_touch_become_one() -> None:
    """Nothing is shown twice, and the document's order is kept; the score is the better one's, unchanged."""
    [window] = build([anchor("a", 3, 0.7), anchor("a", 1, 0.9)], 15)
    assert (window.first, window.last, window.similarity) == (0, 4, 0.9)
    assert window.text == "\n\n".join(TEXTS["a"][:5])
    assert window.section == "section a"


def test_documents_come_in_the_order_of_their_best_anchor() -> None:
    """The first anchor's document first."""
    assert [window.document for window in build([anchor("b", 0, 0.9), anchor("a", 0, 0.8)], 100)] == ["b", "a"]


def test_an_anchor_that_does_not_fit_leaves_room_for_the_next() -> None:
    """The budget is never exceeded for the sake of a good one."""
    long = Anchor(text="word " * 50, metadata=anchor("b", 1, 1.0).metadata, similarity=0.95)
    assert spans(build([long, anchor("a", 0, 0.8)], 3)) == [("a", 0, 0)]


@pytest.mark.parametrize("budget", [0, 2])
def test_where_nothing_fits_there_is_nothing(budget: int) -> None:
    """No anchor, no context."""
    assert build([anchor("a", 0, 0.8)], budget) == []
    assert build([], 100) == []


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=6, unique=True),
    st.integers(0, 40),
)
def test_the_budget_holds_and_no_chunk_stands_twice(places: list[tuple[str, int]], budget: int) -> None:
    """Whatever matched."""
    windows = build([anchor(document, index, 1 - n / 10) for n, (document, index) in enumerate(places)], budget)
    shown = [(window.document, index) for window in windows for index in range(window.first, window.last + 1)]
    assert len(shown) == len(set(shown))
    assert sum(words([window.text for window in windows])) <= budget
