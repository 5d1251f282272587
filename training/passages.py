"""Shipped vectors of the language reference: `python -m training.passages TOPICS.py...` makes them in under a minute.

Each file is a `pydoc_data/topics.py`; pass one of every Python release whose vectors should ship.
"""

import argparse
import ast
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from benchmarks.rows import entry_point, say
from harness.core.chunking import embedded_text, passages
from harness.models.local.embedder import MiniLM
from harness.ports import Embedder
from harness.sources.corpus.engine import topic_documents
from harness.sources.corpus.passage_vectors import key_of, packed
from harness.sources.corpus.shipped_vectors import FILE, VectorFileHeader


def topics_in(file: Path) -> dict[str, str]:
    """Return the topics that a `topics.py` assigns; the file is parsed, not run."""
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "topics":
            found: dict[str, str] = ast.literal_eval(statement.value)
            return found
    raise ValueError(f"{file} assigns no topics; name a pydoc_data/topics.py")


def texts_of(topics: Mapping[str, str]) -> list[str]:
    """Return the texts that the corpus embeds for these topics."""
    return [
        embedded_text(document.title, passage.section, passage.text)
        for document in topic_documents(topics)
        for passage in passages(document.text)
    ]


def encoded(texts: Iterable[str], embedder: Embedder) -> bytes:
    """Return the content of the shipped file for these texts, ordered by key."""
    keyed = dict(sorted((key_of(text), text) for text in texts))
    body = b"".join(keyed) + b"".join(packed(embedder.embed(list(keyed.values()))))
    header = VectorFileHeader(embedder.id, embedder.dimension, len(keyed), sha256(body).hexdigest())
    return msgspec.json.encode(header) + b"\n" + body


@entry_point
def main() -> None:
    """Run the command: write the file."""
    parser = argparse.ArgumentParser(prog="python -m training.passages", description=__doc__)
    parser.add_argument("topics", type=Path, nargs="+", metavar="TOPICS.py", help="a pydoc_data/topics.py")
    parser.add_argument("--output", type=Path, default=FILE, metavar="FILE", help="where to write (%(default)s)")
    arguments = parser.parse_args()
    texts = {text for file in arguments.topics for text in texts_of(topics_in(file))}
    arguments.output.write_bytes(made := encoded(texts, MiniLM()))
    say(f"{len(texts):,} vectors of {len(arguments.topics)} releases, {len(made):,} bytes: {arguments.output}")


if __name__ == "__main__":
    main()
