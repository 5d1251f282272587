"""Page reading: pages behind search results, through the cache."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from harness.cache import Cache
from harness.core.chunking import passages
from harness.errors import InvalidInput, OfflineMiss, PageError
from harness.ports import PageReader, Progress
from harness.research.concurrent_calls import run_all

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
    calls = [partial(_read, url, cache, reader, ttl) for url in urls]
    return run_all(calls, concurrency=concurrency, progress=progress, what=what)


def _read(url: str, cache: Cache, reader: PageReader, ttl: float) -> tuple[PageReading, str]:
    try:
        answer = cache.pages.answer(url, reader, ttl=ttl)
    except (PageError, OfflineMiss, InvalidInput) as error:
        return PageReading(url, "failed", 0, f"{error.code}: {error}"), ""
    text = answer.value.text
    cut = "\n\n".join(passage.text for passage in passages(text[:MAX_PAGE_CHARS]))
    return PageReading(url, "live" if answer.how == "live" else "cache", len(text)), cut
