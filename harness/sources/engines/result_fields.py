"""Fields of a result, from the texts, the HTML and the identifiers that a service has in its replies."""

import html
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

from harness.core.authors import OTHERS, author_line
from harness.core.calendar_words import MONTHS
from harness.core.sites import host_of
from harness.core.text import clean, one_line
from harness.ports import SearchResult
from harness.sources.http.request import web_address

MAX_TITLE_CHARS = 500
MAX_BODY_CHARS = 10_000
MAX_AUTHORS_CHARS = 300

_MAX_MARKUP_CHARS = 4 * MAX_BODY_CHARS
_TAG = re.compile(r"</?[A-Za-z!?][^<>]{0,1000}>")
_CUT_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]{0,1000}|[!?][^<>]{0,1000}|/)?\Z")
_BLOCK = re.compile(
    r"</?(?:p|div|li|ul|ol|pre|br|h[1-6]|blockquote|jats:(?:p|title|sec|list|list-item))\b[^<>]{0,1000}>",
    re.IGNORECASE,
)
_RAISED = re.compile(r"(?<=[0-9])<(?:jats:)?sup\b[^<>]{0,1000}>", re.IGNORECASE)
_ESCAPED_TAG = re.compile(
    r"&lt;(/?(?:p|br|div|span|i|b|em|strong|sub|sup|ul|ol|li)(?:\s[a-z-]{1,30}=[^<>]{0,200}?)?\s?/?)&gt;",
    re.IGNORECASE,
)
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")

_DATE = re.compile(r"(1[5-9]|20)[0-9]{2}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?(?! years? ago)")
_MONTH = "|".join([*(f"{name[:3]}(?:{name[3:]})?" for name in map(str.capitalize, MONTHS)), "Sept"])
_IN_MONTH = r"0?[1-9]|[12][0-9]|3[01]"
_DAY = re.compile(
    rf"(?:(?P<month>{_MONTH})\.? (?P<day>{_IN_MONTH}), |(?P<day_first>{_IN_MONTH})\.? (?P<month_second>{_MONTH})\.? )"
    r"(?P<year>(?:199|20[0-9])[0-9])\b"
)
"""A day since there are pages, as "Jan 5, 2024" or "5 January 2024"."""
_AFTER_DAY = re.compile(rf"\s*(?:[·–—-]|\.{{3}}|…)\s+(?!(?:{_MONTH}|[0-9]{{1,4}})\b)")
"""The sign of search engines between the day of a page and its excerpt."""
_WORD_ENDS, _ENDING, _LETTERS = re.compile(r"[-_+\s]+"), re.compile(r"\.[a-z]{3,5}$"), re.compile(r"[^\W\d_]{3}")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s?)?(10\.[0-9]{4,9}/\S{1,200})", re.IGNORECASE)
_DOI_IN_TEXT = re.compile(r'10\.[0-9]{4,9}/[^\s"<>]{0,199}[^\s"<>.,;)]')


def result(title: str | None, href: str | None, body: str | None, **about: str | None) -> SearchResult | None:
    """Return a result with clean fields, `None` without a web address. `about` are the other fields of `SearchResult`;
    those that are empty or of another form are left out.
    """
    address = web_address(href)
    if not address:
        return None
    text = clean(_with_line_feeds(body or ""), MAX_BODY_CHARS)
    made = SearchResult(title=one_line(clean(title, MAX_TITLE_CHARS)) or address, href=address, body=text)
    checked = {
        "date": date_of(about.get("date")),
        "authors": _bounded_authors(about.get("authors")),
        "site": one_line(clean(about.get("site"), 200)),
        "doi": doi_of(about.get("doi")),
        "full_text": web_address(about.get("full_text")),
    }
    for name, value in checked.items():
        if value:
            made[name] = value  # type: ignore[literal-required]  # names of SearchResult
    return made


def web_result(title: str | None, href: str | None, excerpt: str | None, **about: str | None) -> SearchResult | None:
    """Return a result of a web search, as `result` does; the day with which its excerpt may begin is its date."""
    text, day = _without_day(clean(excerpt, MAX_BODY_CHARS))
    return result(title, href, text, **(about | {"date": about.get("date") or day}))


def title_from(address: str) -> str:
    """Return a title for a page of which only its address is known: the words at the end of its path, or the host.
    Never raises.
    """
    try:
        path = urlsplit(address).path
    except ValueError:
        return address
    words = _WORD_ENDS.sub(" ", _ENDING.sub("", unquote(path.rstrip("/").rpartition("/")[2]))).strip()
    return words if _LETTERS.search(words) else host_of(address)


def authors_of(names: Iterable[str | None]) -> str:
    """Return the first names in one line, see `author_line`."""
    clean_names = [one_line(clean(name, 100)) for name in names]
    return author_line([name for name in clean_names if name])


def joined(texts: Iterable[str | None]) -> str:
    """Return the texts that are not empty, each once, with an empty line between them."""
    stripped = ((text or "").strip("\r\n") for text in texts)
    return "\n\n".join(dict.fromkeys(text for text in stripped if text.strip()))


def plain(markup: str | None) -> str:
    """Return the text of HTML or JATS. Paragraphs stay apart, code keeps its indentation, and 10<sup>6</sup> becomes
    10^6, not 106. HTML that is escaped inside JATS loses its tags too.
    """
    text = markup or ""
    if len(text) > _MAX_MARKUP_CHARS:
        text = _CUT_TAG.sub("", text[:_MAX_MARKUP_CHARS])
    if "<jats:" in text:
        text, tags = _ESCAPED_TAG.subn(r"<\1>", text)
        text = text.replace("&amp;", "&") if tags else text  # escaped HTML has its own signs escaped twice
    text = _TAG.sub("", _BLOCK.sub("\n\n", _RAISED.sub("^", text)))
    return _EMPTY_LINES.sub("\n\n", _with_line_feeds(html.unescape(text))).strip()


def date_of(text: str | None) -> str:
    """Return the date (YYYY, YYYY-MM or YYYY-MM-DD) with which `text` begins, or the day ("Jan 5, 2024", "5 January
    2024") that it is, "" if there is none.
    """
    written = (text or "").strip()
    if found := _DATE.match(written):
        return found[0]
    day = _DAY.fullmatch(written)
    return _iso(day) if day else ""


def _iso(day: re.Match[str]) -> str:
    begins = (day["month"] or day["month_second"])[:3].lower()
    month = next(number for number, name in enumerate(MONTHS, start=1) if name.startswith(begins))
    return f"{day['year']}-{month:02}-{int(day['day'] or day['day_first']):02}"


def _without_day(body: str) -> tuple[str, str]:
    """Return an excerpt without the day of its page with which it begins, and that day, "" if there is none."""
    day = _DAY.match(body)
    end = _AFTER_DAY.match(body, day.end()) if day else None
    return (body[end.end() :], _iso(day)) if day and end else (body, "")


def doi_of(text: str | None) -> str:
    """Return the DOI that `text` is, alone or as an address, else the first one in it, in lower case; "" for none."""
    cleaned = clean(text, 500)
    if whole := _DOI.fullmatch(cleaned):
        return whole[1].lower()
    found = _DOI_IN_TEXT.search(cleaned)
    return found[0].lower() if found else ""


def doi_address(doi: str | None) -> str:
    """Return the web address of a DOI, "" for a text that is not one and nothing else."""
    whole = _DOI.fullmatch(clean(doi, 500))
    return f"https://doi.org/{quote(whole[1].lower(), safe='/():;,')}" if whole else ""


def _bounded_authors(text: str | None) -> str:
    line = one_line(clean(text, 2 * MAX_AUTHORS_CHARS))
    ending = OTHERS if line.endswith(OTHERS) else ""
    if len(line) <= MAX_AUTHORS_CHARS:
        return line
    return line[: MAX_AUTHORS_CHARS - len(ending)].rstrip(" ,") + ending


def _with_line_feeds(text: str) -> str:
    """Return a text with the line ends of this program; a text from a browser has others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
