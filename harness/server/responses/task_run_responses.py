"""Runs of evaluation tasks, and where two of them differ, for the API and the pages. Texts are data."""

from typing import Any

from harness_evals.differences import Kind
from harness_evals.outcome import Stage
from pydantic import BaseModel, Field

from harness.server.responses.response_schema import example

_LINE = {"kind": "new", "pieces": [{"text": "A report of ", "marked": False}, {"text": "8", "marked": True}]}
_SCORE = {"name": "nugget_vital", "value": 1.0, "weight": 0.35}


class ScoreResponse(BaseModel):
    """One scorer's value, 0 to 1."""

    name: str
    value: float
    weight: float = Field(description="Weight in the total of this task.")


class NuggetResponse(BaseModel):
    """Something that the answer should say."""

    says: str
    vital: bool = Field(description="Whether the answer is wrong without it.")
    places: list[int] = Field(description="Places in `sentences`, from 0, of those that say it; none if it is missed.")
    problem: str = Field(description="Why that is not known; otherwise empty.")


class DemandResponse(BaseModel):
    """Something else that the task asks of the report."""

    what: str
    met: bool


class SentenceResponse(BaseModel):
    """A sentence of the report."""

    section: str
    paragraph: int
    sentence: str
    quotation: str = Field(description="The quotation that supports it; empty if the sentence is one itself.")
    url: str
    number: int = Field(description="Number of its source; 0 without one.")
    verified: bool
    nuggets: list[int] = Field(description="Places in `nuggets`, from 0, of those that it says.")


class SourceResponse(BaseModel):
    """A source that was expected, found or cited."""

    url: str
    expected: bool
    rank: int = Field(description="Place among the found sources, from 1; 0: not found.")
    cited: int = Field(description="Number of sentences that cite it.")
    number: int = Field(description="Number in the report; 0: not cited.")
    title: str
    found_as: str = Field(description="URL of a source with the same text that was found in its place.")


class SearchResponse(BaseModel):
    """One search of a round."""

    query: str
    engine: str
    answered_by: str
    results: int
    error: str | None = Field(default=None, description="Why it failed; null if it did not.")


class RoundResponse(BaseModel):
    """One round of searches and pages."""

    searches: list[SearchResponse]
    pages: int
    unread: int = Field(description="Pages that could not be read.")
    live_calls: int
    novelty: float
    score: float


class CostResponse(BaseModel):
    """Cost of a run."""

    live_calls: int
    tokens: int
    seconds: float


class TaskRunResponse(BaseModel):
    """One run of a task of an evaluation."""

    model_config = example(
        evaluation="20261122-101500-1a2b3c",
        task="T_A",
        question="In which order does Python look up an attribute on an instance?",
        number=1,
        runs=1,
        known=True,
        split="tune",
        engine="corpus:python-docs",
        answerable=True,
        total=0.81,
        objective=0.8,
        scores=[_SCORE],
        nuggets=[{"says": "then the class", "vital": True, "places": [0], "problem": ""}],
        demands=[{"what": "sections: exactly 5; the report has 5", "met": True}],
        sentences=[
            {
                "section": "Answer",
                "paragraph": 0,
                "sentence": "The search continues with the class attributes.",
                "quotation": "",
                "url": "pydoc:types",
                "number": 1,
                "verified": True,
                "nuggets": [0],
            }
        ],
        sources=[
            {
                "url": "pydoc:types",
                "expected": True,
                "rank": 1,
                "cited": 1,
                "number": 1,
                "title": "The standard type hierarchy",
                "found_as": "",
            }
        ],
        limits=[],
        rounds=[
            {
                "searches": [
                    {
                        "query": "attribute lookup instance",
                        "engine": "corpus",
                        "answered_by": "live",
                        "results": 10,
                        "error": None,
                    }
                ],
                "pages": 0,
                "unread": 0,
                "live_calls": 1,
                "novelty": 1.0,
                "score": 0.7,
            }
        ],
        stop_reason="score met",
        research_cache="stored",
        run="20261122-101501-4d5e6f",
        cost={"live_calls": 1, "tokens": 0, "seconds": 0.4},
        error="",
        left_out=0,
        parts=[],
    )

    evaluation: str
    task: str
    question: str
    number: int = Field(description="Number of the run, from 1.")
    runs: int
    known: bool = Field(description="Whether the task is still known as it was; else nuggets and gold are missing.")
    split: str
    engine: str
    answerable: bool
    total: float | None = Field(description="Null if the run failed.")
    objective: float | None = Field(description="Value of the evaluation's objective; null if it has none.")
    scores: list[ScoreResponse]
    nuggets: list[NuggetResponse]
    demands: list[DemandResponse]
    sentences: list[SentenceResponse]
    sources: list[SourceResponse]
    limits: list[str] = Field(description="What the report says it does not rest on.")
    rounds: list[RoundResponse]
    stop_reason: str
    research_cache: str = Field(description="`hit` or `solved`: gathered by an earlier run.")
    run: str = Field(description="Id of the run in the history; empty if it was not recorded.")
    cost: CostResponse
    error: str = Field(description="Error of a failed run; otherwise empty.")
    left_out: int = Field(description="Sentences of the report that are not listed.")
    parts: list["TaskRunResponse"] = Field(description="The questions of a stream, each with its own report.")


class PieceResponse(BaseModel):
    """A part of a line."""

    text: str
    marked: bool = Field(description="Whether the other text does not have it.")


class LineResponse(BaseModel):
    """A line of a difference."""

    kind: Kind = Field(description="In both texts, only in the first (gone), only in the second (new), or a remark.")
    pieces: list[PieceResponse]


class StageResponse(BaseModel):
    """First difference of two runs of a task."""

    model_config = example(task="T_A", number=1, stage="report", lines=[_LINE], message="")

    task: str
    number: int = Field(description="Number of the run, from 1.")
    stage: Stage | None = Field(description="First stage whose bytes differ; null if all are the same.")
    lines: list[LineResponse]
    message: str = Field(description="Why the difference cannot be shown; otherwise empty.")


class ChangedTarget(BaseModel):
    """A setting, prompt, rule or source file that an experiment changed, against the state kept before."""

    target: str
    before: Any = Field(default=None, description="Earlier value of a setting; null for a text.")
    after: Any = Field(default=None, description="New value of a setting; null for a text.")
    lines: list[LineResponse] = Field(description="Difference of a text; empty for a setting.")


class TaskDifference(BaseModel):
    """Mean score of a task on both sides."""

    task: str
    baseline: float
    candidate: float


class TrialDetailResponse(BaseModel):
    """A complete experiment of a loop."""

    model_config = example(
        loop="20261122-081242-46f0ea",
        number=3,
        status="keep",
        idea="Ask for conditions",
        hypothesis="More nuggets are said",
        reasons=["better, and not worse on the split confirm"],
        targets=[{"target": "prompts.answer", "before": None, "after": None, "lines": [_LINE]}],
        evaluations={"baseline": "20261122-081242-46f0ea:3:baseline"},
        commit="",
        score=0.77,
        baseline=0.74,
        delta=0.03,
        low=0.01,
        high=0.05,
        p=0.004,
        tasks=17,
        seconds=27.1,
        live_calls=30,
        tokens=0,
        task_scores=[{"task": "T_A", "baseline": 0.7, "candidate": 0.8}],
        numbers=[1, 2, 3],
    )

    loop: str
    number: int
    status: str
    idea: str
    hypothesis: str = Field(description="What should come of it.")
    reasons: list[str]
    targets: list[ChangedTarget]
    evaluations: dict[str, str] = Field(description="The evaluation of each arm that has one.")
    commit: str = Field(description="Commit of kept code; otherwise empty.")
    score: float | None
    baseline: float | None
    delta: float | None
    low: float | None = Field(description="Lower end of the 95 % interval of the difference.")
    high: float | None
    p: float | None
    tasks: int
    seconds: float
    live_calls: int
    tokens: int
    task_scores: list[TaskDifference] = Field(description="Largest difference first.")
    numbers: list[int] = Field(description="Numbers of all experiments of the loop.")
