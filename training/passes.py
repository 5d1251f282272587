"""Training passes: examples and learning rates of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from training.mixture import (
    REPEATED_AGAIN,
    REPEATED_CLOSING,
    REPEATED_HARD,
    REPEATED_WIDE,
    Amounts,
    Choose,
    Mixture,
)
from training.sources import Example
from training.written import Folder

SEED = 2026
FRESH = 0.5
"""Fresh pairs of each later pass, as a share of the first."""
KEPT = 0.3
"""The share of them that is hard enough to be read."""
CONTRASTED = 6_000
"""Contrasts of written texts in the first pass."""
SLIGHT_WIDE, SLIGHT_HARD = 30_000, 20_000
"""Texts that the first and the later passes read with a slight variant of themselves."""
READ_WIDE: Sequence[Folder] = ("subjects", "orders", "orders", "small", "short", "short")
"""The written clusters that the first pass reads; one named twice with other pairs that are different."""
READ_HARD: Mapping[Folder, float] = {
    "subjects": 0.4, "orders": 1.0, "small": 1.0, "short": 1.0, "compounds": 1.0, "stories": 1.0,
}  # fmt: skip
"""The share of each folder's clusters that the later passes read. The first does not read the last two."""
READ_CLOSING: Mapping[Folder, float] = {
    "subjects": 0.25, "orders": 0.4, "small": 0.4, "short": 0.7, "compounds": 0.3, "stories": 0.7,
}  # fmt: skip
"""The share of each folder's pairs that the last pass reads."""
GENERATED_CLOSING, SLIGHT_CLOSING = 0.12, 8_000
"""Generated pairs as a share of the first pass, and number of texts read with a slight variant."""

ADDED_WIDE: Sequence[Folder] = ("wordings", "compounds", "stories")
ADDED_LATER: Mapping[Folder, float] = {"wordings": 1.0}
ADDED_CLOSING: Mapping[Folder, float] = {"wordings": 0.5}
"""Folders that the training with permitted data reads in addition, and their shares."""


def wide(folders: Sequence[Folder], mixture: Mixture, _choose: Choose) -> list[Example]:
    """Return some of everything: labelled and graded pairs, written clusters, generated contrasts and rewordings."""
    return [
        *mixture.graded(REPEATED_WIDE),
        *mixture.generated(Amounts()),
        *(pair for folder in folders for pair in mixture.changed(mixture.written(folder))),
        *mixture.contrasted("subjects", CONTRASTED),
        *mixture.slight(SLIGHT_WIDE, tuple(dict.fromkeys(folders))),
    ]


def hard(
    repeated: Mapping[str, int], shares: Mapping[Folder, float], mixture: Mixture, choose: Choose
) -> list[Example]:
    """Return the labelled and graded pairs again, and the hard ones of the generated and written pairs."""
    fresh = mixture.generated(Amounts().times(FRESH))
    return [
        *mixture.graded(repeated),
        *choose(fresh, round(KEPT * len(fresh))),
        *(pair for folder, share in shares.items() for pair in mixture.changed(mixture.hard(folder, share, choose))),
        *mixture.slight(SLIGHT_HARD, tuple(shares)),
    ]


def closing(shares: Mapping[Folder, float], mixture: Mixture, _choose: Choose) -> list[Example]:
    """Return the labelled pairs with the labels of people, and a little of everything else: the last examples have the
    greatest weight, and people's questions and labels are the rarest of all.
    """
    return [
        *mixture.labelled(REPEATED_CLOSING),
        *mixture.alike(),
        *(
            pair
            for folder, share in shares.items()
            for pair in mixture.some(mixture.changed(mixture.written(folder)), share)
        ),
        *mixture.generated(Amounts().times(GENERATED_CLOSING)),
        *mixture.slight(SLIGHT_CLOSING, tuple(shares)),
    ]


@dataclass(frozen=True)
class Plan:
    """Learning rates: peak rates of body and head, reached after `warm_up` (a share of all steps), then decreasing
    linearly to zero. `smoothing` reduces the certainty of labels, some of which are wrong.
    """

    seed: int
    rate: float = 8e-5
    head_rate: float = 8e-4
    warm_up: float = 0.06
    smoothing: float = 0.03
    weight_decay: float = 0.01


@dataclass(frozen=True)
class Pass:
    """Examples, learning rates, and the passes whose mean weights it begins with (none: those of the pass before)."""

    read: Callable[[Mixture, Choose], list[Example]]
    plan: Plan
    begins: Sequence[str] = ()


PASSES = {
    "wide": Pass(partial(wide, READ_WIDE), Plan(SEED)),
    "hard": Pass(partial(hard, REPEATED_HARD, READ_HARD), Plan(SEED + 1, rate=5e-5, head_rate=2e-4)),
    "again": Pass(partial(hard, REPEATED_AGAIN, READ_HARD), Plan(SEED + 2, rate=5e-5, head_rate=1e-4)),
    "closing": Pass(
        partial(closing, READ_CLOSING), Plan(SEED + 3, rate=3e-5, head_rate=6e-5), begins=("hard", "again")
    ),
}
"""Between the ends of two passes over the same kinds of pairs lies a flatter place than either (stochastic weight
averaging; Izmailov et al., 2018, arXiv:1803.05407), from which the last one begins.
"""
PERMITTED_PASSES = {
    "permitted-wide": Pass(partial(wide, (*READ_WIDE, *ADDED_WIDE)), Plan(SEED)),
    "permitted-hard": Pass(
        partial(hard, REPEATED_HARD, {**READ_HARD, **ADDED_LATER}), Plan(SEED + 1, rate=5e-5, head_rate=2e-4)
    ),
    "permitted-again": Pass(
        partial(hard, REPEATED_AGAIN, {**READ_HARD, **ADDED_LATER}), Plan(SEED + 2, rate=5e-5, head_rate=1e-4)
    ),
    "permitted-closing": Pass(
        partial(closing, {**READ_CLOSING, **ADDED_CLOSING}),
        Plan(SEED + 3, rate=3e-5, head_rate=6e-5),
        begins=("permitted-hard", "permitted-again"),
    ),
}
"""The same passes over data whose licences permit weights that ship (`PERMITTED` in `sources.py`)."""
