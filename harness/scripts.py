"""The one app of a script: opened by the settings when first needed, closed when the script ends."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING

from harness.storage.forks import free_in_child

if TYPE_CHECKING:
    from harness.app import App

_app: App | None = None
_opening = free_in_child(threading.Lock())


def app() -> App:
    """Return the app, opened by the settings at the first call.

    Raises:
        InvalidInput: the settings cannot be used.
    """
    return _app or _open()


def name_of(function: object) -> str:
    """Return the name of a script's function, for messages."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def close() -> None:
    """Let go of the database; the next call reads the settings again and opens what they name."""
    global _app  # noqa: PLW0603 - the one of a script
    with _opening:
        if _app is not None:
            _app.close()
        _app = None


def _open() -> App:
    from msgspec.structs import replace

    from harness.app import App
    from harness.settings import load

    global _app  # noqa: PLW0603 - the one of a script
    with _opening:
        if _app is None:
            # an empty answer of a function of yours is not known to be a true "no results": it is asked again
            _app = App(replace(load().settings, negative_ttl=0.0))
            atexit.register(close)  # registered twice it does nothing the second time
        return _app
