"""Loading of settings from a file, the environment and flags; checks each value and records its origin."""

import os
import re
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import platformdirs
from msgspec import Meta, Struct

from harness.core.durations import UNITS, seconds_in
from harness.core.text import one_line, shorten
from harness.errors import InvalidInput
from harness.settings import declared
from harness.settings.conversation_settings import VectorStoreSettings
from harness.settings.declared import APP, BLOCKS, Settings

PREFIX = "HARNESS_"
CONFIG_VARIABLE = "HARNESS_CONFIG"
HISTORICAL = {"RESEARCH_CACHE": "research_cache", "SEMANTIC_CACHE_THRESHOLD": "semantic_cache_threshold"}
MAX_CONFIG_BYTES = 2**20
MAX_SHOWN = 60

_BETWEEN_PAIRS = re.compile(r",(?=\s*[\w./:-]+=)")
"""A comma before the next name of a mapping in the environment: a value may have commas, too."""
_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlevel = 120, 120, 2


def default_config_path() -> Path:
    """Return the platform's path of the configuration file, which need not exist."""
    return platformdirs.user_config_path(APP, appauthor=False) / "config.yaml"


def key_in(variable: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the secret in an environment variable; `None` without a name.

    Raises:
        InvalidInput: there is no such variable, or it is empty.
    """
    if variable is None:
        return None
    if not (key := environment.get(variable, "").strip()):
        raise InvalidInput(f"the environment variable {variable} holds no key; set it, or name another one")
    return key


class Described(Struct, frozen=True):
    """One setting for people: `value` is hidden for secrets, `origin` names the layer that decided."""

    name: str
    value: str
    origin: str
    help: str
    default: str


class Loaded(Struct, frozen=True):
    """The settings, and the origin of each: `default`, a file, a variable or a flag."""

    settings: Settings
    origins: dict[str, str]
    config_path: Path

    def describe(self) -> list[Described]:
        """Return every setting in the order of declaration, those of a block one by one, secrets hidden."""
        defaults = Settings()
        return [
            Described(
                name,
                _shown(self.settings, name),
                self.origins[name],
                note_of(name, "description"),
                _shown(defaults, name),
            )
            for name in setting_names()
        ]


def _shown(settings: Settings, name: str) -> str:
    value = attrgetter(name)(settings)
    if value is None or value in ((), "", {}):
        return "not set"
    if is_secret(name):
        return "set (hidden)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{name}={_brief(each)}" for name, each in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _brief(value: float | str) -> str:
    """Return a number, or the beginning of a text on one line."""
    return shorten(one_line(value), MAX_SHOWN) if isinstance(value, str) else f"{value:g}"


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    config: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Loaded:
    """Merge the layers and check every value. Flags that are `None` were not given; empty variables are not set.

    Raises:
        InvalidInput: an unknown key (the message names the nearest one), a value out of range, an unreadable file.
    """
    named = config or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    try:
        path = (named or default_config_path()).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"no such configuration file: {named}; {error}") from error
    values: dict[str, Any] = {}
    origins = dict.fromkeys(setting_names(), "default")
    for name, raw, origin in (
        *_from_file(path, required=named is not None),
        *_from_environment(environment),
        *_from_flags(flags or {}),
    ):
        values[name] = _checked(name, raw, origin)
        origins[name] = origin
    blocks = {name: _block(name, kind, values, origins) for name, kind in BLOCKS.items()}
    plain = {name: value for name, value in values.items() if "." not in name}
    return Loaded(Settings(**plain, **blocks), origins, path)


@cache
def setting_names() -> tuple[str, ...]:
    """Return the name of every setting in the order of declaration; `block.setting` for those of a block."""
    return tuple(
        each
        for name in Settings.__struct_fields__
        for each in ([f"{name}.{own}" for own in BLOCKS[name].__struct_fields__] if name in BLOCKS else [name])
    )


def checked(changes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return values with the types of `Settings`; `where` names their origin in errors.

    Raises:
        InvalidInput: an unknown setting (the message names the nearest one), or a value out of range.
    """
    for name in changes:
        if name in BLOCKS or "." in name:
            raise InvalidInput(f"{name} (in {where}) belongs to a block of settings, which cannot be changed there")
    return {_known(name, f"in {where}"): _checked(name, value, where) for name, value in changes.items()}


def read_mapping(path: Path) -> dict[Any, Any]:
    """Read a YAML file that holds one mapping.

    Raises:
        InvalidInput: it cannot be read, is too large, or not a mapping; the message names the line if YAML gives it.
    """
    try:
        with path.open("rb") as file:
            return _yaml_mapping(file.read(MAX_CONFIG_BYTES + 1), path)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


def _from_file(path: Path, *, required: bool) -> Iterator[tuple[str, Any, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        if required:
            raise InvalidInput(
                f"no such configuration file: {path}; `harness config --path` shows the usual place"
            ) from None
        return
    except OSError as error:
        raise InvalidInput(f"cannot read the configuration file {path}: {error.strerror}") from error
    for name, value in _yaml_mapping(text, path).items():
        if value is None:
            continue
        if name not in BLOCKS:
            yield _known(str(name), f"in {path}"), value, f"file {path}"
            continue
        if not isinstance(value, dict):
            raise InvalidInput(f"{name} in {path} must hold `name: value` lines, not {_SHORT.repr(value)}")
        for own, part in value.items():
            if part is not None:
                yield _known(f"{name}.{own}", f"in {path}"), part, f"file {path}"


def _yaml_mapping(text: bytes, path: Path) -> dict[Any, Any]:
    import yaml

    if len(text) > MAX_CONFIG_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_CONFIG_BYTES:,} bytes, too large for a configuration file")
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:  # constructors raise all
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "its start"
        raise InvalidInput(f"{path} is not valid YAML near {where}; correct or remove it") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise InvalidInput(f"{path} must hold `name: value` lines, not a {type(loaded).__name__}")
    return loaded


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for variable, name in HISTORICAL.items():
        if environment.get(variable):
            yield name, environment[variable], f"environment {variable}"
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable != CONFIG_VARIABLE and environment[variable]:
            name = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
            name = _known(name, f"in the environment ({variable})")
            yield name, environment[variable], f"environment {variable}"


def _from_flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for name, value in flags.items():
        if value is not None:
            yield name, value, f"flag --{name.replace('_', '-')}"


def _known(name: str, where: str) -> str:
    known = setting_names()
    if name in known:
        return name
    import difflib

    own = [each for each in known if each.startswith(f"{name.partition('.')[0]}.")]
    nearest = difflib.get_close_matches(name, own or known, n=1, cutoff=0.0)
    raise InvalidInput(
        f"unknown setting {name!r} {where}; did you mean {nearest[0]!r}? `harness config` lists them all"
    )


def _checked(name: str, raw: object, origin: str) -> Any:
    kind = type_of(name)
    held = get_args(kind)[0]
    if isinstance(raw, str) and raw.lower() == "null" and type(None) in get_args(held):
        raw = None
    if isinstance(raw, str) and (
        get_origin(held) is tuple or ("," in raw and tuple in [get_origin(each) for each in get_args(held)])
    ):
        raw = [part.strip() for part in raw.split(",") if part.strip()]
    merged = get_origin(held) is dict
    if merged and isinstance(raw, str):
        raw = dict(_pair(part) for part in _BETWEEN_PAIRS.split(raw) if part.strip())
    unit = note_of(name, "unit")
    try:
        value = msgspec.convert(_in_unit(raw, unit) if unit else raw, kind, strict=False, dec_hook=_decode)
        if check := note_of(name, "check"):
            check(value)
        return {**getattr(Settings(), name), **value} if merged else value
    except InvalidInput as error:
        raise InvalidInput(f"{name} ({origin}) cannot be used: {error}") from None
    except msgspec.ValidationError as error:
        reason = shorten(str(error), 200)
        if "matching regex" in reason:  # patterns are for programs
            reason = f"it needs another form: {note_of(name, 'description')}"
        if reason.startswith("Invalid enum value"):
            reason += f"; choose one of {', '.join(_choices(kind))}"
        shown = "its value" if is_secret(name) else _SHORT.repr(raw)
        raise InvalidInput(f"{name} ({origin}) cannot be {shown}: {reason[0].lower()}{reason[1:]}") from None


def _choices(kind: Any) -> tuple[str, ...]:
    """Return the values of the `Literal` within a type, or nothing."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(filter(None, (_choices(part) for part in get_args(kind) if not isinstance(part, Meta))), ())


def _block(name: str, kind: type[VectorStoreSettings], values: dict[str, Any], origins: dict[str, str]) -> Any:
    """Return a block of its checked values.

    Raises:
        InvalidInput: the values do not fit one another.
    """
    own = {each.partition(".")[2]: value for each, value in values.items() if each.startswith(f"{name}.")}
    sizes = [each for each in own if "chunk" in each]
    last = "dynamic_threshold"
    try:
        block = kind.of(own)
        if block.retrieval_strategy != own.get("retrieval_strategy", kind().retrieval_strategy):
            origins[f"{name}.retrieval_strategy"] = origins[f"{name}.{last}"]
        if sizes:
            last = sizes[-1]
            block.chunking()
    except InvalidInput as error:
        raise InvalidInput(f"{name} ({origins[f'{name}.{last}']}) cannot be used: {error}") from None
    return block


def _pair(text: str) -> tuple[str, str]:
    """Split one `name=value` of a mapping in the environment; a missing value is empty, which the check refuses."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip(" ,")


def _in_unit(value: object, unit: str) -> object:
    """Return durations (`7d`) as numbers of a unit; other values stay as they are, for the check to refuse."""
    if isinstance(value, dict):
        return {name: _in_unit(each, unit) for name, each in value.items()}
    if not isinstance(value, str) or not value[-1:].isalpha():
        return value
    try:
        return seconds_in(value) / UNITS[unit]
    except InvalidInput:
        return value


def _decode(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, (str, Path)) and str(value) and "\0" not in str(value):
        try:
            return Path(value).expanduser().absolute()
        except RuntimeError as error:
            raise msgspec.ValidationError(f"{error}") from error
    raise msgspec.ValidationError("expected a path")


@cache
def _types() -> dict[str, Any]:
    blocks = {
        f"{name}.{own}": kind
        for name, block in BLOCKS.items()
        for own, kind in get_type_hints(block, include_extras=True).items()
    }
    return get_type_hints(Settings, include_extras=True) | blocks


def type_of(name: str) -> Any:
    """Return the declared type of a setting, with its annotations."""
    return _types()[name]


def is_secret(name: str) -> bool:
    """Return whether a setting must never be shown."""
    return bool(note_of(name, "secret"))


def stays_here(name: str) -> bool:
    """Return whether only users of this machine may see a setting: it may name its folders, or hosts near it."""
    return bool(note_of(name, "local") or note_of(name, "reaches"))


@cache
def setting_groups() -> Mapping[str, tuple[type[Struct], tuple[str, ...]]]:
    """Return the groups of settings in the order of declaration, by their name in words (`Vector store` for
    `VectorStoreSettings`): the class that declares each, and the names of its settings.
    """
    kinds = [kind for name, kind in vars(declared).items() if name.endswith("Settings") and kind is not Settings]
    groups: dict[type[Struct], list[str]] = {}
    for name in setting_names():
        block, _, own = name.rpartition(".")
        among = [BLOCKS[block]] if block else kinds
        groups.setdefault(next(kind for kind in among if own in kind.__struct_fields__), []).append(name)
    in_words = re.compile(r"(?<=[a-z])(?=[A-Z])")
    return {
        in_words.sub(" ", kind.__name__.removesuffix("Settings")).capitalize(): (kind, tuple(names))
        for kind, names in groups.items()
    }


def note_of(name: str, key: str) -> Any:
    """Return the note `key` of a field's annotations, at any depth of its type."""
    pending = [type_of(name)]
    while pending:
        kind = pending.pop()
        for note in getattr(kind, "__metadata__", ()):
            if (found := getattr(note, key, None)) is not None or (found := (note.extra or {}).get(key)) is not None:
                return found
        pending.extend(part for part in get_args(kind) if not isinstance(part, Meta))
    return None
