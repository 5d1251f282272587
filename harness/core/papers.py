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

_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv\.|arxiv:)([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[a-z]{2})?/[0-9]{7})",
    re.IGNORECASE,
)
_DOI = re.compile(r"(?:doi\.org/|doi:|/doi/(?:abs/|full/|pdf/)?)(10\.[0-9]{4,9}/[^\s?#<>\"]{1,200})", re.IGNORECASE)


def identities(url: str, title: str = "", doi: str = "") -> tuple[str, ...]:
    """Return the identities of a source, any of which it shares with the same paper elsewhere: its address, DOI,
    arXiv number, and the title of a paper. Never raises.
    """
    return tuple(dict.fromkeys(_identities(url[:MAX_CHARS], title[:MAX_CHARS], doi[:MAX_CHARS])))


def _identities(url: str, title: str, doi: str) -> Iterator[str]:
    address = unquote(url)
    for text in (f"doi:{doi}" if doi else "", address):
        if found := _ARXIV.search(text):
            yield f"arxiv:{found[1].lower()}"
        elif found := _DOI.search(text):
            yield f"doi:{found[1].rstrip('.,;)').lower()}"
    named = words(title)
    if len(named) >= LEAST_TITLE_WORDS and source_kind(url, doi) == "paper":
        yield f"title:{' '.join(named)}"
    yield canonical_url(url)
