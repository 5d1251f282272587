"""Precision and recall of text extraction from pages: `python -m benchmarks.pages --pages FILE`.

FILE is gzipped JSON lines with the fields `url`, `html` and `articleBody` (the article as marked by a person). Texts
are compared as bags of 4-grams of their words, as in the article extraction benchmark of Scrapinghub: precision and
recall are means over the pages, F1 is computed from the two. Intervals are 95 %, by bootstrap over the pages; the last
row is the paired difference.
"""

import argparse
import gzip
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import orjson
from tabulate import tabulate

from benchmarks.rows import SEED, at_least, entry_point, say
from harness.errors import PageError
from harness.sources.pages.extraction import extract

NGRAM = 4
RESAMPLES = 1_000

_WORD = re.compile(r"\w+")


class Overlap(NamedTuple):
    """Numbers of 4-grams that two texts share, that only the extracted one has, and that only the true one has."""

    both: int
    found_only: int
    true_only: int


Metrics = tuple[float, float, float]
"""Precision, recall and F1."""


def overlap(true: str, found: str) -> Overlap:
    """Compare two texts as bags of 4-grams; a text of fewer words is one gram."""
    theirs, ours = _grams(true), _grams(found)
    both = (theirs & ours).total()
    return Overlap(both, ours.total() - both, theirs.total() - both)


def _grams(text: str) -> Counter[tuple[str, ...]]:
    tokens = _WORD.findall(text)
    grams = (tuple(tokens[start : start + NGRAM]) for start in range(max(1, len(tokens) - NGRAM + 1)))
    return Counter(gram for gram in grams if gram)


def metrics(overlaps: Sequence[Overlap]) -> Metrics:
    """Return the mean precision and recall of the pages where they are defined, and the F1 of the two."""
    precision = mean(each.both / (each.both + each.found_only) for each in overlaps if each.both + each.found_only)
    recall = mean(each.both / (each.both + each.true_only) for each in overlaps if each.both + each.true_only)
    return precision, recall, 2 * precision * recall / (precision + recall)


def intervals(figures: Sequence[Metrics]) -> list[tuple[float, float]]:
    """Return where the middle 95 % of the resampled figures lie."""
    cut = len(figures) * 25 // 1000
    return [(ordered[cut], ordered[-1 - cut]) for ordered in map(sorted, zip(*figures, strict=True))]


def _ours(html: str) -> str:
    try:
        return extract(html.encode(), "text/html; charset=utf-8").text
    except PageError:
        return ""


def _bare(html: str) -> str:
    import trafilatura

    return trafilatura.extract(html) or ""


_CONTENDERS: dict[str, Callable[[str], str]] = {"harness": _ours, "trafilatura.extract": _bare}


def _compare(pages: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    overlaps: dict[str, list[Overlap]] = {}
    times: dict[str, float] = {}
    for name, take in _CONTENDERS.items():
        take(pages[0]["html"])  # the import is not timed
        start = time.perf_counter()
        found = [take(page["html"]) for page in pages]
        times[name] = 1000 * (time.perf_counter() - start) / len(pages)
        overlaps[name] = [overlap(page["articleBody"], text) for page, text in zip(pages, found, strict=True)]
        say(f"{name}: {len(pages)} pages, {sum(not text for text in found)} without text")
    chance = random.Random(SEED)
    drawn = [chance.choices(range(len(pages)), k=len(pages)) for _ in range(RESAMPLES)]
    resampled = {name: [metrics([each[i] for i in draw]) for draw in drawn] for name, each in overlaps.items()}
    rows = [(name, *_cells(metrics(each), resampled[name]), f"{times[name]:.0f}") for name, each in overlaps.items()]
    one, other = _CONTENDERS
    differences = [_less(*pair) for pair in zip(resampled[one], resampled[other], strict=True)]
    difference = _less(metrics(overlaps[one]), metrics(overlaps[other]))
    return [*rows, ("difference", *_cells(difference, differences, sign="+"), "")]


def _less(one: Metrics, other: Metrics) -> Metrics:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def _cells(figures: Metrics, resampled: Sequence[Metrics], sign: str = "") -> list[str]:
    return [
        f"{figure:{sign}.3f} ({low:{sign}.3f} to {high:{sign}.3f})"
        for figure, (low, high) in zip(figures, intervals(resampled), strict=True)
    ]


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--pages", type=Path, metavar="FILE", required=True, help="gzipped JSON lines of marked pages")
    parser.add_argument("--limit", type=at_least(1), metavar="N", help="at most N pages")
    arguments = parser.parse_args()
    with gzip.open(arguments.pages) as file:
        pages = [orjson.loads(line) for line in file][: arguments.limit]
    headers = (f"{len(pages)} pages", "precision", "recall", "F1", "ms a page")
    print(tabulate(_compare(pages), headers=headers, colalign=("left", *["right"] * 4), disable_numparse=True))


if __name__ == "__main__":
    main()
