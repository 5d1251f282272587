"""Checks a saved report anew: does every quotation stand in what its run was answered with?"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from harness.cache import Cache
from harness.cache.tables import PAGES, RESEARCH, SEARCHES
from harness.core.citations import stands_in
from harness.core.entries import Entry
from harness.core.keys import canonical_url
from harness.core.pages import Page
from harness.errors import InvalidInput
from harness.research.gather import Gathered

MAX_REPORT_BYTES = 50_000_000


class Quoted(Struct, frozen=True):
    """What a saved report says that a source says."""

    quotation: str
    url: str
    number: int = 0


class SavedReport(Struct, frozen=True):
    """What `harness research --json` has printed, as far as it is checked."""

    question: str
    run: str | None
    citations: tuple[Quoted, ...]


class Verdict(Struct, frozen=True):
    """One quotation, and whether it stands, word for word, in the stored text of its source."""

    quotation: str
    url: str
    number: int
    stands: bool


def read_report(content: bytes) -> SavedReport:
    """Read a saved report.

    Raises:
        InvalidInput: that is none, or it names no run.
    """
    if len(content) > MAX_REPORT_BYTES:
        raise InvalidInput(f"that is no report: more than {MAX_REPORT_BYTES:,} bytes")
    try:
        report = msgspec.json.decode(content, type=SavedReport)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidInput(f"that is no report of `harness research --json` ({error})") from error
    if not report.run:
        raise InvalidInput("the report names no run, so nothing of it is stored; research without --no-cache")
    return report


def verify(report: SavedReport, cache: Cache) -> list[Verdict]:
    """Check every quotation of a report against the stored answers of its run; nothing is asked from outside.

    Raises:
        InvalidInput: there is no such run, or answers of it have changed or gone since.
        StoreError: the cache cannot be read.
    """
    record = cache.get_run(str(report.run))
    texts = _texts(cache.answers(record))
    return [
        Verdict(cited.quotation, cited.url, cited.number, stands_in(cited.quotation, texts.get(cited.url, ())))
        for cited in report.citations
        if cited.quotation
    ]


def _texts(answers: Iterable[tuple[str, Entry]]) -> Mapping[str, list[str]]:
    """Return what each address said."""
    texts: dict[str, list[str]] = {}
    for table, entry in answers:
        if table == SEARCHES:
            results: list[dict[str, Any]] = orjson.loads(entry.payload)
            for result in results:
                url = canonical_url(str(result.get("href") or ""))
                texts.setdefault(url, []).append(str(result.get("body") or ""))
        elif table == PAGES:
            texts.setdefault(entry.text, []).append(msgspec.json.decode(entry.payload, type=Page).text)
        elif table == RESEARCH:
            for source in msgspec.json.decode(entry.payload, type=Gathered).sources:
                texts.setdefault(source.url, []).extend(source.passages)
    return texts
