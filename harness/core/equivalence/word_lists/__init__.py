"""Word lists of languages other than English: which words of a query decide, which mean nothing, which may move.

A language is a module with one text, `LISTS`: lines `kind: words`, which continue in indented lines. Words are
separated by commas, variants of one word by `=`; a word may be several, as people write them.

- letters: letters that show the language;
- negations, directions: words that both queries must have at the same place;
- relations: prepositions, case forms and particles that one query may lack as a whole, but not have elsewhere;
- drop: articles, copulas, politeness and other words that mean nothing here;
- subjects: words such as `price` or `weather`, which may be before or after what they are about;
- times: words such as `today`, which may be anywhere;
- opposites, distinct: pairs `a/b` that mean the contrary, or that only look like forms of one word;
- endings: groups, separated by semicolons, of endings (`-` for none) that the forms of one word may have;
- any other name: a kind of question or time (`when`, `past`), with the words for it.
"""

from functools import cache

from msgspec import Struct

from harness.core.equivalence.tokens import tokens_in
from harness.core.equivalence.word_lists import (
    arabic,
    chinese,
    dutch,
    french,
    german,
    hindi,
    italian,
    japanese,
    korean,
    portuguese,
    russian,
    spanish,
    turkish,
)
from harness.core.function_words import listed

_MODULES = {
    "ar": arabic, "de": german, "es": spanish, "fr": french, "hi": hindi, "it": italian, "ja": japanese, "ko": korean,
    "nl": dutch, "pt": portuguese, "ru": russian, "tr": turkish, "zh": chinese,
}  # fmt: skip
LISTED = tuple(_MODULES)
"""Languages that have lists."""
LATIN = ("de", "fr", "es", "it", "pt", "nl", "tr")
"""Languages in Latin letters that have lists."""
_NOT_WORDS = frozenset({"letters", "opposites", "distinct", "endings"})

Phrase = tuple[str, ...]


class WordLists(Struct, frozen=True):
    """Lists of one language. `meanings` gives the kind and the first variant of a phrase (words in a row), `longest`
    is the length of the longest phrase. Pairs are in both orders, their phrases joined with spaces.
    """

    meanings: dict[Phrase, tuple[str, str]]
    longest: int
    opposites: frozenset[tuple[str, str]]
    distinct: frozenset[tuple[str, str]]
    endings: tuple[tuple[str, ...], ...]
    letters: str


@cache
def lists_of(language: str) -> WordLists:
    """Return the lists of a language; empty ones if it has none."""
    module = _MODULES.get(language)
    lines = listed(module.LISTS) if module else {}
    meanings: dict[Phrase, tuple[str, str]] = {}
    for kind, words in lines.items():
        if kind in _NOT_WORDS:
            continue
        for word in words.split(","):
            variants = [_phrase(each, language) for each in word.split("=")]
            meanings |= {each: (kind, " ".join(variants[0]).strip()) for each in variants if each}
    groups = lines.get("endings", "").split(";")
    return WordLists(
        meanings,
        max(map(len, meanings), default=0),
        _pairs(lines.get("opposites", ""), language),
        _pairs(lines.get("distinct", ""), language),
        tuple(tuple(each.replace("-", "") for each in group.split()) for group in groups),
        lines.get("letters", ""),
    )


def _phrase(text: str, language: str) -> Phrase:
    """Return the words of a phrase. In Korean, `_` is the end of a word, which is " " among the words."""
    return tuple(tokens_in(text.strip().replace("_", " "), language))


def _pairs(text: str, language: str) -> frozenset[tuple[str, str]]:
    pairs = [
        [" ".join(_phrase(side, language)).strip() for side in pair.split("/")]
        for pair in text.split(",")
        if "/" in pair
    ]
    return frozenset(each for one, two in pairs for each in ((one, two), (two, one)))
