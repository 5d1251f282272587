"""What a research has come to."""

from typing import Literal, TypeAlias

from msgspec import Struct

from harness.research.context_builder import Shown
from harness.research.evidence import Evidence
from harness.research.extractive_writer import Report
from harness.research.gathering import Gathered
from harness.research.planner import Plan
from harness.research.solved_questions import Origin

ResearchCacheUse: TypeAlias = Literal["off", "solved", "hit", "stored", "not stored"]


class Research(Struct, frozen=True):
    """A finished research. Without a report, nothing that answers was found.

    `live_calls` counts the searches and pages that were answered from outside (or failed) in this run, `cache_hits`
    those that the cache answered, `answered` all answers by how (`exact`, `semantic`, `stale`, `no results`, `live`,
    `failed`). With a solved question (`solved`) or a whole research (`hit`) from the cache, `gathered` tells how it was
    gathered at the time, and `origin` for which question. `id` names the run; empty when it was not recorded.
    `evidence` is what the report was made of, `shown` what a language model was shown for it, `tokens` those that it
    read and wrote, now or when its answers were cached. `model_outage` says why the model was unavailable, empty where
    it answered: rules planned and excerpts are the report instead. `by_words`: an engine ranked by words alone.
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
    shown: tuple[Shown, ...] = ()
    style: str = ""
    tokens: int = 0
    model_outage: str = ""
    by_words: bool = False
