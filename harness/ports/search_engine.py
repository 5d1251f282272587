"""Port of search engines."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Protocol, TypedDict, runtime_checkable

from harness.core.page_numbers import PageStarts


class SearchResult(TypedDict):
    """One result of a search engine, in the shape that DuckDuckGo's have, and what else the engine says about the
    source. `body` is plain text. `date` is YYYY, YYYY-MM or YYYY-MM-DD; `authors` is in one line; `site` is the
    journal or the place of publication; `full_text` is the URL of its text where that is open. `page_starts` are the
    places in `body` at which the pages of a PDF begin.
    """

    title: str
    href: str
    body: str
    date: NotRequired[str]
    authors: NotRequired[str]
    site: NotRequired[str]
    doi: NotRequired[str]
    full_text: NotRequired[str]
    page_starts: NotRequired[PageStarts]


class SearchEngine(Protocol):
    """Something that answers queries."""

    name: str
    """Stable name: part of every key but the default engine's."""

    options: Mapping[str, Any]
    """The JSON-able options that differ from the defaults and change results; part of the key."""

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """Return up to `max_results` results, best first; empty when there truly are none.

        Raises:
            RateLimited: the engine asks for fewer requests.
            EngineUnavailable: no answer, or not an answer of this engine.
        """


@runtime_checkable
class EngineChain(Protocol):
    """Engines of which one answers, in this order; each has its own place in the cache."""

    alternatives: tuple[SearchEngine, ...]

    def in_order(self) -> Sequence[SearchEngine]:
        """Return the engines in the order in which to ask them now."""

    def note(self, engine: SearchEngine, error: Exception | None) -> None:
        """Note that one of the engines failed with `error`, or answered (`None`)."""


def single_engines(engines: Sequence[SearchEngine]) -> tuple[SearchEngine, ...]:
    """Return the engines, those of a chain instead of the chain."""
    return tuple(each for engine in engines for each in alternatives_of(engine))


def alternatives_of(engine: SearchEngine) -> tuple[SearchEngine, ...]:
    """Return the engines of a chain, or the engine itself."""
    return engine.alternatives if isinstance(engine, EngineChain) else (engine,)
