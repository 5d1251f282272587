"""Application of kept settings, prompts and rules to the user's configuration."""

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import yaml

from harness.errors import StoreError
from harness.settings import read_mapping
from harness.storage.files import replacing
from harness_evals.space import TEXTS, Changes, checked_changes, surface_of, texts_of


def apply_settings(path: Path, changes: Changes) -> list[str]:
    """Write the kept settings, prompts and rules into the configuration at `path`, which keeps its other settings; the
    earlier file stays as `….before`. Return what was done, a line each.

    Raises:
        InvalidInput: the configuration cannot be read, or a change is not valid any more.
        StoreError: it cannot be written.
    """
    kept: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in checked_changes(changes, "the loop's journal").items()
        if surface_of(name) == "settings"
    }
    present = read_mapping(path) if path.exists() else {}
    for group in TEXTS:
        if texts := texts_of(changes, group):
            kept[group] = {**(present.get(group) or {}), **texts}
    kept = {name: value for name, value in kept.items() if present.get(name) != value}
    if not kept:
        return []
    before = path.with_name(f"{path.name}.before")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            shutil.copy(path, before)
        with replacing(path.resolve(), private=path.exists()) as file:  # a symbolic link stays one
            if path.exists() and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            file.write(yaml.safe_dump({**present, **kept}, sort_keys=False, allow_unicode=True).encode())
    except OSError as error:
        raise StoreError(f"cannot write {path} ({error.strerror}); nothing was changed") from error
    lines = [f"{name} is set in {path}" for name in kept]
    return [*lines, f"the earlier configuration is {before}"] if present else lines
