"""BERT's word pieces (uncased English), which MiniLM reads as embedder and as verifier."""

from functools import cache
from pathlib import Path
from typing import Any

_VOCABULARY = Path(__file__).parent / "weights" / "vocab.txt"


@cache
def vocabulary() -> frozenset[str]:
    """Return the whole words of the vocabulary in lower case: correctly written English words and names."""
    words = _VOCABULARY.read_text(encoding="utf-8").split()
    return frozenset(word for word in words if len(word) > 2 and word.isalpha())


@cache
def _ranks() -> dict[str, int]:
    return {piece: rank for rank, piece in enumerate(_VOCABULARY.read_text(encoding="utf-8").split("\n"))}


def rarity(word: str) -> int:
    """Return how rare a lower-case word is in English: its rank in the vocabulary, which is ordered from frequent to
    rare. Words that are not in it as a whole are equally rare, above every rank.
    """
    ranks = _ranks()
    return ranks.get(word, len(ranks))


def tokenizer() -> Any:
    """Return a new tokenizer (of `tokenizers`) without truncation."""
    from tokenizers import BertWordPieceTokenizer

    return BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
