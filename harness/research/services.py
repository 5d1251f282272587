"""Services and adapters that a research uses."""

from collections.abc import Callable

from msgspec import Struct

from harness.cache import Cache
from harness.library import Library
from harness.ports import Embedder, LanguageDetector, PageReader, Progress, Reader, SearchEngine
from harness.research.planner import RulePlanner
from harness.vector_cache import VectorCache


class ResearchServices(Struct, frozen=True):
    """Everything a research works with. `memory` returns the vector cache of a collection: chunks, or solved questions.
    `engines` are searched together. `progress` counts the work of each stage.
    `rarity` is higher for a rarer word. `answering` reads whether texts answer a question. `library` holds what was
    read before, if it may be reused. `detector` finds the languages of sources.
    """

    cache: Cache
    engines: tuple[SearchEngine, ...]
    reader: PageReader
    embedder: Embedder
    memory: Callable[[str], VectorCache]
    progress: Progress
    rarity: Callable[[str], int]
    answering: Reader | None = None
    library: Library | None = None
    planner: RulePlanner = RulePlanner()
    detector: LanguageDetector | None = None
