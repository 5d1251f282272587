"""Opening a server's corpora in the background, so that no client waits for their words or their first vectors."""

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from harness.app import App
from harness.errors import HarnessError
from harness.ports import Stopped

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0
"""Work that takes less is not reported."""


class Warming:
    """Opens the engines of `app` once in a thread, and reports long work to `tell`: one line when it starts, one
    when it ends. Leaving the context stops it after the batch that it is at, which takes a second or two; what is done
    is kept, and the next use goes on there.
    """

    def __init__(self, app: App, tell: Callable[[str], None]) -> None:
        self._app = app
        self._tell = tell
        self._thread = threading.Thread(target=self._run, name="warming")
        self._stopped = threading.Event()
        self._told = ""

    def start(self) -> None:
        """Start the thread. Call it when the server can be reached."""
        self._began = time.monotonic()
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
        if done == total and self._told == what:
            self._told = ""
            self._tell(f"{what}: done, {total:,} of {total:,}")
        elif done < total and not self._told and time.monotonic() - self._began > QUIET_SECONDS:
            self._told = what
            self._tell(f"{what}: {done:,} of {total:,}, in the background")
