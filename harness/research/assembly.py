"""A researcher made of the settings, or of those of a replayed run."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert

from harness.cache import Cache
from harness.ports import Embedder, LanguageModel, PageReader, Progress, SearchEngine
from harness.research.evidence import Choice
from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Lifetimes, Limits, Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import Planner, RulePlanner
from harness.research.run import Researcher, Writing
from harness.research.services import ResearchServices
from harness.settings import Settings
from harness.vector_cache import VectorCache

if TYPE_CHECKING:
    from harness.storage.snapshots import Run


class Parts(Struct, frozen=True):
    """The services and adapters that a researcher uses. `memory` returns the vector cache of a collection."""

    cache: Cache
    engines: Sequence[SearchEngine]
    reader: PageReader
    embedder: Embedder
    memory: Callable[[str], VectorCache]
    model: LanguageModel | None
    progress: Progress


def researcher_of(
    parts: Parts,
    settings: Settings,
    run: "Run | None",
    started_with: Mapping[str, Any],
    *,
    epoch: str,
    on_text: Callable[[str], None] | None,
    on_round: Callable[[Round], None] | None,
) -> Researcher:
    """Return a researcher with these settings; with those of `run`, if one is replayed."""
    asked = run or settings  # a replay has the limits of the run
    epoch = run.epoch if run else epoch
    planner: Planner = RulePlanner(asked.follow_ups)
    model = None if parts.model is None else ModelForRun(parts.model)
    if model is not None:
        planner = ModelPlanner(model, epoch=epoch, follow_ups=asked.follow_ups)
    code = convert(run.code, Code) if run else code_of(planner, parts.engines, parts.reader)
    return Researcher(
        ResearchServices(
            parts.cache, tuple(parts.engines), parts.reader, parts.embedder, parts.memory, planner, parts.progress
        ),
        writing=Writing(
            model,
            asked.context_tokens,
            settings.model_max_tokens,
            "drop" if asked.strict else "mark" if asked.marked else "replace",
            epoch,
            on_text,
            Choice(asked.max_evidence, asked.per_source, asked.ranking_weights),
            asked.writer_style,
        ),
        limits=Limits(
            asked.max_rounds,
            asked.enough_score,
            asked.min_novelty,
            asked.max_results,
            asked.read_pages,
            settings.concurrency,
            asked.max_live_calls,
            None if run else settings.max_seconds,
            asked.max_tokens,
            asked.follow_ups,
            asked.chunk_tokens,
        ),
        lifetimes=Lifetimes(settings.ttl, settings.page_ttl),
        keep_research=asked.research_cache,
        code=code,
        on_round=on_round,
        started_with=started_with,
    )
