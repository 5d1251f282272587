"""Words of texts and of queries as the full-text indexes hold them, in any language.

English texts and queries are left to the index, which lower-cases and stems their words (FTS5 with Porter's stemmer,
PostgreSQL with its configuration `english`). Of other words, the stems are written instead. A word in Latin letters
stays, too: a query of a few words may not show its language, and an English one may ask for a name. Of a Turkish word,
its beginning is written as well.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from harness.core.question_language import question_language
from harness.core.text import STEMMERS, content_words, stem, words
from harness.core.word_forms import (
    grams,
    has_other_letters,
    is_latin,
    normal,
    replaced_words,
    same_letters,
    short_grams,
)

FORM = 2
"""Increase it when `indexed_text` returns other words: indexes in SQLite are then rebuilt. PostgreSQL needs a migration
that writes the words again.
"""
LANGUAGE_CHARS = 500
"""Characters of a text that show its language."""
TURKISH_BEGINNING = 4
"""Letters of a Turkish word that are a term besides its stem, which depends on the endings. On one half of XQuAD,
recall@1 by words is 0.935 with it and 0.924 without; on the other half, set aside, 0.919 and 0.897.
"""
_ENGLISH = frozenset({"the", "of", "and"})
_ENGLISH_WORDS = 3
"""Number of these words that shows English without a closer look, which takes 0.1 ms for every passage."""


@lru_cache(maxsize=4)  # the parts of one document follow each other
def text_language(text: str) -> str:
    """Return the language of a text, as its beginning shows it; "" if nothing does."""
    beginning = text[:LANGUAGE_CHARS]
    if sum(word in _ENGLISH for word in beginning.split()) >= _ENGLISH_WORDS:
        return "en"
    return question_language(beginning)


def indexed_text(text: str, language: str) -> str:
    """Return a text as it is given to an index. `language` is that of its words in Latin letters (a primary tag); "" if
    it is not known. An English text in Latin letters is returned as it is.
    """
    latin = language if language in STEMMERS else "en"
    if latin == "en" and not has_other_letters(text):
        return text

    def forms(found: Any) -> str:
        word = found[0]
        if split := grams(found):
            return f" {' '.join((*split, *(gram for gram in short_grams(found) if gram != word)))} "
        terms = _terms(word.lower(), latin)
        if is_latin(word):
            return " ".join((word, *(term for term in terms if term != word.lower())))
        return terms[0]

    return replaced_words(normal(text), forms, latin=latin != "en")


def indexed_texts(language: str, texts: Iterable[str]) -> list[str]:
    """Return the texts of one document, as its title and body, as they are given to an index. If `language` is "", the
    longest text shows it.
    """
    texts = list(texts)
    known = language or text_language(max(texts, key=len, default=""))
    return [indexed_text(text, known) for text in texts]


def search_terms(query: str) -> list[str]:
    """Return the words of a query to look for in an index, each once, in order: its content words, else all of its
    words.
    """
    language = question_language(query)
    latin = language if language in STEMMERS else "en"
    found = content_words(query, language=latin) or words(query)
    return list(dict.fromkeys(term for word in found for term in _terms(word, latin)))


def _terms(word: str, latin: str) -> list[str]:
    """Return the terms of a word in lower case: its stem, in Turkish also its beginning, with a digit, which no
    stem has. The index stems English words.
    """
    if not is_latin(word):
        return [stem(word)]
    if latin == "en":
        return [word]
    beginning = [f"{same_letters(word)[:TURKISH_BEGINNING]}0"] if latin == "tr" and word[0].isalpha() else []
    return [stem(word, latin), *beginning]
