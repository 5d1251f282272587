"""Streams of questions for the benchmark of reuse: written ones, repeats, recorded result pages, medical claims."""

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from benchmarks.retrieval import pubmedqa, scifact

HERE = Path(__file__).with_name("reuse_questions")
REFERENCE = "corpus:python-docs"
ZIPF = 1.1
"""Exponent of the popularity of questions in the stream of repeats."""
SEED = 7


class Question(Struct, frozen=True):
    """One question of a stream. A text answers it that one of the patterns matches, or that is from one of the
    documents (URLs); without either nothing does.
    """

    text: str
    kind: str
    engine: str
    patterns: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether it is known what answers the question."""
        return bool(self.patterns or self.documents)

    def answered_by(self, texts: Iterable[tuple[str, str]]) -> bool:
        """Return whether texts, each with its URL, answer the question."""
        found = list(texts)
        if any(url in self.documents for url, _ in found):
            return True
        bare = " ".join(" ".join(text.split()) for _, text in found)
        return any(re.search(pattern, bare, re.IGNORECASE | re.DOTALL) for pattern in self.patterns)


def stream(subjects: int | None, skip: int, articles: Path | None, folder: Path) -> list[Question]:
    """Return the written questions, one subject after another, as a person asks them; not those of the `skip` subjects
    that fewer `subjects` would choose.
    """
    read = [json.loads(line) for line in (HERE / "stream.jsonl").read_text().splitlines()]
    corpora = {"topics": REFERENCE}
    if articles is not None:
        corpora["articles"] = f"corpus:{_article_file(articles, folder)}"
    names = list(dict.fromkeys(each["subject"] for each in read if each["source"] in corpora))
    if skip:
        names = [name for name in names if name not in names[:: max(1, len(names) // skip)][:skip]]
    if subjects is not None:
        names = names[:: max(1, len(names) // subjects)][:subjects]
    return [
        Question(each["question"], each["kind"], corpora[each["source"]], tuple(each["answer"]))
        for each in read
        if each["source"] in corpora and each["subject"] in names
    ]


def result_stream(pages: Path, rows: int | None, folder: Path) -> list[Question]:
    """Return, for each recorded result page, its query and the questions written about it."""
    recorded = list(_json_lines(pages))
    corpus = folder / "results.jsonl"
    with corpus.open("wb") as file:
        for number, page in enumerate(recorded):
            for place, result in enumerate(page["results"]):
                document = {"id": f"{number}-{place}", "title": result["title"], "text": result["body"] or "",
                            "url": result["href"]}  # fmt: skip
                file.write(orjson.dumps(document) + b"\n")
    written = [json.loads(line) for line in (HERE / "result_questions.jsonl").read_text().splitlines()]
    engine, questions, done = f"corpus:{corpus}", list[Question](), dict[int, None]()
    for each in written:
        if each["row"] not in done:
            done[each["row"]] = None
            if rows is not None and len(done) > rows:
                break
            questions.append(Question(recorded[each["row"]]["query"], "first", engine, ()))
        questions.append(Question(each["question"], each["kind"], engine, tuple(each["answer"])))
    return questions


def literature(scifact_folder: Path, pubmedqa_file: Path, count: int, folder: Path) -> list[Question]:
    """Return `count` claims of SciFact and questions of PubMedQA in random order, over one corpus of all abstracts. The
    cited abstract answers.
    """
    tasks = (scifact(scifact_folder), pubmedqa(pubmedqa_file))
    corpus = folder / "literature.jsonl"
    with corpus.open("wb") as file:
        for document in (each for task in tasks for each in task.documents):
            file.write(orjson.dumps({**document, "url": _abstract(document["id"])}) + b"\n")
    asked = [
        Question(each.text, task.name, f"corpus:{corpus}", documents=tuple(map(_abstract, sorted(each.relevant))))
        for task in tasks
        for each in task.questions
    ]
    return random.Random(SEED).sample(asked, min(count, len(asked)))


def _abstract(id_: str) -> str:
    return f"https://abstracts.example/{id_}"


def repeats(questions: Sequence[Question], count: int, seed: int = SEED) -> list[Question]:
    """Return `count` questions, drawn by Zipf's law: few are asked often, most seldom."""
    rng = random.Random(seed)
    shuffled = rng.sample(questions, len(questions))
    weights = [1 / (rank**ZIPF) for rank in range(1, len(shuffled) + 1)]
    return rng.choices(shuffled, weights, k=count)


def _article_file(articles: Path, folder: Path) -> Path:
    file = folder / "articles.jsonl"
    with file.open("wb") as opened:
        for each in _json_lines(articles):
            lines = each["articleBody"].splitlines()
            title = next((line for line in lines if line.strip()), "")[:100]
            opened.write(
                orjson.dumps({"id": each["id"], "title": title, "text": each["articleBody"], "url": each["url"]})
                + b"\n"
            )
    return file


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path) as file:
        for line in file:
            yield orjson.loads(line)
