"""Researches that run on this server, each in its own thread."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from harness.app import App
from harness.core.keys import normalise
from harness.errors import HarnessError, InvalidInput, TooManyRequests
from harness.ports import Stopped
from harness.research.gathering import Round
from harness.research.result import Research
from harness.research.run_record import new_run_id
from harness.research.run_view import past_run
from harness.server.api.research_options import DEFAULT, ResearchChoice
from harness.server.error_payload import INTERNAL, ErrorResponse, error_payload, payload_of
from harness.server.responses.research_responses import StepEvent

log = logging.getLogger(__name__)

State: TypeAlias = Literal["running", "finished", "stopped", "failed"]

MAX_ENDED = 200
"""Ended researches that are remembered, for late requests about how they ended."""
CLOSING_SECONDS = 5.0
RETRY_SECONDS = 15.0


class Job:
    """One running research. Its own thread writes it, any thread may read it. `rounds` only grows; `failure` is why it
    failed; `found` is whether there is a report.
    """

    def __init__(self, run: str, question: str, tenant: str) -> None:
        self.run = run
        self.question = question
        self.tenant = tenant
        self.started = time.time()
        self.step = StepEvent(what="started", done=0, total=0)
        self.rounds: list[Round] = []
        self.state: State = "running"
        self.found = False
        self.failure: ErrorResponse | None = None
        self.ended = threading.Event()
        self._stop = threading.Event()

    @property
    def ending(self) -> str:
        """Why it ended without a record."""
        if self.failure is not None:
            return self.failure.message
        return "this research was stopped before it found anything; ask the question again"

    def stop(self) -> None:
        """Stop it at its next step; the results are kept, and it can be resumed."""
        self._stop.set()

    def progress(self, what: str, done: int, total: int) -> None:
        """See `Progress`. Raises `Stopped` after `stop`."""
        if self._stop.is_set():
            raise Stopped
        self.step = StepEvent(what=what, done=done, total=total)

    def on_round(self, done: Round) -> None:
        """Add a finished round."""
        self.rounds.append(done)

    def work(self, research: Callable[[], Research]) -> None:
        """Run the research and record how it ends."""
        try:
            self.found = research().report is not None
            self.state = "finished"
        except Stopped:
            self.state = "stopped"
        except HarnessError as error:
            self.failure = payload_of(error)
            self.state = "failed"
        except Exception:  # a bug: nothing else would report it to watchers
            log.exception("the research %s failed", self.run)
            self.failure = error_payload(
                INTERNAL, "the research failed because of a bug in harness; see the server's log"
            )
            self.state = "failed"
        finally:
            self.ended.set()


class ResearchJobs:
    """All researches of this server, at most `most` at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self.closing = False
        """Whether the server is shutting down."""

    def start(
        self,
        app: App,
        question: str,
        *,
        sections: int | None = None,
        refresh: bool = False,
        choice: ResearchChoice = DEFAULT,
    ) -> Job:
        """Start to research a question; with `refresh`, nothing is answered from the cache.

        Raises:
            InvalidInput: an invalid question, or `refresh` while offline.
            AccessDenied: a reader may not start researches.
            TooManyRequests: the limit of running researches is reached.
        """
        normalise(question)
        run = new_run_id(time.time())
        job = Job(run, question, app.identity.tenant)
        return self._start(
            app,
            job,
            lambda mine: mine.researcher(question=question, on_round=job.on_round).run(
                question, sections=sections, run=run
            ),
            choice,
            refresh=refresh,
        )

    def resume(self, app: App, run: str) -> Job:
        """Resume a stopped run, with the engines that it started with.

        Raises:
            AccessDenied: a reader may not start researches.
            NotFound: there is no such run.
            StoreCorrupt: its record cannot be read.
            TooManyRequests: the limit of running researches is reached, or this one is running.
        """
        job = Job(run, past_run(app.cache, run).question, app.identity.tenant)
        return self._start(app, job, lambda mine: mine.resume(run, progress=job.progress, on_round=job.on_round))

    def find(self, tenant: str, run: str) -> Job | None:
        """Return a research of a tenant that is running or ended recently; `None` if this server has no such one."""
        job = self._jobs.get(run)
        return job if job is not None and job.tenant == tenant else None

    def running(self, tenant: str) -> list[Job]:
        """Return a tenant's running researches, newest first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in reversed(jobs) if job.tenant == tenant and not job.ended.is_set()]

    def check_ended(self, tenant: str, run: str) -> None:
        """Check that a research is not running.

        Raises:
            InvalidInput: it is running, and would write again the record that is to be deleted.
        """
        if any(job.run == run for job in self.running(tenant)):
            raise InvalidInput("this research is running and would be recorded again; stop it first")

    @property
    def hanging(self) -> bool:
        """Whether a research is still running."""
        with self._lock:
            return not all(job.ended.is_set() for job in self._jobs.values())

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
        choice: ResearchChoice = DEFAULT,
        *,
        refresh: bool = False,
    ) -> Job:
        app.identity.require("writer")
        changes: dict[str, Any] = {} if choice.model else {"model": None}
        if choice.specs:
            changes["engine"] = choice.specs
        mine = app.serving(app.identity, progress=job.progress, read=False if refresh else None, **changes)

        def work() -> Research:
            with mine:
                return research(mine)

        with self._lock:
            running = [each for each in self._jobs.values() if not each.ended.is_set()]
            if any(each.run == job.run for each in running):
                raise TooManyRequests("this research is already running; watch it", RETRY_SECONDS)
            if len(running) >= self.most or self.closing:
                raise TooManyRequests(
                    f"{len(running)} researches are running, which is the limit; wait for one to end", RETRY_SECONDS
                )
            self._jobs[job.run] = job
            for ended in [run for run, each in self._jobs.items() if each.ended.is_set()][:-MAX_ENDED]:
                del self._jobs[ended]
            # a daemon thread: a search that hangs does not delay the server's exit
            threading.Thread(target=job.work, args=(work,), name=f"research {job.run}", daemon=True).start()
        return job
