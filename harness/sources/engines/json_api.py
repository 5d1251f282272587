"""What the engines with a JSON API share: one request, its typed reply, and the fields of a result."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.sources.http.request import HttpResponse, ask, check_status, web_address

MAX_TITLE_CHARS = 500
MAX_BODY_CHARS = 10_000
MAX_AUTHORS = 3
"""Names that are listed; more are "and others"."""

T = TypeVar("T")

_TAG = re.compile(r"</?[A-Za-z!?][^<>]{0,1000}>")
_BLOCK = re.compile(
    r"</?(?:p|div|li|ul|ol|pre|br|h[1-6]|blockquote|jats:p|jats:title|jats:sec)\b[^<>]{0,1000}>", re.IGNORECASE
)
_DATE = re.compile(r"(1[5-9]|20)[0-9]{2}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?")
_DOI = re.compile(r"10\.[0-9]{4,9}/\S{1,200}")


def fetched(who: str, url: str, kind: type[T], **request: Any) -> T:
    """Send one request (see `harness.sources.http.request.ask`) and return its reply.

    Raises:
        RateLimited: the server asks for fewer requests (HTTP 429).
        EngineUnavailable: no reply, another status than 200, or a reply of another form.
    """
    answer = ask(who, url, **request)
    check_status(who, answer)
    return decoded(who, answer, kind)


def decoded(who: str, answer: HttpResponse, kind: type[T]) -> T:
    """Return a response's JSON.

    Raises:
        EngineUnavailable: it is of another form.
    """
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (ValueError, RecursionError) as error:
        raise EngineUnavailable(f"{who} answered with something else than results; try again later") from error


def result(title: str | None, href: str | None, body: str | None, **about: str | None) -> SearchResult | None:
    """Return a result with clean fields, `None` without a web address. `about` are the other fields of `SearchResult`;
    those that are empty or of another form are left out.
    """
    address = web_address(href)
    if not address:
        return None
    text = clean(body, MAX_BODY_CHARS)
    made = SearchResult(title=one_line(clean(title, MAX_TITLE_CHARS)) or address, href=address, body=text)
    checked = {
        "date": date_of(about.get("date")),
        "authors": one_line(clean(about.get("authors"), 300)),
        "site": one_line(clean(about.get("site"), 200)),
        "doi": doi_of(about.get("doi")),
        "full_text": web_address(about.get("full_text")),
    }
    for name, value in checked.items():
        if value:
            made[name] = value  # type: ignore[literal-required]
    return made


def results(found: Iterable[SearchResult | None], limit: int) -> list[SearchResult]:
    """Return up to `limit` results, each address once."""
    by_address: dict[str, SearchResult] = {}
    for each in found:
        if each is not None:
            by_address.setdefault(each["href"], each)
    return list(by_address.values())[:limit]


def authors_of(names: Iterable[str | None]) -> str:
    """Return up to `MAX_AUTHORS` names in one line."""
    clean_names = [one_line(clean(name, 100)) for name in names]
    known = [name for name in clean_names if name]
    return ", ".join(known[:MAX_AUTHORS]) + (" and others" if len(known) > MAX_AUTHORS else "")


def plain(markup: str | None) -> str:
    """Return the text of HTML or JATS; the paragraphs stay apart."""
    text = _TAG.sub("", _BLOCK.sub("\n\n", (markup or "")[: 4 * MAX_BODY_CHARS]))
    return re.sub(r"\n\s*\n\s*", "\n\n", html.unescape(text)).strip()


def date_of(text: str | None) -> str:
    """Return the date (YYYY, YYYY-MM or YYYY-MM-DD) with which `text` begins, "" if there is none."""
    found = _DATE.match((text or "").strip())
    return found[0] if found else ""


def doi_of(text: str | None) -> str:
    """Return the DOI in `text` in lower case, "" if there is none."""
    found = _DOI.search((text or "")[:500])
    return found[0].rstrip(".,;").lower() if found else ""


def identified(contact: str | None) -> Mapping[str, str]:
    """Return the header that names this program, with an address to write to if there is one."""
    return {"User-Agent": f"research-harness (mailto:{one_line(contact)})"} if contact else {}
