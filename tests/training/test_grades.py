"""Grades of pairs: stored by digest, separate from the sets that measure, combined with the raters' labels."""

from pathlib import Path

import pytest

from benchmarks import equivalence
from benchmarks.grades import digest, named, read_grades
from benchmarks.pairs import Pair
from training import sources
from training.mixture import Mixture
from training.sources import Example, Sources, Text

RATED = Example("how do i cook rice", "how to cook rice well", same=False, kind="qqp", part="train")
UNREAD = Example("why is the sky blue", "why is the sea blue", same=False, kind="qqp", part="train")
TEXTS = [
    Text("rice cooker price", "log", "train"),
    Text("price of a rice cooker", "log", "train"),
    Text("what does a rice cooker cost", "log", "tune"),
]


def _graded(monkeypatch: pytest.MonkeyPatch, folder: Path, *grades: tuple[str, str, float]) -> list[Example]:
    file = folder / "grades.txt"
    file.write_text("".join(f"{' '.join(named(a, b))} {grade}\n" for a, b, grade in grades))
    monkeypatch.setattr(sources, "GRADES", file)
    return list(sources._graded([RATED, UNREAD], TEXTS))


def test_a_pair_is_named_whichever_text_comes_first() -> None:
    """And case and white space make no other text."""
    assert named("One  text", "another") == named("another", "one text") != named("another", "two text")


@pytest.mark.parametrize("file", [sources.GRADES, equivalence.GRADES], ids=["training", "benchmark"])
def test_every_grade_is_a_share_of_a_pair_named_once(file: Path) -> None:
    """The lesser digest comes first, no text is paired with itself, and grades are spread over the scale."""
    grades = read_grades(file)
    assert len(grades) == len(file.read_text().splitlines()) > 3_000
    assert all(first < second and len(first) == len(second) == 12 for first, second in grades)
    assert all(0 <= grade <= 1 for grade in grades.values())
    assert 0.2 < sum(grade >= 0.5 for grade in grades.values()) / len(grades) < 0.6


def test_what_was_graded_to_train_shares_no_text_with_what_measures() -> None:
    """By the digests alone."""
    trained, measured = ({each for pair in read_grades(file) for each in pair} for file in
                         (sources.GRADES, equivalence.GRADES))  # fmt: skip
    assert trained
    assert measured
    assert not trained & measured


def test_a_grade_is_weighed_with_the_label(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The mean of both is what the model is to say; the label stays the raters'."""
    (pair,) = _graded(monkeypatch, tmp_path, (RATED.b, RATED.a, 90))
    assert (pair.a, pair.b, pair.same) == (RATED.a, RATED.b, False)
    assert pair.target == pytest.approx(0.45)
    assert RATED.target == 0.0


def test_a_pair_that_nobody_rated_is_known_by_its_grade(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If both texts are of one part; a pair of which no text is known here is left out."""
    one, two, tuned = (text.text for text in TEXTS)
    grades = ((one, two, 88), (one, tuned, 97), ("not in", "the data", 50))
    (pair,) = _graded(monkeypatch, tmp_path, *grades)
    assert {pair.a, pair.b} == {one, two}
    assert (pair.same, pair.target, pair.part, pair.kind) == (True, pytest.approx(0.88), "train", "alike: log")


def test_a_pass_reads_grades_in_the_place_of_labels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Labelled pairs that were not graded stay as they are; what is only graded comes on top. The last pass reads the
    labels themselves.
    """
    graded = _graded(monkeypatch, tmp_path, (RATED.a, RATED.b, 90), (TEXTS[0].text, TEXTS[1].text, 20))
    mixture = Mixture(Sources([RATED, UNREAD], graded, {}, TEXTS, frozenset()), "train", 1)
    read = mixture.graded({"qqp": 2})
    assert [pair.target for pair in read] == [pytest.approx(0.45)] * 2 + [0.0] * 2 + [pytest.approx(0.2)]
    assert mixture.labelled({"qqp": 2}) == [RATED, RATED, UNREAD, UNREAD]
    assert [pair.target for pair in mixture.alike()] == [pytest.approx(0.2)]


@pytest.mark.full
def test_the_model_is_taught_the_target() -> None:
    """Not the label."""
    from training.learning import batched

    graded = Example(RATED.a, RATED.b, same=True, kind="qqp", part="train", grade=0.25)
    (batch,) = batched([graded], 0)
    assert batch.targets.tolist() == [0.25]


def test_what_readers_are_unsure_of_counts_for_neither_side() -> None:
    """And the readers are one more contender where the raters' labels count."""
    pairs = [Pair(f"how far is town {n}", f"how far away is town {n}", n % 2 == 0, 0.9) for n in range(40)]
    told = equivalence._read_again(pairs, [0.95 if n % 4 == 0 else 0.5 if n % 4 == 1 else 0.1 for n in range(40)])
    rated, read = told.values()
    assert (rated["same"], rated["different"]) == (20, 20)
    assert (read["same"], read["different"]) == (10, 20)
    reader = next(each for name, each in rated["rules"].items() if equivalence.READER in name)
    assert reader["same served"]["share"] == pytest.approx(0.5)
    assert reader["wrong"] == 0


def test_only_what_was_graded_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whichever text comes first."""
    file = tmp_path / "grades.txt"
    file.write_text(f"{' '.join(named('one', 'two'))} 75\n")
    monkeypatch.setattr(equivalence, "GRADES", file)
    known, other = Pair("two", "one", True, 0.9), Pair("one", "three", False, 0.9)
    assert equivalence._graded([other, known]) == ([known], [0.75])
    assert equivalence._graded([other]) == ([], [])
    assert digest("one") in file.read_text()
