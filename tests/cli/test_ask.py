"""`harness ask`: a follow-up question is researched with the engines and settings of a run."""

from pathlib import Path

import pytest

from harness.core.sub_questions import follow_up
from tests.cli.program import Program

QUESTION = "How do retries use exponential backoff?"


@pytest.mark.parametrize(
    ("question", "words", "asked"),
    [
        (
            "What is a mutex?",
            "and how does it differ from a semaphore?",
            "How does it differ from a semaphore (mutex)?",
        ),
        ("How high is Mount Everest?", "When was it first climbed", "When was it first climbed (Mount Everest)?"),
        ("What is a mutex?", "why?", "Why (mutex)?"),
        ("What is a mutex?", "How does a semaphore work?", "How does a semaphore work?"),
        ("What is a mutex?", " ?! ", " ?! "),
    ],
)
def test_a_follow_up_names_its_subject(question: str, words: str, asked: str) -> None:
    """A pronoun, or too few words, get the subject of the first question; a whole question stays."""
    assert follow_up(question, words) == asked


def test_the_subject_is_bounded() -> None:
    """A long first question does not make a long follow-up."""
    assert len(follow_up("What is " + "a very long subject " * 500, "how is it made?")) < 300


def test_a_follow_up_uses_the_engine_and_settings_of_the_run(harness: Program, notes: str) -> None:
    """Nothing is repeated on the command line."""
    first = harness("research", QUESTION, "-e", notes, "--max-results", "2", "--json").told
    told = harness("ask", first["run"], "what do they wait for?", "--json").told
    assert told["engine"] == first["engine"]
    assert told["question"] == "What do they wait for (retries use exponential backoff)?"
    assert told["run"] != first["run"]
    assert all(search["results"] <= 2 for round_ in told["rounds"] for search in round_["searches"])


def test_last_is_the_newest_run(harness: Program, notes: str) -> None:
    """Its question is said on standard error, the report is on standard output."""
    harness("research", QUESTION, "-e", notes)
    ended = harness("ask", "last", "how do retries wait?")
    assert ended.code == 0
    assert ended.out.startswith("# How do retries wait?")
    assert "asked: how do retries wait?" in ended.err.lower()


def test_what_the_run_read_answers_first(harness: Program, notes: str) -> None:
    """The same question needs no search: the run has read what answers it."""
    harness("research", QUESTION, "-e", notes)
    again = harness("ask", "last", QUESTION, "--json").told
    assert again["live_calls"] == 0


def test_an_option_overrides_a_setting_of_the_run(harness: Program, notes: str, tmp_path: Path) -> None:
    """Another engine, for one question."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "queue.md").write_text("# Queues\n\nA queue keeps jobs until a worker takes them.\n")
    harness("research", QUESTION, "-e", notes)
    told = harness("ask", "last", "what does a queue keep?", "-e", f"corpus:{tmp_path / 'other'}", "--json").told
    assert [source["title"] for source in told["sources"]] == ["Queues"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("ask",), 2), (("ask", "last"), 2), (("ask", "last", "why?"), 2), (("ask", "20200101-000000-aaaaaa", "why?"), 2)],
)
def test_without_a_run_or_a_question_there_is_an_error(harness: Program, arguments: tuple[str, ...], code: int) -> None:
    """One line says what is missing."""
    ended = harness(*arguments)
    assert ended.code == code
    assert "error" in ended.err.lower()
    assert ended.out == ""
