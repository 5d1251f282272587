"""HTML pages from templates. All values are escaped and shown as text."""

import time
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from harness import __version__
from harness.core.freshness import age_in_words
from harness.core.text import clean
from harness.identity import LOCAL
from harness.research.gathering import stopped_because
from harness.research.report import lacking_note
from harness.server.auth import REQUEST_APP
from harness.server.pages.passage_text import passage_html
from harness.server.responses.response_schema import iso, short
from harness.settings.extras import is_installed

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
LINK_SCHEMES = ("http://", "https://")
MAX_TEXT = 20_000
"""Characters of one text on a page."""

SECTIONS = (
    ("/", "History"),
    ("/library", "Library"),
    ("/cache", "Cache"),
    ("/experiments", "Experiments"),
    ("/knowledge", "Knowledge"),
)


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template with `values`, the current section, and the user's identity and rights."""
    app = request.scope.get("state", {}).get(REQUEST_APP)
    identity = app.identity if app else None
    html = (
        _environment()
        .get_template(template)
        .render(
            sections=SECTIONS,
            path=request.url.path,
            identity=identity,
            may_write=identity is not None and identity.may("writer"),
            may_clear=identity is not None and identity.may("admin"),
            local=identity is None or identity == LOCAL,
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(html, status)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.globals["has_charts"] = lambda: is_installed("charts")
    return environment


def ago(moment: float) -> str:
    """Return the age of a time in seconds since the epoch: `2 h ago`."""
    return age_in_words(max(0.0, time.time() - moment))


def in_words(moment: float) -> str:
    """Return a future or past time in words: `in 3 h`, `2 h ago`."""
    seconds = moment - time.time()
    if seconds <= 0:
        return ago(moment)
    return next((f"in {seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= unit), "in a moment")


_UNITS = ((2 * 86_400, "d"), (3_600, "h"), (60, "min"))


def day(moment: float) -> str:
    """Return a time in seconds since the epoch as date and time of day, UTC: `22 Nov 2026, 10:15`."""
    return time.strftime("%d %b %Y, %H:%M", time.gmtime(moment)).lstrip("0")


def plain(text: object) -> str:
    """Return a long text cleaned, with its line breaks."""
    return clean(text, MAX_TEXT)


def one(value: float | None) -> str:
    """Return a number between 0 and 1 with two decimals; a dash for `None`."""
    return "–" if value is None else f"{value:.2f}"


def linked(url: str) -> bool:
    """Return whether a URL may be a link; others are shown as text."""
    return str(url).lower().startswith(LINK_SCHEMES)


def source_href(url: str) -> str:
    """Return where a source can be read: its URL if it is on the web, else the page here that has its text."""
    if linked(url):
        return clean(url, MAX_TEXT)
    if url.startswith("knowledge:"):
        return f"/knowledge/{quote(url.removeprefix('knowledge:'), safe='')}"
    return held_href(url)


def held_href(url: str) -> str:
    """Return the page of the passages that were read of a source."""
    return f"/library/source?{urlencode({'url': url}, errors='replace')}"


def megabytes(size: float) -> str:
    """Return a number of bytes in megabytes."""
    return f"{size / 2**20:,.1f} MB"


def grouped(number: float) -> str:
    """Return a number with thousands separators: `12,345`."""
    return f"{number:,.0f}"


def groupby_order(items: Iterable[Any], name: str) -> list[tuple[Any, list[Any]]]:
    """Return neighbours with the same value of an attribute together, each group with that value, in order."""
    return [(value, list(group)) for value, group in groupby(items, key=attrgetter(name))]


FILTERS: dict[str, Callable[..., object]] = {
    each.__name__: each
    for each in (
        age_in_words,
        ago,
        in_words,
        day,
        iso,
        short,
        plain,
        one,
        linked,
        source_href,
        held_href,
        megabytes,
        grouped,
        lacking_note,
        groupby_order,
        passage_html,
        stopped_because,
    )
}
