"""Background opening of a server's corpora, so that no client waits for their index or their first vectors."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Self

from harness.app import App
from harness.errors import HarnessError
from harness.ports import Stopped

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0
"""Shorter work is not reported."""


class WarmUp:
    """Thread that opens the engines of `app` once. It passes a line to `report` when long work starts and another when
    it ends. Leaving the context stops it after the current batch (a second or two); finished batches are kept, and the
    next use continues there.
    """

    def __init__(self, app: App, report: Callable[[str], None]) -> None:
        self._app = app
        self._report = report
        self._thread = threading.Thread(target=self._run, name="warm-up")
        self._stopped = threading.Event()
        self._reported = ""

    def start(self) -> None:
        """Start the thread. Call it once the server accepts connections."""
        self._began = time.monotonic()
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        app = self._app
        try:
            app.serving(app.identity, progress=self._progress).sources.engines(waits=True)
        except Stopped:
            log.debug("stopped before every engine was ready")
        except HarnessError as error:
            log.warning("an engine is not ready: %s", error)
        except Exception:
            log.exception("an engine could not be opened")

    def _progress(self, what: str, done: int, total: int) -> None:
        if self._stopped.is_set():
            raise Stopped
        if done == total and self._reported == what:
            self._reported = ""
            self._report(f"{what}: done, {total:,} of {total:,}")
        elif done < total and not self._reported and time.monotonic() - self._began > QUIET_SECONDS:
            self._reported = what
            self._report(f"{what}: {done:,} of {total:,}, in the background")
