"""Changes of an experiment against the state kept before: values of settings, and differences of texts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

import harness
from harness.settings import Settings
from harness_evals.differences import Line, difference
from harness_evals.journal import Experiment, Journal
from harness_evals.space import surface_of
from harness_evals.targets import texts_in

MAX_CODE_BYTES = 400_000
"""Largest source file that is compared."""


class TargetChange(Struct, frozen=True):
    """A changed target: the earlier and the new value of a setting, or the difference of a text."""

    target: str
    before: Any = None
    after: Any = None
    lines: tuple[Line, ...] = ()


def changed_targets(journal: Journal, experiment: Experiment) -> tuple[TargetChange, ...]:
    """Return what an experiment changed. The first text of a source file is that of the program as it is now."""
    kept = next(state for each, state in _with_kept(journal.experiments) if each.number == experiment.number)
    found = []
    for name in _names(kept, experiment):
        before, after = (each[name] if name in each else _first(journal, name) for each in (kept, experiment.changes))
        if surface_of(name) == "settings":
            found.append(TargetChange(name, before, after))
        else:
            found.append(TargetChange(name, lines=difference(str(before), str(after))))
    return tuple(found)


def names_of_changes(experiments: Sequence[Experiment]) -> dict[int, tuple[str, ...]]:
    """Return the names of the targets that each experiment changed against the state kept before, by its number; an
    invalid proposal changes nothing.
    """
    return {each.number: _names(kept, each) for each, kept in _with_kept(experiments)}


def _names(kept: Mapping[str, Any], experiment: Experiment) -> tuple[str, ...]:
    changes = experiment.changes
    return tuple(name for name in {**kept, **changes} if kept.get(name) != changes.get(name)) if changes else ()


def _with_kept(experiments: Sequence[Experiment]) -> Iterator[tuple[Experiment, Mapping[str, Any]]]:
    """Yield each experiment with the changes that were kept before it."""
    kept: Mapping[str, Any] = {}
    for each in experiments:
        yield each, kept
        if each.is_kept:
            kept = each.changes


def _first(journal: Journal, target: str) -> Any:
    """Return the value of a target before the loop's first experiment."""
    surface, settings = surface_of(target), journal.begun.settings
    if surface == "settings":
        return settings.get(target)
    if surface == "code":
        return _source(target)
    group, _, name = target.partition(".")
    replaced = settings.get(group)
    if isinstance(replaced, Mapping) and name in replaced:
        return replaced[name]
    return texts_in((surface,), Settings()).get(target, "")


def _source(target: str) -> str:
    """Return the text of a source file of the program; empty if there is none, or it is too large."""
    root = Path(harness.__file__).resolve().parent
    path = (root.parent / target).resolve()
    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > MAX_CODE_BYTES:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")
