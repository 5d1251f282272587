"""Which words of texts are names, and in which contexts names stand."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.core.equivalence.lexicon import EMPTY, MONTHS, WEEKDAYS
from harness.core.text import STOP_WORDS

MIN_COUNT = 6
"""Minimum number of texts with a name."""
CAPITAL_SHARE = 0.5
"""A name has a capital in this share of its places, or more."""
MAX_WORDS = 3
MAX_NAMES = 3_000

_WORD = re.compile(r"[A-Za-z](?:[\w+#]|[.&-](?=\w))*|\d[\w.,]*|['’]\w+|[^\w\s]")
_ARTICLES = frozenset({"the", "a", "an"})
_ENDS = frozenset(".?!:")
_NONE = (
    STOP_WORDS
    | EMPTY
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(
        "mr mrs dr ms ph.d phd etc ok eg st jr sr ii iii iv god sir quora wikipedia lol ps math faq prof sri "
        "a.m p.m am pm id dj inc ltd llc co".split()
    )
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A name of a text: its key, its first and last word, its characters."""

    key: str
    first: int
    last: int
    start: int
    end: int


def known_words(text: str) -> list[Token]:
    """Return the words and signs of `text`."""
    return [Token(match.group(), *match.span()) for match in _WORD.finditer(text)]


def distinct(sentences: Iterable[list[Token]]) -> list[list[Token]]:
    """Return the sentences less those that name the same three or more names as an earlier one: they retell it."""
    seen: set[frozenset[str]] = set()
    kept = []
    for words in sentences:
        named = frozenset(word.text for word in words[1:] if word.text[0].isupper() or word.text[0].isdigit())
        if len(named) < 3 or named not in seen:
            kept.append(words)
        seen.add(named)
    return kept


class Vocabulary:
    """The names of texts: how they are written, which differ, which are parts of one name."""

    def __init__(self, sentences: list[list[Token]]) -> None:
        self._capital: Counter[str] = Counter()
        self._small: Counter[str] = Counter()
        self._forms: Counter[str] = Counter()
        self.told_apart: Counter[tuple[str, str]] = Counter()
        self.together: Counter[tuple[str, str]] = Counter()
        for words in sentences:
            if not _titled(words):
                self._count(words)
            for place in range(1, len(words) - 1):
                self._pair(words, place)
        names = sorted((key for key in self._capital if self._is_name(key)), key=lambda key: (-self._capital[key], key))
        self.names = frozenset(names[:MAX_NAMES])
        forms = {form.casefold(): form for form, _ in sorted(self._forms.items(), key=lambda item: item[::-1])}
        self._shown = {key: " ".join(forms.get(word, word) for word in key.split()) for key in self.names}

    def written(self, key: str) -> str:
        """Return a name as it is most often written."""
        return self._shown.get(key, key)

    def _count(self, words: list[Token]) -> None:
        run: list[str] = []
        for place, word in enumerate([*words, Token(".", 0, 0)]):
            key = word.text.casefold()
            starts = place == 0 or words[place - 1].text in _ENDS
            if word.text != key and not (starts and key in _NONE):
                run.append(key)
                self._forms[word.text] += 1
                continue
            if run and len(run) <= MAX_WORDS:
                alone_in_front = len(run) == 1 and (place == 1 or words[place - 2].text in _ENDS)
                self._capital[" ".join(run)] += not alone_in_front
            for one, two in pairwise(run):
                self.together[one, two] += 1
            run = []
            self._small[key] += word.text == key

    def _pair(self, words: list[Token], place: int) -> None:
        """Note what a writer tells apart: A vs B, A or B, between A and B; and what is one thing: A (B)."""
        before, key, after = (words[at].text.casefold() for at in (place - 1, place, place + 1))
        between = key == "and" and place > 1 and words[place - 2].text.casefold() == "between"
        if (key in {"vs", "versus", "or"} or between) and before != after:
            self.told_apart[min(before, after), max(before, after)] += 1
        if key == "(":
            self.together[before, after] += 1

    def _is_name(self, key: str) -> bool:
        count, parts = self._capital[key], key.split()
        if count < MIN_COUNT or len(key) < 2 or parts[0] in _NONE or parts[-1] in _NONE:
            return False
        return len(parts) > 1 or count >= CAPITAL_SHARE * (count + self._small[key])


def _titled(words: list[Token]) -> bool:
    """Return whether a text is written as a title, where capitals tell nothing."""
    letters = [word.text for word in words if word.text[0].isalpha() and len(word.text) > 3]
    return len(letters) > 3 and sum(word[0].isupper() for word in letters) > 0.6 * len(letters)


def units(words: list[Token], vocabulary: Vocabulary) -> Iterator[Unit]:
    """Yield the names of a text, the longest where several begin."""
    place = 0
    while place < len(words):
        for size in range(min(MAX_WORDS, len(words) - place), 0, -1):
            part = words[place : place + size]
            key = " ".join(word.text.casefold() for word in part)
            if key in vocabulary.names:
                yield Unit(key, place, place + size - 1, part[0].start, part[-1].end)
                place += size
                break
        else:
            place += 1


def contexts(unit: Unit, words: list[Token]) -> Iterable[str]:
    """Return the contexts of a name: the words before and after it, two of each, and both sides."""
    plain = [_plain(words, place) for place in (unit.first - 2, unit.first - 1, unit.last + 1, unit.last + 2)]
    found = [f"_ {plain[2]}", f"{plain[0]} {plain[1]} _", f"_ {plain[2]} {plain[3]}"]
    if plain[1] not in _ARTICLES:
        found += [f"{plain[1]} _", f"{plain[1]} _ {plain[2]}"]
    return found


def _plain(words: list[Token], place: int) -> str:
    if not 0 <= place < len(words):
        return "|"
    text = words[place].text.casefold()
    return "#" if text[0].isdigit() else "|" if text in _ENDS else text
