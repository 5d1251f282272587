"""The rule is fitted on the pairs that it decides: pairs that differ in one point, and separately reworded ones."""

from math import inf
from typing import TYPE_CHECKING

import pytest

from harness.core.equivalence import Examined, Verdict
from harness.core.equivalence.decision import FEATURES, REWORDED_FEATURES

if TYPE_CHECKING:
    from training.fitting import Read

pytestmark = pytest.mark.full

WORDS = len(FEATURES) - len(REWORDED_FEATURES)
VETO = (Verdict("numbers", False, "3 / 4", veto=True),)


def read(
    kind: str, probability: float, *, same: bool, reworded: bool = False, words: float = 0.0, similarity: float = 0.8
) -> "Read":
    """Return a pair as it was read; `words` is each feature of its words."""
    from training.fitting import Read
    from training.sources import Example

    features = (similarity, *[words] * WORDS)
    examined = Examined("a", "b", similarity, features=features, reworded=reworded)
    return Read(Example("a", "b", same, kind, "tune"), examined, probability)


def both(kind: str, *, reworded: bool = False, words: float = 0.0, number: int = 40) -> "list[Read]":
    """Return pairs of which the verifier is right; those that are the same have `words`, and the others have not."""
    right = [read(kind, 0.9, same=True, reworded=reworded, words=words) for _ in range(number)]
    return [*right, *[read(kind, 0.1, same=False, reworded=reworded) for _ in range(number)]]


def test_words_weigh_where_no_question_is_reworded() -> None:
    """There the rule learns what they are worth; elsewhere they are not looked at."""
    from training.fitting import fit, scores

    found = fit([*both("qqp", words=1.0), *both("medical", reworded=True, words=1.0)])
    assert (len(found.everywhere), len(found.reworded)) == (1 + len(FEATURES), 1 + len(REWORDED_FEATURES))
    varied, reworded_ones = (
        scores([read("qqp", 0.5, same=True, reworded=reworded, words=words) for words in (0.0, 1.0)], found)
        for reworded in (False, True)
    )
    assert varied[1] > varied[0] + 0.5
    assert reworded_ones[1] == reworded_ones[0]


def test_what_was_changed_teaches_nothing_of_reworded_questions() -> None:
    """Neither generated pairs nor small changes, however many there are; but of all else they do teach."""
    from training.fitting import CHANGED, fit

    asked = [*both("qqp"), *both("stories", reworded=True)]
    changed = [
        read(f"{kind}: x", 0.99, same=False, reworded=reworded)
        for kind in sorted(CHANGED)
        for reworded in (True, False)
    ]
    before, after = fit(asked), fit(asked + changed * 20)
    assert after.reworded == before.reworded
    assert after.everywhere != before.everywhere


def test_what_no_rule_decides_is_neither_fitted_on_nor_served() -> None:
    """A guard vetoes, or the two are too far apart."""
    from training.fitting import Read, fit, scores

    asked = [*both("qqp"), *both("stories", reworded=True)]
    far = read("qqp", 0.99, same=False, similarity=0.1)
    vetoed = Read(far.example, Examined("a", "b", 0.99, verdicts=VETO, features=(0.99, *[0.0] * WORDS)), 0.99)
    assert fit([*asked, *[far, vetoed] * 50]) == fit(asked)
    assert scores([far, vetoed], fit(asked)).tolist() == [-inf, -inf]


def test_a_threshold_that_a_set_is_too_small_for_is_not_promised() -> None:
    """One wrong in a hundred needs at least as many different pairs; the looser sets fewer."""
    from training.fitting import fit, thresholds

    reads = [*both("qqp", number=150), *both("paws", number=50), *both("stories", reworded=True)]
    found = {family: [share for share, _ in each] for family, each in thresholds(reads, fit(reads)).items()}
    assert found == {"paws": [0.01, 0.02, 0.05], "qqp": [0.01, 0.02, 0.05], "stories": [0.05]}
