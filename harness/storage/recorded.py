"""Engine, reader and model of a recorded run, for its replay: their names are part of the keys; they answer nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import InvalidInput, OfflineMiss
from harness.ports import Completion, Message, SearchEngine, SearchResult


class RecordedEngine:
    """Engine of a recorded run: only its name is used."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.options = options

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            OfflineMiss: always.
        """
        raise OfflineMiss(f"replaying, and the snapshot has no answer to {query!r} for {max_results} results")


class RecordedChain(RecordedEngine):
    """Engines of a recorded run of which one answered each search."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, options)
        recorded = options["alternatives"]
        self.alternatives: tuple[SearchEngine, ...] = tuple(
            RecordedEngine(str(each["name"]), dict(each["options"])) for each in recorded
        )

    def in_order(self) -> Sequence[SearchEngine]:
        """Return the engines."""
        return self.alternatives

    def note(self, engine: SearchEngine, error: Exception | None) -> None:
        """Note nothing: no engine is asked."""


def recorded_engine(name: str, options: Mapping[str, Any]) -> RecordedEngine:
    """Return an engine of a recorded run.

    Raises:
        InvalidInput: its record is damaged.
    """
    try:
        return RecordedChain(name, options) if "alternatives" in options else RecordedEngine(name, options)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"the record of the engine {name[:60]!r} is damaged; make the snapshot again") from error


class RecordedReader:
    """Reader of a recorded run: only its name is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `PageReader.read`.

        Raises:
            OfflineMiss: always.
        """
        raise OfflineMiss(f"replaying, and the snapshot has no page of {url}")


class RecordedModel:
    """Language model of a recorded run: only its name is used."""

    def __init__(self, name: str, endpoint: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.endpoint = endpoint
        self.parameters = parameters

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`.

        Raises:
            OfflineMiss: always.
        """
        raise OfflineMiss(f"replaying, and the snapshot has no answer of {self.name}")
