"""Cached pages of the web."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from harness.cache.context import CachePart
from harness.cache.lookup import Answer
from harness.cache.lookup_request import StructRequest
from harness.core.entries import Stale
from harness.core.freshness import HOUR, checked_ttl
from harness.core.keys import canonical_url, digest_of, page_key
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.core.tables import PAGES, PageColumns
from harness.errors import PageError, SiteLeftOut
from harness.ports import PageReader

PAGE_TTL = HOUR
MAX_URL = 10_000
"""Characters of an address in the row. Reports are verified by whole addresses; no reader takes a longer one."""


class PageRequest(StructRequest[Page], frozen=True, kw_only=True, gc=False):
    """One page, as one reader extracts it; `sites` names the lists of sites that its redirects may lead to, if any."""

    table: ClassVar[str] = PAGES
    failure: ClassVar[type[Exception]] = PageError

    sites: str = ""

    @property
    def flight(self) -> str:
        """Readings with other lists do not share: a redirect that one may not follow, another may."""
        return f"{self.table} {self.key} {self.sites}".rstrip()

    def may_share(self, error: Exception) -> bool:
        """See `LookupRequest.may_share`; an error that depends on the lists is not shared."""
        return not isinstance(error, SiteLeftOut) and super().may_share(error)

    def taught_text(self, value: Page) -> str:
        """Return the text of the page."""
        return value.text


class PageCache(CachePart):
    """Cached pages of one tenant."""

    def answer(self, url: str, reader: PageReader, *, ttl: float = PAGE_TTL, sites: Sites = ANY_SITE) -> Answer[Page]:
        """Return the cached page at `url`, else have `reader` read it, and cache it for `ttl` seconds. Redirects are
        followed to `sites` only; a cached page may be of another site.

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
        lists = digest_of(sites.id) if sites.id else ""  # they may have thousands of hosts
        request = PageRequest(key=key, text=text, ttl=ttl, own=PageColumns(reader.name), kind=Page, sites=lists)
        read = partial(reader.read, sites=sites) if sites.id else reader.read
        return self._lookup.answer(request, partial(self._live, request, url, read))

    def _live(self, request: PageRequest, url: str, read: Callable[..., Page]) -> Page:
        held = self._lookup.peek(request) if self._policy.read else None
        if isinstance(held, Stale) and (held.value.etag or held.value.last_modified):
            return read(url, held.value)
        return read(url)
