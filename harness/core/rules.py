"""Rules of a research as texts: how each is read and checked.

A text is a list of lines. Lines that begin with `#` are comments, empty lines say nothing. No line is a regular
expression: a phrase has words, in which `*` is any letters or none, and `?` is one letter.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from harness.core.text import clean, one_line, shorten, words
from harness.errors import InvalidInput

RuleName: TypeAlias = Literal["task_types", "headings", "stop_words", "weights"]
"""Names of the rules, see `harness/research/rules`."""

_TYPE = r"^[a-z][a-z_]{0,39}\Z"
TypeName: TypeAlias = Annotated[str, Meta(pattern=_TYPE)]
"""Name of a type of questions, as the rules give it."""

HEADINGS = (
    "Answer", "Key points", "Details", "Where sources disagree", "Further passages", "Figures", "Quotations", "Limits",
    "Sources",
)  # fmt: skip
WEIGHTS: Mapping[str, tuple[float, float]] = {
    "answer_share": (0, 1),
    "key_points": (0, 50),
    "answer_excerpts": (1, 50),
    "sentences_read": (1, 400),
    "first_sentence": (0, 1),
    "helpful": (0, 1),
    "further_below": (0, 1),
    "trimmed_below": (0, 1),
    "repeated": (0, 1),
    "lacking_score": (0, 1),
    "lacking_relevance": (0, 1),
    "other_language": (0, 1),
}
"""Least and highest value of each weight."""
COUNTS = frozenset({"key_points", "answer_excerpts", "sentences_read"})

MAX_TYPES = 10
MAX_PHRASES = 200
MAX_PHRASE_WORDS = 8
MAX_CHARS = 100
"""Characters of a phrase or a heading."""
MAX_STOP_WORDS = 2_000
_SIGNS = {"*": r"\w*", "?": r"\w"}


class TaskType(Struct, frozen=True):
    """A type of questions: those with one of its phrases; without any, all others. `added` is what one query adds."""

    name: TypeName
    added: str
    phrases: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def has(self, question: str) -> bool:
        """Return whether a question (one line) is of this type. Takes time in proportion to its length."""
        return self.pattern is None or self.pattern.search(question) is not None


def lines_of(rule: RuleName, text: str) -> list[tuple[int, str]]:
    """Return the lines that are neither empty nor comments, with single spaces, each with its number.

    Raises:
        InvalidInput: there are control or direction-override characters.
    """
    if text.strip() != clean(text, len(text)):
        raise InvalidInput(f"{rule} has control characters; remove them")
    lines = ((number, one_line(line)) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def task_types_in(text: str) -> tuple[TaskType, ...]:
    """Return the types of questions, in order. The last one alone has no phrases.

    Raises:
        InvalidInput: a line that is neither `type: words` nor `- phrase`, or more than is allowed.
    """
    heads: dict[str, str] = {}
    phrases: dict[str, list[str]] = {}
    for number, line in lines_of("task_types", text):
        if line.startswith("- "):
            if not heads:
                raise _unusable("task_types", number, "a phrase comes below the line of its type, `type: words added`")
            phrases[[*heads][-1]].append(_phrase(line[2:], number))
            continue
        name, added = _pair("task_types", number, line)
        if not re.match(_TYPE, name) or name in heads:
            raise _unusable("task_types", number, f"{_shown(name)} must be a new name of small letters")
        if not words(added) or len(added) > MAX_CHARS:
            raise _unusable("task_types", number, f"what a query adds must be 1 to {MAX_CHARS} characters with a word")
        heads[name], phrases[name] = added, []
    _check_types(phrases)
    return tuple(TaskType(name, heads[name], tuple(own), _compiled(own)) for name, own in phrases.items())


def _check_types(phrases: Mapping[str, list[str]]) -> None:
    """Check the number of types and phrases.

    Raises:
        InvalidInput: too many or none; a type has phrases though it is the last one, or none though it is not.
    """
    count = sum(map(len, phrases.values()))
    if not 1 <= len(phrases) <= MAX_TYPES or count > MAX_PHRASES:
        raise InvalidInput(
            f"task_types has {len(phrases)} types and {count} phrases; it must have 1 to {MAX_TYPES} types and at most "
            f"{MAX_PHRASES} phrases"
        )
    *with_phrases, last = phrases
    if phrases[last]:
        raise InvalidInput(f"task_types: the last type, {last}, is that of all other questions; remove its phrases")
    for name in with_phrases:
        if not phrases[name]:
            raise InvalidInput(f"task_types: {name} has no phrases; add a line like `- how many*`, or make it the last")


def _phrase(phrase: str, number: int) -> str:
    """Return a phrase after checking it."""
    if not any(map(str.isalnum, phrase)) or len(phrase) > MAX_CHARS or len(phrase.split()) > MAX_PHRASE_WORDS:
        allowed = f"1 to {MAX_PHRASE_WORDS} words, at most {MAX_CHARS} characters, with a letter or digit"
        raise _unusable("task_types", number, f"a phrase has {allowed}")
    if any(word.count("*") > 1 for word in phrase.split()):
        raise _unusable("task_types", number, "a word has at most one *")
    return phrase


def _compiled(phrases: list[str]) -> re.Pattern[str] | None:
    """Return a pattern for whole words. It has no repetition but one in a word, which ends where the word does: its
    time grows with the length of the text, not with a power of it.
    """
    if not phrases:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(_pattern, phrases))})", re.IGNORECASE)


def _pattern(phrase: str) -> str:
    text = "".join(_SIGNS.get(char) or re.escape(char) for char in phrase.removesuffix("*"))
    return text if phrase.endswith("*") else rf"{text}(?!\w)"


def headings_in(text: str) -> dict[str, str]:
    """Return the headings that a report shows, by their names, for those that differ from the names.

    Raises:
        InvalidInput: a line that is not `name: heading`, an unknown name, or headings that are the same.
    """
    found: dict[str, str] = {}
    for number, line in lines_of("headings", text):
        name, shown = _pair("headings", number, line)
        _check_name("headings", number, name, HEADINGS, found)
        if not shown or len(shown) > MAX_CHARS or shown != clean(shown, MAX_CHARS):
            raise _unusable("headings", number, f"a heading has 1 to {MAX_CHARS} printable characters")
        found[name] = shown
    every = [found.get(name, name).casefold() for name in HEADINGS]
    if same := [name for name in HEADINGS if every.count(found.get(name, name).casefold()) > 1]:
        raise InvalidInput(f"headings: {' and '.join(same)} are the same; a reader cannot tell them apart")
    return {name: shown for name, shown in found.items() if name != shown}


def stop_words_in(text: str) -> frozenset[str]:
    """Return the words, in small letters.

    Raises:
        InvalidInput: something that is not one word, or too many.
    """
    found: set[str] = set()
    for number, line in lines_of("stop_words", text):
        for word in line.lower().split():
            if words(word) != [word] or len(word) > MAX_CHARS:
                raise _unusable("stop_words", number, f"{_shown(word)} is not a word")
            found.add(word)
    if len(found) > MAX_STOP_WORDS:
        raise InvalidInput(f"stop_words has {len(found):,} words; at most {MAX_STOP_WORDS:,} are allowed")
    return frozenset(found)


def weights_in(text: str) -> dict[str, float]:
    """Return the numbers by their names.

    Raises:
        InvalidInput: a line that is not `name: number`, an unknown name, or a number out of range.
    """
    found: dict[str, float] = {}
    for number, line in lines_of("weights", text):
        name, said = _pair("weights", number, line)
        _check_name("weights", number, name, WEIGHTS, found)
        least, most = WEIGHTS[name]
        kind = "a whole number" if name in COUNTS else "a number"
        try:
            value = float(said)
        except ValueError:
            value = -1.0
        if not least <= value <= most or (name in COUNTS and not value.is_integer()):  # NaN is in no range
            raise _unusable("weights", number, f"{name} must be {kind} from {least:g} to {most:g}")
        found[name] = int(value) if name in COUNTS else value
    return found


READ: Mapping[RuleName, Callable[[str], Any]] = {
    "task_types": task_types_in,
    "headings": headings_in,
    "stop_words": stop_words_in,
    "weights": weights_in,
}
"""Reader of each rule's text."""


def check_rules(texts: Mapping[RuleName, str]) -> None:
    """Check texts of rules.

    Raises:
        InvalidInput: one cannot be used; the message has its name, the line and what is allowed.
    """
    for name, text in texts.items():
        READ[name](text)


def _pair(rule: RuleName, number: int, line: str) -> tuple[str, str]:
    name, sign, value = line.partition(":")
    if not sign:
        raise _unusable(rule, number, f"{_shown(line)} must be `name: value`")
    return name.strip(), value.strip()


def _check_name(rule: RuleName, number: int, name: str, known: Mapping[str, Any] | tuple[str, ...], found: Any) -> None:
    if name not in known:
        raise _unusable(rule, number, f"there is no {_shown(name)}; choose one of {', '.join(known)}")
    if name in found:
        raise _unusable(rule, number, f"{name} occurs twice")


def _unusable(rule: RuleName, number: int, reason: str) -> InvalidInput:
    return InvalidInput(f"{rule}, line {number}: {reason}")


def _shown(text: str) -> str:
    return repr(shorten(text, 40))
