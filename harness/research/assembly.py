"""Assembly of a researcher from the settings, or from those of the replayed run."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.structs import replace

from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import Planner, RulePlanner
from harness.research.run import Researcher, Writer
from harness.settings import GatheringSettings, WritingSettings

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
    """Return the researcher for the engines that `specs` name, with the settings of `run` if one is replayed."""
    settings = app.settings
    gathering: GatheringSettings = run or settings
    writing: WritingSettings = run or settings
    epoch = run.epoch if run else epoch
    planner: Planner = RulePlanner(gathering.follow_ups)
    model = None if app.model is None else ModelForRun(app.model)
    if model is not None:
        planner = ModelPlanner(model, epoch=epoch, follow_ups=gathering.follow_ups)
    engines, reader = app.engines(specs, waits=True), app.reader
    return Researcher(
        app.cache,
        engines,
        reader,
        app.embedder,
        app.memory,
        planner=planner,
        writer=Writer(model, writing, settings.model_max_tokens, epoch, on_text),
        gathering=gathering,
        fetch=replace(settings, max_seconds=None) if run else settings,  # the record has the rounds instead
        keep_research=(run or settings).research_cache,
        code=convert(run.code, Code) if run else code_of(planner, engines, reader),
        progress=app.progress,
        on_round=on_round,
        started_with=app.started_with(specs),
    )
