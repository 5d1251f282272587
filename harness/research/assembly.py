"""What leads a research, made of the settings, or of those of the run that is replayed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import convert

from harness.research.evidence import Choice
from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Lifetimes, Limits, Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import Planner, RulePlanner
from harness.research.run import Researcher, Writing
from harness.research.services import ResearchServices

if TYPE_CHECKING:
    from harness.app import App
    from harness.storage.snapshots import Run


def researcher_of(
    app: "App",
    run: "Run | None",
    specs: Sequence[str],
    *,
    epoch: str,
    on_text: Callable[[str], None] | None,
    on_round: Callable[[Round], None] | None,
) -> Researcher:
    """Return what leads a research with the engines that `specs` name; as in `run`, if one is replayed."""
    settings = app.settings
    asked = run or settings  # what is replayed is bounded as it was
    epoch = run.epoch if run else epoch
    planner: Planner = RulePlanner(asked.follow_ups)
    model = None if app.model is None else ModelForRun(app.model)
    if model is not None:
        planner = ModelPlanner(model, epoch=epoch, follow_ups=asked.follow_ups)
    engines, reader = app.engines(specs, waits=True), app.reader
    code = convert(run.code, Code) if run else code_of(planner, engines, reader)
    return Researcher(
        ResearchServices(app.cache, tuple(engines), reader, app.embedder, app.memory, planner, app.progress),
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
        started_with=app.started_with(specs),
    )
