"""The page of the settings, from their declarations."""

import inspect
import types
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Meta

from docs.generators.markdown import code, page, text
from harness.settings import Settings, setting_groups
from harness.settings.flags import flag_of, flagged
from harness.settings.loading import HISTORICAL, PREFIX, note_of, type_of

INTRODUCTION = """\
A setting comes from a flag, the environment, a YAML file or its default, in this order of precedence. `harness config`
prints the value and the origin of each; `harness config --path` prints the path of the file, and `--config FILE` or
`HARNESS_CONFIG` names another one. An unknown key is an error that names the nearest known key.

In the file, a setting is a line `name: value`. In the environment, a list is separated by commas and a mapping is
written `a=1,b=2`. Durations take a unit: `90s`, `15m`, `24h`, `7d`. A *local* setting belongs to the machine or to
another service: it is not stored with a run. A *secret* is never shown.

The flags are those of `harness research`; [other commands](commands.md) take some of them."""

NAMES = {str: "text", bool: "true or false", int: "integer", float: "number", Path: "path"}
UNIT_NAMES = {"s": "seconds", "h": "hours"}
_SYMBOLS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def setting_pages() -> dict[str, str]:
    """Return the page of all settings by its path."""
    parts = [
        part
        for heading, (group, names) in setting_groups().items()
        for part in (f"## {heading}", text(inspect.getdoc(group) or ""), *map(_entry, names))
    ]
    return {"reference/settings.md": page("Settings", INTRODUCTION, *parts)}


def _entry(name: str) -> str:
    """Return the heading of a setting, its description and its facts."""
    notes = [note for note in ("local", "secret") if note_of(name, note)]
    variables = [PREFIX + name.upper().replace(".", "__"), *(old for old, new in HISTORICAL.items() if new == name)]
    facts = {
        "type": text(type_text(type_of(name))) + "".join(f", {note}" for note in notes),
        "default": _default(name),
        "bounds": bounds(type_of(name)),
        "environment": ", ".join(map(code, variables)),
        "flag": ", ".join(map(code, flag_of(name).names)) if name in flagged() else "",
    }
    description = note_of(name, "description")
    lines = [f"- {fact}: {value}" for fact, value in facts.items() if value]
    return "\n".join([f"### `{name}`", "", text(f"{description[:1].upper()}{description[1:]}."), "", *lines])


def _default(name: str) -> str:
    """Return the default as the file would hold it."""
    match attrgetter(name)(Settings()):
        case None:
            shown = "not set"
        case Path():
            shown = "the platform's folder for the data of programs"  # another one on each machine
        case bool(value):
            shown = code(str(value).lower())
        case () | {} as value if not value:
            shown = "empty"
        case tuple(values):
            shown = code(", ".join(map(str, values)))
        case dict(values):
            shown = code(",".join(f"{key}={_number(each)}" for key, each in values.items()))
        case value:
            shown = code(_number(value))
    return shown


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def type_text(kind: Any) -> str:
    """Return a declared type in words, with the choices of a `Literal`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        words = " or ".join(f"`{choice}`" for choice in parts)
    elif origin is tuple:
        words = f"list of: {type_text(parts[0])}"
    elif origin is dict:
        words = f"mapping of {type_text(parts[0])} to {type_text(parts[1])}"
    elif origin in {Union, types.UnionType}:
        words = " or ".join(type_text(part) for part in parts if part is not types.NoneType)
    elif parts:  # Annotated
        unit = next((found for note in kind.__metadata__ if (found := (note.extra or {}).get("unit"))), "")
        words = f"{type_text(parts[0])}{f' (duration, {UNIT_NAMES[unit]})' if unit else ''}"
    else:
        words = NAMES.get(kind, kind.__name__)
    return words


def bounds(kind: Any) -> str:
    """Return the bounds of a type in words, those of its parts included; empty without any."""
    found = []
    pending = [kind]
    while pending:
        each = pending.pop(0)
        for note in getattr(each, "__metadata__", ()):
            found += [
                f"{word} {value:,}" for key, word in _SYMBOLS.items() if (value := getattr(note, key)) is not None
            ]
            if note.max_length is not None:
                found.append(f"at most {note.max_length:,} long")
            if note.pattern is not None:
                found.append(f"matches {code(note.pattern)}")
        pending.extend(part for part in get_args(each) if not isinstance(part, Meta))
    return ", ".join(dict.fromkeys(found))
