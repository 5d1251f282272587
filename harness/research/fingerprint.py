"""Which code made what a research reuses: each kind of stored result is found only by the code that would make it."""

from collections.abc import Sequence

from msgspec import Struct

from harness.ports import PageReader, SearchEngine
from harness.research.planner import Planner
from harness.settings.code_digest import source_digest


class Code(Struct, frozen=True):
    """Names the code that makes each kind of stored result: how contexts are gathered, how a round is judged, which
    excerpts are chosen, what a language model is shown, how texts are cut and embedded. The defaults are the names in
    older runs.
    """

    gathering: str = ""
    judging: str = "judging-1"
    evidence: str = "chunks-1"
    context: str = "context-1"
    chunks: str = ""


def code_of(planner: Planner, engines: Sequence[SearchEngine], reader: PageReader) -> Code:
    """Return the names of the present code; digests of the modules that do the work (see `source_digest`). Engines are
    found by their names, which are also those of their modules.
    """
    asked = [f"harness.sources.engines.{engine.name}" for engine in engines]
    adapters = (type(planner).__module__, type(reader).__module__, *asked)
    return Code(
        source_digest("harness.research.gather", *sorted(adapters)),
        source_digest("harness.research.scoring"),
        source_digest("harness.research.evidence"),
        source_digest("harness.research.context_builder"),
        source_digest("harness.vector_cache.chunks"),
    )
