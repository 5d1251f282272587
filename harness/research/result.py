"""Result of a research."""

from typing import Literal, TypeAlias

from msgspec import Struct

from harness.research.context_builder import ShownSource
from harness.research.evidence import Evidence
from harness.research.gathering import Gathered
from harness.research.planner import Plan
from harness.research.report import Report
from harness.research.solved_questions import Origin
from harness.settings import WritingSettings

ResearchCacheUse: TypeAlias = Literal["off", "solved", "hit", "stored", "not stored"]


class Research(Struct, frozen=True):
    """A finished research. `report` is `None` if no answer was found.

    `live_calls` counts searches and pages answered from outside (or failed) in this run, `cache_hits` those answered by
    the cache, `answered` all answers by kind (`exact`, `semantic`, `stale`, `no results`, `live`, `failed`). If a
    solved question (`solved`) or a whole research (`hit`) came from the cache, `gathered` is the original gathering and
    `origin` its question. `id` is the run's id, empty if it was not recorded. `evidence` is what the report was made
    of, `shown` the language model's context, `writing` how it was written, `tokens` the tokens that the model read and
    wrote, now or when its answers were cached. `model_outage` is why the model was unavailable (rules planned, and the
    report consists of excerpts), empty if it answered. `by_words`: an engine ranked by words alone. `at` is when it
    finished, in seconds since the epoch.
    """

    plan: Plan
    gathered: Gathered
    report: Report | None
    engine: str
    live_calls: int
    cache_hits: int
    research_cache: ResearchCacheUse
    answered: dict[str, int]
    id: str
    origin: Origin | None = None
    evidence: tuple[Evidence, ...] = ()
    shown: tuple[ShownSource, ...] = ()
    writing: WritingSettings = WritingSettings()
    tokens: int = 0
    at: float = 0.0
    model_outage: str = ""
    by_words: bool = False
