"""Options of the command line, as the declarations of settings describe them."""

from types import NoneType
from typing import Any, Literal, get_args, get_origin

from msgspec import Meta, Struct

from harness.settings.declared import Settings
from harness.settings.loading import note_of, type_of


class Flag(Struct, frozen=True):
    """One option: `unit` is `s` or `h` for durations, `kind` the type of one value, `several` whether it may repeat,
    `choices` the texts that it takes; empty where it takes others.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    kind: type
    unit: str
    several: bool
    choices: tuple[str, ...]


def flagged() -> tuple[str, ...]:
    """Return the names of the settings that declare an option."""
    return tuple(name for name in Settings.__struct_fields__ if note_of(name, "flag"))


def flag_of(name: str) -> Flag:
    """Return the option of a setting that declares one."""
    names, metavar = note_of(name, "flag")
    declared = _plain(type_of(name))
    choices = get_args(declared) if get_origin(declared) is Literal else ()
    kind = str if choices else declared
    several = get_origin(kind) is tuple
    return Flag(
        names or (f"--{name.replace('_', '-')}",),
        metavar or ("N" if kind is int else ""),
        _help(name),
        _plain(get_args(kind)[0]) if several else kind,
        note_of(name, "unit") or "",
        several,
        choices,
    )


def _help(name: str) -> str:
    """Return the description as a sentence, with the range where it has two ends."""
    text, low, high = note_of(name, "description"), note_of(name, "ge"), note_of(name, "le")
    bounds = "" if low is None or high is None else f" ({low} to {high})"
    return f"{text[0].upper()}{text[1:]}{bounds}."


def _plain(kind: Any) -> Any:
    """Return a type without annotations and without `None`."""
    while get_origin(kind) is not Literal and (args := get_args(kind)) and get_origin(kind) is not tuple:
        kind = next(part for part in args if part is not NoneType and not isinstance(part, Meta))
    return kind
