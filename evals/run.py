"""Running a task through the harness, and scoring what came out without any model."""

import time
from hashlib import sha256

from msgspec import Struct

from evals.tasks import Task
from harness.workbench import Workbench


class TaskRun(Struct, frozen=True):
    """What one run of a task came to.

    `gold_recall` is the share (0..1) of the task's gold sources that the report cites, `verified` the share of its
    quotations that stand in their source; both are 0 without a report. `digest` names the report's exact bytes.
    """

    task: str
    gold_recall: float
    verified: float
    live_calls: int
    seconds: float
    digest: str


def run_task(workbench: Workbench, task: Task) -> TaskRun:
    """Research the task's question and score the report.

    Raises:
        HarnessError: whatever stops the research; a failed run is not a bad score.
    """
    started = time.perf_counter()
    found = workbench.researcher((task.engine,)).run(task.question)
    seconds = time.perf_counter() - started
    report = found.report
    cited = {source.url for source in report.sources} if report else set()
    citations = report.citations if report else ()
    return TaskRun(
        task.id,
        gold_recall=len(cited & set(task.gold)) / len(task.gold) if task.gold else 0.0,
        verified=sum(citation.verified for citation in citations) / len(citations) if citations else 0.0,
        live_calls=found.live_calls,
        seconds=seconds,
        digest=sha256((report.markdown() if report else "").encode()).hexdigest()[:12],
    )
