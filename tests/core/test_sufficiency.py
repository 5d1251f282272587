"""Tests of the decision whether held passages answer a question."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.reading_calibration import least_probability
from harness.core.sufficiency import (
    LEAST,
    LEAST_SENTENCE,
    PARTLY,
    PROBE_SIMILARITY,
    UNREAD_SIMILARITY,
    HeldEvidence,
    covered,
    features,
    score,
    sufficiency,
    worth_a_probe,
)

SURE = HeldEvidence(relevance=0.99, similarity=0.8, by_words=1, by_meaning=1, words=1.0)
UNSURE = replace(SURE, relevance=0.02, by_words=30, by_meaning=40)
SHARE = 0.02

_shares = st.floats(0, 1)
_evidence = st.builds(
    HeldEvidence,
    relevance=st.none() | _shares,
    similarity=_shares,
    by_words=st.none() | st.integers(1, 3_200),
    by_meaning=st.none() | st.integers(1, 3_200),
    words=_shares,
    lacks=st.just(()) | st.just(("3.12",)),
    rivals=st.just(()) | st.just(("python 3.11",)),
    sentence=_shares,
)


def test_a_likely_passage_that_is_ranked_first_answers() -> None:
    """And the reason has its probability."""
    found = sufficiency([UNSURE, SURE, SURE], SHARE)
    assert found.state == "answered"
    assert found.probability > least_probability(SHARE, LEAST)
    assert found.reasons == (f"the likeliest passage answers with {found.probability:.0%}",)


def test_without_passages_nothing_is_answered() -> None:
    """Nor by passages that hardly answer."""
    assert sufficiency([], SHARE).state == "not answered"
    found = sufficiency([UNSURE, UNSURE], SHARE)
    assert found.state == "not answered"
    assert f"less than {least_probability(SHARE, LEAST):.0%}" in found.reasons


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lacks": ("3.12",)}, "it does not mention 3.12"),
        ({"rivals": ("python 3.11", "2023")}, "it also mentions python 3.11, 2023"),
        ({"words": 0.65}, "it has 65% of the question's words"),
    ],
)
def test_a_look_alike_needs_a_search(change: dict[str, Any], reason: str) -> None:
    """However likely it answers: another version, year or wording looks the same to a reader."""
    found = sufficiency([replace(SURE, **change), replace(SURE, **change)], SHARE)
    assert found.state == "partly"
    assert reason in found.reasons


@pytest.mark.parametrize(("known", "all_there"), [(3, True), (2, False), (0, False), (10, True)])
def test_three_known_results_in_ten_cover_a_subject(known: int, all_there: bool) -> None:
    """A search without results shows nothing."""
    assert covered([True] * known + [False] * (10 - known)) is all_there
    assert not covered([])


def test_only_near_passages_are_worth_a_probe() -> None:
    """A library about other things costs no extra step."""
    assert worth_a_probe([replace(UNSURE, similarity=PROBE_SIMILARITY)])
    assert not worth_a_probe([replace(SURE, similarity=PROBE_SIMILARITY - 0.01)])
    assert not worth_a_probe([])


def test_a_passage_without_a_rival_is_preferred() -> None:
    """It decides, though the other one is a little likelier."""
    rival = replace(SURE, relevance=1.0, rivals=("python 3.11",))
    assert sufficiency([rival, SURE], SHARE).state == "answered"


def test_a_sentence_answers_where_its_passage_has_a_rival() -> None:
    """A page about two versions answers for both, if a sentence is about the one alone; none may lack a term."""
    both = replace(SURE, rivals=("python 3.11",), sentence=0.9)
    assert sufficiency([both, SURE], SHARE).state == "answered"
    assert sufficiency([both, both], SHARE).reasons == sufficiency([replace(both, rivals=())] * 2, SHARE).reasons
    assert sufficiency([replace(both, sentence=LEAST_SENTENCE - 0.01)] * 2, SHARE).state == "partly"
    assert sufficiency([replace(both, lacks=("3.12",))] * 2, SHARE).state == "partly"


def test_fewer_wrong_answers_need_a_surer_passage() -> None:
    """A share below every known one is never reached."""
    assert all(LEAST[more] < LEAST[fewer] for fewer, more in pairwise(sorted(LEAST)))
    assert least_probability(min(LEAST) / 2, LEAST) == math.inf
    assert least_probability(1.0, LEAST) == min(LEAST.values())
    assert sufficiency([SURE, SURE], min(LEAST) / 2).state == "partly"
    assert min(LEAST.values()) > PARTLY


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "answered"),
        ({"words": 0.9}, "partly"),
        ({"similarity": UNREAD_SIMILARITY - 0.01}, "partly"),
        ({"lacks": ("2024",)}, "partly"),
        ({"similarity": PARTLY - 0.01}, "not answered"),
    ],
)
def test_without_a_reader_vectors_and_words_decide(change: dict[str, object], state: str) -> None:
    """Only a very similar passage with every word of the question answers."""
    assert sufficiency([replace(SURE, relevance=None, **change)], SHARE).state == state


@given(st.lists(_evidence, max_size=6), st.floats(1e-6, 1, exclude_max=True))
def test_any_evidence_is_decided(evidence: list[HeldEvidence], share: float) -> None:
    """With a probability; nothing with a rival in its answer or without a term answers, and a stricter limit never
    answers more.
    """
    found = sufficiency(evidence, share)
    assert 0.0 <= found.probability <= 1.0
    if found.state == "answered":
        assert any(each.is_about_it for each in evidence)
        assert sufficiency(evidence, min(0.99, 2 * share)).state == "answered"


@given(_shares, _shares)
def test_a_likelier_passage_scores_higher(one: float, other: float) -> None:
    """All else being equal."""
    for sign in ("relevance", "sentence"):
        first, second = (replace(SURE, **{sign: each}) for each in sorted((one, other)))
        assert score(features(first, [first])) <= score(features(second, [second]))
