"""Changes of an experiment against the state kept before: values of settings, and differences of texts."""

from collections.abc import Mapping, Sequence
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
    kept, found = _kept_before(journal.experiments, experiment.number), []
    for name in names_of_changes(journal.experiments, experiment):
        before, after = (each.get(name, _first(journal, name)) for each in (kept, experiment.changes))
        if surface_of(name) == "settings":
            found.append(TargetChange(name, before, after))
        else:
            found.append(TargetChange(name, lines=difference(str(before), str(after))))
    return tuple(found)


def names_of_changes(experiments: Sequence[Experiment], experiment: Experiment) -> tuple[str, ...]:
    """Return the names of the targets that an experiment changed against the state kept before; an invalid proposal
    changes nothing.
    """
    if not experiment.changes:
        return ()
    kept = _kept_before(experiments, experiment.number)
    return tuple(name for name in {**kept, **experiment.changes} if kept.get(name) != experiment.changes.get(name))


def _kept_before(experiments: Sequence[Experiment], number: int) -> Mapping[str, Any]:
    earlier = (each.changes for each in reversed(experiments) if each.number < number and each.is_kept)
    return next(earlier, {})


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
