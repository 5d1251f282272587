"""One research that runs on this server, in this process or in another worker."""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

from harness.errors import HarnessError
from harness.ports import Stopped
from harness.research.gathering import Round
from harness.research.result import Research
from harness.server.api.job_board import JobBoard, JobStatus
from harness.server.error_payload import INTERNAL, ErrorResponse, error_payload, payload_of
from harness.server.responses.research_responses import StepEvent
from harness.server.tracing import research_span

log = logging.getLogger(__name__)

State: TypeAlias = Literal["running", "finished", "stopped", "failed"]

PUBLISH_EVERY = 0.3
"""Least seconds between two steps that the other workers see."""


class Job:
    """One running research. Its own thread writes it, any thread may read it. `rounds` only grows; `failure` is why it
    failed; `found` is whether there is a report. `board` shows it to the other workers of the server.
    """

    def __init__(self, run: str, question: str, tenant: str, board: JobBoard | None = None) -> None:
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
        self._board = board
        self._published = 0.0

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
        self.step = StepEvent(what=what, done=done, total=total)
        if self._board is not None and time.monotonic() - self._published > PUBLISH_EVERY:
            self.publish()
            if self._board.stop_requested(self.run):
                self._stop.set()
        if self._stop.is_set():
            raise Stopped

    def on_round(self, done: Round) -> None:
        """Add a finished round."""
        self.rounds.append(done)
        self.publish()

    def work(self, research: Callable[[], Research]) -> None:
        """Run the research and record how it ends."""
        try:
            with research_span(self.run):
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
            self.publish()
            self.ended.set()

    def refresh(self) -> None:
        """Read the latest status; in the process that runs it, it is always the latest."""

    def publish(self) -> None:
        """Show the status to the other workers, if there are any."""
        if self._board is None:
            return
        self._published, failure = time.monotonic(), self.failure
        try:
            self._board.publish(
                JobStatus(
                    run=self.run,
                    question=self.question,
                    tenant=self.tenant,
                    started=self.started,
                    pid=os.getpid(),
                    step=(self.step.what, self.step.done, self.step.total),
                    rounds=self.rounds,
                    state=self.state,
                    found=self.found,
                    failure=None if failure is None else (failure.code, failure.message),
                )
            )
        except OSError as error:  # a full disk: the research goes on
            log.debug("the other workers do not see the step: %s", error)


class RemoteJob(Job):
    """A research that another worker of the server runs, as that one last showed it."""

    def __init__(self, board: JobBoard, status: JobStatus) -> None:
        super().__init__(status.run, status.question, status.tenant)
        self._shown_on = board
        self._take(status)

    def stop(self) -> None:
        """See `Job.stop`."""
        self._shown_on.request_stop(self.run)

    def refresh(self) -> None:
        """See `Job.refresh`. A research whose status is gone has ended."""
        if (status := self._shown_on.find(self.run)) is not None:
            self._take(status)
        elif not self.ended.is_set():
            self.state = "stopped"
            self.ended.set()

    def _take(self, status: JobStatus) -> None:
        what, done, total = status.step
        if (what, done, total) != (self.step.what, self.step.done, self.step.total):
            self.step = StepEvent(what=what, done=done, total=total)
        self.started, self.rounds, self.state, self.found = status.started, status.rounds, status.state, status.found
        self.failure = None if status.failure is None else error_payload(*status.failure)
        if status.state != "running":
            self.ended.set()
