"""What is told of evaluations and experiments: the JSON of the API, and what the pages show. Texts are data."""

from typing import Annotated, Any

from harness_evals.outcome import Stage
from harness_evals.verdicts import Status
from pydantic import BaseModel, Field, PlainSerializer, WithJsonSchema

from harness.server.api.responses import example
from harness.server.pages.templates import iso

Moment = Annotated[
    float, PlainSerializer(iso, when_used="json"), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""Seconds since the epoch on pages; ISO 8601, UTC, as JSON."""

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
    """A loop of experiments. One whose journal is damaged has a message, and no numbers."""

    model_config = example(**_LOOP)

    id: str
    message: str = Field(default="", description="Why it cannot be read; empty where it can.")
    began: Moment | None = None
    experiments: int | None = None
    kept: int | None = Field(default=None, description="Experiments whose changes were kept.")
    best_score: float | None = Field(default=None, description="Of what is kept by now, on the split `tune`, 0 to 1.")
    noise_floor: float | None = Field(default=None, description="What identical settings differ by.")


class EvaluationRow(BaseModel):
    """An evaluation. One whose log is damaged has a message, and no numbers."""

    model_config = example(**_EVALUATION)

    id: str
    message: str = Field(default="", description="Why it cannot be read; empty where it can.")
    began: Moment | None = None
    tasks: int | None = None
    repeats: int | None = None
    finished: bool | None = Field(default=None, description="Whether every run of every task is there.")
    mean: float | None = Field(default=None, description="Mean of the total over the tasks, 0 to 1.")
    error: float | None = Field(default=None, description="Its standard error, clustered by task.")
    crashes: int | None = None
    live_calls: int | None = None


class ExperimentsReply(BaseModel):
    """The loops and the evaluations, each the newest first."""

    model_config = example(loops=[_LOOP], evaluations=[_EVALUATION], loops_in_all=1, evaluations_in_all=1)

    loops: list[LoopRow]
    evaluations: list[EvaluationRow]
    loops_in_all: int = Field(description="How many there are; only the newest are listed.")
    evaluations_in_all: int = Field(description="How many there are; only the newest are listed.")


class TrialReply(BaseModel):
    """One experiment. Scores are those on the split `tune`; after a crash there are none."""

    number: int
    description: str = Field(description="The changes in words.")
    status: Status
    score: float | None
    baseline: float | None = Field(description="The score of what was kept before.")
    delta: float | None
    low: float | None = Field(description="Where the 95 % interval of the difference begins.")
    high: float | None = Field(description="Where it ends.")
    p: float | None = Field(description="One-sided, of `not better`.")
    tasks: int
    seconds: float
    live_calls: int
    reasons: list[str]


class LoopReply(BaseModel):
    """A loop of experiments, whole."""

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
            }
        ],
        best={},
        best_config="# the best settings found: the defaults; use with --config\n",
    )

    loop: LoopRow
    rules: dict[str, Any] = Field(description="Fixed before the first experiment.")
    tasks: list[str]
    space: dict[str, list[Any]] = Field(description="The settings that may be changed, and to what.")
    settings: dict[str, Any] = Field(description="What it began with.")
    changed_settings: list[str] = Field(description="Those of them that are not the defaults of today.")
    noise_errors: list[str] = Field(description="Of runs that failed with nothing changed.")
    trials: list[TrialReply]
    best: dict[str, Any] = Field(description="The changes that are kept by now.")
    best_config: str = Field(description="The best settings as YAML, for --config.")


class TaskReply(BaseModel):
    """What the runs of one task came to, as means: 0 to 1."""

    task: str
    runs: int
    total: float | None = Field(description="None where every run failed.")
    values: dict[str, float] = Field(description="By scorer.")
    errors: list[str] = Field(description="Of the runs that failed.")


class EvaluationReply(BaseModel):
    """An evaluation, whole."""

    model_config = example(
        evaluation=_EVALUATION,
        tasks=[{"task": "T_A", "runs": 1, "total": 0.81, "values": {"nugget_vital": 1.0}, "errors": []}],
        means={"nugget_vital": 0.91, "total": 0.748},
        errors={"nugget_vital": 0.02, "total": 0.031},
        weights={"nugget_vital": 0.3},
        tokens=0,
        seconds=31.4,
        settings={"max_rounds": 5},
        changed_settings=[],
        versions={"harness": "0.1.0"},
    )

    evaluation: EvaluationRow
    tasks: list[TaskReply]
    means: dict[str, float] = Field(description="Over the tasks, by scorer, and of the total.")
    errors: dict[str, float] = Field(description="Their standard errors, clustered by task; none of a single task.")
    weights: dict[str, float] = Field(description="What each scorer counts in the total.")
    tokens: int = Field(description="Of the language model.")
    seconds: float = Field(description="Of all runs together, whether at once or not.")
    settings: dict[str, Any]
    changed_settings: list[str] = Field(description="Those of them that are not the defaults of today.")
    versions: dict[str, str] = Field(description="Of what decides results besides the settings.")


class ScoreDifference(BaseModel):
    """By how much the second evaluation is better than the first, over the tasks that both have measured."""

    mean: float = Field(description="Mean difference of the total, -1 to 1.")
    low: float = Field(description="Where its 95 % interval begins (bootstrap over tasks).")
    high: float = Field(description="Where it ends.")
    p: float = Field(description="Two-sided, of a sign-flip test.")
    tasks: int


class ComparedTask(BaseModel):
    """One task in two evaluations."""

    task: str
    first: float | None = Field(description="Its total in the first; none where it was not measured.")
    second: float | None
    difference: float | None
    compared: bool = Field(description="Whether the stages could be compared: a repeat ended well in both.")
    stage: Stage | None = Field(description="The first whose bytes differ in any repeat; none if all are the same.")
    task_changed: bool = Field(description="Whether the task itself was changed in between.")


class ChangedSetting(BaseModel):
    """A setting, version or weight that is not the same in two evaluations; none where one of them has none."""

    model_config = example(**_CHANGED)

    name: str
    first: Any
    second: Any


class ComparisonReply(BaseModel):
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
    message: str = Field(description="Why there is no difference; empty where there is one.")
    tasks: list[ComparedTask]
    changed: list[ChangedSetting]
