"""Text extraction from HTML, PDF, feeds and plain text.

The libraries are made for friendly documents: their time grows with the square of a page's elements, of a tag's
attributes or of a script's brackets, and a C parser may crash. So large pages are cut to a size that takes seconds, and
`harness.sources.pages.extraction_process` runs all of this in a process that can be killed.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import islice
from time import monotonic
from typing import Any

from msgspec.structs import replace

from harness.core.authors import author_line
from harness.core.languages import primary_tag
from harness.core.pages import Page
from harness.core.text import clean, one_line, shorten
from harness.errors import PageError
from harness.sources.pages.advertising import ads_for_text, advertisements
from harness.sources.pages.charsets import decode
from harness.sources.pages.feeds import XML_TYPES, feed_text
from harness.sources.pages.pdf_text import PagedText, paged_text

MAX_TEXT_CHARS = 2_000_000
MAX_TITLE_CHARS = 500
MAX_ELEMENTS = 20_000
"""Later elements are left out. A long encyclopaedia article has fewer; trafilatura's time grows with their square,
to some seconds here.
"""

LARGE_ELEMENTS = 5_000
"""Above this, trafilatura does not extract the page again by its other rules, which would take twice as long."""

MAX_PDF_PAGES, MAX_PDF_SECONDS = 200, 8.0
"""Later pages of a PDF are left out, and so are those that are not reached in this time: half of what a page may take,
so that a slow machine reads the beginning of a long document instead of nothing.
"""

MAX_META, MAX_ABOUT_CHARS = 300, 300

_DATES = (
    "citation_publication_date", "citation_date", "citation_online_date", "article:published_time", "datepublished",
    "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "pubdate", "publish-date", "date",
)  # fmt: skip
_DOIS = ("citation_doi", "prism.doi", "dc.identifier")
_AUTHORS = ("citation_author", "author", "dc.creator", "dcterms.creator", "article:author")
_SITES = ("citation_journal_title", "og:site_name", "application-name", "dc.publisher")
_DATE = re.compile(r"(?:1[5-9]|20)[0-9]{2}(?:[-/](?:0[1-9]|1[0-2])(?:[-/](?:0[1-9]|[12][0-9]|3[01]))?)?(?![0-9])")
_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s<>\"]{1,200}")

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset({"text/plain", "text/markdown", "text/x-markdown", "application/json"})
_UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
_PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
_LOOKS_LIKE_HTML = re.compile(
    rb"\s*(?:<!--.{0,500}?-->\s*|<\?xml.{0,200}?\?>\s*)*<(?:!doctype\s+html|html|head|body)\b", re.DOTALL
)
_NO_CHARACTER = re.compile(
    "[\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])(?![0-9])"
    "|x0*(?:[0-8bcef]|1[0-9a-f]|fff[ef])(?![0-9a-f]));?",
    re.IGNORECASE,
)
"""Characters and references that XML forbids: one of them makes trafilatura give up the whole page."""

_SHORT_NUMBER = re.compile("[0-9]{1,2}")
_NUMBERED = re.compile(r"^- (?=[0-9]{1,5}\. )")
"""The bullet that trafilatura puts before an item, where a number follows."""
_UNSEEN = ("script", "style", "svg", "noscript", "template", "iframe")
_NOTHING = "no text found; it may need JavaScript, or hold only images"


def extract(body: bytes, content_type: str) -> Page:
    """Return the page in `body`, without a URL; its title is empty if it has none. Its text is cleaned, bounded and
    never empty. The bytes count more than the header `content_type`.

    Raises:
        PageError: no text can be extracted.
    """
    declared = content_type.partition(";")[0].strip().lower()
    kind = media_type(body, declared)
    if kind == "application/pdf":
        paged = _pdf(body)
        page = Page("", paged.title, paged.text, kind, page_starts=paged.page_starts)
    elif kind == "text/html":
        page = _html(decode(body, content_type))
    else:
        title, text = feed_text(body) if kind in XML_TYPES else _plain(decode(body, content_type))
        page = Page("", title, text, kind)
    text = clean(page.text, MAX_TEXT_CHARS)
    if not text:
        raise PageError(_NOTHING)
    return replace(
        page,
        title=clean(one_line(page.title), MAX_TITLE_CHARS),
        text=text,
        page_starts=tuple(start for start in page.page_starts if start[0] < len(text)),
        ads=ads_for_text(page.ads, len(text)),
    )


def media_type(body: bytes, declared: str) -> str:
    """Return the media type of `body`: `text/html`, `application/pdf`, or a type of text or XML.

    Raises:
        PageError: any other type; the message names it.
    """
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    if declared in _PDF_TYPES:
        raise PageError("declared as a PDF, but is not one; open it in a browser to check")
    if declared in _HTML:
        return "text/html"
    if declared in _TEXT or declared in XML_TYPES:
        return declared
    if declared in _UNTOLD:
        if _LOOKS_LIKE_HTML.match(body[:2048].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").lower()):
            return "text/html"
        if not declared and b"\0" not in body:
            return "text/plain"
    kind = shorten(declared, 80) or "of an unknown type"
    raise PageError(f"is {kind}, which has no text to read; pass an HTML page, a PDF or plain text")


def _plain(text: str) -> tuple[str, str]:
    if "\0" in text:
        raise PageError("declared as text, but is binary; open it in a browser to check")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    title = next((bare for line in text[:10_000].split("\n") if (bare := line.strip("#=-*~ \t"))), "")
    return shorten(title, 200), text


def _pdf(body: bytes) -> PagedText:
    """Return the text of the first `MAX_PDF_PAGES` pages; the title is that of the document, if it has one."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about every oddity that it can handle
    try:
        reader = PdfReader(BytesIO(body))
        if locked := reader.is_encrypted and not reader.decrypt(""):
            text = PagedText("", (), "")
        else:
            text = paged_text(_in_time(reader.pages[:MAX_PDF_PAGES]), MAX_TEXT_CHARS)
            title = str(reader.metadata.title or "") if reader.metadata else ""
            text = replace(text, title=title.strip() or text.title)
    except Exception as error:  # on a damaged PDF, pypdf raises any kind of exception
        raise PageError(f"an unreadable PDF ({type(error).__name__}); it may be damaged") from error
    if locked:
        raise PageError("an encrypted PDF; remove its password to read it")
    if not text.text:
        raise PageError("no text in this PDF; it may hold only scanned images")
    return text


def _in_time(pages: Iterable[Any]) -> Iterator[Any]:
    """Yield pages, the first one in any case, until `MAX_PDF_SECONDS` are over."""
    end = monotonic() + MAX_PDF_SECONDS
    for page in pages:
        yield page
        if monotonic() > end:
            return


def _html(html: str) -> Page:
    """Return title and main text of a page, what it says about itself, and the number of all its advertisements. It is
    only parsed; no script runs.
    """
    from trafilatura import bare_extraction

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # this function reports what it cannot read
    try:
        tree = _tree(html)
        ads = advertisements(tree)
        _bound(tree)
        title, about = _title(tree), _about(tree)
        for link in [each for each in tree.iter("a") if each.text == "¶"]:  # documentation adds one to each heading
            link.drop_tree()
        _number_items(tree)
        large = _element(tree, LARGE_ELEMENTS) is not None
        page: Any = bare_extraction(tree, include_comments=False, fast=large)
        blocks = [] if page is None else list(_blocks(page.body))
    except Exception as error:  # on unexpected pages, trafilatura raises any kind of exception
        raise PageError(f"unreadable HTML ({type(error).__name__}); {_NOTHING}") from error
    return Page("", title, "\n\n".join(block for block in blocks if block), "text/html", ads=ads, **about)


def _tree(html: str) -> Any:
    """Parse a page."""
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    readable = _NO_CHARACTER.sub("", clean(html, len(html)))
    return document_fromstring(readable.encode(), parser=parser)


def _number_items(tree: Any) -> None:
    """Put its number before each item of a numbered list, as a browser does; trafilatura puts bullets there."""
    for listed in tree.iter("ol"):
        start = listed.get("start", "1")
        if _SHORT_NUMBER.fullmatch(start) and listed.get("type", "1") == "1" and listed.get("reversed") is None:
            for number, item in enumerate(listed.iterchildren("li"), start=int(start)):
                item.text = f"{number}. {(item.text or '').lstrip()}"


def _bound(tree: Any) -> None:
    """Cut a page after `MAX_ELEMENTS`, not counting scripts and the like."""
    from lxml import etree

    if _element(tree, MAX_ELEMENTS) is not None:
        etree.strip_elements(tree, *_UNSEEN, with_tail=False)
        if (first_left_out := _element(tree, MAX_ELEMENTS)) is not None:
            _cut(first_left_out)


def _element(tree: Any, number: int) -> Any:
    """Return the element with this number (from 0, in page order), `None` if there are fewer."""
    return next(islice(tree.iter("*"), number, None), None)


def _cut(first: Any) -> None:
    """Remove `first` and everything after it."""
    parent = first.getparent()
    del parent[parent.index(first) :]
    for element in (parent, *parent.iterancestors()):
        if (above := element.getparent()) is not None:
            del above[above.index(element) + 1 :]


def _title(tree: Any) -> str:
    """Return the page's title: that for sharing, else the window's, else the first heading."""
    shared = tree.xpath("string((//meta[@property='og:title']/@content)[1])")
    window = tree.xpath("string((//head/title)[1])")
    return next((each for each in (shared, window, tree.xpath("string((//h1)[1])")) if each.strip()), "")


def _about(tree: Any) -> Mapping[str, Any]:
    """Return the fields of a page that its meta elements give: those of Highwire Press, Dublin Core and Open Graph."""
    found: dict[str, list[str]] = {}
    for element in islice(tree.iter("meta"), MAX_META):
        name = (element.get("name") or element.get("property") or element.get("itemprop") or "").strip().lower()
        if content := one_line(clean(element.get("content"), MAX_ABOUT_CHARS)):
            found.setdefault(name, []).append(content)
    dates = (match[0] for name in _DATES for text in found.get(name, ()) if (match := _DATE.match(text)))
    dois = (match[0] for name in _DOIS for text in found.get(name, ()) if (match := _DOI.search(text)))
    names = next((found[name] for name in _AUTHORS if name in found), [])
    people = [name for name in dict.fromkeys(names) if "://" not in name]
    site = next((found[name][0] for name in _SITES if name in found), "")
    date = next(dates, "").replace("/", "-")
    doi = next(dois, "").rstrip(".,;").lower()
    authors = author_line(people)[:MAX_ABOUT_CHARS]
    return {"date": date, "authors": authors, "site": site, "doi": doi, "language": _language(tree)}


def _language(tree: Any) -> str:
    """Return the tag of the language that the root element declares; "" if it declares none, or no tag."""
    declared = tree.get("lang") or tree.get("xml:lang") or ""
    return declared.strip() if primary_tag(declared) else ""


def _blocks(body: Any) -> Iterator[str]:
    """Yield the headings, paragraphs, lists, tables and code blocks that trafilatura kept, each as text."""
    from lxml.etree import Element
    from trafilatura.xml import xmltotxt

    yield one_line(body.text or "")
    for element in list(body):
        if level := _level(element):
            heading = one_line("".join(element.itertext()))
            yield f"{'#' * level} {heading}" if heading else ""
            yield one_line(element.tail or "")
            continue
        alone = Element("body")
        alone.append(element)
        lines = [line.strip() for line in xmltotxt(alone, include_formatting=False).split("\n")]
        if element.tag == "list":
            lines = [_NUMBERED.sub("", line) for line in lines]
        yield ("\n" if element.tag in {"list", "table", "code"} else "\n\n").join(line for line in lines if line)


def _level(element: Any) -> int:
    """Return 1 to 6 for a heading, 0 for anything else."""
    if element.tag != "head":
        return 0
    rank = (element.get("rend") or "h2")[1:]
    return int(rank) if rank in {"1", "2", "3", "4", "5", "6"} else 2
