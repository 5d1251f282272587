"""Searches and pages of a recorded run, each with the row that answered it: what is under a research in the history."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from harness.cache import Cache
from harness.cache.usage import Use
from harness.core.tables import SEARCHES
from harness.core.text import one_line
from harness.errors import HarnessError
from harness.ports import Rows
from harness.research.gathering import Round

MAX_STEPS = 12
"""Searches, and pages, of one run."""


class RunSearch(Struct, frozen=True):
    """A search of a run. `key` is that of the stored row that answered it; empty if there is none any more."""

    query: str
    engine: str
    answered_by: str
    results: int
    key: str


class RunSteps(Struct, frozen=True):
    """The first searches and pages of a run, at most `MAX_STEPS` each, and how many there are."""

    searches: tuple[RunSearch, ...] = ()
    pages: tuple[str, ...] = ()
    searched: int = 0
    read: int = 0


class _Record(Struct, frozen=True):
    rounds: Annotated[tuple[Round, ...], Meta(max_length=100)] = ()
    uses: tuple[Use, ...] = ()


def steps_of(cache: Cache, rows: Rows, tenant: str, run: str) -> RunSteps:
    """Return the steps of a run; none if its record cannot be read, or is of an older version.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        record = msgspec.convert(cache.runs.get(run), _Record)
    except (ValueError, msgspec.MsgspecError, HarnessError):
        return RunSteps()
    searches = [search for round_ in record.rounds for search in round_.searches]
    pages = [page.url for round_ in record.rounds for page in round_.pages if page.answered_by != "failed"]
    keys = _keys(rows, tenant, [use.served for use in record.uses if use.table == SEARCHES and use.served])
    return RunSteps(
        tuple(
            RunSearch(each.query, each.engine, each.answered_by, each.results, keys.get(_same(each.query), ""))
            for each in searches[:MAX_STEPS]
        ),
        tuple(dict.fromkeys(pages))[:MAX_STEPS],
        len(searches),
        len(pages),
    )


def _keys(rows: Rows, tenant: str, keys: list[str]) -> dict[str, str]:
    """Return the keys of stored searches by their query."""
    found = (rows.get(SEARCHES, tenant, key) for key in dict.fromkeys(keys[: 2 * MAX_STEPS]))
    return {_same(entry.text): entry.key for entry in found if entry is not None}


def _same(query: str) -> str:
    return one_line(query).lower()
