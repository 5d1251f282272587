"""Training data of the reader: the written examples, and how they become readings."""

from random import Random

import pytest

from benchmarks.reading import HELD_OUT_ARTICLES, area, bm25, mean_average_precision
from benchmarks.reading import Judged as JudgedTexts
from training.reading import (
    CONTRADICTS,
    NEITHER,
    SUPPORTS,
    UNKNOWN,
    USEFUL,
    _written,
    changed_sentences,
    in_context,
    question,
    written_answers,
    written_passages,
    written_support,
)

NEAR = {
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
        assert {kind for kind, _ in row["near"]} <= NEAR, row["title"]


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
def test_pages_that_help_are_read_with_some_that_do_not() -> None:
    """Each sentence has a label, those of another page none above 0; a subject is held out as a whole."""
    passages = list(written_passages(Random(1)))
    assert {label for each in passages for label in each.helps} == {0.0, USEFUL, 1.0}
    assert all(len(each.sentences) == len(each.helps) for each in passages)
    helping = sum(any(each.helps) for each in passages)
    assert 0.4 < helping / len(passages) < 0.7
    assert 0.08 < sum(each.held_out for each in passages) / len(passages) < 0.16
    held: dict[str, set[bool]] = {}
    for each in passages:
        held.setdefault(each.sentences[0], set()).add(each.held_out)
    assert sum(len(found) > 1 for found in held.values()) < 0.001 * len(held)
    again = list(written_passages(Random(1)))
    assert again == passages


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
