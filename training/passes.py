"""The passes of training: what the model reads in each, and how fast it learns."""

from collections.abc import Callable, Sequence

from training.learning import Plan
from training.mixture import REPEATED_LAST, REPEATED_LATER, Amounts, Mixture
from training.sources import Example

SEED = 2026
FRESH = 0.5
"""How many fresh pairs are made for the second pass, compared with the first."""
KEPT = 0.3
"""The share of them that is hard enough to be read."""
AGAIN = 0.7
"""The share of the pairs written by subject that the fourth pass reads again."""
ORDERS = 3
"""How often that reads those about words that change places, each time with other ones that are different."""
CONTRASTED = 6_000
"""How many contrasts of written texts that reads."""
SMALL = 2
"""How often the last pass reads the clusters of small changes, each time with other ones that are different."""
RECALLED = {"subjects": 0.3, "orders": 0.5}
"""The share of the other clusters that the last pass reads once more."""
SLIGHT = 30_000
"""How many texts it reads beside a slight variant of themselves."""

Choose = Callable[[Sequence[Example], int], list[Example]]
"""Chooses so many of the examples: those that are hardest for the model as it is."""


def generated(mixture: Mixture, _choose: Choose) -> list[Example]:
    """Return what a model reads that knows nothing yet: labelled pairs, and many that are generated from texts."""
    return mixture.labelled() + mixture.generated(Amounts())


def hard(mixture: Mixture, choose: Choose) -> list[Example]:
    """Return fresh generated pairs that the model finds hard, and the labelled ones."""
    fresh = mixture.generated(Amounts().times(FRESH))
    return choose(fresh, round(KEPT * len(fresh))) + list(dict.fromkeys(mixture.labelled()))


def written(mixture: Mixture, _choose: Choose) -> list[Example]:
    """Return the pairs that were written by subject, which differ more than what is generated."""
    return mixture.written("subjects")


def together(mixture: Mixture, _choose: Choose) -> list[Example]:
    """Return some of everything, and most of what is hard: words that change places, and contrasts of texts that had
    few words in common before.
    """
    return [
        *mixture.labelled(REPEATED_LATER),
        *mixture.varied(mixture.written("subjects", AGAIN)),
        *(pair for _ in range(ORDERS) for pair in mixture.written("orders")),
        *mixture.contrasted("subjects", CONTRASTED),
    ]


def small(mixture: Mixture, choose: Choose) -> list[Example]:
    """Return what looks all but alike, on both sides of the label, and enough of all else that nothing is forgotten."""
    fresh = mixture.generated(Amounts().times(FRESH / 2))
    pairs = [
        *mixture.labelled(REPEATED_LAST),
        *choose(fresh, round(KEPT * len(fresh))),
        *(pair for folder, share in RECALLED.items() for pair in mixture.changed(mixture.written(folder, share))),
        *(pair for _ in range(SMALL) for pair in mixture.changed(mixture.written("small"))),
        *mixture.slight(SLIGHT),
    ]
    return mixture.apart(pairs)


PASSES = {
    "generated": (generated, Plan(seed=SEED)),
    "hard": (hard, Plan(rate=3e-5, head_rate=1e-4, seed=SEED + 1)),
    "written": (written, Plan(rate=6e-5, head_rate=3e-4, seed=SEED + 2)),
    "together": (together, Plan(rate=8e-5, head_rate=3e-4, seed=SEED + 3)),
    "small": (small, Plan(rate=5e-5, head_rate=2e-4, seed=SEED + 4)),
}
