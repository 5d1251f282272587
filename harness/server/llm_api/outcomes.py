"""Outcome of a request to `/v1`: response headers and metrics."""

from typing import Any, Literal, TypeAlias

from starlette.requests import Request

from harness.cache.lookup import Answer
from harness.cache.usage import How
from harness.core.entries import Miss
from harness.server.metrics import Metrics, ModelCall

CACHE = "X-Harness-Cache"

Outcome: TypeAlias = Literal["hit", "semantic", "stale", "miss"]


def outcome_of(how: How) -> Outcome:
    """Return the outcome of a lookup in the words of the header."""
    match how:
        case "semantic" | "stale":
            return how
        case "live":
            return "miss"
    return "hit"


def age_of(answer: Answer[Any]) -> float:
    """Return the age of an answer in seconds; 0 of a live one."""
    return 0.0 if answer.how == "live" or isinstance(answer.outcome, Miss) else answer.outcome.age


def outcome_headers(outcome: Outcome, age: float) -> dict[str, str]:
    """Return the response headers: `X-Harness-Cache`, and `Age` (whole seconds) of what the cache answered."""
    return {CACHE: outcome} if outcome == "miss" else {CACHE: outcome, "Age": str(int(age))}


def count(request: Request, kind: ModelCall, outcome: Outcome | Literal["error"], tokens: tuple[int, int]) -> None:
    """Count a request, with its prompt and completion tokens, in the metrics of the server."""
    metrics: Metrics = request.app.state.metrics
    metrics.count_model_call(kind, outcome, *tokens)
