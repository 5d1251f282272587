"""Identity of papers: one paper on several hosts is one source."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from harness.core.keys import canonical_url
from harness.core.source_kind import source_kind
from harness.core.text import words

LEAST_TITLE_WORDS = 5
"""Shorter titles are shared by different papers."""
MAX_CHARS = 2_000

_NUMBER = r"([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[a-z]{2})?/[0-9]{7})(?![0-9])"
_ARXIV = re.compile(
    rf"(?:(?:(?:www|export|ar5iv\.labs)\.)?arxiv\.org/(?:abs|pdf|html)/|www\.semanticscholar\.org/arxiv:){_NUMBER}",
    re.IGNORECASE,
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.{_NUMBER}", re.IGNORECASE)
_DOI = re.compile(r"10\.[0-9]{4,9}/\S{1,200}")
_DOI_ADDRESS = re.compile(
    r"(?:(?:dx\.)?doi\.org/|[^/]+/doi/(?:abs/|full/|pdf/|epdf/)?)(10\.[0-9]{4,9}/\S{1,200})", re.IGNORECASE
)
_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_GENERIC = re.compile(
    r"^(?:editorial|correction|corrigendum|erratum|retraction|reply|letter|issue information|front matter|back matter"
    r"|book review|table of contents)\b",
    re.IGNORECASE,
)
"""Titles that many papers have."""


def identities(url: str, title: str = "", doi: str = "") -> tuple[str, ...]:
    """Return the identities of a source, any of which it shares with the same paper elsewhere: its address, DOI,
    arXiv number, and the title of a paper. Never raises.
    """
    return tuple(dict.fromkeys(_identities(url, title[:MAX_CHARS], doi[:MAX_CHARS])))


def _identities(url: str, title: str, doi: str) -> Iterator[str]:
    address = unquote(url[:MAX_CHARS]).partition("?")[0].partition("#")[0].partition("://")[2]
    yield from _numbers(address, _PREFIX.sub("", doi.strip()).rstrip(".,;"))
    named = words(title, whole=True)
    if len(named) >= LEAST_TITLE_WORDS and not _GENERIC.match(title) and source_kind(url, doi) == "paper":
        yield f"title:{' '.join(named)}"
    yield canonical_url(url[: 2 * MAX_CHARS])


def _numbers(address: str, doi: str) -> Iterator[str]:
    """Yield the arXiv number and the DOI of a paper; `address` begins with its host."""
    if found := _ARXIV.match(address):
        yield f"arxiv:{found[1].lower()}"
    found = _DOI_ADDRESS.match(address)
    for text in (doi if _DOI.fullmatch(doi) else "", found[1].rstrip(".,;/") if found else ""):
        if number := _ARXIV_DOI.fullmatch(text):
            yield f"arxiv:{number[1].lower()}"
        elif text:
            yield f"doi:{text.lower()}"
