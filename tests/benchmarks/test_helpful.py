"""Labels of sentences that help, and how reports are counted against them."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_evals.tasks import folder_of, load_tasks

from benchmarks.grades import digest
from benchmarks.helpful import Labelled, Shown, judged, labelled, report_rows, shown
from harness.research.planner import ANSWER, FURTHER

QUESTION = Labelled(
    "narrow",
    "",
    "How are retries spaced?",
    core=frozenset({digest("The wait doubles.")}),
    useful=frozenset({digest("It stops at an hour.")}),
    other=frozenset({digest("Retries are old.")}),
)


def found(*said: str, further: Sequence[str] = ()) -> Any:
    """Return a research with these sentences, the last ones as further passages, and a source."""
    texts = ("Retries are old. The wait doubles. That is all.",)
    source = SimpleNamespace(title="Retries", texts=texts)
    citations = [SimpleNamespace(sentence=each, section=ANSWER) for each in said]
    citations += [SimpleNamespace(sentence=each, section=FURTHER) for each in further]
    report = SimpleNamespace(citations=citations) if citations else None
    return SimpleNamespace(report=report, gathered=SimpleNamespace(sources=[source]))


@pytest.mark.slow
def test_each_sentence_has_one_label() -> None:
    """Questions of the evaluation name their task, with its wording."""
    every = labelled()
    assert {each.suite for each in every} == {"python", "narrow", "web"}
    for each in every:
        sizes = [len(names) for names in (each.core, each.useful, each.other)]
        assert sum(sizes) == len(each.core | each.useful | each.other) > 0
        if each.task:
            [task] = load_tasks([each.task], folder_of(Path("web") if each.suite == "web" else None))
            assert task.question == each.question


def test_a_report_is_counted_by_the_labels_of_its_sentences() -> None:
    """A sentence counts once, where it is first; one without a label is neither."""
    report = shown(
        QUESTION, found("Something else.", "The wait doubles.", further=("The wait doubles.", "Retries are old."))
    )
    assert report == Shown((None, True), (False,), held=2)
    assert shown(QUESTION, found()) == Shown((), (), held=2)
    [row] = report_rows({"narrow": [report]})
    assert row == ("narrow", "1", "3", "1 of 2 = 50%", "1 of 1 = 100%", "1", "50%", "0")
    first = shown(QUESTION, found("The wait doubles."))
    [row] = report_rows({"narrow": [first, report]})
    assert row[-1] == "1"


def test_labelled_sentences_are_ranked_with_the_title_of_their_page() -> None:
    """Others of the page are left out."""
    read = judged(QUESTION, found())
    assert list(read.texts) == ["Retries: Retries are old.", "Retries: The wait doubles."]
    assert list(read.right) == [False, True]
