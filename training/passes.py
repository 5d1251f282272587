"""The passes of training: what the model reads in each, and how fast it learns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training.learning import Plan
from training.mixture import REPEATED_GRADED, REPEATED_LATER, REPEATED_SMALL, Amounts, Mixture
from training.sources import Example
from training.written import Folder

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
READ_SMALL: Sequence[tuple[Folder, float]] = (("subjects", 0.3), ("orders", 0.5), ("small", 1.0), ("small", 1.0))
"""The share of the written clusters that the fifth pass reads, each time with other pairs that are different."""
READ_GRADED: Sequence[tuple[Folder, float]] = (("subjects", 0.15), ("orders", 0.4), ("small", 0.4), ("short", 1.0))
"""The same for the last one."""
SLIGHT = 30_000
"""How many texts the fifth pass reads beside a slight variant of themselves; the last one a third of that."""

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
    labelled = mixture.labelled(REPEATED_SMALL)
    return mixture.apart(labelled + _beside(mixture, choose, READ_SMALL, SLIGHT))


def graded(mixture: Mixture, choose: Choose) -> list[Example]:
    """Return what a careful reader has read, and few words that change places, and enough of all else that nothing is
    forgotten.
    """
    return mixture.apart(mixture.graded(REPEATED_GRADED) + _beside(mixture, choose, READ_GRADED, SLIGHT // 3))


def _beside(mixture: Mixture, choose: Choose, read: Sequence[tuple[Folder, float]], slight: int) -> list[Example]:
    """Return what a later pass reads beside other people's pairs: hard ones, written ones of which one text is changed
    a little at times (a share of each folder), and so many slight variants.
    """
    fresh = mixture.generated(Amounts().times(FRESH / 2))
    return [
        *choose(fresh, round(KEPT * len(fresh))),
        *(pair for folder, share in read for pair in mixture.changed(mixture.written(folder, share))),
        *mixture.slight(slight, tuple(dict.fromkeys(folder for folder, _ in read))),
    ]


@dataclass(frozen=True)
class Pass:
    """What is read, how fast is learned, and whether the pass begins with exported weights: then it comes to the same
    after the passes before it, and after weights that have shipped.
    """

    read: Callable[[Mixture, Choose], list[Example]]
    plan: Plan
    after_export: bool = False


PASSES = {
    "generated": Pass(generated, Plan(seed=SEED)),
    "hard": Pass(hard, Plan(rate=3e-5, head_rate=1e-4, seed=SEED + 1)),
    "written": Pass(written, Plan(rate=6e-5, head_rate=3e-4, seed=SEED + 2)),
    "together": Pass(together, Plan(rate=8e-5, head_rate=3e-4, seed=SEED + 3)),
    "small": Pass(small, Plan(rate=5e-5, head_rate=2e-4, seed=SEED + 4), after_export=True),
    "graded": Pass(graded, Plan(rate=5e-5, head_rate=2e-4, seed=SEED + 5), after_export=True),
}
