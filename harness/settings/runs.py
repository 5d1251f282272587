"""The settings that shaped a run: stored with its record, restored when it is resumed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from harness.settings.declared import NOT_OF_A_RUN, Settings
from harness.settings.loading import checked, is_secret

REACHING = frozenset("engine allowed_hosts model model_url embedding_model embedding_url".split())
"""Settings that decide which hosts and folders a run reads."""

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")
_CORPUS = "corpus:"
BUNDLED = "corpus:python-docs"


def run_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that shape a research, as JSON values. Secrets and passwords in URLs are left out; the folder
    of a corpus is absolute, so that the run can be resumed from anywhere.
    """
    names = (name for name in Settings.__struct_fields__ if name not in NOT_OF_A_RUN and not is_secret(name))
    return {name: _stored(to_builtins(getattr(settings, name))) for name in names}


def resumed_settings(stored: Mapping[str, Any], present: Settings, given: Mapping[str, Any], run: str) -> Settings:
    """Return the settings to resume a run with: those `given` explicitly, then those `stored` with the run, then the
    `present` ones.

    Raises:
        InvalidInput: a stored value is not one that this version takes.
    """
    known = {name: value for name, value in stored.items() if name in run_settings(present)}
    changed = {name: value for name, value in known.items() if value != _stored(to_builtins(getattr(present, name)))}
    return replace(present, **checked({**changed, **given}, f"the run {run}"))


def _stored(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_stored(each) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith(_CORPUS) and value != BUNDLED:
        return f"{_CORPUS}{Path(value.removeprefix(_CORPUS)).expanduser().absolute()}"
    return _CREDENTIALS.sub("", value)
