"""Page reading: pages behind search results, through the cache."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from msgspec import Struct

from harness.cache import Answer, Cache
from harness.core.chunking import passages
from harness.core.pages import Page
from harness.errors import HarnessError, InvalidInput, OfflineMiss, PageError
from harness.ports import PageReader, Progress
from harness.research.search import awaited

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


def read_all(
    urls: Sequence[str],
    cache: Cache,
    reader: PageReader,
    *,
    ttl: float,
    concurrency: int,
    progress: Progress,
    what: str,
) -> list[tuple[PageReading, str]]:
    """Read pages concurrently; return the outcome of each and its text without headings, in the order of `urls`.

    A page that cannot be read, offline included, raises nothing: its text is empty.

    Raises:
        StoreError: the cache cannot be read.
    """
    if not urls:
        return []
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="read")
    try:
        futures = [pool.submit(cache.page, url, reader, ttl=ttl) for url in urls]
        read = []
        for done, (url, future) in enumerate(zip(urls, futures, strict=True)):
            progress(what, done, len(urls))
            read.append(_reading(url, _outcome(future)))
        progress(what, len(urls), len(urls))
        return read
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C, do not wait for a page's time-out


def _outcome(future: "Future[Answer[Page]]") -> Answer[Page] | HarnessError:
    try:
        return awaited(future)
    except (PageError, OfflineMiss, InvalidInput) as error:
        return error


def _reading(url: str, outcome: Answer[Page] | HarnessError) -> tuple[PageReading, str]:
    if isinstance(outcome, HarnessError):
        return PageReading(url, "failed", 0, f"{outcome.code}: {outcome}"), ""
    page = outcome.value
    cut = "\n\n".join(passage.text for passage in passages(page.text[:MAX_PAGE_CHARS]))
    return PageReading(url, "live" if outcome.how == "live" else "cache", len(page.text)), cut
