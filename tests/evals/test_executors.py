"""Executors: threads, processes, Dask; a lost worker loses no work."""

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from harness_evals import executors
from harness_evals.outcome import Outcome
from harness_evals.run import Job, run_jobs
from harness_evals.tasks import load_tasks

from harness.errors import InvalidInput
from harness.settings import Settings
from tests.evals.stand_ins import fact_task, saying


class Scripted(Executor):
    """Executor with scripted immediate results; `begun` are the jobs, in order."""

    def __init__(self, end: Callable[[Job, int], Outcome]) -> None:
        self.begun: list[Job] = []
        self._end = end

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `Executor.submit`."""
        (job,) = args
        self.begun.append(job)
        future: Future[Any] = Future()
        try:
            future.set_result(self._end(job, self.begun.count(job)))
        except Exception as error:  # noqa: BLE001 - the future raises it
            future.set_exception(error)
        return future


def jobs(count: int) -> list[Job]:
    """Return jobs of one task."""
    return [Job(fact_task("t"), n, Settings()) for n in range(count)]


def test_each_job_ends_once_though_a_worker_is_lost() -> None:
    """It is run again, once."""

    def end(job: Job, time_: int) -> Outcome:
        if job.repeat == 1 and time_ == 1:
            raise BrokenProcessPool("lost")
        return saying(job, 1)

    executor = Scripted(end)
    found = [outcome.repeat for _, outcome in run_jobs(jobs(4), executor, at_once=2)]
    assert sorted(found) == [0, 1, 2, 3]
    assert Counter(job.repeat for job in executor.begun) == {0: 1, 1: 2, 2: 1, 3: 1}


@pytest.mark.parametrize(("error", "tries"), [(BrokenProcessPool("lost"), 2), (TimeoutError("too long"), 1)])
def test_a_job_that_kills_its_workers_counts_as_failed(error: Exception, tries: int) -> None:
    """The others are finished; a job that took too long is not repeated."""

    def end(job: Job, _: int) -> Outcome:
        if job.repeat == 1:
            raise error
        return saying(job, 1)

    executor = Scripted(end)
    failed = {outcome.repeat: outcome.error for _, outcome in run_jobs(jobs(3), executor, at_once=1)}
    assert failed == {0: "", 1: f"{type(error).__name__}: {error}", 2: ""}
    assert Counter(job.repeat for job in executor.begun)[1] == tries


def test_the_number_of_concurrent_jobs_is_bounded() -> None:
    """And jobs begin in order."""
    with executors.threads(4) as executor:
        under_way: list[int] = []
        most: list[int] = []

        class Watched(Executor):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
                def work() -> Outcome:
                    under_way.append(args[0].repeat)
                    most.append(len(under_way))
                    time.sleep(0.02)
                    under_way.remove(args[0].repeat)
                    return saying(args[0], 1)

                return executor.submit(work)

        assert len(list(run_jobs(jobs(8), Watched(), at_once=2))) == 8
    assert max(most) == 2


def test_too_few_processes_are_refused() -> None:
    """The error says what to pass."""
    with pytest.raises(InvalidInput, match="pass --workers 1 or more"), executors.processes(0):
        pass


def killing_once(flag: str, repeat: int) -> int:
    """Kill this process, the first time."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return repeat
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


class Killing(Executor):
    """Executor that has the worker of the second job killed."""

    def __init__(self, executor: Executor, flag: Path) -> None:
        self._executor = executor
        self._flag = flag

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `Executor.submit`."""
        if args[0].repeat == 1:
            return self._executor.submit(kill_then, str(self._flag), fn, args[0])
        return self._executor.submit(fn, *args)


def kill_then(flag: str, fn: Callable[[Job], Outcome], job: Job) -> Outcome:
    """Kill this process the first time; run the job the second time."""
    killing_once(flag, job.repeat)
    return fn(job)


@pytest.mark.slow
def test_a_killed_process_loses_nothing(tasks_dir: Path, tmp_path: Path) -> None:
    """Spawned processes run real tasks; one is killed, and each job ends once."""
    [task, *_] = load_tasks(["retries"], tasks_dir)
    settings = Settings(data_dir=tmp_path / "data", corpus_meaning=False, research_cache=True, semantic=False)
    work = [Job(task, n, settings) for n in range(4)]
    with executors.processes(2) as executor:
        found = list(run_jobs(work, Killing(executor, tmp_path / "killed"), at_once=2))
    assert sorted(outcome.repeat for _, outcome in found) == [0, 1, 2, 3]
    assert {outcome.error for _, outcome in found} == {""}
    assert len({outcome.digests["report"] for _, outcome in found}) == 1
    assert (tmp_path / "killed").exists()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a Dask scheduler on loopback with two worker processes of one thread each."""
    import dask
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set({"distributed.worker.daemon": True, "temporary-directory": str(tmp_path)}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # resources that Dask leaves open
def test_dask_runs_tasks_and_a_lost_worker_loses_nothing(scheduler: str, tasks_dir: Path, tmp_path: Path) -> None:
    """Two workers; one is killed during a task, and each job ends once."""
    [task, *_] = load_tasks(["retries"], tasks_dir)
    settings = Settings(data_dir=tmp_path / "data", corpus_meaning=False, research_cache=True, semantic=False)
    work = [Job(task, n, settings) for n in range(6)]
    with executors.dask(scheduler) as (executor, at_once):
        assert at_once == 2
        found = list(run_jobs(work, Killing(executor, tmp_path / "killed"), at_once=at_once))
    assert sorted(outcome.repeat for _, outcome in found) == list(range(6))
    assert {outcome.error for _, outcome in found} == {""}
    assert (tmp_path / "killed").exists()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_is_an_error() -> None:
    """The error comes within seconds."""
    with pytest.raises(InvalidInput, match="no Dask scheduler answers at"), executors.dask("tcp://127.0.0.1:9"):
        pass
