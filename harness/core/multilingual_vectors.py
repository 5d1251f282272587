"""Embedders of other languages than English: their ids, and what their similarities show."""

from harness.core import languages

ENGLISH = "all-MiniLM-L6-v2-int8"
"""Id of the embedder of English."""
ENCODER = "use-multilingual-3"
"""Id of the Universal Sentence Encoder, multilingual, version 3."""
LANGUAGES = frozenset("ar de es fr it ja ko nl pl pt ru th tr zh".split())
"""Languages that it knows, besides English."""

SCALE = 1.5
"""Its similarities times this are like those of all-MiniLM-L6-v2 for English: for XQuAD's questions and the paragraphs
that answer them, the median is 0.59 in English, and 0.32 (Arabic) to 0.42 (Spanish) by the encoder.
"""
SHARED_WORDS = 0.3
LEAST_SIGN = 0.26
"""A sentence answers a question in one of the `LANGUAGES` if its cosine similarity, plus `SHARED_WORDS` times the share
of the question's words that it has, is at least this. On half of XQuAD, a paragraph that answers has no such sentence
in at most 5 % of the questions (Arabic and Turkish 4.6 %, Chinese, German and Russian 1 to 2 %), and five paragraphs
from other articles have none in 85 to 93 %.
"""
LEAST_SIGN_ACROSS = 0.3
"""The same for a sentence in another language, where the words show nothing. On the same half, over eight pairs of
languages, 0.6 to 0.8 of the paragraphs that answer have such a sentence, and 0 to 3 % of the others, five together;
with 0.26 it is 0.62 to 0.88, and 2 to 10 %.
"""
_OF_ENCODER = frozenset((ENCODER, f"{ENGLISH}+{ENCODER}"))
"""Ids of the embedders that compare texts in these languages by it."""


def understands(embedder: str, language: str) -> bool:
    """Return whether vectors of an embedder say anything about texts in a language ("" for English). all-MiniLM-L6-v2
    understands words that other languages in Latin letters share with English; of other letters it makes noise. Any
    other embedder is trusted.
    """
    if not knows_english_as(ENGLISH, embedder) or language in {"", *languages.LANGUAGES["LATIN"]}:
        return True
    return knows(embedder, language)


def knows(embedder: str, language: str) -> bool:
    """Return whether similarities of an embedder show which texts answer a question in a language, not English."""
    return embedder in _OF_ENCODER and language in LANGUAGES


def scale(embedder: str, language: str) -> float:
    """Return what to multiply similarities to a question in a language with, to compare them with limits made for
    all-MiniLM-L6-v2 and English.
    """
    return SCALE if knows(embedder, language) else 1.0


def knows_english_as(model: str, embedder: str) -> bool:
    """Return whether the vectors of English texts by `embedder` have the similarities that those by `model` have: the
    id of an embedder that joins two begins with the one for English, and `+`.
    """
    return embedder == model or embedder.startswith(f"{model}+")
