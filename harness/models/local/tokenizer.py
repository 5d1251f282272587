"""BERT's word pieces (uncased English): what MiniLM reads, as embedder and as verifier."""

from functools import cache
from pathlib import Path
from typing import Any

_VOCABULARY = Path(__file__).parent / "weights" / "vocab.txt"


@cache
def vocabulary() -> frozenset[str]:
    """Return the whole words of the vocabulary, in small letters: correctly written English and names."""
    words = _VOCABULARY.read_text(encoding="utf-8").split()
    return frozenset(word for word in words if len(word) > 2 and word.isalpha())


@cache
def _ranks() -> dict[str, int]:
    return {piece: rank for rank, piece in enumerate(_VOCABULARY.read_text(encoding="utf-8").split("\n"))}


def rarity(word: str) -> int:
    """Return how rare a word in small letters is in English: its rank in the vocabulary, which goes from frequent to
    rare; all words that the vocabulary does not hold whole are equally rare, above every rank.
    """
    ranks = _ranks()
    return ranks.get(word, len(ranks))


def tokenizer() -> Any:
    """Return a new tokenizer (of `tokenizers`); its truncation is the caller's to set."""
    from tokenizers import BertWordPieceTokenizer

    return BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
