"""Researches that run on this server, each in its own thread."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from harness.app import App
from harness.core.keys import normalise
from harness.errors import InvalidInput, TooManyRequests
from harness.research.result import Research
from harness.research.resume import follow_up_start
from harness.research.run_record import new_run_id
from harness.research.run_view import past_run
from harness.server.api.job_board import JobBoard
from harness.server.api.research_job import Job, RemoteJob

log = logging.getLogger(__name__)

ALL_TENANTS = 8
"""Times as many researches as one tenant may run are the limit for all tenants together."""
MAX_ENDED = 200
"""Ended researches that are remembered, for late requests about how they ended."""
NO_CHANGES: Mapping[str, Any] = MappingProxyType({})
CLOSING_SECONDS = 5.0
RETRY_SECONDS = 15.0


class ResearchJobs:
    """All researches of this server, at most `most` at a time for each tenant. `board` shows those of other workers."""

    def __init__(self, most: int, board: JobBoard | None = None) -> None:
        self.most = most
        self._board = board
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self.closing = False
        """Whether the server is shutting down."""

    def start(
        self,
        app: App,
        question: str,
        *,
        sections: int | None = None,
        refresh: bool = False,
        changes: Mapping[str, Any] = NO_CHANGES,
    ) -> Job:
        """Start to research a question with `changes` of the settings; with `refresh`, nothing is answered from the
        cache.

        Raises:
            InvalidInput: an invalid question, or `refresh` while offline.
            AccessDenied: a reader may not start researches.
            TooManyRequests: the limit of running researches is reached.
        """
        normalise(question)
        run = new_run_id(time.time())
        job = Job(run, question, app.identity.tenant, self._board)
        return self._start(
            app,
            job,
            lambda mine: mine.researcher(question=question, on_round=job.on_round).run(
                question, sections=sections, run=run
            ),
            changes,
            refresh=refresh,
        )

    def ask(self, app: App, run: str, words: str) -> Job:
        """Start to research a follow-up question to a run, with its engines and settings, as `harness ask` does.

        Raises:
            InvalidInput: an invalid question, or settings of the run that are not usable here.
            AccessDenied: a reader may not start researches.
            NotFound: there is no such run.
            StoreCorrupt: its record cannot be read.
            TooManyRequests: the limit of running researches is reached.
        """
        normalise(words)
        record, local = app.cache.runs.get(run), app.identity.local
        question, changes = follow_up_start(record, run, words, app.settings, {}, local=local)
        return self.start(app, question, changes=changes)

    def resume(self, app: App, run: str) -> Job:
        """Resume a stopped run, with the engines that it started with.

        Raises:
            AccessDenied: a reader may not start researches.
            NotFound: there is no such run.
            StoreCorrupt: its record cannot be read.
            TooManyRequests: the limit of running researches is reached, or this one is running.
        """
        job = Job(run, past_run(app.cache, run).question, app.identity.tenant, self._board)
        return self._start(app, job, lambda mine: mine.resume(run, progress=job.progress, on_round=job.on_round))

    def find(self, tenant: str, run: str) -> Job | None:
        """Return a research of a tenant that is running or ended recently; `None` if this server has no such one."""
        job = self._jobs.get(run)
        if (job is None or job.ended.is_set()) and self._board is not None:
            status = self._board.find(run)  # another worker may have resumed it
            job = job if status is None else RemoteJob(self._board, status)
        return job if job is not None and job.tenant == tenant else None

    def running(self, tenant: str) -> list[Job]:
        """Return a tenant's running researches, newest first."""
        with self._lock:
            jobs = {run: job for run, job in reversed(self._jobs.items()) if not job.ended.is_set()}
        if self._board is not None:
            others = (status for status in self._board.all() if status.run not in jobs)
            jobs |= {status.run: RemoteJob(self._board, status) for status in others}
        return [job for job in jobs.values() if job.tenant == tenant and not job.ended.is_set()]

    def check_ended(self, tenant: str, run: str) -> None:
        """Check that a research is not running.

        Raises:
            InvalidInput: it is running, and would write again the record that is to be deleted.
        """
        if any(job.run == run for job in self.running(tenant)):
            raise InvalidInput("this research is running and would be recorded again; stop it first")

    @property
    def number(self) -> int:
        """Number of researches that run in this process."""
        with self._lock:
            return sum(not job.ended.is_set() for job in self._jobs.values())

    def close(self) -> None:
        """Stop all researches and wait a few seconds; the results are kept. More calls have no effect."""
        with self._lock:
            running = [job for job in self._jobs.values() if not (self.closing or job.ended.is_set())]
            self.closing = True
        for job in running:
            job.stop()
        deadline = time.monotonic() + CLOSING_SECONDS
        for job in running:
            job.ended.wait(max(0.0, deadline - time.monotonic()))
            if job.state != "finished":
                log.warning("a research was stopped: resume it with `harness research --resume %s`", job.run)

    def _start(
        self,
        app: App,
        job: Job,
        research: Callable[[App], Research],
        changes: Mapping[str, Any] = NO_CHANGES,
        *,
        refresh: bool = False,
    ) -> Job:
        app.identity.require("writer")
        mine = app.serving(app.identity, progress=job.progress, read=False if refresh else None, **changes)

        def work() -> Research:
            with mine:
                return research(mine)

        with self._starting, nullcontext() if self._board is None else self._board.locked():
            running = self.running(job.tenant)
            if any(each.run == job.run for each in running):
                raise TooManyRequests("this research is already running; watch it", RETRY_SECONDS)
            if len(running) >= self.most or self.number >= ALL_TENANTS * self.most or self.closing:
                raise TooManyRequests(
                    f"{len(running)} researches are running, which is the limit; wait for one to end", RETRY_SECONDS
                )
            with self._lock:
                self._jobs[job.run] = job
                ended = [run for run, each in self._jobs.items() if each.ended.is_set()][:-MAX_ENDED]
                for run in ended:
                    del self._jobs[run]
            if self._board is not None:
                for run in (job.run, *ended):
                    self._board.forget(run)
            job.publish()
            # a daemon thread: a search that hangs does not delay the server's exit
            threading.Thread(target=job.work, args=(work,), name=f"research {job.run}", daemon=True).start()
        return job
