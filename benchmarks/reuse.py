"""Streams of questions, always searched live, with the cache of answers, and with the library: `python -m
benchmarks.reuse`.

The language reference is the corpus of most questions; articles and recorded result pages come from files of data.
A live call is a search of the corpus. A question is answered from held passages without one; that is wrong if these do
not hold the answer and the search would have found it.
"""

import argparse
import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from tabulate import tabulate

from benchmarks.reuse_streams import HERE, Question, literature, repeats, result_stream, stream
from benchmarks.rows import at_least, entry_point, workplace
from harness.app import App
from harness.core.calibration import interval
from harness.library import ReadDocument
from harness.models.local.embedder import MiniLM
from harness.ports import SearchResult, silent
from harness.research.result import Research
from harness.settings import Settings
from harness.settings.mode import Mode
from harness.sources.corpus.engine import open_corpus

EARLY = "answered from the library"
"""Reason to stop of a research without a search."""
LOOKALIKES = ("lookalikes_a.jsonl", "lookalikes_b.jsonl")
"""The decision was tuned on the first file; the second only measures."""
CONTENDERS = ("always live", "cache", "library")


class Asked(Struct, frozen=True):
    """One question as asked: live calls, seconds, whether it was answered from the library, where the answer is, and
    whether a document that answers was held before.
    """

    question: Question
    live: int
    seconds: float
    early: bool
    reused: bool
    found: bool
    reported: bool
    first: bool
    held: bool


def ask(questions: Sequence[Question], contender: str, data: Path, corpora: Path) -> list[Asked]:
    """Ask the questions one after another, in a new database. Always live, a repeated question costs and finds the same
    each time, so it is asked once.
    """
    data.mkdir(parents=True)
    (data / "corpora").symlink_to(corpora)
    settings = Settings(data_dir=data, read_pages=0, reuse="passages" if contender == "library" else "off")
    asked, known, live = list[Asked](), dict[Question, Asked](), contender == "always live"
    with App(settings, Mode(read=not live)) as app:
        for number, question in enumerate(questions, start=1):
            if not (live and question in known):
                started = time.perf_counter()
                held = contender == "library" and _is_held(app, question)
                research = app.researcher((question.engine,)).run(question.text)
                known[question] = _asked(question, research, time.perf_counter() - started, held=held)
            asked.append(known[question])
            print(f"\r{contender}: {number} of {len(questions)}", end="", flush=True)
    print()
    return asked


def embed_corpora(questions: Sequence[Question], folder: Path) -> None:
    """Index and embed the corpora of the questions, so that every contender searches them by meaning, too."""
    for spec in dict.fromkeys(each.engine for each in questions):
        corpus = open_corpus(spec.partition(":")[2], folder, silent, MiniLM())
        try:
            corpus.embed()
        finally:
            corpus.close()


def _is_held(app: App, question: Question) -> bool:
    if question.documents:
        app.library.index.update()
    return any(app.library.passages_of(url) for url in question.documents)


def _asked(question: Question, research: Research, seconds: float, *, held: bool) -> Asked:
    cited = [(each.url, each.quotation) for each in research.report.citations] if research.report else []
    return Asked(
        question,
        research.live_calls,
        seconds,
        early=research.gathered.stop_reason == EARLY,
        reused=bool(research.gathered.reused),
        found=question.answered_by((each.url, text) for each in research.gathered.sources for text in each.texts),
        reported=question.answered_by(cited),
        first=question.answered_by(cited[:2]),
        held=held,
    )


def report(name: str, runs: dict[str, list[Asked]]) -> None:
    """Print one table for a stream, and the questions that were answered wrongly from held passages."""
    live, rows = sum(each.live for each in runs[CONTENDERS[0]]), []
    for contender, asked in runs.items():
        answerable = [each for each in asked if each.question.answerable]
        wrong = wrong_stops(runs[CONTENDERS[0]], asked)
        of_all = interval(len(wrong), len(asked))
        calls = sum(each.live for each in asked)
        rows.append(
            (
                contender,
                calls,
                f"{1 - calls / live:.1%}",
                *(
                    f"{_share([getattr(each, field) for each in answerable]):.3f}"
                    for field in ("found", "reported", "first")
                ),
                f"{len(wrong)} = {len(wrong) / len(asked):.1%} ({of_all.low:.1%} to {of_all.high:.1%})",
                sum(each.early for each in asked),
                sum(each.reused for each in asked),
                f"{sum(each.seconds for each in asked) / len(asked):.2f}",
            )
        )
    headers = (
        "contender",
        "live calls",
        "saved",
        "in evidence",
        "in report",
        "in first two",
        "wrong early stops",
        "early",
        "reused",
        "s each",
    )
    print(f"\n{name}: {len(runs[CONTENDERS[0]])} questions\n{tabulate(rows, headers=headers, disable_numparse=True)}")
    if held := [each for each in runs.get("library", []) if each.held]:
        none, one = (sum(each.live == calls for each in held) for calls in (0, 1))
        print(f"a document that answers was held at {len(held)} questions: {none} made no live call, {one} made one")
    for each in wrong_stops(runs[CONTENDERS[0]], runs.get("library", [])):
        print(f"  wrong early stop ({each.question.kind}): {each.question.text}")


def wrong_stops(live: Sequence[Asked], asked: Sequence[Asked]) -> list[Asked]:
    """Return the questions answered from held passages without the answer, though a live search would have found it."""
    return [mine for other, mine in zip(live, asked, strict=False) if mine.early and other.found and not mine.found]


class Nothing:
    """An engine that finds nothing, so that only held passages answer."""

    name = "nothing"
    options: Mapping[str, Any] = {}

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:  # noqa: ARG002
        """See `SearchEngine.search`."""
        return []


def ask_held(app: App, documents: Sequence[Mapping[str, str]], question: str) -> Research:
    """Research a question when only these documents were read before."""
    urls = []
    for number, each in enumerate(documents):
        urls.append(each.get("url") or f"https://example.org/{number}")
        document = ReadDocument(
            url=urls[-1],
            title=each["title"],
            text=each["text"],
            source="page",
            engine="web",
            fetched_at=time.time() - 60,
            expires_at=time.time() + 3_600,
        )
        app.library.index.add(document)
    found = app.researcher().run(question)
    for url in urls:
        app.library.forget(url)
    return found


def ask_lookalikes(file: Path, data: Path) -> None:
    """Ask the second question of each pair, with the passages for the first one in the library; print the counts."""
    pairs = [json.loads(line) for line in file.read_text().splitlines()]
    early: dict[bool, list[bool]] = {True: [], False: []}
    wrong = []
    with held_app(data) as app:
        for number, pair in enumerate(pairs, start=1):
            found = ask_held(app, pair["passages"], pair["second"])
            citations = found.report.citations if found.report else ()
            text = " ".join(each.quotation for each in citations)
            answers = re.search(pair["answer"], text, re.IGNORECASE | re.DOTALL) is not None
            stopped = found.gathered.stop_reason == EARLY
            early[pair["held"]].append(stopped)
            if stopped and not answers:
                wrong.append(pair["second"])
            print(f"\rlook-alikes: {number} of {len(pairs)}", end="", flush=True)
    rows = [
        ("the answer is held", len(early[True]), sum(early[True])),
        ("it is not held", len(early[False]), sum(early[False])),
    ]
    print(f"\n\nlook-alikes of {file.name}\n{tabulate(rows, headers=('', 'questions', 'answered from the library'))}")
    print(f"answered without the answer: {len(wrong)} of {len(pairs)}")
    for question in wrong:
        print(f"  {question}")


def ask_attacks(file: Path, questions: Sequence[Question], data: Path) -> None:
    """Ask questions when only hostile pages are held; print those that stopped a research."""
    attacks = [json.loads(line) for line in file.read_text().splitlines()]
    stopped = []
    with held_app(data) as app:
        for number, attack in enumerate(attacks):
            asked = questions[number :: len(attacks)]
            stopped += [
                (attack["attack"], each.text)
                for each in asked
                if ask_held(app, [attack], each.text).gathered.stop_reason == EARLY
            ]
    print(f"\nhostile pages: {len(stopped)} of {len(questions)} questions stopped by one of {len(attacks)}")
    for attack, question in stopped:
        print(f"  {attack}: {question}")


def held_app(data: Path) -> App:
    """Return an app that searches nothing."""
    app = App(Settings(data_dir=data, read_pages=0, max_rounds=1))
    app.sources.engines = lambda *_, **__: (Nothing(),)  # type: ignore[method-assign]
    return app


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reuse", description=__doc__)
    parser.add_argument("--subjects", type=at_least(1), help="subjects of the written stream (all)")
    parser.add_argument(
        "--skip", type=int, default=0, help="subjects to leave out, those that --subjects chooses: 3 were tuned on"
    )
    parser.add_argument(
        "--repeats", type=at_least(1), default=300, help="questions of the stream of repeats (%(default)s)"
    )
    parser.add_argument("--articles", type=Path, metavar="FILE", help="articles (.jsonl.gz: id, url, articleBody)")
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="recorded result pages (.jsonl.gz: query, results)"
    )
    parser.add_argument("--rows", type=at_least(1), help="result pages to ask about (all)")
    parser.add_argument(
        "--literature", type=Path, metavar="DIR", help="SciFact and PubMedQA (scifact_corpus.jsonl.gz and others)"
    )
    parser.add_argument("--claims", type=at_least(1), default=200, help="of these, questions to ask (%(default)s)")
    parser.add_argument("--attacked", type=at_least(1), default=60, help="questions for hostile pages (%(default)s)")
    parser.add_argument(
        "--only",
        choices=("stream", "repeats", "results", "literature", "look-alikes", "attacks"),
        action="append",
        help="only this; may repeat",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder for the files, removed at the end")
    arguments = parser.parse_args()
    with workplace(arguments.data, 500 * 2**20) as folder:
        (folder / "corpora").mkdir(parents=True)
        written = stream(arguments.subjects, arguments.skip, arguments.articles, folder)
        streams = {"stream": written, "repeats": repeats(written, arguments.repeats)}
        if arguments.results is not None:
            streams["results"] = result_stream(arguments.results, arguments.rows, folder)
        if arguments.literature is not None:
            data = arguments.literature
            streams["literature"] = literature(data, data / "pubmedqa.jsonl.gz", arguments.claims, folder)
        if not arguments.only or "look-alikes" in arguments.only:
            for name in LOOKALIKES:
                ask_lookalikes(HERE / name, folder / name)
        if not arguments.only or "attacks" in arguments.only:
            ask_attacks(HERE / "attacks.jsonl", written[: arguments.attacked], folder / "attacks")
        for name, questions in streams.items():
            if not arguments.only or name in arguments.only:
                embed_corpora(questions, folder / "corpora")
                runs = {
                    each: ask(questions, each, folder / name / each.replace(" ", "-"), folder / "corpora")
                    for each in CONTENDERS
                }
                report(name, runs)


if __name__ == "__main__":
    main()
