"""Checks a saved report anew: does every quotation stand in what its run was shown?"""

import msgspec
from msgspec import Struct

from harness.cache import Cache
from harness.core.citations import stands_in
from harness.errors import InvalidInput

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
    """Check every quotation of a report against the passages that are stored with its run; nothing is asked from
    outside, and it does not matter what of the cache has expired since.

    Raises:
        InvalidInput: there is no such run, or it was never finished.
        StoreError: the cache cannot be read.
    """
    texts = cache.get_run(str(report.run)).get("quoted")
    if texts is None:
        raise InvalidInput(f"the run {report.run} was not finished: `harness research --resume {report.run}`")
    return [
        Verdict(cited.quotation, cited.url, cited.number, stands_in(cited.quotation, texts.get(cited.url, ())))
        for cited in report.citations
        if cited.quotation
    ]
