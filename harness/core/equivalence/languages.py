"""Language of a pair of queries: English, one other language, or two different ones."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise

from harness.core.equivalence.lexicon import AUDIENCES, COMPOUNDING, EMPTY, IRREGULAR, SYNONYMS, WEAK
from harness.core.equivalence.tokens import UMLAUTS, tokens_in
from harness.core.equivalence.word_lists import LATIN, lists_of
from harness.core.everyday_words import EVERYDAY_WORDS
from harness.core.languages import main_script
from harness.core.question_language import question_language
from harness.core.text import STOP_WORDS
from harness.core.word_forms import with_few_marks

ENGLISH = "en"
_FOREIGN = frozenset("con da de del der des die dr el em en es est et il je la las le les los que un".split())
"""Words among the everyday ones that are more often those of other languages."""
_ENGLISH_TOO = frozenset(
    "age capital cause causes costa dat eu is maximum minimum no os per plus sin sous test".split()
)
"""Words of other languages that English queries have, too."""
_UNLISTED = frozenset("dari ke iz od fra från til till kutoka hadi galing papuntang z ze".split())
"""Prepositions of direction, no English words, of languages in Latin letters without word lists."""
_BEGINNING = 4
"""Letters of a word that all its forms have."""
_FROM = re.compile("([^\\W_]{3,40}?)(?:[dt][ae]n|[rbt][oe]l|[ls]t[ae])")
"""A word with an ending that says from where: in Turkish, Hungarian and Finnish, typed without accents."""
_EVIDENCE = 1e-6
"""Evidence that differs by less is the same: sums of fractions are rounded."""
_SHOWING = 1_000
"""Characters of a query that show its language."""


def languages_of(a: str, b: str) -> tuple[str, ...]:
    """Return the languages that two queries may both be in: `en`, or others, "" for one without word lists. Empty: they
    are in two different languages.

    Without letters of other alphabets or accents, and without words of another language, queries are English. In Latin
    letters, the words of the lists decide for both together: a single query is too short. If they show no language but
    English, endings and frequent words decide where both queries show the same language and no English.
    """
    a, b = (unicodedata.normalize("NFKC", with_few_marks(text)) for text in (a, b))
    one, two = question_language(a), question_language(b)
    plain = _is_plain(a) and _is_plain(b)
    if plain and {one, two} <= {ENGLISH, ""}:
        return _turned(a, b) or (ENGLISH,)
    if plain or {main_script(a), main_script(b)} == {"LATIN"}:
        found = _latin(a, b, plain=plain)
        if found != (ENGLISH,):
            return found
        shown = (one,) if one == two in LATIN and not (_has_english(a) or _has_english(b)) else ()
        return _turned(a, b) or shown or found
    if {one, two} == {"zh", "ja"}:  # Japanese keywords may have no kana
        return ("ja",)
    return (one,) if one == two else ()


def _has_english(text: str) -> bool:
    """Return whether a text has a function word of English, or a word in -ing."""
    return any(word in STOP_WORDS or word.endswith("ing") for word in tokens_in(text[:_SHOWING], ""))


def _is_plain(text: str) -> bool:
    """Return whether all letters are those of English."""
    return text.isascii() or all(char.isascii() for char in text if char.isalpha())


def _latin(a: str, b: str, *, plain: bool) -> tuple[str, ...]:
    signs_a, signs_b = _evidence(a[:_SHOWING]), _evidence(b[:_SHOWING])
    one, two = _best(signs_a), _best(signs_b)
    if one and two and set(one).isdisjoint(two) and ENGLISH in (*one, *two):
        return ()
    both = _best({each: signs_a.get(each, 0.0) + signs_b.get(each, 0.0) for each in {*signs_a, *signs_b}})
    if not both:
        return (ENGLISH,) if plain else ("",)
    if ENGLISH in both and (plain or len(both) == 1):
        return (ENGLISH,)
    return tuple(language for language in both if language != ENGLISH)


def _turned(a: str, b: str) -> tuple[str, ...]:
    """Return the languages of a preposition, no English one, that is before different words in two queries which both
    have these words: "treno da milano a roma" has no other sign that it is not English.
    """
    words_a, words_b = (tokens_in(text[:_SHOWING], "") for text in (a, b))
    if _have_turned_endings(words_a, words_b):
        return ("",)
    one, two = _following(words_a), _following(words_b)
    both = _beginnings(words_a) & _beginnings(words_b)
    turned = (
        word
        for word in sorted(one.keys() & two.keys())
        if one[word] != two[word] and _beginnings(one[word] | two[word]) <= both
    )
    return next((_small_words()[word] for word in turned), ())


def _beginnings(words: Iterable[str]) -> set[str]:
    """Return words without what may be endings: "zagreba", "zagreb"."""
    return {word[:_BEGINNING] for word in words}


def _have_turned_endings(a: list[str], b: list[str]) -> bool:
    """Return whether in each of two queries an ending says "from" another word, and both have both words: "istanbuldan
    ankaraya", "ankaradan istanbula".
    """
    one, two = _left(a), _left(b)
    return _begin(one - two, b) and _begin(two - one, a)


def _left(tokens: list[str]) -> set[str]:
    found = (_FROM.fullmatch(token) for token in tokens if token not in _english())
    return {each[1] for each in found if each}


def _begin(stems: set[str], tokens: list[str]) -> bool:
    return any(token.startswith(stem) for stem in stems for token in tokens)


def _following(tokens: list[str]) -> dict[str, set[str]]:
    """Return the words after each preposition that is no English one."""
    found: dict[str, set[str]] = {}
    for word, following in pairwise(tokens):
        if word in _small_words():
            found.setdefault(word, set()).add(following)
    return found


@cache
def _english() -> frozenset[str]:
    """Return frequent words of English."""
    return (STOP_WORDS | EMPTY | EVERYDAY_WORDS) - _FOREIGN


@cache
def _small_words() -> dict[str, tuple[str, ...]]:
    """Return the languages of prepositions in Latin letters that are no English words."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(_UNLISTED, ("",))
    for language in LATIN:
        for phrase, (kind, _) in lists_of(language).meanings.items():
            word = phrase[0]
            if len(phrase) == 1 and kind in {"directions", "relations"} and word not in _english():
                found[word] = (*found.get(word, ()), language)
    return found


def _best(evidence: Mapping[str, float]) -> tuple[str, ...]:
    """Return the languages with the most evidence, sorted."""
    most = max(evidence.values(), default=0.0)
    return tuple(sorted(language for language, found in evidence.items() if found > most - _EVIDENCE))


@lru_cache(4_096)
def _evidence(text: str) -> Mapping[str, float]:
    """Return how much shows each language: a word or letter counts 1, shared among the languages that have it."""
    found = defaultdict[str, float](float)
    for sign in (*tokens_in(text, ""), *sorted(letter for letter in {*text} if not letter.isascii())):
        having = _known().get(sign) or _known().get(sign.translate(UMLAUTS), ())
        for language in having:
            found[language] += 1 / len(having)
    return found


@cache
def _known() -> dict[str, tuple[str, ...]]:
    """Return the languages in Latin letters by their words and letters."""
    english = STOP_WORDS | EVERYDAY_WORDS | EMPTY | WEAK | COMPOUNDING | AUDIENCES | {*IRREGULAR, *SYNONYMS}
    known: dict[str, tuple[str, ...]] = {}

    def add(language: str, words: Iterable[str]) -> None:
        for word in {*words}:
            if len(word) > 1 or word == "a" or not word.isascii():
                known[word] = (*known.get(word, ()), language)

    add(ENGLISH, (english - _FOREIGN) | _ENGLISH_TOO)
    for language in LATIN:
        lists = lists_of(language)
        add(language, (*lists.letters, *(word for phrase in lists.meanings for word in phrase)))
    return known
