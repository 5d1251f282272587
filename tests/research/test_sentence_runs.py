"""Runs of sentences that can be quoted together."""

from typing import Any, cast

import pytest

from harness.core.dangling import with_needed
from harness.core.quotable import is_quotable
from harness.research.gathering import GatheredSource
from harness.research.quotable_sentences import Sentence
from harness.research.sentence_runs import MAX_RUN, runs_of, trimmed

SOURCE = GatheredSource("https://example.org/1", "Page", ())
LED = "The clients of the town were retried too late."
LATER = "Six years later the clients had many retries."


def runs(*pieces: str, heading: str = "", asked: str = "client") -> list[tuple[str, ...]]:
    """Return the runs of the quotable ones of a chunk's pieces."""
    chunk = cast("Any", None)
    likely = [
        Sentence(text, SOURCE, chunk, position, frozenset(), before, heading)
        for position, (text, before) in enumerate(with_needed(pieces))
        if is_quotable(text)
    ]
    return [tuple(likely[at].text for at in run) for run in runs_of(likely, range(len(likely)), frozenset({asked}))]


def test_neighbours_are_quoted_together() -> None:
    """At most three, never across a gap."""
    pieces = [f"The client number {number} is a program." for number in range(4)]
    assert max(map(len, runs(*pieces))) == MAX_RUN
    assert (pieces[0], pieces[2]) not in runs(pieces[0], "x = 1", pieces[2])


def test_a_later_time_needs_the_sentence_before() -> None:
    """It is quoted with it, and never without."""
    assert runs(LED, LATER) == [(LED,), (LED, LATER)]
    assert runs("Clients", LATER) == []
    assert runs(LATER) == []


@pytest.mark.parametrize(("before", "heading"), [("Clients", ""), ("How many has a client?", ""), ("", "Clients")])
def test_a_pronoun_may_follow_a_heading_that_the_question_gives(before: str, heading: str) -> None:
    """A reader who asked for clients understands it."""
    pieces = [*[before] * bool(before), "They are done at most seven times."]
    assert runs(*pieces, heading=heading)
    assert all(run[0] == before for run in runs(*pieces, heading=heading, asked="ferri"))


def test_no_run_ends_with_an_announcement() -> None:
    """The announced list would be missing."""
    announced = "The following methods can be defined here."
    assert runs(announced) == []
    assert runs(LED, announced) == [(LED,)]
    assert runs(announced, LED) == [(announced, LED), (LED,)]


ANNOUNCED = "The clients are retried as follows."
POINTS_BACK = "This happens at most seven times."
REST = "All other clients were retried in time."


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ({"a": 0.9, "b": 0.1, "c": 0.1}, "a"),
        ({"a": 0.1, "b": 0.9, "c": 0.1}, "b"),
        ({"a": 0.9, "b": 0.1, "c": 0.9}, "abc"),  # nothing is cut out of the middle
        ({"a": 0.9, "b": 0.0}, "ab"),  # not read
        ({"a": 0.1, "b": 0.19}, "ab"),  # neither answers much
        ({"a": 0.1}, "a"),
    ],
)
def test_sentences_that_hardly_answer_are_left_out_at_the_ends(answers: dict[str, float], kept: str) -> None:
    """If another one answers more than twice as likely."""
    assert "".join(trimmed([*answers], answers, 0.15, "")) == kept
    assert trimmed([*answers], answers, 0.0, "") == tuple(answers)


def test_a_sentence_that_another_one_needs_is_not_left_out() -> None:
    """Not what an announcement announces, what a pronoun points back to, or what is said about the rest."""
    for answers in ({ANNOUNCED: 0.9, LED: 0.05}, {LED: 0.05, POINTS_BACK: 0.9}, {LED: 0.9, REST: 0.05}):
        assert trimmed([*answers], answers, 0.15, "") == tuple(answers)
    other = "Other than that, it rains."
    assert trimmed([LED, other], {LED: 0.9, other: 0.05}, 0.15, "") == (LED,)


def test_sentences_without_the_number_that_is_asked_for_are_left_out_at_the_ends() -> None:
    """If another one of the excerpt has it, and is no worse."""
    sentences, asked = ("It has many towers.", "The bridge is 812 m long.", "It is red."), "How long is the bridge?"
    answers = dict.fromkeys(sentences, 0.5)
    assert trimmed(sentences, answers, 0.15, asked) == sentences[1:2]
    assert trimmed(sentences, answers, 0.15, "Why was it built?") == sentences
    assert trimmed(sentences[::2], answers, 0.15, asked) == sentences[::2]
    assert trimmed(sentences, answers | {sentences[1]: 0.05}, 0.15, asked) == sentences


def test_sentences_about_another_time_are_left_out_at_the_ends() -> None:
    """If another one of the excerpt is about that of the question."""
    sentences = ("One album is of 1999.", "The next two are of 2005.", "The last one is of 2011.")
    answers = dict.fromkeys(sentences, 0.5)
    assert trimmed(sentences, answers, 0.15, "albums 2000-2009") == sentences[1:2]
    assert trimmed(sentences[::2], answers, 0.15, "albums 2000-2009") == sentences[::2]
