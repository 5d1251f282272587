"""The shapes of what the API answers about researches. Times are ISO 8601, UTC; texts are data."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.server.api.responses import example

RUN_PATTERN = r"^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"
"""The id of a run."""


class Asked(BaseModel):
    """A question to research."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "In which order does Python look up an attribute?"}]},
    )

    question: str = Field(min_length=1, max_length=10_000)
    sections: int | None = Field(None, ge=1, le=20, description="Sections of the report; the usual ones if left out.")
    refresh: bool = Field(False, description="Ask everything anew; nothing is answered from the cache.")
    engine: str = Field("", max_length=500, description="One of `engines` of `GET /api/researches`; else its first.")
    model: str = Field("", max_length=500, description="One of `models` of `GET /api/researches`; else its first.")
    like: str | None = Field(
        None, pattern=RUN_PATTERN, description="A recorded run, whose engines and model are used instead."
    )


class Begun(BaseModel):
    """A research that is under way."""

    model_config = example(
        id="20261122-101500-1a2b3c",
        question="In which order does Python look up an attribute?",
        state="running",
        events="/api/researches/20261122-101500-1a2b3c/events",
        page="/runs/20261122-101500-1a2b3c",
    )

    id: str = Field(description="The id of its run.")
    question: str
    state: Literal["running", "finished", "stopped", "failed"]
    events: str = Field(description="Server-sent events: `step`, `round`, and at the end `ended`.")
    page: str


class UnderWay(BaseModel):
    """Researches that this server leads at the moment, and what a new one can be made with."""

    model_config = example(items=[], most=4, engines=["ddgs", "corpus:python-docs"], models=["qwen3-8b", "none"])

    items: list[Begun]
    most: int = Field(description="How many may be led at a time.")
    engines: list[str] = Field(description="What can be searched, the default first.")
    models: list[str] = Field(description="Who can write, the default first; `none` makes a report of excerpts.")


class StepReply(BaseModel):
    """What is being done."""

    what: str
    done: int
    total: int


class RoundReply(BaseModel):
    """One pass of searches that is done."""

    number: int
    queries: list[str]
    results: int
    pages: int
    live_calls: int = Field(description="Searches and pages that were asked outside, or failed.")
    novelty: float = Field(description="How much the round added, 0 to 1.")
    score: float = Field(description="How well all that is held answers, 0 to 1.")


class Ended(BaseModel):
    """How a research ended."""

    state: Literal["finished", "stopped", "failed"]
    found: bool = Field(description="Whether anything answers.")
    code: str | None = None
    message: str | None = Field(None, description="Why it failed.")


class RunLine(BaseModel):
    """A recorded run, in short."""

    model_config = example(
        id="20261122-101500-1a2b3c",
        question="In which order does Python look up an attribute?",
        engine="corpus:python-docs",
        created_at="2026-11-22T10:15:00Z",
    )

    id: str
    question: str
    engine: str
    created_at: str


class RunsReply(BaseModel):
    """A page of recorded runs, the newest first."""

    model_config = example(items=[], next_offset=20)

    items: list[RunLine]
    next_offset: int | None


class CitationReply(BaseModel):
    """One sentence of a report, with the passage of its source that it rests on."""

    section: str
    paragraph: int
    sentence: str
    quotation: str
    number: int = Field(description="The number of its source; 0 without one.")
    url: str
    similarity: float
    verified: bool = Field(description="Whether the quotation stands, word for word, in the stored text of its source.")
    supported: bool = Field(description="Whether the quotation supports the sentence.")
    replaced: bool = Field(
        description="Whether the quotation replaces a sentence of the model that it did not support."
    )
    passage: list[str] | None = Field(description="What stands before the quotation, the quotation, what follows.")


class SourceReply(BaseModel):
    """A source of a report, or one that was found and not cited (number 0)."""

    number: int
    title: str
    url: str


class RunErrorReply(BaseModel):
    """Why a run ended early."""

    code: str = Field(description="Stable; `interrupted` where it was stopped.")
    message: str


class RunReply(BaseModel):
    """A recorded run, whole."""

    model_config = example(
        id="20261122-101500-1a2b3c",
        question="In which order does Python look up an attribute?",
        state="finished",
        engine="corpus:python-docs",
        model="qwen3-8b",
        created_at="2026-11-22T10:15:00Z",
        title="In which order does Python look up an attribute?",
        remark="the model wrote no report; these are excerpts",
        citations=[],
        sources=[],
        quotations=0,
        quotations_verified=0,
        rounds=[],
        stop_reason="score met",
        live_calls=0,
        cache_hits=8,
        answered={"exact": 8},
        origin="How does Python look up an attribute?",
        markdown="# In which order does Python look up an attribute?\n",
        error={"code": "model_unavailable", "message": "http://127.0.0.1:11434/v1 does not answer; start the server"},
    )

    id: str
    question: str
    state: Literal["gathering", "writing", "finished", "failed"] = Field(
        description="Any but `finished` can be resumed."
    )
    engine: str
    model: str | None
    created_at: str
    title: str | None = Field(description="None where there is no report: nothing answers, or it was not written yet.")
    remark: str | None
    citations: list[CitationReply]
    sources: list[SourceReply]
    quotations: int
    quotations_verified: int
    rounds: list[RoundReply]
    stop_reason: str | None
    live_calls: int
    cache_hits: int
    answered: dict[str, int]
    origin: str | None = Field(description="The question whose research answers, where it was another one.")
    markdown: str | None = Field(description="The report as Markdown.")
    error: RunErrorReply | None = Field(description="Why it ended early; none where it finished, or was killed.")
