"""Settings of a run: stored with its record, restored when it is resumed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from harness.core.search_engines import alternative_specs
from harness.settings.declared import Settings
from harness.settings.loading import checked, is_secret, note_of

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")
_CORPUS = "corpus:"
BUNDLED = "corpus:python-docs"


def run_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings to store with a run, as JSON values: without secrets, passwords in URLs and the settings of
    the machine. The folder of a corpus is absolute, so that the run can be resumed from anywhere.
    """
    names = (name for name in Settings.__struct_fields__ if not note_of(name, "local") and not is_secret(name))
    return {name: _stored(to_builtins(getattr(settings, name))) for name in names}


def resumed_settings(stored: Mapping[str, Any], present: Settings, given: Mapping[str, Any], run: str) -> Settings:
    """Return the settings to resume a run with. Precedence: those `given`, those `stored` with the run, the `present`
    ones.

    Raises:
        InvalidInput: this version does not accept a stored value.
    """
    known = {name: value for name, value in stored.items() if name in run_settings(present)}
    changed = {name: value for name, value in known.items() if value != _stored(to_builtins(getattr(present, name)))}
    return replace(present, **checked({**changed, **given}, f"the run {run}"))


def reaching() -> tuple[str, ...]:
    """Return the names of the settings that decide which hosts and folders a run reads."""
    return tuple(name for name in Settings.__struct_fields__ if note_of(name, "reaches"))


def _stored(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_stored(each) for each in value]
    if not isinstance(value, str):
        return value
    if len(alternatives := alternative_specs(value)) > 1:
        return ",".join(map(_stored, alternatives))
    if value.startswith(_CORPUS) and value != BUNDLED:
        return f"{_CORPUS}{Path(value.removeprefix(_CORPUS)).expanduser().absolute()}"
    return _CREDENTIALS.sub("", value)
