"""Settings of a research: its gathering, its pace and its report."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

from harness.core.freshness import DEFAULT_TTL, HOUR, MAX_TTL
from harness.core.rules import RuleName, check_rules
from harness.settings.kinds import REACHES, Count, Seconds, Weight, checked_by, flag

PromptName: TypeAlias = Literal[
    "plan", "follow_up", "sub_questions", "write", "revise", "outline", "section", "answer", "revise_section"
]
"""Names of the model's prompts, see `harness/research/prompts`."""

SiteNames: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2_000)]
"""A host, or several with commas, see `harness.core.sites`."""


class GatheringSettings(Struct, frozen=True, kw_only=True):
    """Settings that decide what a research gathers. All are part of its fingerprint and stored with its run."""

    max_rounds: Annotated[int, flag(), Meta(ge=1, le=5, description="maximum number of search rounds")] = 5
    depth: Annotated[
        int,
        flag(),
        Meta(ge=1, le=4, description="1: research the question; 2: also sub-questions that the model finds; and so on"),
    ] = 1
    breadth: Annotated[
        int,
        flag(),
        Meta(ge=1, le=5, description="sub-questions of each further level; each is a section of the report"),
    ] = 3
    enough_score: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="stop when each part of the question has an answer with this probability; without a reader, "
            "when the best chunks are this similar to it",
        ),
    ] = 0.8
    min_novelty: Annotated[
        float, Meta(ge=0, le=1, description="stop after a round that adds less than this, as a cosine distance")
    ] = 0.1
    max_results: Annotated[
        int, flag("--max-results", "-n"), Meta(ge=1, le=100, description="results requested from each search")
    ] = 10
    read_pages: Annotated[
        int, flag(), Meta(ge=0, le=20, description="pages to read in each round, from the best results; 0: none")
    ] = 3
    rerank: Annotated[
        int,
        Meta(
            ge=0,
            le=50,
            description="results of a round that the local reader ranks to choose pages to read; 0: the engines' order",
        ),
    ] = 20
    reuse: Annotated[
        Literal["passages", "off"],
        flag(metavar="passages|off"),
        Meta(
            description="search live only for what passages that were read before do not answer: passages; or "
            "always: off"
        ),
    ] = "passages"
    reuse_max_age: Annotated[
        Annotated[Seconds, Meta(gt=0, le=MAX_TTL)] | None,
        flag(),
        Meta(description="oldest passage to reuse: 24h, 7d; not set: as long as the library keeps it"),
    ] = None
    max_wrong_reuse: Annotated[
        float,
        Meta(gt=0, lt=1, description="share of questions that may be answered from held passages though they lack it"),
    ] = 0.02
    max_live_calls: Annotated[
        Count | None,
        flag(),
        Meta(description="maximum number of searches and pages in one research, cached ones included"),
    ] = None
    max_tokens: Annotated[
        Count | None,
        flag(),
        Meta(description="maximum number of tokens of the model in one research, prompts and answers"),
    ] = None
    max_cost: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        flag(metavar="AMOUNT"),
        Meta(description="most that the model may cost in one research, by model_prices, cached answers included"),
    ] = None
    model_prices: Annotated[
        dict[str, Annotated[str, Meta(pattern=r"^\d{1,6}(\.\d{1,6})?/\d{1,6}(\.\d{1,6})?$")]],
        Meta(description="cost of a million tokens of prompts / of answers, by model, as gpt-5-mini=0.25/2"),
    ] = field(default_factory=dict)
    source_quality: Annotated[
        bool,
        flag("--source-quality/--no-source-quality"),
        Meta(
            description="prefer primary sources where others are about as relevant, and leave out copies of other pages"
        ),
    ] = True
    only_sites: Annotated[
        tuple[SiteNames, ...],
        flag(metavar="HOST"),
        REACHES,
        Meta(max_length=200, description="use only results from these hosts and those below them"),
    ] = ()
    skip_sites: Annotated[
        tuple[SiteNames, ...],
        flag(metavar="HOST"),
        REACHES,
        Meta(max_length=200, description="leave out results from these hosts and those below them"),
    ] = ()
    follow_ups: Annotated[int, Meta(ge=1, le=10, description="queries of every round after the first")] = 2
    chunk_tokens: Annotated[
        tuple[Annotated[int, Meta(ge=20, le=2_000)], Annotated[int, Meta(ge=20, le=2_000)]],
        Meta(description="fewest and most tokens of a chunk"),
    ] = (200, 350)


class FetchSettings(Struct, frozen=True, kw_only=True):
    """Lifetimes, parallel calls and the time limit of a research: not part of its fingerprint."""

    ttl: Annotated[
        Seconds, flag(), Meta(gt=0, le=MAX_TTL, description="lifetime of cached searches and researches: 15m, 24h, 7d")
    ] = float(DEFAULT_TTL)
    page_ttl: Annotated[Seconds, Meta(gt=0, le=MAX_TTL, description="lifetime of cached pages, seconds")] = float(HOUR)
    concurrency: Annotated[int, Meta(ge=1, le=32, description="searches of one round at the same time")] = 4
    max_seconds: Annotated[
        Annotated[Seconds, Meta(gt=0)] | None,
        flag(),
        Meta(description="start no further round after this time: 90s, 10m"),
    ] = None


class WritingSettings(Struct, frozen=True, kw_only=True):
    """Settings that decide how a report is written from the gathered sources. All are stored with its run."""

    context_tokens: Annotated[
        int, Meta(ge=200, le=200_000, description="tokens of sources in the model's prompt for the report")
    ] = 3_000
    writer_style: Annotated[
        str, Meta(max_length=2_000, description="instructions on style, added to the model's rules for the report")
    ] = ""
    max_revisions: Annotated[
        int,
        flag(),
        Meta(ge=0, le=5, description="times that the model may fix what checks find wrong with its report; 0: never"),
    ] = 2
    prompts: Annotated[
        dict[PromptName, Annotated[str, Meta(pattern=r"\S", max_length=20_000)]],
        Meta(
            description="texts in place of the model's prompts, by name: plan, follow_up, sub_questions, write, "
            "revise, outline, section, answer, revise_section"
        ),
    ] = field(default_factory=dict)
    rules: Annotated[
        dict[RuleName, Annotated[str, Meta(pattern=r"\S", max_length=20_000)]],
        checked_by(check_rules),
        Meta(
            description="texts in place of the rules of planning and of reports, by name: task_types, headings, "
            "stop_words, weights"
        ),
    ] = field(default_factory=dict)
    max_evidence: Annotated[int, Meta(ge=1, le=50, description="maximum number of excerpts in a report")] = 8
    per_source: Annotated[int, Meta(ge=1, le=50, description="maximum number of excerpts from one source")] = 4
    ranking_weights: Annotated[
        tuple[Weight, Weight, Weight, Weight],
        Meta(
            description="weights of an excerpt's own similarity, its chunk's, its title's, and of the question's words"
        ),
    ] = (0.45, 0.15, 0.25, 0.15)
    reading_weight: Annotated[
        Weight, Meta(description="weight of the reader where the first excerpt is chosen; the rest is the ranking's")
    ] = 0.4
    reading: Annotated[
        bool,
        flag("--reading/--no-reading"),
        Meta(
            description="let the local reader choose the first excerpt, and decide whether any sentence answers the "
            "question: if none does, there is no report"
        ),
    ] = True
    strict: Annotated[
        bool,
        flag("--strict/--marked"),
        Meta(description="leave out sentences that no quotation supports"),
    ] = False
    marked: Annotated[
        bool,
        Meta(description="keep and mark such sentences; if neither is set, the quotation replaces the sentence"),
    ] = False
