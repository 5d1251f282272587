"""Assembly of a researcher from the settings, or from those of the replayed run."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from harness.core.sites import Sites
from harness.errors import InvalidInput, ReaderError
from harness.ports import LanguageModel, Reader
from harness.research.budget import budget_of
from harness.research.drafting import Writer
from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import RulePlanner
from harness.research.run import UNREAD, Researcher
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

    Raises:
        InvalidInput: sub-questions or a limit of cost are wanted, but there is no model, or no price of it; a list of
            sites has an entry that is not a host; a rule cannot be used.
    """
    gathering: GatheringSettings = run or settings
    writing: WritingSettings = run or settings
    Sites.of(gathering.only_sites, gathering.skip_sites)  # refuses an entry that is no host before a model is asked
    if model is None and run is None and gathering.depth > 1:
        raise InvalidInput("depth above 1 needs a language model, which finds the sub-questions: name one with --model")
    epoch = run.epoch if run else epoch
    planner = RulePlanner(gathering.follow_ups, writing.rules)
    if model is not None:
        model = ModelForRun(model, settings.model_total_timeout)
        planner = ModelPlanner(
            model,
            writing.prompts,
            epoch=epoch,
            follow_ups=gathering.follow_ups,
            rules=writing.rules,
            budget=budget_of(gathering, model.name, _answer_tokens(settings, run)),
        )
    answering = _usable(services.answering) if services.answering and writing.reading else None
    return Researcher(
        replace(services, planner=planner, answering=answering),
        writer=Writer(model, writing, _answer_tokens(settings, run), epoch, on_text),
        gathering=gathering,
        fetch=replace(settings, max_seconds=None) if run else settings,  # the record has the rounds instead
        keep_research=(run or settings).research_cache,
        code=convert(run.code, Code) if run else code_of(planner, services.engines, services.reader),
        on_round=on_round,
        started_with=started_with,
    )


def _answer_tokens(settings: Settings, run: RecordedRun | None) -> int:
    """Return the most tokens of an answer, in a replay those of the run."""
    recorded = run.model.parameters.get("max_tokens") if run and run.model else None
    return recorded if isinstance(recorded, int) else settings.model_max_tokens


def _usable(reader: Reader) -> Reader | None:
    """Return the reader, or `None`, with a warning in the log, if what belongs to its weights is missing or damaged."""
    try:
        _ = reader.id, reader.calibration
    except ReaderError as error:
        log.warning(UNREAD, error)
        return None
    return reader
