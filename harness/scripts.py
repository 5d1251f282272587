"""The one workbench of a script: opened by the settings when first needed, closed when the script ends."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING

from harness.forks import free_in_child

if TYPE_CHECKING:
    from harness.workbench import Workbench

_workbench: Workbench | None = None
_opening = free_in_child(threading.Lock())


def workbench() -> Workbench:
    """Return the workbench, opened by the settings at the first call.

    Raises:
        InvalidInput: the settings cannot be used.
    """
    return _workbench or _open()


def name_of(function: object) -> str:
    """Return the name of a script's function, for messages."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def close() -> None:
    """Let go of the database; the next call reads the settings again and opens what they name."""
    global _workbench  # noqa: PLW0603 - the one of a script
    with _opening:
        if _workbench is not None:
            _workbench.close()
        _workbench = None


def _open() -> Workbench:
    from msgspec.structs import replace

    from harness.settings import load
    from harness.workbench import Workbench

    global _workbench  # noqa: PLW0603 - the one of a script
    with _opening:
        if _workbench is None:
            # an empty answer of a function of yours is not known to be a true "no results": it is asked again
            _workbench = Workbench(replace(load().settings, negative_ttl=0.0))
            atexit.register(close)  # registered twice it does nothing the second time
        return _workbench
