"""Validators of a page (RFC 9110, section 13): entity tag and date of the last change."""

import re
from collections.abc import Mapping

from harness.core.pages import Page

_ETAG = re.compile(r'(?:W/)?"[!#-~]{0,200}"')
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} "
    r"[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
)


def entity_tag(header: str | None) -> str:
    """Return an entity tag, weak or strong, of printable ASCII and at most 200 characters; "" for anything else."""
    return header if header and _ETAG.fullmatch(header) else ""


def http_date(header: str | None) -> str:
    """Return a date in the form of RFC 9110, section 5.6.7; "" for anything else."""
    return header if header and _DATE.fullmatch(header) else ""


def conditions(held: Page | None, url: str) -> Mapping[str, str]:
    """Return the headers that request the page at `url` only if it is no longer the `held` one; none if that came from
    another URL or without validators. They are checked again: a database may have been imported.
    """
    if held is None or held.url != url:
        return {}
    headers = {"If-None-Match": entity_tag(held.etag), "If-Modified-Since": http_date(held.last_modified)}
    return {name: value for name, value in headers.items() if value}
