"""Researches of this server: begun by a request, watched while they run, stopped on request."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from harness.app import App
from harness.core.keys import normalise
from harness.errors import HarnessError, InvalidInput, NotFound, TooManyRequests
from harness.ports import Stopped
from harness.server.api.research_options import DEFAULT, Chosen
from harness.server.error_payload import INTERNAL, Envelope, envelope, envelope_of

if TYPE_CHECKING:
    from harness.research.gathering import Round
    from harness.research.result import Research

log = logging.getLogger(__name__)

State: TypeAlias = Literal["running", "finished", "stopped", "failed"]

KEPT = 200
"""Researches that have ended are remembered, so that who asks late is told how; the records of runs stay anyway."""
CLOSING_SECONDS = 5.0
RETRY_SECONDS = 15.0


class Step(Struct, frozen=True):
    """What is being done: `done` of `total` steps of `what`."""

    what: str
    done: int
    total: int


class Job:
    """One research under way, written by its own thread and read by any. `rounds` only grows; `failure` says why it
    failed; `found` whether anything answers.
    """

    def __init__(self, run: str, question: str, tenant: str) -> None:
        self.run = run
        self.question = question
        self.tenant = tenant
        self.began = time.time()
        self.step = Step("begun", 0, 0)
        self.rounds: list[Round] = []
        self.state: State = "running"
        self.found = False
        self.failure: Envelope | None = None
        self.ended = threading.Event()
        self._stop = threading.Event()

    @property
    def ending(self) -> str:
        """Why there is no record of it, though it has ended."""
        if self.failure is not None:
            return self.failure["message"]
        return "this research was stopped before it had found anything; ask the question again"

    def stop(self) -> None:
        """Have it stop at its next step; what it has found by then is kept, and it can be resumed."""
        self._stop.set()

    def progress(self, what: str, done: int, total: int) -> None:
        """See `Progress`. Raises `Stopped` once it is to stop."""
        if self._stop.is_set():
            raise Stopped
        self.step = Step(what, done, total)

    def on_round(self, found: "Round") -> None:
        """Take note of a round that is done."""
        self.rounds.append(found)

    def work(self, lead: Callable[[], "Research"]) -> None:
        """Lead the research to its end, whatever that is."""
        try:
            self.found = lead().report is not None
            self.state = "finished"
        except Stopped:
            self.state = "stopped"
        except HarnessError as error:
            self.failure = envelope_of(error)
            self.state = "failed"
        except Exception:  # a bug: the thread's last word, and who watches has to hear it
            log.exception("the research %s failed", self.run)
            self.failure = envelope(INTERNAL, "the research failed because of a bug in harness; see the server's log")
            self.state = "failed"
        finally:
            self.ended.set()


class Researches:
    """All researches of this server, `most` at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = False

    def begin(
        self,
        app: App,
        question: str,
        *,
        sections: int | None = None,
        refresh: bool = False,
        choice: Chosen = DEFAULT,
    ) -> Job:
        """Begin to research a question; with `refresh`, nothing is answered from the cache.

        Raises:
            InvalidInput: an unusable question, or `refresh` where only what is cached can answer.
            AccessDenied: a reader may not ask anew.
            TooManyRequests: as many as may be are under way.
        """
        from harness.research.run_record import new_run_id

        normalise(question)
        run = new_run_id(time.time())
        job = Job(run, question, app.identity.tenant)
        return self._begin(
            app,
            job,
            lambda mine: mine.researcher(on_round=job.on_round).run(question, sections=sections, run=run),
            choice,
            refresh=refresh,
        )

    def resume(self, app: App, run: str) -> Job:
        """Go on with a run that was stopped, with the engines that it was begun with.

        Raises:
            AccessDenied: a reader may not ask anew.
            NotFound: there is no such run.
            StoreCorrupt: its record cannot be read.
            TooManyRequests: as many as may be are under way, or this very one.
        """
        from harness.research.run_view import past_run

        job = Job(run, past_run(app.cache, run).question, app.identity.tenant)
        return self._begin(app, job, lambda mine: mine.resume(run, progress=job.progress, on_round=job.on_round))

    def get(self, tenant: str, run: str) -> Job:
        """Return a research of a tenant that is under way, or has ended a while ago.

        Raises:
            NotFound: this server leads none of that id.
        """
        job = self.find(tenant, run)
        if job is None:
            raise NotFound("this server leads no such research; look for its record among the runs")
        return job

    def find(self, tenant: str, run: str) -> Job | None:
        """Return a research of a tenant as `get` does, or None."""
        job = self._jobs.get(run)
        return job if job is not None and job.tenant == tenant else None

    def under_way(self, tenant: str) -> list[Job]:
        """Return a tenant's researches that have not ended, the newest first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in reversed(jobs) if job.tenant == tenant and not job.ended.is_set()]

    def check_ended(self, tenant: str, run: str) -> None:
        """Do nothing unless a research of a tenant is under way here.

        Raises:
            InvalidInput: it is; what is deleted of it now would be written again.
        """
        if any(job.run == run for job in self.under_way(tenant)):
            raise InvalidInput("this research is under way, and would be recorded again; stop it first")

    @property
    def closing(self) -> bool:
        """Whether the server is about to end."""
        return self._closing

    @property
    def hanging(self) -> bool:
        """Whether a research has not ended yet."""
        with self._lock:
            return not all(job.ended.is_set() for job in self._jobs.values())

    def close(self) -> None:
        """Stop all, and wait a few seconds for their end: what was found by then is kept. Once is enough."""
        with self._lock:
            running = [job for job in self._jobs.values() if not (self._closing or job.ended.is_set())]
            self._closing = True
        for job in running:
            job.stop()
        deadline = time.monotonic() + CLOSING_SECONDS
        for job in running:
            job.ended.wait(max(0.0, deadline - time.monotonic()))
            if job.state != "finished":
                log.warning("a research is stopped: go on with `harness research --resume %s`", job.run)

    def _begin(
        self,
        app: App,
        job: Job,
        lead: "Callable[[App], Research]",
        choice: Chosen = DEFAULT,
        *,
        refresh: bool = False,
    ) -> Job:
        app.identity.require("writer")
        changes: dict[str, Any] = {} if choice.model else {"model": None}
        if choice.specs:
            changes["engine"] = choice.specs
        mine = app.serving(app.identity, progress=job.progress, read=False if refresh else None, **changes)

        def work() -> "Research":
            with mine:
                return lead(mine)

        with self._lock:
            running = [each for each in self._jobs.values() if not each.ended.is_set()]
            if any(each.run == job.run for each in running):
                raise TooManyRequests("this research is under way already; watch it", RETRY_SECONDS)
            if len(running) >= self.most or self._closing:
                raise TooManyRequests(
                    f"{len(running)} researches are under way, and no more may be; wait for one to end", RETRY_SECONDS
                )
            self._jobs[job.run] = job
            for ended in [run for run, each in self._jobs.items() if each.ended.is_set()][:-KEPT]:
                del self._jobs[ended]
            # a daemon: where a search hangs, the end of the server does not
            threading.Thread(target=job.work, args=(work,), name=f"research {job.run}", daemon=True).start()
        return job
