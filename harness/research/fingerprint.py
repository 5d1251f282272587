"""Digests of the code behind stored results: a result is reused only by the code that would make the same one."""

from collections.abc import Sequence

from msgspec import Struct

from harness.core.keys import digest_of
from harness.ports import PageReader, SearchEngine, alternatives_of
from harness.research.planner import RulePlanner
from harness.research.rules import PLANNING, shipped_version
from harness.settings.code_digest import source_digest


class Code(Struct, frozen=True, rename={"scoring": "judging"}):
    """Names of the code that makes each kind of stored result: gathered contexts, round scores, excerpts, model
    contexts, chunks and embeddings. The defaults are the names in older runs.
    """

    gathering: str = ""
    scoring: str = "judging-1"  # `judging` in records
    evidence: str = "chunks-1"
    context: str = "context-1"
    chunks: str = ""


def code_of(planner: RulePlanner, engines: Sequence[SearchEngine], reader: PageReader) -> Code:
    """Return the names of the present code: digests of the modules that do the work (see `source_digest`), and of the
    shipped rules by which they do it. An engine's name is also the name of its module.
    """
    named = {each.name for engine in engines for each in alternatives_of(engine)}
    engine_modules = [f"harness.sources.engines.{name}" for name in named]
    adapters = (type(planner).__module__, type(reader).__module__, *engine_modules)
    return Code(
        digest_of([source_digest("harness.research.gather", *sorted(adapters)), shipped_version(*PLANNING)]),
        source_digest("harness.research.scoring"),
        digest_of([source_digest("harness.research.evidence"), shipped_version("weights")]),
        source_digest("harness.research.context_builder"),
        source_digest("harness.vector_cache.chunks"),
    )
