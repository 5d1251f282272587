"""Training data of the reader: the written examples, and how they become readings."""

from random import Random

import pytest

from benchmarks.reading import HELD_OUT_ARTICLES, area, bm25, mean_average_precision
from benchmarks.reading import Judged as JudgedTexts
from tests.fakes import WordEmbedder
from training import reading
from training.reading import (
    CONTRADICTS,
    NEAR,
    NEAR_READ,
    NEITHER,
    SUPPORTS,
    UNKNOWN,
    USEFUL,
    _written,
    changed_sentences,
    held_out_sentences,
    helpful_sentences,
    in_context,
    near_sentences,
    question,
    written_answers,
    written_support,
)

KINDS_OF_NEAR = {
    "version", "year", "entity", "condition", "number", "definition", "procedure", "reason", "opposite", "part",
    "person", "place", "comparison",
}  # fmt: skip


def test_written_answers_name_sentences_that_exist() -> None:
    """Each question that is answered names its sentences; each near one its kind."""
    rows = list(_written("answers"))
    assert len(rows) >= 90
    for row in rows:
        assert row["answered"], row["title"]
        assert all(0 <= place < len(row["sentences"]) for _, right in row["answered"] for place in right), row["title"]
        assert {kind for kind, _ in row["near"]} <= KINDS_OF_NEAR, row["title"]


def test_no_question_is_both_answered_and_near() -> None:
    """A text has one label for a passage."""
    for row in _written("answers"):
        assert not {text for text, _ in row["answered"]} & {text for _, text in row["near"]}, row["title"]


def test_written_questions_name_sentences_that_help() -> None:
    """Each names sentences of its pages, none as both; some questions have no answer there."""
    rows = list(_written("helpful"))
    assert len(rows) >= 700
    for row in rows:
        names = {name for page in row["passages"] for name in page["sentences"]}
        assert len(names) == sum(len(page["sentences"]) for page in row["passages"]), row["subject"]
        for asked in row["questions"]:
            assert {*asked["core"], *asked["useful"]} <= names, (row["subject"], asked["q"])
            assert not {*asked["core"]} & {*asked["useful"]}, (row["subject"], asked["q"])
        assert not all(asked["core"] for asked in row["questions"]), row["subject"]


@pytest.mark.slow
def test_sentences_that_help_are_read_with_some_that_do_not() -> None:
    """A question is read with every sentence that helps; a subject is held out with all its sentences."""
    learned = list(helpful_sentences(Random(1)))
    every = list(held_out_sentences(Random(1)))
    held_out = [each for each, text in every if each.second.endswith(text)]
    assert len(held_out) == len(every)
    assert {each.helps for each in learned} == {each.helps for each in held_out} == {0.0, USEFUL, 1.0}
    assert {each.answers for each in learned + held_out} == {UNKNOWN}
    assert 0.2 < sum(each.helps > 0 for each in learned) / len(learned) < 0.4
    assert 0.02 < sum(each.helps > 0 for each in held_out) / len(held_out) < 0.15
    both = {each.second for each in learned} & {each.second for each in held_out}
    assert len(both) < 0.001 * len(held_out)
    asked = [each for row in _written("helpful") for each in row["questions"]]
    helping = sum(each.helps > 0 for each in learned + held_out)
    assert helping == sum(len(each["core"]) + len(each["useful"]) for each in asked)
    assert learned == list(helpful_sentences(Random(1)))


@pytest.mark.full
def test_near_sentences_are_of_other_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share words with a question, or have a near vector; some are read with it, and do not help."""
    rows = [
        {
            "subject": subject,
            "passages": [
                {"title": subject, "heading": "", "sentences": {f"a{n}": f"{subject} {n}." for n in range(20)}}
            ],
            "questions": [
                {"q": f"how old is the {subject} 3", "core": ["a3"], "useful": ["a4"]},
                {"q": "which is the oldest 3", "core": ["a3"], "useful": []},
            ],
        }
        for subject in ("red mill", "red bridge", "grey tower")
    ]
    monkeypatch.setattr(reading, "_written", lambda name: iter(rows if name == "helpful" else ()))
    near = near_sentences(WordEmbedder())
    found = near["how old is the red mill 3"]
    assert len(found) == 2 * NEAR
    assert not any(text.startswith("red mill") for text in found)
    assert found.count("red bridge: red bridge 3.") == 2
    assert not near["which is the oldest 3"], "each subject answers it"
    read = [each for each in helpful_sentences(Random(1), near) if each.first == "how old is the red mill 3"]
    assert {each.second.removeprefix("red mill: ") for each in read if each.helps} == {"red mill 3.", "red mill 4."}
    assert sum(each.second in found and not each.helps for each in read) == NEAR_READ


@pytest.mark.slow
def test_what_is_held_out_is_held_out_with_all_its_questions() -> None:
    """No passage is learned from and measured with."""
    parts: dict[str, set[bool]] = {}
    for each in written_answers(Random(1)):
        if each.source == "written:passage":
            parts.setdefault(each.second[-60:], set()).add(each.held_out)
    assert len(parts) >= 0.99 * len(list(_written("answers")))
    assert all(len(held) == 1 for held in parts.values())
    assert {True} in parts.values()
    assert {False} in parts.values()


@pytest.mark.slow
def test_a_reading_asks_one_of_both() -> None:
    """Whether a text answers, or whether it supports."""
    assert all(each.answers in {0.0, 1.0} and not sum(each.support) for each in written_answers(Random(1)))
    supporting = list(written_support())
    assert all(each.answers == UNKNOWN and sum(each.support) == 1 for each in supporting)
    assert {SUPPORTS, NEITHER} < {each.support for each in supporting}


def test_a_text_is_read_after_its_title() -> None:
    """And its heading; without either as it is."""
    assert in_context("Title", "Heading", "Text.") == "Title - Heading: Text."
    assert in_context("", "Heading", "Text.") == "Heading: Text."
    assert in_context("", "", "Text.") == "Text."


def test_the_measures_of_the_benchmark() -> None:
    """Average precision, reciprocal rank and the area under the curve of small examples."""
    judged = [JudgedTexts("red apple", ["a pear", "a red apple", "an apple"], [False, False, True])]
    assert mean_average_precision(judged, bm25) == (0.5, 0.5)
    assert area(judged, bm25) == pytest.approx(0.5)
    assert len(HELD_OUT_ARTICLES) == 3


def test_changed_sentences_are_supported_or_not() -> None:
    """A sentence is supported by its passage and by itself a little reworded; a contrast is not supported."""
    rows = list(_written("answers"))[:60]
    readings = [question("asked", " ".join(row["sentences"]), 1.0, "written:passage") for row in rows]
    found = list(changed_sentences(readings, Random(1), 60))
    whole = [each for each in found if each.first in each.second]
    assert len(whole) >= 50
    assert {each.support for each in whole} == {SUPPORTS}
    changed = [each for each in found if each.first not in each.second]
    assert {SUPPORTS, CONTRADICTS} <= {each.support for each in changed}
    assert {each.source for each in found} == {"changed"}
    assert found == list(changed_sentences(readings, Random(1), 60))
