"""Labels of sentences that help, and how reports are counted against them."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from harness_evals.recorded_web import RecordedWeb
from harness_evals.tasks import folder_of, load_tasks

from benchmarks.grades import digest
from benchmarks.helpful import Labelled, Shown, judged, labelled, recorded_results, report_rows, shown
from harness.errors import PageError
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
    assert {each.suite for each in every} == {"python", "narrow", "web", "results"}
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
    assert report == Shown((None, True), (False,), held=2, answers=False)
    assert shown(QUESTION, found()) == Shown((), (), held=2, answers=False)
    [row] = report_rows({"narrow": [report]})
    assert row == ("narrow", "1", "3", "1 of 2 = 50%", "1 of 1 = 100%", "1", "50%", "0", "0 of 1")
    first = shown(QUESTION, found("The wait doubles."))
    [row] = report_rows({"narrow": [first, report]})
    assert row[-2:] == ("1", "1 of 2")


def test_labelled_sentences_are_ranked_with_the_title_of_their_page() -> None:
    """Others of the page are left out."""
    read = judged(QUESTION, found())
    assert list(read.texts) == ["Retries: Retries are old.", "Retries: The wait doubles."]
    assert list(read.right) == [False, True]


def test_recorded_results_are_a_web_for_each_question(tmp_path: Path) -> None:
    """Results without a text are left out; the pages cannot be read."""
    result = {"href": "https://example.org/1", "title": "Retries", "body": "The wait ...", "date": "May 29, 2023"}
    pages = [{"query": "waits| ", "results": [result, result | {"body": None}]}, {"query": "none", "results": []}]
    file = tmp_path / "pages.jsonl.gz"
    file.write_bytes(gzip.compress(msgspec.json.Encoder().encode_lines(pages)))
    webs = recorded_results(file, tmp_path)
    [found] = RecordedWeb(webs["waits"]).search("wait", 5)
    assert found == {"href": result["href"], "title": "Retries", "body": "The wait ...", "date": "2023-05-29"}
    with pytest.raises(PageError):
        RecordedWeb(webs["waits"]).read("https://example.org/1")
    assert RecordedWeb(webs["none"]).search("wait", 5) == []
