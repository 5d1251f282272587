"""Known gaps: pairs that should be rejected, but are served at a similarity that different texts hardly reach.

Each is one `KNOWN_GAPS` class with its reason. A fixed one fails here: move it to the tests of its guard.
"""

import pytest

from tests.core.equivalence.assertions import TRAP, Pairs, judge

KNOWN_GAPS: dict[str, Pairs] = {
    "has is not read as the past": [
        ("has it rained", "will it rain"),
    ],
    "written small, a name is a word among others; the embeddings have to tell": [
        ("Australia capital", "Austria capital"),
        ("iran population", "iraq population"),
        ("niger population", "nigeria population"),
        ("java tutorial", "javascript tutorial"),
        ("sql tutorial", "mysql tutorial"),
        ("pandas dataframe", "polars dataframe"),
        ("git merge", "git rebase"),
        ("install docker on windows", "install docker on mac"),
        ("lyrics in english", "lyrics in spanish"),
        ("most populous city in europe", "most populous city in asia"),
    ],
    "one word in the place of another; the embeddings have to tell": [
        ("how to say hello in french", "how to say thank you in french"),
        ("police brutality", "policy brutality"),
        ("organic food", "organ food"),
        ("the author of the paper", "the authority of the paper"),
        ("animal movies", "animated movies"),
    ],
    "please is dropped anywhere, and kindly with it": [
        ("what does kindly mean", "what does please mean"),
    ],
    "a rare word that the vocabulary lacks looks like a typing error": [
        ("what foods are high in nitrates", "what foods are high in nitrites"),
        ("ethanol structure", "ethanal structure"),
        ("a biography of Jonson", "a biography of Johnson"),
        ("desert recipes", "dessert recipes"),
    ],
    "`up to` is two function words": [
        ("cities with up to 5 people", "cities with 5 people"),
    ],
    "one short name for another, written small": [
        ("minimum wage uk", "minimum wage us"),
    ],
}
CASES = [
    pytest.param(a, b, marks=pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError))
    for reason, pairs in KNOWN_GAPS.items()
    for a, b in pairs
]


@pytest.mark.parametrize(("a", "b"), CASES)
def test_a_known_gap_is_refused(a: str, b: str) -> None:
    """The desired result; until it is reached, only the similarity separates them."""
    assert not judge(a, b, TRAP).accepted
