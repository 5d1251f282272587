"""Retrieval strategies: the three built-in ones, and third-party ones."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.chat.strategies import (
    STRATEGIES,
    Cosine,
    DynamicCosine,
    Hybrid,
    MemoryCandidate,
    Query,
    RankedMemory,
    strategy_named,
)
from harness.core.freshness import DAY
from harness.errors import InvalidInput
from harness.settings import VectorStoreSettings

NOW = 1_700_000_000.0


class Fixed:
    """A `Searchable` with fixed cosines and word scores."""

    def __init__(self, *held: MemoryCandidate, before: Mapping[str, str] | None = None) -> None:
        self._held = held
        self._before = before or {}

    def nearest(self, vector: Any, k: int, *, at_least: float = 0.0) -> Sequence[MemoryCandidate]:
        """See `Searchable.nearest`."""
        near = [each for each in self._held if each.similarity is not None and each.similarity >= at_least]
        stripped = [MemoryCandidate(each.key, each.created_at, each.similarity) for each in near]
        return sorted(stripped, key=lambda each: -(each.similarity or 0))[:k]

    def with_words(self, words: Mapping[str, float], k: int) -> Sequence[MemoryCandidate]:
        """See `Searchable.with_words`."""
        worded = [MemoryCandidate(each.key, each.created_at, None, each.words) for each in self._held if each.words]
        return sorted(worded, key=lambda each: -each.words)[:k]

    def before(self, key: str) -> str | None:
        """See `Searchable.before`."""
        return self._before.get(key)


def query(*, k: int = 5, messages: int = 0, everything: bool = False) -> Query:
    """Return a query; the fixed memories define its meaning."""
    return Query(np.ones(1, np.float32), {"question": 1.0}, k, messages, NOW, everything)


def keys(ranked: Sequence[RankedMemory]) -> list[str]:
    """Return the chosen keys, best first."""
    return [each.key for each in ranked]


@pytest.mark.parametrize(("similarity", "found"), [(0.65, ["a"]), (0.649, [])])
def test_default_has_a_static_threshold(similarity: float, found: list[str]) -> None:
    """A memory at the threshold is found, one below is not."""
    strategy = Cosine(VectorStoreSettings())
    assert keys(strategy.retrieve(query(), Fixed(MemoryCandidate("a", NOW, similarity)))) == found


def test_a_threshold_of_0_keeps_all() -> None:
    """0 is a value, not a missing one."""
    strategy = Cosine(VectorStoreSettings(similarity_threshold=0.0))
    assert keys(strategy.retrieve(query(), Fixed(MemoryCandidate("a", NOW, 0.0)))) == ["a"]


@pytest.mark.parametrize(("messages", "threshold"), [(0, 0.4), (5, 0.5), (10, 0.6), (20, 0.8), (99, 0.8)])
def test_dynamic_rises_linearly_with_the_messages(messages: int, threshold: float) -> None:
    """It starts at the first setting and ends at the second."""
    settings = VectorStoreSettings(dynamic_threshold=(0.4, 0.8), dynamic_messages=20)
    strategy = DynamicCosine(settings)
    assert strategy.threshold(messages) == pytest.approx(threshold)
    held = Fixed(MemoryCandidate("above", NOW, threshold + 0.01), MemoryCandidate("below", NOW, threshold - 0.01))
    assert keys(strategy.retrieve(query(messages=messages), held)) == ["above"]


def test_hybrid_combines_words_and_meaning() -> None:
    """A memory with both comes before one with either; one found only by words counts, too."""
    both, words = MemoryCandidate("both", NOW, 0.7, 0.8), MemoryCandidate("words", NOW, None, 1.0)
    held = Fixed(MemoryCandidate("meaning", NOW, 0.8), both, words, MemoryCandidate("little", NOW, 0.1))
    assert keys(Hybrid(VectorStoreSettings()).retrieve(query(), held)) == ["both", "words", "meaning"]


def test_hybrid_raises_neighbours_of_a_good_memory() -> None:
    """The answer next to the matching words comes before a slightly better match."""
    held = (
        MemoryCandidate("asked", NOW, 0.8, 1.0),
        MemoryCandidate("answer", NOW, 0.3),
        MemoryCandidate("other", NOW, 0.35),
    )
    assert keys(Hybrid(VectorStoreSettings()).retrieve(query(), Fixed(*held)))[:2] != ["asked", "answer"]
    beside = Fixed(*held, before={"answer": "asked"})
    assert keys(Hybrid(VectorStoreSettings()).retrieve(query(), beside))[:2] == ["asked", "answer"]


def test_hybrid_puts_the_newer_of_equals_first() -> None:
    """Age changes nothing else."""
    held = Fixed(
        MemoryCandidate("old", NOW - 365 * DAY, 0.8),
        MemoryCandidate("new", NOW, 0.8),
        MemoryCandidate("better", NOW - 365 * DAY, 0.85),
    )
    assert keys(Hybrid(VectorStoreSettings()).retrieve(query(), held)) == ["better", "new", "old"]


def test_hybrid_finds_nothing_without_a_relevant_memory() -> None:
    """Irrelevant memories are not found, except with `everything`."""
    held = Fixed(MemoryCandidate("a", NOW, 0.2), MemoryCandidate("b", NOW, 0.25, 0.1))
    strategy = Hybrid(VectorStoreSettings())
    assert strategy.retrieve(query(), held) == []
    assert keys(strategy.retrieve(query(everything=True), held)) == ["b", "a"]


def test_hybrid_leaves_irrelevant_memories_out() -> None:
    """In a small memory, everything is among the nearest."""
    held = Fixed(MemoryCandidate("fits", NOW, 0.7, 0.9), MemoryCandidate("does not", NOW, 0.1))
    assert keys(Hybrid(VectorStoreSettings()).retrieve(query(), held)) == ["fits"]


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_strategy_returns_more_than_k(name: str) -> None:
    """And none from an empty memory."""
    strategy = strategy_named(VectorStoreSettings(retrieval_strategy=name))
    held = [MemoryCandidate(f"m{number}", NOW, 0.9, 0.5) for number in range(9)]
    assert len(strategy.retrieve(query(k=3), Fixed(*held))) == 3
    assert list(strategy.retrieve(query(), Fixed())) == []


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with strategies, one of which works."""
    info = tmp_path / "offering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[harness.retrieval_strategies]\nlast = offering:Last\nbroken = offering:Broken\nempty = offering:Empty\n"
    )
    (tmp_path / "offering.py").write_text(
        "class Last:\n"
        "    def __init__(self, settings): self.settings = settings\n"
        "    def retrieve(self, query, memories): return memories.nearest(query.vector, query.k)[::-1]\n"
        "class Broken:\n"
        "    def __init__(self, settings): raise RuntimeError('no licence')\n"
        "class Empty:\n"
        "    def __init__(self, settings): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "offering", raising=False)


@pytest.mark.usefixtures("installed")
def test_a_third_party_strategy_is_used_by_its_name() -> None:
    """An installed package offers it as an entry point; it receives the settings."""
    strategy = strategy_named(VectorStoreSettings(retrieval_strategy="last"))
    held = Fixed(MemoryCandidate("a", NOW, 0.9), MemoryCandidate("b", NOW, 0.8))
    assert [each.key for each in strategy.retrieve(query(), held)] == ["b", "a"]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "told"),
    [("unknown", "broken, default, dynamic, empty, hybrid, last"), ("broken", "no licence"), ("empty", "`retrieve`")],
)
def test_an_unusable_strategy_is_reported(name: str, told: str) -> None:
    """An unknown name with the known ones; a broken or invalid one with the reason."""
    with pytest.raises(InvalidInput) as caught:
        strategy_named(VectorStoreSettings(retrieval_strategy=name))
    assert told in str(caught.value)
