"""Text of feeds: Atom, RSS 2.0 and RSS 1.0."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from harness.core.text import clean, one_line
from harness.errors import EngineUnavailable, PageError
from harness.sources.engines.xml_reply import parsed

if TYPE_CHECKING:
    from lxml import etree

XML_TYPES = frozenset(
    {"application/atom+xml", "application/rss+xml", "application/rdf+xml", "application/xml", "text/xml"}
)
MAX_ENTRIES = 200
MAX_ENTRY_CHARS = 20_000
_MAX_LINE_CHARS = 500

_FEEDS = frozenset({"feed", "rss", "RDF"})
_ENTRIES = frozenset({"entry", "item"})
_DATES = ("published", "pubDate", "date", "issued", "updated", "modified")
_SUMMARIES = ("content", "encoded", "summary", "description")
_BLOCKS = ("p", "div", "li", "br", "tr", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
_UNSEEN = tuple(f"{{*}}{name}" for name in ("script", "style", "svg", "template", "iframe"))
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def feed_text(body: bytes) -> tuple[str, str]:
    """Return title and text of a feed: of each of the first `MAX_ENTRIES` entries, its title as a heading, its date and
    link in a line, and its summary or content.

    Raises:
        PageError: it is not a feed, or not safe XML.
    """
    try:
        root = parsed("the site", body)
    except EngineUnavailable as error:
        raise PageError(str(error)) from error
    if _name(root) not in _FEEDS:
        raise PageError("is XML, but not a feed, so it has no text to read; pass an HTML page, a PDF or plain text")
    entries = list(islice((each for each in root.iter("{*}*") if _name(each) in _ENTRIES), MAX_ENTRIES))
    channel = next((each for each in root if _name(each) == "channel"), root)
    blocks = [_plain(_child(channel, ("subtitle", "description")))]
    for entry in entries:
        blocks += _entry(entry)
    return _line(channel, ("title",)), "\n\n".join(block for block in blocks if block)


def _entry(entry: "etree._Element") -> Iterator[str]:
    title = _line(entry, ("title",))
    yield f"## {title}" if title else ""
    yield ", ".join(each for each in (_date(entry), _link(entry)) if each)
    yield _plain(_child(entry, _SUMMARIES))[:MAX_ENTRY_CHARS]


def _name(element: "etree._Element") -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _child(element: "etree._Element", names: tuple[str, ...]) -> "etree._Element | None":
    """Return the first child with text that has the first possible of the names."""
    children = [each for each in element if _name(each) in names and ("".join(each.itertext())).strip()]
    return min(children, key=lambda each: names.index(_name(each)), default=None)


def _line(element: "etree._Element", names: tuple[str, ...]) -> str:
    return one_line(_plain(_child(element, names)))[:_MAX_LINE_CHARS]


def _date(entry: "etree._Element") -> str:
    """Return the day of an entry as YYYY-MM-DD; "" if there is none, or in another form."""
    text = _line(entry, _DATES)
    if found := _DAY.match(text):
        return found[0]
    with suppress(ValueError, TypeError, IndexError):
        return parsedate_to_datetime(text).date().isoformat()
    return ""


def _link(entry: "etree._Element") -> str:
    links = [each for each in entry if _name(each) == "link" and each.get("rel", "alternate") == "alternate"]
    texts = (one_line(clean(each.get("href") or each.text, _MAX_LINE_CHARS)) for each in links)
    return next((text for text in texts if text.startswith(("http://", "https://"))), "")


def _plain(element: "etree._Element | None") -> str:
    """Return the text of an element that holds plain text, escaped HTML or XHTML, with empty lines between blocks."""
    from lxml.etree import strip_elements
    from lxml.html import HTMLParser, document_fromstring

    if element is None:
        return ""
    markup: Any = element
    if not len(element):
        text = clean(element.text, len(element.text or ""))
        if "<" not in text and "&" not in text:
            return _paragraphs(text)
        parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
        markup = document_fromstring(f"<div>{text}</div>".encode(), parser=parser)
    strip_elements(markup, *_UNSEEN, with_tail=False)
    return _paragraphs("".join(_pieces(markup)))


def _pieces(root: Any) -> Iterator[str]:
    from lxml.etree import iterwalk

    for event, element in iterwalk(root, events=("start", "end")):
        text = element.text if event == "start" else "" if element is root else element.tail
        gap = "\n\n" if _name(element) in _BLOCKS else ""
        yield gap + (text or "")


def _paragraphs(text: str) -> str:
    """Collapse white space, but keep empty lines."""
    return "\n\n".join(line for part in re.split(r"\n\s*\n", text) if (line := one_line(part)))
