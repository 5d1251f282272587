"""Repeated runs of one research: the same question with the same engines."""

from collections.abc import Container, Sequence

from msgspec import Struct

from harness.core.tables import RESEARCH, RUNS
from harness.ports import Store

MAX_RUNS = 10_000
"""Newest runs that are searched for repeats."""


class Repeats(Struct, frozen=True):
    """For each run, all runs of the same research, newest first; and the questions that have runs."""

    runs: dict[str, list[str]] = {}
    questions: frozenset[str] = frozenset()

    def hides(self, table: str, key: str, text: str, among: Container[str] | None = None) -> bool:
        """Return whether a row adds nothing: a run with a newer one of the same research (within `among`, if given), or
        the gathered context of a listed run.
        """
        if table == RUNS and key in self.runs:
            held = self.runs[key]
            return key != held[0] and (among is None or any(run in among for run in held[: held.index(key)]))
        return table == RESEARCH and _same(text) in self.questions

    def of(self, table: str, key: str) -> tuple[str, ...]:
        """Return the runs of the same research as this row."""
        return tuple(self.runs.get(key, ())) if table == RUNS else ()


def repeats_in(store: Store, tenant: str, *, since: float, origins: Sequence[str]) -> Repeats:
    """Group the tenant's newest runs by question (ignoring case and spacing) and engines. Other settings may differ.

    Raises:
        StoreError: the store cannot be read.
    """
    grouped: dict[tuple[str, str], list[str]] = {}
    for outline in store.listings.timeline(RUNS, tenant, since=since, limit=MAX_RUNS, origins=origins):
        grouped.setdefault((_same(outline.text), str(outline.own.engine)), []).append(outline.key)
    runs = {run: held for held in grouped.values() for run in held}
    return Repeats(runs, frozenset(question for question, _ in grouped))


def _same(question: str) -> str:
    return " ".join(question.lower().split())
