"""Excerpts of history rows: the beginning of the content, a URL, and whether something was found. The content is data
from outside, returned as text.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from harness.core.tables import KNOWLEDGE, RESEARCH, RUNS, SEARCHES

MAX_READ = 100_000
"""Characters of one text that are read for a snippet."""


class Excerpt(Struct, frozen=True):
    """The beginning of a row's content, and a URL. `found` is false for a search without results, and for a research
    without a report.
    """

    snippet: str
    url: str
    found: bool = True


def excerpt_of(table: str, payload: bytes) -> Excerpt:
    """Return the excerpt of a row of one of the tables of the history."""
    begins = payload[:MAX_READ].decode(errors="replace") if table == RESEARCH else ""
    try:
        held = orjson.loads(payload)
    except ValueError:  # a context may be any text
        return Excerpt(begins, "", found=bool(begins))
    if table == KNOWLEDGE:
        return Excerpt(_field(held, "content"), _field(held, "source_url"))
    if table == SEARCHES:
        results = held if isinstance(held, list) else []
        first = results[0] if results else {}
        snippet = _field(first, "body") or " · ".join(filter(None, (_field(each, "title") for each in results[:5])))
        return Excerpt(snippet, _field(first, "href"), found=bool(first))
    snippet, url = _of_research(held)
    found = table != RUNS or (isinstance(held, Mapping) and bool(held.get("report")))
    return Excerpt(snippet or begins, url, found)


def _of_research(held: Any) -> tuple[str, str]:
    """Return snippet and URL of a run's record or a gathered context."""
    report = held.get("report") if isinstance(held, dict) else None
    cited = report.get("citations") if isinstance(report, dict) else None
    sources = held.get("sources") if isinstance(held, dict) else None
    first = sources[0] if isinstance(sources, list) and sources else {}
    if isinstance(cited, list) and cited:
        return " ".join(_field(each, "sentence") for each in cited[:3]), _field(cited[0], "url") or _field(first, "url")
    texts = first.get("texts") if isinstance(first, dict) else None
    return _text(texts[0]) if isinstance(texts, list) and texts else "", _field(first, "url")


def _field(held: Any, name: str) -> str:
    return _text(held.get(name)) if isinstance(held, dict) else ""


def _text(value: Any) -> str:
    return value[:MAX_READ] if isinstance(value, str) else ""
