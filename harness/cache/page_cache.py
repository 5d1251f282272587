"""Cached pages of the web."""

from functools import partial
from typing import ClassVar

from harness.cache.context import CacheContext
from harness.cache.lookup import Answer, Lookup
from harness.cache.lookup_request import StructRequest
from harness.core.entries import Stale
from harness.core.freshness import HOUR, checked_ttl
from harness.core.keys import canonical_url, page_key
from harness.core.pages import Page
from harness.core.tables import PAGES, PageColumns
from harness.errors import PageError
from harness.ports import PageReader

PAGE_TTL = HOUR
MAX_URL = 10_000
"""Characters of an address in the row. Reports are verified by whole addresses; no reader takes a longer one."""


class PageRequest(StructRequest[Page], frozen=True, kw_only=True, gc=False):
    """One page, as one reader extracts it."""

    table: ClassVar[str] = PAGES
    failure: ClassVar[type[Exception]] = PageError

    def taught_text(self, value: Page) -> str:
        """Return the text of the page."""
        return value.text


class PageCache:
    """Cached pages of one tenant."""

    def __init__(self, context: CacheContext, lookup: Lookup) -> None:
        self._reads = context.policy.read
        self._lookup = lookup

    def answer(self, url: str, reader: PageReader, *, ttl: float = PAGE_TTL) -> Answer[Page]:
        """Return the cached page at `url`, else have `reader` read it, and cache it for `ttl` seconds.

        Abbreviations that a page defines are learned, as from results. Of all who ask at the same time, one reads.
        An expired page whose row is still there is renewed if `reader` finds that it has not changed.

        Raises:
            InvalidInput: not a web address, an unusable `ttl`.
            PageError: the page cannot be read (see `PageReader.read`).
            OfflineMiss: it is not in the cache, and may not be read.
            StoreError: the store cannot be read.
        """
        checked_ttl(ttl)
        key, text = page_key(url, reader.name), canonical_url(url)[:MAX_URL]
        request = PageRequest(key=key, text=text, ttl=ttl, own=PageColumns(reader.name), kind=Page)
        return self._lookup.answer(request, partial(self._live, request, url, reader))

    def _live(self, request: PageRequest, url: str, reader: PageReader) -> Page:
        held = self._lookup.peek(request) if self._reads else None
        if isinstance(held, Stale) and (held.value.etag or held.value.last_modified):
            return reader.read(url, held.value)
        return reader.read(url)
