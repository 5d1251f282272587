"""Ranking of results by the words of a query."""

import math
from collections import Counter
from collections.abc import Sequence

from harness.core.text import content_words, stem

K1, B = 1.2, 0.75
"""Usual constants of BM25 (Robertson and Zaragoza, 2009)."""
TITLE_WEIGHT = 2


class WordRanking:
    """BM25 over the stems of titles and snippets, `texts`. Safe from any thread."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._words = [Counter(_terms(title) * TITLE_WEIGHT + _terms(snippet)) for title, snippet in texts]
        self._often = Counter(word for words in self._words for word in words)
        self._mean = sum(map(Counter.total, self._words)) / max(1, len(self._words))

    def best(self, query: str, most: int) -> list[int]:
        """Return the places of up to `most` texts with a word of the query, best first; of equals, the first."""
        wanted = sorted(set(_terms(query)))
        scores = [self._score(wanted, words) for words in self._words]
        return sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])[:most]

    def _score(self, wanted: Sequence[str], words: Counter[str]) -> float:
        length = K1 * (1 - B + B * words.total() / self._mean) if self._mean else K1
        return math.fsum(
            self._rarity(word) * words[word] * (K1 + 1) / (words[word] + length) for word in wanted if words[word]
        )

    def _rarity(self, word: str) -> float:
        often = self._often[word]
        return math.log(1 + (len(self._words) - often + 0.5) / (often + 0.5))


def _terms(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]
