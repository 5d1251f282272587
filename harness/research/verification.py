"""Verification of a saved report against its stored run: whatever a reader sees must be the same."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from harness.cache import Cache
from harness.core.citations import is_quoted_in
from harness.core.text import clean, shorten
from harness.errors import InvalidInput, NotFound
from harness.research.quotation_support import BY_WORDS, QuotationSupport
from harness.research.reports import as_html, as_markdown
from harness.research.run_view import PastRun, past_run
from harness.research.saved_report import RUN_FIELDS, SavedReport

MAX_REPORT_BYTES = 50_000_000
MAX_DIFFERENCES = 1_000
MAX_DIGITS = 9
MAX_SHOWN = 500
"""Characters of a value shown in a difference."""
MAX_ALIGNED = 5_000
"""Most lines, or list entries, that are aligned before they are compared."""

_MARKDOWN_DATE = re.compile(r'^date: "[0-9: UTC-]{1,30}"\n', re.MULTILINE)
_MARKDOWN_RUN = re.compile(r'^run: "([0-9a-f-]{1,40})"$', re.MULTILINE)
_HTML_RUN = re.compile(r"<dt>run</dt><dd>([0-9a-f-]{1,40})</dd>")
_HTML_DATE = re.compile(r"<dt>date</dt><dd>[0-9: UTC-]{1,30}</dd>")
_NOT_COMPARED = (b"pk\x03\x04", b"%pdf-", b"@article{", b"@online{")
"""Beginnings of files of the forms that are not compared with the run, in lower case."""
_VERIFIABLE = "only .json, .md and .html files can be verified"


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


class SavedFile(Struct, frozen=True):
    """A saved report as read: its run, and its content, a JSON object or the text of Markdown or HTML."""

    run: str
    content: dict[str, Any] | str


class QuotationCheck(Struct, frozen=True):
    """One quotation of the file: whether it is, word for word, in the stored text of its source (`stands`), and whether
    it supports its sentence.
    """

    quotation: str
    url: str
    number: int
    stands: bool
    supported: bool = True

    @property
    def failed(self) -> bool:
        """Whether the quotation is not in its source, or does not support its sentence."""
        return not (self.stands and self.supported)


class Difference(Struct, frozen=True):
    """A place in the file (`citations[2].sentence`, `line 7`) that differs from the stored run; shortened."""

    where: str
    saved: str
    stored: str


class Verification(Struct, frozen=True):
    """Result of a verification: every quotation of the file, and at most `MAX_DIFFERENCES` differences."""

    verdicts: tuple[QuotationCheck, ...]
    differences: tuple[Difference, ...]

    @property
    def verified(self) -> int:
        """The number of quotations that are in their sources and support their sentences."""
        return sum(not verdict.failed for verdict in self.verdicts)

    @property
    def passed(self) -> bool:
        """Whether there are quotations, all are verified, and nothing differs."""
        return bool(self.verdicts) and self.verified == len(self.verdicts) and not self.differences


def read_report(content: bytes) -> SavedFile:
    """Parse a saved report: JSON, Markdown with front matter, or an HTML page.

    Raises:
        InvalidInput: it is none of these, or names no run.
    """
    if len(content) > MAX_REPORT_BYTES:
        raise InvalidInput(f"not a report: more than {MAX_REPORT_BYTES:,} bytes")
    begin = content[:20].lstrip().lower()
    if begin.startswith(b"# "):
        raise InvalidInput("this report does not name its run; save it with `harness show RUN -o FILE`")
    if begin.startswith(_NOT_COMPARED):
        raise InvalidInput(f"this file cannot be verified: {_VERIFIABLE}; write one with `harness show RUN -o FILE`")
    if begin.startswith((b"---", b"<!doctype")):
        return _read_text(content, _MARKDOWN_RUN if begin.startswith(b"---") else _HTML_RUN)
    try:
        loaded = msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidInput(f"not a report of `harness research` ({error}); {_VERIFIABLE}") from error
    if isinstance(loaded, list):
        raise InvalidInput(f"a list of sources is not a report: {_VERIFIABLE}")
    if not isinstance(loaded, dict) or not {"question", "run", "citations", "report"} <= loaded.keys():
        raise InvalidInput(
            "not a report of `harness research --json`: its question, run, citations or report is missing"
        )
    return SavedFile(_checked_run(loaded["run"]), loaded)


def verify(file: SavedFile, cache: Cache, support: QuotationSupport = BY_WORDS) -> Verification:
    """Rebuild the report from its stored run, compare everything a reader sees, and check every quotation against the
    passages stored with the run. Uses no network; expiry in the cache does not matter.

    Raises:
        InvalidInput: the report cannot be verified: its run is not stored, or was never finished.
        StoreError: the cache cannot be read.
    """
    try:
        past = past_run(cache, file.run)
    except NotFound as error:
        raise InvalidInput(f"the report cannot be verified: {error}") from error
    if past.state != "finished":
        raise InvalidInput(
            f"the report cannot be verified: the run {past.run} was not finished; "
            f"`harness research --resume {past.run}`"
        )
    if not past.quoted and past.report is not None:
        raise InvalidInput(f"the report cannot be verified: the run {past.run} was recorded by an older version")
    differences = _of_json(file.content, past) if isinstance(file.content, dict) else _of_text(file.content, past)
    return Verification(
        tuple(_verdicts(file, past, support if past.reading else BY_WORDS)), tuple(islice(differences, MAX_DIFFERENCES))
    )


def _read_text(content: bytes, run: re.Pattern[str]) -> SavedFile:
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not a report of `harness research` ({error})") from error
    found = run.search(text)
    return SavedFile(_checked_run(found and found[1]), text)


def _checked_run(run: object) -> str:
    if not run:
        raise InvalidInput(
            "the report cannot be verified: it names no run; research without --no-cache, with --json or -o, to store "
            "one"
        )
    if not isinstance(run, str):
        raise InvalidInput("not a report of `harness research --json`: its run is not a string")
    return run


def _verdicts(file: SavedFile, past: PastRun, support: QuotationSupport) -> Iterator[QuotationCheck]:
    """Check the quotations of the file; for Markdown and HTML the stored ones, since the texts are compared."""
    citations: Any = msgspec.to_builtins(list(past.report.citations)) if past.report else []
    if isinstance(file.content, dict):
        citations = file.content["citations"]
    rows = [
        [_field(cited, name) for name in ("quotation", "url", "sentence", "number")]
        for cited in (citations if isinstance(citations, list) else ())
    ]
    quoted = [row for row in rows if row[0]]
    stands = [is_quoted_in(quotation, past.quoted.get(url, ())) for quotation, url, _, _ in quoted]
    standing = [row for row, whole in zip(quoted, stands, strict=True) if whole]
    pairs = [(sentence, quotation) for quotation, _, sentence, _ in standing]
    titles = {source.url: source.title for source in reversed(past.sources)}
    contexts = [f"{past.question}\n{titles.get(url, '')}" for _, url, _, _ in standing]
    checked = iter(support.check(past.question, pairs, contexts))
    for (quotation, url, _, number), whole in zip(quoted, stands, strict=True):
        numbered = int(number) if number.isdecimal() and len(number) <= MAX_DIGITS else 0
        yield QuotationCheck(quotation, url, numbered, whole, next(checked).supported if whole else False)


def _field(cited: object, name: str) -> str:
    value = cited.get(name) if isinstance(cited, dict) else None
    return "" if value is None else str(value)[:100_000]


def _of_json(saved: dict[str, Any], stored: SavedReport) -> Iterator[Difference]:
    expected = orjson.loads(orjson.dumps(stored.as_dict()))
    if stored.plan is None:
        expected["plan"] = saved.get("plan")
    yield from _compare("", {name: value for name, value in saved.items() if name not in RUN_FIELDS}, expected)


def _compare(where: str, saved: object, stored: object) -> Iterator[Difference]:
    if isinstance(saved, dict) and isinstance(stored, dict):
        for name in dict.fromkeys((*stored, *saved)):
            place = f"{where}.{name}" if where else str(name)
            yield from _compare(place, saved.get(name, MISSING), stored.get(name, MISSING))
    elif isinstance(saved, list) and isinstance(stored, list):
        keys = [[orjson.dumps(each).decode() for each in side] for side in (saved, stored)]
        for one, other in _aligned(*keys):
            place = f"{where}[{other if one is None else one}]"
            yield from _compare(place, *(_at(side, at) for side, at in ((saved, one), (stored, other))))
    elif isinstance(saved, str) and isinstance(stored, str) and "\n" in stored:
        yield from _lines(saved, stored, f"{where} line ")
    elif saved != stored or type(saved) is not type(stored):
        yield Difference(shorten(clean(where, MAX_SHOWN), 200), _shown(saved), _shown(stored))


def _of_text(saved: str, stored: SavedReport) -> Iterator[Difference]:
    """Compare Markdown or HTML; the date of the file is not stored and not compared."""
    if saved.lstrip().startswith("---"):
        date, expected = _MARKDOWN_DATE, as_markdown(stored, 0.0)
    else:
        date, expected = _HTML_DATE, as_html(stored, 0.0)
    yield from _lines(date.sub("", saved, count=1), date.sub("", expected, count=1), "line ")


def _lines(saved: str, stored: str, where: str) -> Iterator[Difference]:
    ours, theirs = saved.split("\n"), stored.split("\n")
    for one, other in _aligned(ours, theirs):
        place = other if one is None else one
        yield Difference(f"{where}{(place or 0) + 1}", _shown(_at(ours, one)), _shown(_at(theirs, other)))


def _aligned(saved: Sequence[str], stored: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the places that differ, aligned so that one inserted line is one difference; very long texts are compared
    pair by pair.
    """
    blocks: Iterable[tuple[str, int, int, int, int]] = [("replace", 0, len(saved), 0, len(stored))]
    if max(len(saved), len(stored)) <= MAX_ALIGNED:
        blocks = SequenceMatcher(None, saved, stored, autojunk=False).get_opcodes()
    for kind, first, last, start, end in blocks:
        if kind == "equal":
            continue
        for one, other in zip_longest(range(first, last), range(start, end)):
            if one is None or other is None or saved[one] != stored[other]:
                yield one, other


def _at(side: Sequence[object], place: int | None) -> object:
    return MISSING if place is None else side[place]


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return shorten(clean(text, MAX_SHOWN), MAX_SHOWN)
