"""Selection from rankings: fusion, caps, no near-duplicates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.rank_fusion import overlap, reciprocal_rank_fusion, select_diverse

PROPERTY = settings(deadline=None)

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=10), max_size=5)
SETS = st.sets(st.integers(0, 9), max_size=6)


def chosen(
    ranked: list[tuple[str, set[str]]], *, limit: int = 10, per_document: int = 10, max_overlap: float = 0.7
) -> list[int]:
    """Select from (document, features) pairs; return the positions taken."""
    positions = select_diverse(
        range(len(ranked)),
        limit=limit,
        document=lambda i: ranked[i][0],
        per_document=per_document,
        features=lambda i: ranked[i][1],
        max_overlap=max_overlap,
    )
    assert positions == sorted(positions), "the ranked order is kept"
    return positions


# --- reciprocal rank fusion


def test_fusion_adds_one_over_k_plus_rank() -> None:
    """The formula by hand: ranks begin at 1."""
    scores = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60)
    assert scores == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    assert list(scores) == ["b", "a", "c"]


def test_k_weighs_the_head_of_a_ranking() -> None:
    """A small k makes a first place worth more than two third places."""
    rankings = [["a", "x", "b"], ["y", "z", "b"]]
    assert next(iter(reciprocal_rank_fusion(rankings, k=0))) == "a"
    assert next(iter(reciprocal_rank_fusion(rankings, k=60))) == "b"


def test_equal_scores_keep_the_order_of_appearance() -> None:
    """Ties are never broken at random."""
    assert list(reciprocal_rank_fusion([["c", "b"], ["a", "d"]])) == ["c", "a", "b", "d"]


@pytest.mark.parametrize("rankings", [[], [[]], [[], []]])
def test_nothing_ranked_gives_nothing(rankings: list[list[str]]) -> None:
    """No ranking, no score."""
    assert reciprocal_rank_fusion(rankings) == {}


@PROPERTY
@given(RANKINGS)
def test_fusion_scores_every_key_in_falling_order(rankings: list[list[int]]) -> None:
    """Every key of any ranking is scored, best first."""
    scores = reciprocal_rank_fusion(rankings)
    assert set(scores) == {key for ranking in rankings for key in ranking}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


@PROPERTY
@given(st.lists(st.integers(), unique=True))
def test_fusing_one_ranking_keeps_its_order(ranking: list[int]) -> None:
    """With nothing to fuse, nothing moves."""
    assert list(reciprocal_rank_fusion([ranking])) == ranking


# --- overlap


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        (set(), set(), 0.0),
        (set(), {1}, 0.0),
        ({1, 2}, {3}, 0.0),
        ({1, 2}, {2, 3, 4}, 0.5),
        ({1, 2}, {1, 2, 3, 4}, 1.0),
    ],
)
def test_overlap_is_the_share_of_the_smaller_set(a: set[int], b: set[int], share: float) -> None:
    """A short text entirely inside a long one overlaps fully."""
    assert overlap(a, b) == share


@PROPERTY
@given(a=SETS, b=SETS)
def test_overlap_is_symmetric_and_a_share(a: set[int], b: set[int]) -> None:
    """Overlap is symmetric and between 0 and 1."""
    assert overlap(a, b) == overlap(b, a)
    assert 0.0 <= overlap(a, b) <= 1.0


# --- select_diverse


def test_at_most_the_limit_is_taken() -> None:
    """The best come first, up to the limit."""
    assert chosen([("a", {"1"}), ("b", {"2"}), ("c", {"3"})], limit=2) == [0, 1]


def test_a_limit_of_zero_takes_nothing() -> None:
    """Asked for nothing, nothing is taken."""
    assert chosen([("a", {"1"})], limit=0) == []


def test_one_document_gives_at_most_its_share() -> None:
    """The cap per document makes room for the next document."""
    ranked = [("a", {"1"}), ("a", {"2"}), ("a", {"3"}), ("b", {"4"})]
    assert chosen(ranked, per_document=2) == [0, 1, 3]


def test_a_near_duplicate_is_left_out() -> None:
    """A near-duplicate of a taken candidate is skipped, whatever its document."""
    assert chosen([("a", {"1", "2", "3"}), ("b", {"1", "2", "3"}), ("c", {"4"})]) == [0, 2]


def test_the_overlap_allowed_is_still_allowed() -> None:
    """Exactly `max_overlap` is taken, more is not."""
    ranked = [("a", {"1", "2"}), ("b", {"2", "3"})]
    assert chosen(ranked, max_overlap=0.5) == [0, 1]
    assert chosen(ranked, max_overlap=0.49) == [0]


def test_skipped_candidates_do_not_use_up_their_documents_share() -> None:
    """A duplicate does not count against the document that it comes from."""
    ranked = [("a", {"1"}), ("b", {"1"}), ("b", {"2"})]
    assert chosen(ranked, per_document=1) == [0, 2]


def test_candidates_without_features_are_never_duplicates() -> None:
    """Without features, nothing is a duplicate."""
    assert chosen([("a", set()), ("b", set())]) == [0, 1]


@PROPERTY
@given(
    ranked=st.lists(st.tuples(st.sampled_from("abc"), st.sets(st.sampled_from("123456"), max_size=4)), max_size=12),
    limit=st.integers(0, 6),
    per_document=st.integers(1, 3),
    max_overlap=st.floats(0, 1),
)
def test_every_bound_holds_at_once(
    ranked: list[tuple[str, set[str]]], limit: int, per_document: int, max_overlap: float
) -> None:
    """Limit, cap per document and overlap hold together for every selection."""
    taken = chosen(ranked, limit=limit, per_document=per_document, max_overlap=max_overlap)
    documents = [ranked[i][0] for i in taken]
    assert len(taken) <= limit
    assert all(documents.count(document) <= per_document for document in documents)
    assert all(overlap(ranked[i][1], ranked[j][1]) <= max_overlap for i in taken for j in taken if i < j)
