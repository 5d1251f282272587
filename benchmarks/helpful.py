"""Do the sentences of a report help someone who asked the question? `python -m benchmarks.helpful`.

87 questions: the evaluation tasks about Python's language reference and about recorded web pages, and narrow ones about
the reference. A language model that saw only question, sentences and titles marked which sentences state the answer
(core) or belong to it (useful); another one agreed (Cohen's kappa 0.92 to 0.94). `--results FILE` adds 60 queries of a
search agent with the result pages that it got: FILE has a gzipped JSON line for each, with `query`, `results` (title,
href, body, date) and `answerBox` (title, link, answer, snippet), the answer above the results, if there was one. It is
not part of the project, and shaped no model; the rules for result pages were made while reading every second one. Two
tables: how well the labelled sentences are ranked, by mean average precision, and what the reports show.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from harness_evals.recorded_web import RESULTS, Recorded
from harness_evals.suite import settings_for
from harness_evals.task_app import app_for
from harness_evals.tasks import RECORDED, Task, folder_of, load_tasks
from msgspec import Struct
from tabulate import tabulate

from benchmarks.grades import digest
from benchmarks.pairs import read_lines
from benchmarks.reading import Judge, Judged, bm25, mean_average_precision
from benchmarks.rows import entry_point, say
from harness.app import App
from harness.core.chunking import in_context
from harness.core.keys import canonical_url
from harness.core.text import sentences
from harness.models.local.embedder import MiniLM
from harness.models.local.reader import MiniLMReader
from harness.ports import SearchResult
from harness.research.planner import FURTHER
from harness.research.result import Research
from harness.settings import Settings
from harness.sources.engines.result_fields import joined, result, web_result
from harness.sources.engines.result_lists import results

LABELS = Path(__file__).with_name("helpful_labels.jsonl")
REFERENCE = "corpus:python-docs"
MAX_URL, MAX_SHOWN = 500, 100
"""Characters of the longest URL that a recorded web has, and most results."""


class Labelled(Struct, frozen=True):
    """A question, the evaluation task that asks it, if any, and the digests of its labelled sentences."""

    suite: Literal["python", "narrow", "web", "results"]
    task: str
    question: str
    core: frozenset[str]
    useful: frozenset[str]
    other: frozenset[str]

    @property
    def helpful(self) -> frozenset[str]:
        """Digests of the sentences that help."""
        return self.core | self.useful


class Shown(Struct, frozen=True):
    """Labels of the sentences of a report, in order, before its further passages and under these: `True` helps, `None`
    has no label. `held` is the number of labelled sentences that help; `answers`: the first sentence states the answer,
    `None` where no labelled sentence does.
    """

    before: tuple[bool | None, ...]
    further: tuple[bool | None, ...]
    held: int
    answers: bool | None = None

    @property
    def every(self) -> tuple[bool | None, ...]:
        """The labels of all its sentences."""
        return self.before + self.further


def labelled() -> list[Labelled]:
    """Return all questions."""
    return [msgspec.json.decode(line, type=Labelled) for line in LABELS.read_bytes().splitlines()]


def recorded_results(file: Path, folder: Path) -> dict[str, Path]:
    """Write recorded result pages to folders, each as a web whose pages cannot be read; return these by question.

    Raises:
        SystemExit: if there is no such file.
    """
    webs: dict[str, Path] = {}
    for place, page in enumerate(read_lines(file)):
        found = [
            Recorded(each["href"], each["title"], each["body"][:1_000], date=each.get("date", ""))
            for each in results(_shown(page), MAX_SHOWN, canonical_url)
            if each["body"] and len(each["href"]) <= MAX_URL
        ]
        web = folder / str(place)
        web.mkdir()
        (web / RESULTS).write_bytes(msgspec.json.Encoder().encode_lines(found))
        webs.setdefault(page["query"].strip("| "), web)
    return webs


def _shown(page: Mapping[str, Any]) -> Iterator[SearchResult | None]:
    """Yield what a page shows: the answer above its results, and these."""
    box = page.get("answerBox") or {}
    if text := joined((box.get("answer"), box.get("snippet"))):
        yield result(box.get("title"), box.get("link"), text)
    for each in page["results"]:
        yield web_result(each["title"], each["href"], each["body"], date=each.get("date"))


def asked(app: App, each: Labelled, webs: Mapping[str, Path] = MappingProxyType({})) -> Research:
    """Research a question; `webs` are the recorded results by question."""
    if each.suite in {"python", "narrow"}:
        return app.researcher((REFERENCE,)).run(each.question)
    if each.suite == "results":
        task = Task("results", each.question, engine=f"{RECORDED}{webs[each.question]}")
    else:
        [task] = load_tasks([each.task], folder_of(Path("web")))
    with app_for(app, task) as served:
        return served.researcher().run(each.question)


def shown(each: Labelled, found: Research) -> Shown:
    """Return which sentences of a report help, each once."""
    places: dict[str, str] = {}
    for cited in found.report.citations if found.report else ():
        places.setdefault(digest(cited.sentence), cited.section)
    labels = {name: True if name in each.helpful else False if name in each.other else None for name in places}
    before = tuple(label for name, label in labels.items() if places[name] != FURTHER)
    further = tuple(label for name, label in labels.items() if places[name] == FURTHER)
    first = next(iter(places), "")
    return Shown(before, further, len(each.helpful), first in each.core if each.core else None)


def judged(each: Labelled, found: Research) -> Judged:
    """Return the labelled sentences of the sources, each after its page's title."""
    texts: dict[str, str] = {}
    for source in found.gathered.sources:
        for text in (text for document in source.texts for text in sentences(document)):
            if (name := digest(text)) in each.helpful | each.other:
                texts.setdefault(name, in_context(source.title, "", text.strip()))
    return Judged(each.question, list(texts.values()), [name in each.helpful for name in texts])


def report_rows(found: Mapping[str, Sequence[Shown]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each suite: what its reports show."""
    for suite, reports in found.items():
        every = [label for each in reports for label in each.every]
        yield (
            suite,
            str(len(reports)),
            str(len(every)),
            _helping(every),
            _helping([label for each in reports for label in each.before]),
            str(every.count(None)),
            f"{every.count(True) / sum(each.held for each in reports):.0%}",
            str(sum(each.every[:1] == (True,) for each in reports)),
            f"{sum(each.answers is True for each in reports)} of {sum(each.answers is not None for each in reports)}",
        )


def _helping(labels: Sequence[bool | None]) -> str:
    """Return how many of the labelled sentences help."""
    labelled = len(labels) - labels.count(None)
    return f"{labels.count(True)} of {labelled} = {labels.count(True) / max(1, labelled):.0%}"


@entry_point
def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.helpful", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep cache and index here (a temporary folder)")
    parser.add_argument("--suite", choices=("python", "narrow", "web", "results"), help="only these questions")
    parser.add_argument("--results", type=Path, metavar="FILE", help="recorded result pages, not part of the project")
    arguments = parser.parse_args()
    embedder, reader = MiniLM(), MiniLMReader()
    judges: dict[str, Judge] = {
        "BM25": bm25,
        "cosine": lambda first, texts: (embedder.embed(texts) @ embedder.embed([first])[0]).tolist(),
        "reader": reader.answers,
    }
    found, texts = defaultdict[str, list[Shown]](list), defaultdict[str, list[Judged]](list)
    with TemporaryDirectory() as folder:
        settings = settings_for(Settings(data_dir=arguments.data or Path(folder), reuse="off"), fresh=True)
        webs = recorded_results(arguments.results, Path(folder)) if arguments.results else {}
        if not webs:
            say("the recorded result pages are left out: name your copy with --results FILE")
        questions = [each for each in labelled() if arguments.suite in {None, each.suite}]
        questions = [each for each in questions if each.suite != "results" or each.question in webs]
        with App(settings) as app:
            for number, each in enumerate(questions, start=1):
                say(f"{number} of {len(questions)}: {each.question}")
                research = asked(app, each, webs)
                found[each.suite].append(shown(each, research))
                if any((read := judged(each, research)).right):
                    texts[each.suite].append(read)
    rows = [
        (name, *(f"{mean_average_precision(ranked, judge)[0]:.3f}" for ranked in texts.values()))
        for name, judge in judges.items()
    ]
    print(f"labelled sentences, ranked (mean average precision)\n{tabulate(rows, headers=('', *texts))}\n")
    headers = ("reports", "questions", "sentences", "help, of the labelled", "before further passages", "no label")
    headers += ("of what helps", "first helps", "first answers")
    print(tabulate(report_rows(found), headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main()
