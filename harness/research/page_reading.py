"""Page reading: pages behind search results, through the cache."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from harness.cache import Cache
from harness.cache.usage import day_of
from harness.core.chunking import passages
from harness.core.page_numbers import joined_starts, starts_in
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import AccessDenied, InvalidInput, OfflineMiss, PageError
from harness.ports import PageReader, Progress
from harness.research.concurrent_calls import run_all
from harness.settings import FetchSettings

MAX_PAGE_CHARS = 60_000
"""Longest part of a page that is used: about 10,000 words, which take two seconds to embed."""

READABLE = ("http://", "https://")


class PageReading(Struct, frozen=True):
    """One page: answered by the cache, answered live, or failed with an error's code and message.

    `characters` is the length of its text.
    """

    url: str
    answered_by: str
    characters: int
    error: str | None = None


class ReadPage(NamedTuple):
    """A reading, the page, `None` if it failed, and the day (UTC, YYYY-MM-DD) on which it was fetched."""

    reading: PageReading
    page: Page | None
    read_on: str = ""


def read_all(
    urls: Sequence[str],
    cache: Cache,
    reader: PageReader,
    *,
    fetch: FetchSettings,
    progress: Progress,
    what: str,
    sites: Sites = ANY_SITE,
) -> list[ReadPage]:
    """Read pages concurrently; return the outcome of each and the page, its text cut to passages, in the order of
    `urls`. They are stored for `fetch.page_ttl` seconds. Redirects are followed to `sites` only.

    A page that cannot be read, offline included, raises nothing: it is `None`.

    Raises:
        StoreError: the cache cannot be read.
    """
    if not urls:
        return []
    calls = [partial(_read, url, cache, reader, fetch.page_ttl, sites) for url in urls]
    return run_all(calls, concurrency=fetch.concurrency, progress=progress, what=what)


def _read(url: str, cache: Cache, reader: PageReader, ttl: float, sites: Sites) -> ReadPage:
    try:
        answer = cache.pages.answer(url, reader, ttl=ttl, sites=sites)
    except (PageError, OfflineMiss, AccessDenied, InvalidInput) as error:
        return ReadPage(PageReading(url, "failed", 0, f"{error.code}: {error}"), None)
    page, how = answer.value, "live" if answer.how == "live" else "cache"
    return ReadPage(PageReading(url, how, len(page.text)), _cut(page), day_of(cache.now - answer.age))


def _cut(page: Page) -> Page:
    """Return the page with the passages of its text, up to `MAX_PAGE_CHARS`."""
    parts = [passage.text for passage in passages(page.text[:MAX_PAGE_CHARS])]
    starts = joined_starts(parts, starts_in(parts, page.text, page.page_starts), between=2)
    return replace(page, text="\n\n".join(parts), page_starts=starts)
