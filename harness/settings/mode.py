"""Use of the cache by an app: what it reads and writes, from where, for whom and at which time."""

from pathlib import Path

from msgspec import Struct

from harness.core.origins import RunOrigin


class Mode(Struct, frozen=True, kw_only=True):
    """Use of the cache by an app. `read` and `write`: see `Policy`. `replay` is a snapshot file that answers instead.
    `serve_stale` replaces the setting `stale_if_error`, in seconds. `at` is the current time (seconds since the epoch)
    for everything that expires except tokens; `None` is the real time. `origin` is stored with runs and counts.
    """

    read: bool = True
    write: bool = True
    replay: Path | None = None
    serve_stale: float | None = None
    at: float | None = None
    origin: RunOrigin = "user"


DEFAULT_MODE = Mode()
