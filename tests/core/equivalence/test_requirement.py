"""Required similarity without a verifier: one case for each kind of difference."""

import pytest

from harness.core.equivalence.comparison import compare
from harness.core.equivalence.reading import read
from harness.core.equivalence.requirement import LEAST_REQUIRED, requirement
from harness.models.local.tokenizer import vocabulary


@pytest.mark.parametrize(
    ("a", "b", "required"),
    [
        # the same words
        ("python decorators", "python decorator", LEAST_REQUIRED),
        ("how do decorators work", "how does a decorator work", 0.94),
        ("learn to draw faces", "learn draw faces", 0.94),
        ("how do i install docker desktop on linux", "how can i install docker desktop on linux", LEAST_REQUIRED),
        # a general word on one side only
        ("use python decorators", "python decorators", 0.93),
        ("using python decorators to cache functions", "python decorators to cache functions", 0.89),
        # another word in its place
        ("how do i install docker", "how do i install kubernetes", 0.94),
        ("how do i install docker on ubuntu linux", "how do i install kubernetes on ubuntu linux", 0.91),
        ("install docker", "install kubernetes", 0.97),
        # only one of them is a question
        ("how do i install docker", "install kubernetes", 0.94),
        # seven words are not short
        ("how do i install docker on ubuntu", "how do i install docker on ubuntu linux", 0.91),
        (
            "docker image layers cache size limit disk usage",
            "kubernetes image layers cache size limit disk usage",
            1.1,
        ),
        # another order
        ("benefits of green tea", "green tea benefits", 0.89),
        ("how do plants use light to make food", "how do plants make food from light", 0.93),
        ("learn to draw faces", "faces to draw learn", 1.1),
        # reworded: the longer, the less
        (
            "how do cats and dogs chase mice and birds together",
            "how do dogs and cats chase birds and mice together",
            0.95,
        ),
        (
            "how do large cats and dogs chase mice and birds together outside",
            "how do dogs and large cats chase birds and mice together outside",
            0.93,
        ),
    ],
)
def test_the_difference_decides_the_requirement(a: str, b: str, required: float) -> None:
    """In both orders."""
    for one, other in ((a, b), (b, a)):
        assert requirement(compare(read(one), read(other), vocabulary())) == pytest.approx(required)
