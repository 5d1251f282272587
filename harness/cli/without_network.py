"""Hint for a first try without a network: engines that need none."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.errors import EngineUnavailable, OfflineMiss

if TYPE_CHECKING:
    from harness.app import App

LOCAL = ("corpus:", "library")
"""Starts of the names of engines that need no network."""


@contextmanager
def network_hint(app: "App", *, replaying: bool = False) -> Iterator[None]:
    """Name the engines that need no network in the error of a search that found none and nothing in the cache.

    Raises:
        EngineUnavailable, OfflineMiss: as in the block, with the hint, unless an engine of the settings is local.
    """
    try:
        yield
    except (EngineUnavailable, OfflineMiss) as error:
        if replaying or any(spec.startswith(LOCAL) for spec in app.settings.engine):
            raise
        message = str(error).removesuffix(", or use --engine corpus:PATH")
        raise type(error)(f"{message}. Without a network, try {_local_engines(app)}") from error


def _local_engines(app: "App") -> str:
    from harness.core.tables import LIBRARY

    manual = "--engine corpus:python-docs (the manual of Python)"
    if app.store.listings.stats(LIBRARY, app.identity.tenant, app.cache.now).total:
        return f"--engine library (everything read before) or {manual}"
    return f"{manual} or --engine corpus:PATH (your files)"
