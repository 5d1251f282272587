"""Assembly of a researcher from the settings, or from those of the replayed run."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from harness.errors import ReaderError
from harness.ports import LanguageModel, Reader
from harness.research.evidence import UNREAD
from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import RulePlanner
from harness.research.run import Researcher, Writer
from harness.research.services import ResearchServices
from harness.settings import GatheringSettings, RecordedRun, Settings, WritingSettings

log = logging.getLogger(__name__)


def researcher_of(
    services: ResearchServices,
    model: LanguageModel | None,
    settings: Settings,
    run: RecordedRun | None,
    started_with: Mapping[str, Any],
    *,
    epoch: str,
    on_text: Callable[[str], None] | None,
    on_round: Callable[[Round], None] | None,
) -> Researcher:
    """Return a researcher with these settings; with those of `run`, if one is replayed. They choose the planner, and
    whether `services.answering` is used.
    """
    gathering: GatheringSettings = run or settings
    writing: WritingSettings = run or settings
    epoch = run.epoch if run else epoch
    planner = RulePlanner(gathering.follow_ups)
    if model is not None:
        model = ModelForRun(model, settings.model_total_timeout)
        planner = ModelPlanner(model, epoch=epoch, follow_ups=gathering.follow_ups)
    answering = _usable(services.answering) if services.answering and writing.reading else None
    return Researcher(
        replace(services, planner=planner, answering=answering),
        writer=Writer(model, writing, settings.model_max_tokens, epoch, on_text),
        gathering=gathering,
        fetch=replace(settings, max_seconds=None) if run else settings,  # the record has the rounds instead
        keep_research=(run or settings).research_cache,
        code=convert(run.code, Code) if run else code_of(planner, services.engines, services.reader),
        on_round=on_round,
        started_with=started_with,
    )


def _usable(reader: Reader) -> Reader | None:
    """Return the reader, or `None`, with a warning in the log, if what belongs to its weights is missing or damaged."""
    try:
        _ = reader.id, reader.calibration
    except ReaderError as error:
        log.warning(UNREAD, error)
        return None
    return reader
