"""Rules of a research, a text file each; the setting `rules` replaces them by name."""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import get_args

from msgspec import Struct, convert

from harness.core.keys import digest_of
from harness.core.rules import RuleName, TaskType, headings_in, lines_of, stop_words_in, task_types_in, weights_in

SHIPPED_RULES: Mapping[RuleName, str] = MappingProxyType({})
"""No rule is replaced."""
PLANNING: tuple[RuleName, ...] = ("task_types", "stop_words")
"""Rules that decide what is searched."""


class Weights(Struct, frozen=True):
    """Numbers by which excerpts are chosen and placed in a report, see `weights.txt`."""

    answer_share: float
    key_points: int
    answer_excerpts: int
    sentences_read: int
    first_sentence: float
    helpful: float
    further_below: float
    trimmed_below: float
    repeated: float
    lacking_score: float
    lacking_relevance: float
    other_language: float


class Rules(Struct, frozen=True):
    """Rules as read. `headings` are those that differ from their names."""

    task_types: tuple[TaskType, ...]
    stop_words: frozenset[str]
    headings: Mapping[str, str]
    weights: Weights


def rule_texts(replaced: Mapping[RuleName, str] = SHIPPED_RULES) -> dict[RuleName, str]:
    """Return the text of every rule by name, or what replaces it."""
    return {name: replaced.get(name) or _shipped(name) for name in get_args(RuleName)}


def rules_of(replaced: Mapping[RuleName, str] = SHIPPED_RULES) -> Rules:
    """Return the rules; a weight that a text leaves out is the shipped one.

    Raises:
        InvalidInput: a text cannot be used, see `harness.core.rules`.
    """
    return _read(tuple(sorted(replaced.items())))


def version_of_rules(replaced: Mapping[RuleName, str], *names: RuleName) -> str:
    """Return 16 hexadecimal digits that name the texts of some rules, "" if they are the shipped ones. Comments do not
    count.
    """
    if not replaced or _said(replaced, names) == _said(SHIPPED_RULES, names):
        return ""
    return digest_of(_said(replaced, names))


@cache
def shipped_version(*names: RuleName) -> str:
    """Return 16 hexadecimal digits that name the shipped texts of some rules."""
    return digest_of(_said(SHIPPED_RULES, names))


def _said(replaced: Mapping[RuleName, str], names: tuple[RuleName, ...]) -> dict[str, list[str]]:
    texts = rule_texts(replaced)
    return {name: [line for _, line in lines_of(name, texts[name])] for name in names}


@lru_cache(maxsize=32)
def _read(replaced: tuple[tuple[RuleName, str], ...]) -> Rules:
    texts = rule_texts(dict(replaced))
    weights = weights_in(_shipped("weights")) | weights_in(texts["weights"])
    return Rules(
        task_types_in(texts["task_types"]),
        stop_words_in(texts["stop_words"]),
        MappingProxyType(headings_in(texts["headings"])),
        convert(weights, Weights),
    )


@cache
def _shipped(name: RuleName) -> str:
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
