"""Prometheus metrics of a server. They count; they hold no text of a query, page or model, and name no tenant."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from harness.server.api.job_board import is_alive

ModelCall: TypeAlias = Literal["chat", "embeddings"]
ModelOutcome: TypeAlias = Literal["hit", "semantic", "stale", "miss", "error"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the latency buckets."""
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of the Prometheus client: the folder where the worker processes of one server write their counts. It must be
set before the client is imported.
"""


class Metrics:
    """Metrics of one server; with workers, those of all of them (see `SHARED_FOLDER`). Thread-safe."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry)
        self._requests = counter("harness_http_requests", "HTTP requests.", ("route", "method", "status"))
        self._seconds = Histogram(
            "harness_http_request_seconds", "Seconds to respond.", ("route",), buckets=SECONDS, registry=registry
        )
        self._answers = counter("harness_answers", "Answers by kind; live and failed ones are live calls.", ("kind",))
        self._model_calls = counter("harness_model_calls", "Requests to /v1 by outcome.", ("kind", "outcome"))
        self._model_tokens = counter(
            "harness_model_tokens",
            "Tokens of requests to /v1; those of a hit were saved.",
            ("kind", "outcome", "direction"),
        )
        running, waiting = "Researches that run now.", "Requests that wait because their tenant has many at once."
        self._running = gauge("harness_researches_running", running, multiprocess_mode="livesum")
        self._waiting = gauge("harness_requests_waiting", waiting, multiprocess_mode="livesum")
        self._passages = gauge("harness_library_passages", "Passages in the library.", multiprocess_mode="livemax")

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one HTTP request. `route` is the template of its path, never the path."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_answers(self, counted: Mapping[str, int]) -> None:
        """Add to the number of answers of each kind (see `harness.cache.usage.How`)."""
        for kind, times in counted.items():
            self._answers.labels(kind.replace(" ", "_")).inc(times)

    def count_model_call(
        self, kind: ModelCall, outcome: ModelOutcome, prompt_tokens: int, completion_tokens: int
    ) -> None:
        """Count one request to `/v1` and its tokens."""
        self._model_calls.labels(kind, outcome).inc()
        self._model_tokens.labels(kind, outcome, "prompt").inc(max(0, prompt_tokens))
        self._model_tokens.labels(kind, outcome, "completion").inc(max(0, completion_tokens))

    def set_gauges(self, *, researches_running: int, requests_waiting: int, library_passages: int) -> None:
        """Set the gauges of this process."""
        self._running.set(researches_running)
        self._waiting.set(requests_waiting)
        self._passages.set(library_passages)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        _forget_dead_workers(Path(os.environ[SHARED_FOLDER]))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _forget_dead_workers(folder: Path) -> None:
    """Delete the gauges of worker processes that ended; their counters count on."""
    for file in folder.glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not is_alive(int(pid)):
            mark_process_dead(int(pid), str(folder))  # type: ignore[no-untyped-call]
