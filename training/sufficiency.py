"""Fit of the decision whether held passages answer a question: `python -m training.sufficiency --squad FILE`.

Half of the questions of SQuAD 2.0 have their passage in a library of all, half are asked without it; the written ones
(`training/written/held`) are held or not as they say. All are searched and read by the program itself. It prints the
numbers for `harness/core/sufficiency.py`, and what they reach on parts left out in turn.
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.reading import HELD_OUT_ARTICLES
from benchmarks.rows import entry_point
from harness.app import App
from harness.core.sufficiency import LEAST_WORDS, WEIGHTS, features
from harness.library import HeldPassage, ReadDocument
from harness.research.held_answers import FOUND, READ, held_evidence
from harness.settings import Settings

WRITTEN = Path(__file__).with_name("written") / "held"
WRITTEN_GROUP = "written: "
ABSTRACT_GROUP = "abstract: "
PARTS = 5
PENALTY = 1.0
"""Weight of the squared weights."""
SHARES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of questions without a held answer for which the least probability is printed."""


class Example(Struct, frozen=True):
    """A question, whether the library answers it, and the URL of a passage to leave out."""

    question: str
    held: bool
    group: str
    without: str = ""


def written() -> tuple[list[Example], list[ReadDocument]]:
    """Return the written questions and their passages."""
    examples, documents = [], []
    for file in sorted(WRITTEN.glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines()):
            read = json.loads(line)
            name = f"{file.stem}-{number}"
            group = " ".join(sorted(each["title"] for each in read["passages"]))
            examples.append(Example(read["question"], read["held"], f"{WRITTEN_GROUP}{group}"))
            documents += [
                _document(f"https://{name}.example/{place}", each["title"], each["text"])
                for place, each in enumerate(read["passages"])
            ]
    return examples, documents


def squad(file: Path, count: int) -> tuple[list[Example], list[ReadDocument]]:
    """Return questions with and without their passage, questions without an answer, and all passages."""
    with gzip.open(file) as lines:
        rows = [row for row in map(json.loads, lines) if row["title"] in HELD_OUT_ARTICLES]
    urls: dict[str, str] = {}
    documents = []
    for row in rows:
        if row["passage"] not in urls:
            urls[row["passage"]] = f"https://squad.example/{len(urls)}"
            documents.append(_document(urls[row["passage"]], row["title"].replace("_", " "), row["passage"]))
    random.Random(5).shuffle(rows)
    examples = []
    for row in [row for row in rows if row["answerable"]][:count]:
        examples.append(Example(row["question"], True, row["id"]))
        examples.append(Example(row["question"], False, row["id"], urls[row["passage"]]))
    examples += [Example(row["question"], False, row["id"]) for row in rows if not row["answerable"]][: count // 2]
    return examples, documents


def pubmedqa(file: Path, count: int) -> tuple[list[Example], list[ReadDocument]]:
    """Return questions with and without the abstract that they are about, and all abstracts."""
    with gzip.open(file) as lines:
        rows = list(map(json.loads, lines))
    urls = {row["pmid"]: f"https://pubmed.example/{row['pmid']}" for row in rows}
    documents = [_document(urls[row["pmid"]], "", "\n\n".join(row["contexts"])) for row in rows]
    random.Random(5).shuffle(rows)
    examples = []
    for row in rows[:count]:
        examples.append(Example(row["question"], True, f"{ABSTRACT_GROUP}{row['pmid']}"))
        examples.append(Example(row["question"], False, f"{ABSTRACT_GROUP}{row['pmid']}", urls[row["pmid"]]))
    return examples, documents


def signs(examples: Sequence[Example], documents: Sequence[ReadDocument]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of the features and their values, shape (examples, features)."""
    rows: list[dict[str, float]] = []
    with TemporaryDirectory() as folder, App(Settings(data_dir=Path(folder))) as app:
        for document in documents:
            app.library.index.add(document, seconds=60)
        app.library.index.embed()
        began = time.perf_counter()
        for number, example in enumerate(examples, start=1):

            def is_there(passage: HeldPassage, without: str = example.without) -> bool:
                return passage.url != without

            found = app.library.search(example.question, FOUND, read=READ, only=is_there)
            read = [each for each in held_evidence(example.question, found, app.library) if each.relevance is not None]
            best = max(read, key=lambda each: (each.is_about_it, each.relevance))
            clean = best.is_about_it and best.words >= LEAST_WORDS
            rows.append({**features(best, read), "clean": float(clean), "words": best.words})
            if number % 50 == 0:
                left = (time.perf_counter() - began) / number * (len(examples) - number) / 60
                print(f"{number} of {len(examples)}, {left:.0f} min left", flush=True)
    return list(rows[0]), np.array([list(row.values()) for row in rows])


def fitted(values: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weights of a logistic regression by Newton's method; the last is the constant."""
    design = np.c_[values, np.ones(len(values))]
    scale = np.r_[values.std(axis=0) + 1e-9, 1.0]
    penalty = PENALTY * np.diag(np.r_[np.ones(values.shape[1]), 1e-6])
    design, weights = design / scale, np.zeros(len(scale))
    for _ in range(50):
        likely = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (likely - held) + penalty @ weights
        weights -= np.linalg.solve((design * (likely * (1 - likely))[:, None]).T @ design + penalty, gradient)
    fit: NDArray[np.float64] = weights / scale
    return fit


def least(scores: NDArray[np.float64], share: float) -> float:
    """Return the least probability that at most this share of `scores` reach, by conformal risk control (Angelopoulos
    and others, 2022): the share counts one more.
    """
    allowed = int(share * (len(scores) + 1)) - 1
    if allowed < 0:
        return 1.1
    return float(1 / (1 + np.exp(-np.sort(scores)[::-1][allowed])))


def report(names: Sequence[str], values: NDArray[np.float64], examples: Sequence[Example]) -> None:
    """Print weights and thresholds, and what they reach on questions left out of the fit."""
    clean, held = values[:, names.index("clean")] > 0, np.array([each.held for each in examples])
    used = [place for place, name in enumerate(names) if name in WEIGHTS]
    values, names = values[:, used], [names[place] for place in used]
    part = np.array([hash_of(each.group) % PARTS for each in examples])
    scores = np.zeros(len(held))
    for number in range(PARTS):
        weights = fitted(values[part != number], held[part != number])
        scores[part == number] = np.c_[values, np.ones(len(values))][part == number] @ weights
    passing = np.where(clean, scores, -np.inf)
    is_written = np.array([each.group.startswith(WRITTEN_GROUP) for each in examples])
    is_abstract = np.array([each.group.startswith(ABSTRACT_GROUP) for each in examples])
    kinds = {"all": held | ~held, "written": is_written, "abstracts": is_abstract, "SQuAD": ~(is_written | is_abstract)}
    for name, chosen in kinds.items():
        if not chosen.any():
            continue
        yes, no = scores[chosen & held], scores[chosen & ~held]
        print(f"\n{name}: {len(yes)} held, {len(no)} not; AUC {np.mean(yes[:, None] > no[None]):.3f}")
        for share in SHARES:
            threshold = least(passing[~held], share)
            logit = np.inf if threshold >= 1 else np.log(threshold / (1 - threshold))
            served, wrong = np.mean(passing[chosen & held] >= logit), np.mean(passing[chosen & ~held] >= logit)
            print(
                f"  share {share:.1%}: least {threshold:.3f}, "
                f"answered {served:.1%} of the held, {wrong:.1%} of the others"
            )
    weights = fitted(values, held)
    print("\nWEIGHTS =", {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False)})
    print("CONSTANT =", round(float(weights[-1]), 3))
    print("LEAST =", {share: round(least(passing[~held], share), 3) for share in SHARES})


def hash_of(text: str) -> int:
    """Return a number that is the same in every process."""
    return sum(ord(char) * (place + 7) for place, char in enumerate(text))


def _document(url: str, title: str, text: str) -> ReadDocument:
    now = time.time()
    return ReadDocument(
        url=url, title=title, text=text, source="page", engine="web", fetched_at=now - 60, expires_at=now + 86_400
    )


@entry_point
def main() -> None:
    """Fit the decision."""
    parser = argparse.ArgumentParser(prog="python -m training.sufficiency", description=__doc__)
    parser.add_argument("--squad", type=Path, metavar="FILE", help="SQuAD 2.0 (.jsonl.gz; CC BY-SA 4.0)")
    parser.add_argument("--pubmedqa", type=Path, metavar="FILE", help="PubMedQA (.jsonl.gz; MIT)")
    parser.add_argument("--count", type=int, default=200, help="questions of each (%(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help=".json file that keeps the features between runs")
    arguments = parser.parse_args()
    examples, documents = written()
    if arguments.squad is not None:
        more, passages = squad(arguments.squad, arguments.count)
        examples, documents = examples + more, documents + passages
    if arguments.pubmedqa is not None:
        more, passages = pubmedqa(arguments.pubmedqa, arguments.count)
        examples, documents = examples + more, documents + passages
    saved: dict[str, Any]
    if arguments.save is not None and arguments.save.exists():
        saved = json.loads(arguments.save.read_text())
        names, values = saved["names"], np.array(saved["values"])
    else:
        names, values = signs(examples, documents)
        if arguments.save is not None:
            arguments.save.write_text(json.dumps({"names": names, "values": values.tolist()}))
    report(names, values, examples)


if __name__ == "__main__":
    main()
