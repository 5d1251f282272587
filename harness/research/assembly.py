"""Assembly of a researcher from the settings, or from those of the replayed run."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from harness.cache import Cache
from harness.errors import ReaderError
from harness.ports import Embedder, LanguageModel, PageReader, Progress, Reader, SearchEngine
from harness.research.evidence import UNREAD
from harness.research.fingerprint import Code, code_of
from harness.research.gathering import Round
from harness.research.model_for_run import ModelForRun
from harness.research.model_planner import ModelPlanner
from harness.research.planner import RulePlanner
from harness.research.run import Researcher, Writer
from harness.research.services import ResearchServices
from harness.settings import GatheringSettings, RecordedRun, Settings, WritingSettings
from harness.vector_cache import VectorCache

log = logging.getLogger(__name__)


class Parts(Struct, frozen=True):
    """The services and adapters that a researcher uses. `memory` returns the vector cache of a collection; `rarity`
    is higher for a rarer word; `answering` is used if the settings say so.
    """

    cache: Cache
    engines: Sequence[SearchEngine]
    reader: PageReader
    embedder: Embedder
    memory: Callable[[str], VectorCache]
    model: LanguageModel | None
    progress: Progress
    rarity: Callable[[str], int]
    answering: Reader


def researcher_of(
    parts: Parts,
    settings: Settings,
    run: RecordedRun | None,
    started_with: Mapping[str, Any],
    *,
    epoch: str,
    on_text: Callable[[str], None] | None,
    on_round: Callable[[Round], None] | None,
) -> Researcher:
    """Return a researcher with these settings; with those of `run`, if one is replayed."""
    gathering: GatheringSettings = run or settings
    writing: WritingSettings = run or settings
    epoch = run.epoch if run else epoch
    planner = RulePlanner(gathering.follow_ups)
    model = None if parts.model is None else ModelForRun(parts.model, settings.model_total_timeout)
    if model is not None:
        planner = ModelPlanner(model, epoch=epoch, follow_ups=gathering.follow_ups)
    return Researcher(
        ResearchServices(
            parts.cache,
            tuple(parts.engines),
            parts.reader,
            parts.embedder,
            parts.memory,
            planner,
            parts.progress,
            parts.rarity,
            _usable(parts.answering) if writing.reading else None,
        ),
        writer=Writer(model, writing, settings.model_max_tokens, epoch, on_text),
        gathering=gathering,
        fetch=replace(settings, max_seconds=None) if run else settings,  # the record has the rounds instead
        keep_research=(run or settings).research_cache,
        code=convert(run.code, Code) if run else code_of(planner, parts.engines, parts.reader),
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
