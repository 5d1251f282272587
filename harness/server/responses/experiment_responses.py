"""Evaluations and experiments, for the API and the pages. Texts are data."""

from typing import Annotated, Any

from harness_evals.outcome import Stage
from harness_evals.verdicts import Status
from pydantic import BaseModel, Field, PlainSerializer, WithJsonSchema

from harness.server.responses.response_schema import example, iso

Moment = Annotated[
    float, PlainSerializer(iso, when_used="json"), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""Seconds since the epoch on pages; ISO 8601, UTC, in JSON."""

_LOOP = {
    "id": "20261122-081242-46f0ea",
    "message": "",
    "began": "2026-11-22T08:12:42Z",
    "experiments": 20,
    "kept": 2,
    "best_score": 0.771,
    "noise_floor": 0.004,
}
_EVALUATION = {
    "id": "20261122-101500-1a2b3c",
    "message": "",
    "began": "2026-11-22T10:15:00Z",
    "tasks": 26,
    "repeats": 1,
    "finished": True,
    "mean": 0.748,
    "error": 0.031,
    "crashes": 0,
    "live_calls": 412,
}
_CHANGED = {"name": "max_rounds", "first": 5, "second": 2}


class LoopRow(BaseModel):
    """An experiment loop in a list. With a damaged journal it has a message and no numbers."""

    model_config = example(**_LOOP)

    id: str
    message: str = Field(default="", description="Why it cannot be read; otherwise empty.")
    began: Moment | None = None
    experiments: int | None = None
    kept: int | None = Field(default=None, description="Experiments whose changes were kept.")
    best_score: float | None = Field(
        default=None, description="Score of the settings kept so far, on the split `tune`, 0 to 1."
    )
    noise_floor: float | None = Field(default=None, description="Difference between runs with identical settings.")


class EvaluationRow(BaseModel):
    """An evaluation in a list. With a damaged log it has a message and no numbers."""

    model_config = example(**_EVALUATION)

    id: str
    message: str = Field(default="", description="Why it cannot be read; otherwise empty.")
    began: Moment | None = None
    tasks: int | None = None
    repeats: int | None = None
    finished: bool | None = Field(default=None, description="Whether all runs of all tasks are done.")
    mean: float | None = Field(default=None, description="Mean total score over the tasks, 0 to 1.")
    error: float | None = Field(default=None, description="Its standard error, clustered by task.")
    crashes: int | None = None
    live_calls: int | None = None


class ExperimentsResponse(BaseModel):
    """The loops and the evaluations, newest first."""

    model_config = example(loops=[_LOOP], evaluations=[_EVALUATION], loops_in_all=1, evaluations_in_all=1)

    loops: list[LoopRow]
    evaluations: list[EvaluationRow]
    loops_in_all: int = Field(description="Number of all; only the newest are listed.")
    evaluations_in_all: int = Field(description="Number of all; only the newest are listed.")


class TrialResponse(BaseModel):
    """One experiment. Scores are on the split `tune`; null after a crash."""

    number: int
    description: str = Field(description="The changes in words.")
    status: Status
    score: float | None
    baseline: float | None = Field(description="Score of the settings kept before.")
    delta: float | None
    low: float | None = Field(description="Lower end of the 95 % interval of the difference.")
    high: float | None = Field(description="Upper end of the interval.")
    p: float | None = Field(description="One-sided p-value of `not better`.")
    tasks: int
    seconds: float
    live_calls: int
    reasons: list[str]
    idea: str = Field(description="Why it was tried; empty if the proposer gives none.")
    changed: list[str] = Field(description="What it changed against the state kept before, by name.")
    commit: str = Field(description="Commit of kept code; otherwise empty.")


class ConfirmationResponse(BaseModel):
    """A test of the kept changes against the loop's first state, on tasks that no experiment used."""

    experiments: int = Field(description="Number of experiments before it.")
    present: bool = Field(description="Whether it is about the state kept now.")
    confirmed: bool
    difference: float = Field(description="Mean gain over the tasks.")
    low: float = Field(description="Lower end of the 95 % interval of the gain.")
    high: float = Field(description="Upper end of the interval.")
    p: float = Field(description="One-sided p-value of `not better`.")
    tasks: list[str]
    reasons: list[str]
    evaluations: dict[str, str] = Field(description="Evaluation of each side, those that are stored.")


class LoopResponse(BaseModel):
    """A complete experiment loop."""

    model_config = example(
        loop=_LOOP,
        rules={"experiments": 20, "repeats": 1, "delta": 0.01, "alpha": 0.05, "seed": 1, "proposer": "random"},
        tasks=["T_A", "closures"],
        space={"max_rounds": [1, 2, 3, 5]},
        settings={"max_rounds": 5, "model": "qwen3"},
        changed_settings=["model"],
        noise_errors=[],
        trials=[
            {
                "number": 1,
                "description": "max_rounds=2",
                "status": "discard",
                "score": 0.74,
                "baseline": 0.75,
                "delta": -0.01,
                "low": -0.02,
                "high": -0.003,
                "p": 0.98,
                "tasks": 17,
                "seconds": 27.1,
                "live_calls": 30,
                "reasons": ["worse: the whole interval is below 0"],
                "idea": "",
                "changed": ["max_rounds"],
                "commit": "",
            }
        ],
        confirmations=[],
        confirmed=True,
        best={},
        best_config="# the best settings found: the defaults; use with --config\n",
    )

    loop: LoopRow
    rules: dict[str, Any] = Field(description="Fixed before the first experiment.")
    tasks: list[str]
    space: dict[str, list[Any]] = Field(description="The settings to change, with their possible values.")
    settings: dict[str, Any] = Field(description="The settings at the start.")
    changed_settings: list[str] = Field(description="The settings that differ from today's defaults.")
    noise_errors: list[str] = Field(description="Errors of runs with unchanged settings.")
    trials: list[TrialResponse]
    confirmations: list[ConfirmationResponse] = Field(description="Tests of the kept changes, oldest first.")
    confirmed: bool = Field(description="Whether everything kept was shown on tasks other than those that chose it.")
    best: dict[str, Any] = Field(description="The changes kept so far.")
    best_config: str = Field(description="The best settings as YAML, for --config.")


class TaskResponse(BaseModel):
    """Mean scores of the runs of one task, 0 to 1."""

    task: str
    runs: int
    total: float | None = Field(description="Null if every run failed.")
    values: dict[str, float] = Field(description="Score by scorer.")
    errors: list[str] = Field(description="Errors of failed runs.")
    live_calls: int = Field(description="Of all runs, as are tokens and seconds.")
    tokens: int
    seconds: float


class ObjectiveResponse(BaseModel):
    """Quality weighed against cost: the formula, its mean over the tasks, and its value by task."""

    expression: str
    mean: float | None = Field(description="Null if every run failed.")
    tasks: dict[str, float] = Field(description="Of the tasks of which a run did not fail.")


class EvaluationResponse(BaseModel):
    """A complete evaluation."""

    model_config = example(
        evaluation=_EVALUATION,
        tasks=[
            {
                "task": "T_A",
                "runs": 1,
                "total": 0.81,
                "values": {"nugget_vital": 1.0},
                "errors": [],
                "live_calls": 12,
                "tokens": 0,
                "seconds": 1.9,
            }
        ],
        means={"nugget_vital": 0.91, "total": 0.748},
        errors={"nugget_vital": 0.02, "total": 0.031},
        weights={"nugget_vital": 0.3},
        objective={"expression": "quality - 0.01*live_calls", "mean": 0.69, "tasks": {"T_A": 0.69}},
        tokens=0,
        seconds=31.4,
        settings={"max_rounds": 5},
        changed_settings=[],
        versions={"harness": "0.1.0"},
    )

    evaluation: EvaluationRow
    tasks: list[TaskResponse]
    means: dict[str, float] = Field(description="Means over the tasks, by scorer and of the total.")
    errors: dict[str, float] = Field(
        description="Standard errors of the means, clustered by task; none for a single task."
    )
    weights: dict[str, float] = Field(description="Weight of each scorer in the total.")
    objective: ObjectiveResponse | None = Field(description="What the evaluation weighs; null for quality alone.")
    tokens: int = Field(description="Tokens of the language model.")
    seconds: float = Field(description="Sum over all runs, parallel ones included.")
    settings: dict[str, Any]
    changed_settings: list[str] = Field(description="The settings that differ from today's defaults.")
    versions: dict[str, str] = Field(description="Versions of software and models that affect results.")


class ScoreDifference(BaseModel):
    """Difference of the second evaluation to the first, over the tasks that both measured."""

    mean: float = Field(description="Mean difference of the total, -1 to 1.")
    low: float = Field(description="Lower end of the 95 % interval (bootstrap over tasks).")
    high: float = Field(description="Upper end of the interval.")
    p: float = Field(description="Two-sided p-value of a sign-flip test.")
    tasks: int


class ComparedTask(BaseModel):
    """One task in two evaluations."""

    task: str
    first: float | None = Field(description="Total in the first; null if not measured.")
    second: float | None
    difference: float | None
    compared: bool = Field(description="Whether the stages could be compared: a repeat succeeded in both.")
    stage: Stage | None = Field(description="First stage whose bytes differ in any repeat; null if all are the same.")
    task_changed: bool = Field(description="Whether the task itself changed in between.")


class ChangedSetting(BaseModel):
    """A setting, version or weight that differs between two evaluations; null if one of them lacks it."""

    model_config = example(**_CHANGED)

    name: str
    first: Any
    second: Any


class ComparisonResponse(BaseModel):
    """Two evaluations side by side."""

    model_config = example(
        first=_EVALUATION,
        second=_EVALUATION,
        difference={"mean": 0.012, "low": -0.004, "high": 0.03, "p": 0.21, "tasks": 26},
        message="",
        tasks=[
            {
                "task": "T_A",
                "first": 0.79,
                "second": 0.81,
                "difference": 0.02,
                "compared": True,
                "stage": "context",
                "task_changed": False,
            }
        ],
        changed=[_CHANGED],
    )

    first: EvaluationRow
    second: EvaluationRow
    difference: ScoreDifference | None
    message: str = Field(description="Why there is no difference; otherwise empty.")
    tasks: list[ComparedTask]
    changed: list[ChangedSetting]
