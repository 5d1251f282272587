"""Recorded runs, found by the beginning of their id."""

from harness.core.origins import EVERY, OWN
from harness.core.tables import RUNS
from harness.core.text import clean, shorten
from harness.errors import InvalidInput, NotFound
from harness.ports import Store
from harness.research.run_record import RUN_ID

LAST = "last"
MAX_RUNS = 100_000
NAMED = 5
"""Run ids listed in a message about an ambiguous id."""


def run_named(store: Store, tenant: str, name: str) -> str:
    """Return the id of the run that `name` refers to: an id, the beginning of one, or `last` of users and agents.

    Raises:
        NotFound: there is none.
        InvalidInput: there are several.
        StoreError: the store cannot be read.
    """
    if RUN_ID.fullmatch(name):
        return name
    origins = OWN if name == LAST else EVERY
    known = [outline.key for outline in store.listings.timeline(RUNS, tenant, limit=MAX_RUNS, origins=origins)]
    found = known[:1] if name == LAST else [run for run in known if name and run.startswith(name)]
    if not found:
        shown = shorten(clean(name, 80), 40)
        raise NotFound(f"no such run: {shown!r}; `harness runs` lists them" if known else "there is no run yet")
    if len(found) > 1:
        raise InvalidInput(f"{name!r} may be any of {', '.join(found[:NAMED])}; write more of the id")
    return found[0]
