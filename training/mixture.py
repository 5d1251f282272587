"""Examples of one training pass: labelled pairs and pairs generated from texts, in a measured balance.

Some generated contrasts read a little odd, and a model would learn that odd texts differ. So variants occur with both
labels: a contrast and its own rewording ask the same. Real look-alikes are seldom written alike, so half of the
contrasts are reworded, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from benchmarks.wording import wording
from harness.core.keys import normalise
from training.contrasts import CONTRASTS, Names
from training.generator import Generator
from training.rewordings import REWORDINGS, SMALL, SMALLEST, Composed
from training.sources import ALIKE, THIRD, Example, Part, Sources
from training.written import Folder

Each = TypeVar("Each")

REPEATED_WIDE = {"qqp": 2, "paws": 4, f"paws, {THIRD}": 4, "medical": 4, f"{ALIKE}: medical": 2}
"""Repetitions of the labelled and graded pairs of a set in the first pass: more for smaller sets."""
REPEATED_HARD = {"qqp": 2, "paws": 3, f"paws, {THIRD}": 2, "medical": 4, f"{ALIKE}: qqp": 2, f"{ALIKE}: medical": 4}
"""The same for the second pass."""
REPEATED_AGAIN = {"qqp": 3, "paws": 8, f"paws, {THIRD}": 6, "medical": 4, f"{ALIKE}: qqp": 2, f"{ALIKE}: medical": 4}
"""The same for the third, with more of PAWS: what the second reads of words that change places is seldom a sentence."""
REPEATED_CLOSING = {"qqp": 2, "paws": 4, f"paws, {THIRD}": 3, "medical": 4}
"""The same for the last, which reads what people labelled as they labelled it."""
OTHERS = 1.6
"""Different pairs of the written clusters per same pair, by pass."""
SPECIAL = {
    "names": 2.0,
    "roles": 1.6,
    "opposites": 1.3,
    "scope": 0.7,
    "units": 0.6,
    "versions": 0.6,
    "direction": 0.6,
    "question templates": 2.5,
    "synonyms": 2.0,
    "dropped words": 2.0,
    "word order": 1.5,
    "politeness": 0.7,
    "frames": 0.7,
    "punctuation": 0.3,
    "case": 0.1,
}
"""Relative number of pairs of a class: more where guards detect least and where more changes."""
SURFACE = frozenset({"case", "punctuation", "politeness", "typing errors", "frames"})
"""Rewordings that fit nearly every text, and change little that the model sees."""
MINED = 0.5
"""The share of the different pairs that are the hardest of their folder, where hard ones are read."""
ROUNDS = 3
"""Passes over the texts for a class that applies to few of them."""
VARIED = 0.25
"""The share of texts that are varied on the surface where pairs are read again."""
CHANGED = 0.5
"""The share of pairs of which one text is changed a little, where look-alikes are to be distinguished."""
SHORT, LONG = 140, 240
"""Characters of texts that are varied. Sentences may be longer than questions: words change places in long ones."""

Choose = Callable[[Sequence[Example], int], list[Example]]
"""Function that chooses a number of examples: those hardest for the current model."""


@dataclass(frozen=True)
class Amounts:
    """Numbers of pairs of each class of contrasts and rewordings, and of their combinations."""

    contrasts: int = 2_200
    rewordings: int = 1_000
    composed: int = 7_000
    crossed: int = 6_000
    variants: int = 4_000

    def times(self, share: float) -> "Amounts":
        """Return all numbers multiplied by `share`."""
        numbers = (self.contrasts, self.rewordings, self.composed, self.crossed, self.variants)
        return Amounts(*(max(1, round(share * number)) for number in numbers))


class Mixture:
    """Examples of one part of the sources, chosen with `seed`."""

    def __init__(self, sources: Sources, part: Part, seed: int) -> None:
        self._part = part
        self._chance = Random(f"{seed} {part}")
        self._evaluated = sources.evaluated
        self._labelled = [pair for pair in sources.pairs if pair.part == part]
        self._graded = {(pair.a, pair.b): pair for pair in sources.graded if pair.part == part}
        self._written = {
            folder: [pair for pair in pairs if pair.part == part] for folder, pairs in sources.written.items()
        }
        fitting = [text for text in sources.texts if len(text.text) <= (LONG if text.source == "paws" else SHORT)]
        self._texts = [text for text in fitting if text.part == part]
        learned = [text.text for text in sources.texts if text.part == "train"]
        self._contrasts: tuple[Generator, ...] = (*CONTRASTS, Names(learned))
        self._surface = Composed([each for each in REWORDINGS if each.name in SURFACE], 1, 2)
        self._telling = Composed([each for each in REWORDINGS if each.name not in SURFACE], 1, 3)
        self._small, self._smallest = Composed(SMALL, 1, 2), Composed(SMALLEST, 1, 2)

    def labelled(self, repeated: Mapping[str, int]) -> list[Example]:
        """Return the labelled pairs, as people labelled them."""
        return _repeated(dict.fromkeys(self._labelled), repeated)

    def graded(self, repeated: Mapping[str, int]) -> list[Example]:
        """Return the labelled pairs, with the grade of a reader if there is one, and the pairs that have only a
        grade.
        """
        labelled = {(pair.a, pair.b): pair for pair in self._labelled}
        return _repeated((labelled | self._graded).values(), repeated)

    def alike(self) -> list[Example]:
        """Return the pairs without a label, with the grade of a reader."""
        return [pair for pair in self.graded({}) if pair.kind.startswith(ALIKE)]

    def written(self, folder: Folder) -> list[Example]:
        """Return the same pairs of the clusters of `folder`, and some of the different ones."""
        same, others = self._divided(folder)
        return same + self._chance.sample(others, min(len(others), round(OTHERS * len(same))))

    def hard(self, folder: Folder, share: float, choose: Choose) -> list[Example]:
        """Return a share of the same pairs of `folder`, and some of the different ones, many of them the hardest."""
        same, others = self._divided(folder)
        same = self._chance.sample(same, round(share * len(same)))
        number = min(len(others), round(OTHERS * len(same)))
        hardest = choose(others, round(MINED * number))
        known = set(hardest)
        rest = [pair for pair in others if pair not in known]
        return [*same, *hardest, *self._chance.sample(rest, min(len(rest), number - len(hardest)))]

    def some(self, pairs: Sequence[Example], share: float) -> list[Example]:
        """Return a share of the pairs."""
        return self._chance.sample(pairs, round(share * len(pairs)))

    def changed(self, pairs: Sequence[Example]) -> list[Example]:
        """Return the pairs, half of them with a small change of one text that leaves the label as it is."""
        changed = [self._changed(pair) if self._chance.random() < CHANGED else pair for pair in pairs]
        return [pair for pair in changed if self._fits(pair)]

    def slight(self, number: int, folders: Sequence[Folder]) -> list[Example]:
        """Return texts of `folders` and raw texts, each paired with a small change of itself: the same question."""
        written = [text for folder in folders for pair in self._written[folder] for text in (pair.a, pair.b)]
        texts = self._shuffled([*dict.fromkeys(written), *(text.text for text in self._texts)])
        found: list[Example] = []
        for text in texts:
            if len(found) == number:
                break
            variant = self._small.vary(text, self._chance)
            pair = self._example(text, self._varied(variant), "reworded: slightly", same=True) if variant else None
            if pair and self._fits(pair):
                found.append(pair)
        return found

    def contrasted(self, folder: Folder, number: int) -> list[Example]:
        """Return pairs of one written text with a generated contrast of another that asks the same."""
        same, _ = self._divided(folder)
        return [pair for pair in self._crossed(same, number) if self._fits(pair)]

    def generated(self, amounts: Amounts) -> list[Example]:
        """Return generated pairs; none has a wording of an evaluation."""
        contrasts = [
            pair
            for generator in self._contrasts
            for pair in self._made(generator, round(amounts.contrasts * SPECIAL.get(generator.name, 1.0)), same=False)
        ]
        mixed = [self._reworded(pair) if self._chance.random() < 0.5 else pair for pair in contrasts]
        rewordings = [
            pair
            for generator in REWORDINGS
            for pair in self._made(generator, round(amounts.rewordings * SPECIAL.get(generator.name, 1.0)), same=True)
        ]
        composed = self._composed(amounts.composed)
        crossed = self._crossed([pair for pair in self._labelled if pair.same], amounts.crossed)
        variants = self._of_variants(contrasts, amounts.variants)
        every = [*mixed, *rewordings, *composed, *crossed, *variants, *self._sentences()]
        return [pair for pair in every if self._fits(pair)]

    def _divided(self, folder: Folder) -> tuple[list[Example], list[Example]]:
        pairs = self._written[folder]
        return [pair for pair in pairs if pair.same], [pair for pair in pairs if not pair.same]

    def _made(self, generator: Generator, number: int, *, same: bool) -> Iterator[Example]:
        kind = f"{'reworded' if same else 'contrast'}: {generator.name}"
        for text in [text for _ in range(ROUNDS) for text in self._shuffled(self._texts)]:
            if number <= 0:
                return
            if variant := generator.vary(text.text, self._chance):
                number -= 1
                yield self._example(text.text, variant, kind, same=same)

    def _composed(self, number: int) -> Iterator[Example]:
        for text in self._shuffled(self._texts):
            if number > 0 and (variant := self._reword(text.text)):
                number -= 1
                yield self._example(text.text, variant, "reworded: composed", same=True)

    def _sentences(self) -> Iterator[Example]:
        """Yield sentences with exchanged words, with the same and with another meaning."""
        roles = next(generator for generator in CONTRASTS if generator.name == "roles")
        for text in self._texts:
            if text.source != "paws":
                continue
            for _ in range(2):
                if variant := roles.vary(text.text, self._chance):
                    yield self._example(text.text, variant, "contrast: roles, of sentences", same=False)
                if variant := self._telling.vary(text.text, self._chance):
                    yield self._example(text.text, variant, "reworded: sentences", same=True)

    def _crossed(self, pairs: Sequence[Example], number: int) -> Iterator[Example]:
        """Yield one text of a same pair with a contrast of the other text."""
        while pairs and number > 0:
            pair = self._chance.choice(pairs)
            ours, other = (pair.a, pair.b) if self._chance.random() < 0.5 else (pair.b, pair.a)
            number -= 1
            for generator in self._shuffled(self._contrasts):
                if variant := generator.vary(other, self._chance):
                    yield self._example(ours, variant, f"crossed: {generator.name}", same=False)
                    break

    def _of_variants(self, contrasts: Sequence[Example], number: int) -> Iterator[Example]:
        """Yield a contrast with its own rewording: the same question again."""
        for pair in self._shuffled(contrasts)[:number]:
            if variant := self._reword(pair.b):
                yield self._example(pair.b, variant, "reworded: a contrast", same=True)

    def _varied(self, text: str) -> str:
        return (self._surface.vary(text, self._chance) or text) if self._chance.random() < VARIED else text

    def _changed(self, pair: Example) -> Example:
        way = self._small if pair.same else self._smallest
        first = self._chance.random() < 0.5
        variant = way.vary(pair.a if first else pair.b, self._chance)
        if variant is None:
            return pair
        variant = self._varied(variant)
        return replace(pair, a=variant) if first else replace(pair, b=variant)

    def _reworded(self, pair: Example) -> Example:
        variant = self._reword(pair.b)
        return self._example(pair.a, variant, f"{pair.kind}, reworded", same=False) if variant else pair

    def _reword(self, text: str) -> str | None:
        """Reword substantially if a generator applies, else or in addition on the surface."""
        told = self._telling.vary(text, self._chance)
        if told and self._chance.random() < 0.5:
            return told
        return self._surface.vary(told or text, self._chance) or told

    def _example(self, a: str, b: str, kind: str, *, same: bool) -> Example:
        return Example(a, b, same, kind, self._part)

    def _fits(self, pair: Example) -> bool:
        one, two = normalise(pair.a), normalise(pair.b)
        return (pair.same or one != two) and not {wording(pair.a), wording(pair.b)} & self._evaluated

    def _shuffled(self, values: Sequence[Each]) -> list[Each]:
        return self._chance.sample(values, len(values))


def _repeated(pairs: Iterable[Example], times: Mapping[str, int]) -> list[Example]:
    return [pair for pair in pairs for _ in range(times.get(pair.kind, 1))]
