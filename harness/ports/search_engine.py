"""Port of search engines."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict


class SearchResult(TypedDict):
    """One result of a search engine, in the shape that DuckDuckGo's have. `body` is plain text."""

    title: str
    href: str
    body: str


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
