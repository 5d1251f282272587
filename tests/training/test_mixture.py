"""Training examples: deterministic, separate from every evaluation, balanced between the labels."""

import gzip
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.clusters import clusters
from benchmarks.pairs import labelled, part_of
from benchmarks.traps import read_traps
from benchmarks.wording import wording
from harness.core.keys import normalise
from training.mixture import OTHERS, Amounts, Mixture
from training.passes import PASSES, PERMITTED_PASSES
from training.sources import Example, Sources, read_sources

SUBJECTS = ("Python", "Java", "India", "China", "Berlin", "Paris", "Linux", "Tokyo")
FRAMES = (
    ("How do I learn {} in 3 weeks?", "What is the best way to learn {} in 3 weeks?"),
    ("Why is {} better than {} for beginners?", "What makes {} better than {} for beginners?"),
    ("What is the best book about {}?", "Which book about {} is the best one?"),
    ("How can I go from {} to {} before 2020?", "How do I get from {} to {} before 2020?"),
)
AMOUNTS = Amounts(20, 20, 40, 20, 20)


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wb") as lines:
        lines.writelines(orjson.dumps(row) + b"\n" for row in rows)


pytestmark = pytest.mark.slow  # the sources alone take three seconds


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data, of the shapes that real ones have."""
    folder = tmp_path_factory.mktemp("data")
    pairs = [
        {"a": one.format(first, second), "b": other.format(first, second), "label": int(first < second)}
        for one, other in FRAMES
        for first in SUBJECTS
        for second in SUBJECTS
        if first != second
    ]
    for name in ("qqp", "paws", "medical"):
        rows = [row | {"a": f"{row['a']} ({name})", "b": f"{row['b']} ({name})"} for row in pairs]
        _write(folder / "query_pairs" / f"{name}.jsonl.gz", rows)
    topics = [{"topic": number, "query": f"{subject} news {word}"} for number, subject in enumerate(SUBJECTS)
              for word in ("today", "of the day", "latest")]  # fmt: skip
    _write(folder / "query_pairs" / "robust_uqv.jsonl.gz", topics)
    trap = read_traps()[0].a
    log = [{"query": text} for text in ("how to install docker on linux", "Python news today", trap)]
    _write(folder / "query_logs" / "bing_2020_01.jsonl.gz", log)
    return folder


@pytest.fixture(scope="module")
def sources(data: Path) -> Sources:
    """Its examples."""
    return read_sources(data)


@pytest.mark.slow
def test_no_text_of_an_evaluation_is_read(sources: Sources, data: Path) -> None:
    """Neither held-out halves nor traps nor clusters, whatever set they turn up in, and not with other signs either:
    *how are hurricanes named?* is no other question than *how are hurricanes named*.
    """
    held_out = {
        text
        for name in ("qqp", "paws", "medical")
        for pair in labelled(data / "query_pairs", name)[0]
        if pair.held_out
        for text in (pair.a, pair.b)
    }
    traps = {text for trap in read_traps() for text in (trap.a, trap.b)}
    evaluated = {wording(text) for text in held_out | traps | {text for each in clusters() for text in each.texts}}
    assert evaluated <= sources.evaluated
    assert held_out
    assert not {wording(each.text) for each in sources.texts} & evaluated
    assert sources.pairs
    assert all(sources.written.values())
    for pairs in (sources.pairs, sources.graded, *sources.written.values()):
        assert not {wording(text) for pair in pairs for text in (pair.a, pair.b)} & evaluated


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES | PERMITTED_PASSES)
def test_no_pass_makes_a_text_of_an_evaluation(sources: Sources, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it generates, changes or chooses (of some of the written clusters and a fraction of the amounts)."""
    few = replace(sources, written={folder: pairs[::100] for folder, pairs in sources.written.items()})
    monkeypatch.setattr("training.passes.Amounts", lambda: Amounts().times(0.03))
    monkeypatch.setattr("training.passes.SLIGHT_WIDE", 300)
    monkeypatch.setattr("training.passes.SLIGHT_HARD", 300)
    monkeypatch.setattr("training.passes.SLIGHT_CLOSING", 300)
    monkeypatch.setattr("training.passes.CONTRASTED", 300)
    read = (PASSES | PERMITTED_PASSES)[name].read(Mixture(few, "train", 1), lambda pairs, keep: list(pairs[:keep]))
    assert len(read) > 1_000
    assert not {wording(text) for pair in read for text in (pair.a, pair.b)} & sources.evaluated
    assert {pair.part for pair in read} == {"train"}


@pytest.mark.slow
def test_with_permitted_data_nothing_is_learned_from_the_other_sets(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They only measure; what is generated comes from texts that were written for this project, and PAWS."""
    monkeypatch.setattr("training.sources.WRITTEN", ("stories",))  # one of the folders will do
    sources = read_sources(data, permitted=True)
    learned = {pair.kind.split(",")[0] for pair in sources.pairs if pair.part != "calibrate"}
    assert learned == {"paws"}
    assert {pair.kind for pair in sources.pairs if pair.part == "calibrate"} >= {"qqp"}
    assert {text.source for text in sources.texts} == {"paws", "written"}
    others = {text for name in ("qqp", "medical") for pair in labelled(data / "query_pairs", name)[0]
              for text in (pair.a, pair.b)}  # fmt: skip
    assert not others & {text.text for text in sources.texts}
    learned_from = (*sources.pairs, *sources.graded, *(pair for each in sources.written.values() for pair in each))
    used = {text for pair in learned_from if pair.part != "calibrate" for text in (pair.a, pair.b)}
    assert not others & used


@pytest.mark.slow
def test_no_text_is_in_two_parts(sources: Sources) -> None:
    """Pairs that share a text go together."""
    parts: dict[str, set[str]] = {}
    for pair in sources.pairs:
        for text in (pair.a, pair.b):
            parts.setdefault(normalise(text), set()).add(pair.part)
    assert all(len(each) == 1 for each in parts.values())


@pytest.mark.slow
def test_generated_pairs_keep_clear_of_evaluations(sources: Sources) -> None:
    """A variant may happen to be a held-out question; then it is left out."""
    made = Mixture(sources, "train", 1).generated(AMOUNTS)
    assert made
    assert not {wording(text) for pair in made for text in (pair.a, pair.b)} & sources.evaluated


@pytest.mark.slow
def test_the_same_seed_makes_the_same_pairs(sources: Sources) -> None:
    """And another seed others."""
    one, again, other = (Mixture(sources, "train", seed).generated(AMOUNTS) for seed in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.slow
def test_variants_stand_on_both_sides_of_the_label(sources: Sources) -> None:
    """Odd texts are not always different: contrasts are reworded, too, and neither label is rare."""
    made = Mixture(sources, "train", 1).generated(AMOUNTS)
    labels = Counter(pair.same for pair in made)
    assert 0.2 < labels[True] / len(made) < 0.8
    kinds = {pair.kind for pair in made}
    assert "reworded: a contrast" in kinds
    assert any(kind.startswith("crossed: ") for kind in kinds)
    assert any(kind.startswith("contrast: ") and kind.endswith(", reworded") for kind in kinds)


def test_a_pass_reads_the_written_pairs_that_are_the_same_and_some_others(sources: Sources) -> None:
    """All of the former, only of its part, and more of the latter."""
    read = Mixture(sources, "train", 1).written("orders")
    same = [pair for pair in read if pair.same]
    assert same == [pair for pair in sources.written["orders"] if pair.same and pair.part == "train"]
    assert len(same) < len(read) - len(same) < 2 * len(same)
    assert {pair.part for pair in read} == {"train"}


def test_small_changes_leave_labels_alone(sources: Sources) -> None:
    """About half of the pairs have one text that is changed a little; where they differ, no word changes its place."""
    read = Mixture(sources, "train", 1).written("small")[-400:]
    changed = Mixture(sources, "train", 2).changed(read)
    assert {pair.same for pair in read} == {False}
    kept = set(read)
    new = [pair for pair in changed if pair not in kept]
    assert 0.1 * len(read) < len(new) < 0.6 * len(read)
    texts = {pair.a for pair in read} | {pair.b for pair in read}
    assert all((pair.a in texts) != (pair.b in texts) and not pair.same for pair in new)


def test_a_text_and_its_slight_variant_are_the_same(sources: Sources) -> None:
    """As many as are asked for, of written texts and of others, each text once."""
    made = Mixture(sources, "train", 1).slight(300, ("small",))
    assert len(made) == 300
    assert all(pair.same and normalise(pair.a) != normalise(pair.b) for pair in made)
    assert len({pair.a for pair in made}) == len(made)


def test_where_hard_ones_are_read_some_of_the_different_are_the_hardest(sources: Sources) -> None:
    """Half of them are chosen, from all that there are; a share of the others."""
    mixture = Mixture(sources, "train", 1)
    asked: list[int] = []

    def choose(pairs: Sequence[Example], keep: int) -> list[Example]:
        asked.append(len(pairs))
        return sorted(pairs, key=lambda pair: pair.a)[:keep]

    same, others = mixture._divided("small")
    read = mixture.hard("small", 0.25, choose)
    assert asked == [len(others)]
    assert sum(pair.same for pair in read) == round(0.25 * len(same))
    different = [pair for pair in read if not pair.same]
    chosen = sorted(others, key=lambda pair: pair.a)[: len(different) // 2]
    assert set(chosen) <= set(different) <= set(others)
    assert len(different) == round(OTHERS * round(0.25 * len(same)))


def test_contrasts_of_written_texts_are_different(sources: Sources) -> None:
    """One text as it was written, the other a contrast of one that asks the same."""
    made = Mixture(sources, "train", 1).contrasted("orders", 50)
    written = {pair.a for pair in sources.written["orders"]} | {pair.b for pair in sources.written["orders"]}
    assert len(made) > 25
    assert all(not pair.same and pair.a in written and pair.kind.startswith("crossed: ") for pair in made)


def test_pairs_that_are_the_same_as_a_third_are_the_same(sources: Sources) -> None:
    """At most two steps."""
    linked = [pair for pair in sources.pairs if "third" in pair.kind]
    assert all(pair.same and normalise(pair.a) != normalise(pair.b) for pair in linked)


def test_parts_are_large_medium_and_small() -> None:
    """84, 6 and 10 per cent, by one byte of a digest."""
    shares = Counter(part_of(bytes([number, 0])) for number in range(256))
    assert shares["train"] > 0.8 * 256
    assert 0.04 * 256 < shares["tune"] < shares["calibrate"] < 0.12 * 256


def test_absent_data_is_one_line(tmp_path: Path) -> None:
    """It is not part of the project."""
    with pytest.raises(SystemExit, match="not part of the project"):
        read_sources(tmp_path)
