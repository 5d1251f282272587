"""Search space of experiments: what an experiment may change, and the values of settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from msgspec import structs

from harness.errors import InvalidInput
from harness.settings import Settings, checked, read_mapping

Changes: TypeAlias = Mapping[str, Any]
"""New values by target: the name of a setting, `prompts.NAME` or `rules.NAME` (a text), or the path of a source file in
the checkout, `harness/….py` (its whole new text).
"""

Surface: TypeAlias = Literal["settings", "prompts", "rules", "code"]
SURFACES: tuple[Surface, ...] = get_args(Surface)
TEXTS = ("prompts", "rules")
"""Settings that map names to texts; each text is a target."""

Space: TypeAlias = Mapping[str, tuple[Any, ...]]
"""The possible values of each setting that may change, in an order in which neighbours are similar."""


class InvalidProposal(InvalidInput):
    """A proposal is malformed, or changes what it may not; a loop logs it and goes on."""

    code: ClassVar[str] = "invalid_proposal"


DEFAULT_SPACE: Space = {
    "max_rounds": (1, 2, 3, 5),
    "max_results": (5, 10, 20),
    "enough_score": (0.65, 0.8, 0.9, 1.0),
    "min_novelty": (0.05, 0.1, 0.2),
    "read_pages": (0, 3, 6),
    "follow_ups": (1, 2, 4),
    "chunk_tokens": ((100, 200), (200, 350)),
    "max_evidence": (5, 8, 12, 16),
    "per_source": (2, 4, 8),
    "ranking_weights": ((0.45, 0.15, 0.25, 0.15), (0.6, 0.2, 0.1, 0.1), (0.4, 0.3, 0.1, 0.2), (0.25, 0.25, 0.25, 0.25)),
    "context_tokens": (1_500, 3_000, 6_000),
    "writer_style": ("", "Say every condition and exception that the sources name.", "Be brief."),
}

UNTOUCHABLE = frozenset({"data_dir", "engine", "research_cache", "semantic", "offline", "log_level", "proxy", *TEXTS})
"""Settings that an experiment cannot change: paths, what tasks determine, what the loop itself sets; and those whose
texts are targets one by one.
"""


def read_space(path: Path) -> Space:
    """Read a search space: a YAML mapping from settings to lists of values.

    Raises:
        InvalidInput: it cannot be read, is empty, has a setting that is unknown or that no experiment may change, or
            an invalid value.
    """
    found = read_mapping(path)
    if not all(isinstance(values, list) and values for values in found.values()):
        raise InvalidInput(f"{path} is not a search space; write lines like `max_rounds: [1, 2, 3]`")
    return checked_space({str(name): tuple(values) for name, values in found.items()}, str(path))


def checked_space(space: Space, where: str) -> Space:
    """Return a space after checking that every value is valid for its setting.

    Raises:
        InvalidInput: see `read_space`; the message has `where`.
    """
    if not space:
        raise InvalidInput(f"the search space of {where} is empty; add at least one setting with values")
    return {
        name: tuple(checked_changes({name: value}, where)[name] for value in values) for name, values in space.items()
    }


def checked_changes(changes: Changes, where: str, surfaces: Sequence[Surface] = SURFACES) -> Changes:
    """Return changes after checking them; code is checked where it is tried.

    Raises:
        InvalidInput: a target of none of these surfaces, an unknown setting, one that no experiment may change, or a
            value out of range; the message has `where`.
    """
    check_surfaces(changes, where, surfaces)
    for target, value in changes.items():
        if surface_of(target) != "settings" and not isinstance(value, str):
            raise InvalidInput(f"{where}: the value of {target} must be its whole new text")
    if forbidden := sorted(changes.keys() & UNTOUCHABLE):
        raise InvalidInput(f"{where}: an experiment cannot change {', '.join(forbidden)}")
    plain = {name: value for name, value in changes.items() if surface_of(name) == "settings"}
    found = checked(plain, where)
    for group in TEXTS:
        if texts := texts_of(changes, group):
            checked({group: texts}, where)
    return {**{name: value for name, value in changes.items() if name not in plain}, **found}


def check_surfaces(targets: Iterable[str], where: str, surfaces: Sequence[Surface]) -> None:
    """Check that targets belong to these surfaces.

    Raises:
        InvalidInput: one does not; the message has `where`.
    """
    for target in targets:
        if (surface := surface_of(target)) not in surfaces:
            raise InvalidInput(
                f"{where}: {target} belongs to {surface}, which this loop does not change; pass --surface {surface}"
            )


def surface_of(target: str) -> Surface:
    """Return what a target is a part of."""
    if "/" in target:
        return "code"
    if target.startswith("prompts."):
        return "prompts"
    return "rules" if target.startswith("rules.") else "settings"


def texts_of(changes: Changes, group: str) -> dict[str, str]:
    """Return the new texts of `prompts` or `rules`, by name."""
    return {target.removeprefix(f"{group}."): text for target, text in changes.items() if surface_of(target) == group}


def code_of(changes: Changes) -> dict[str, str]:
    """Return the new texts of source files, by path."""
    return {target: text for target, text in changes.items() if surface_of(target) == "code"}


def changed(settings: Settings, changes: Changes) -> Settings:
    """Return the settings with the changes, but for those of code."""
    values = {name: value for name, value in changes.items() if surface_of(name) == "settings"}
    for group in TEXTS:
        if texts := texts_of(changes, group):
            values[group] = {**getattr(settings, group), **texts}
    return structs.replace(settings, **values)


def every(space: Space) -> Iterator[Changes]:
    """Yield each combination of values, the last setting changing fastest."""
    for values in product(*space.values()):
        yield dict(zip(space, values, strict=True))
