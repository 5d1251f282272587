"""Application of what a loop kept to the user's configuration."""

from pathlib import Path
from typing import Any

import yaml

from harness.errors import StoreError
from harness.settings import read_mapping
from harness_evals.space import TEXTS, Changes, checked_changes, code_of, texts_of


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
        if name not in code_of(changes) and not any(name.startswith(f"{group}.") for group in TEXTS)
    }
    present = read_mapping(path) if path.exists() else {}
    for group in TEXTS:
        if texts := texts_of(changes, group):
            kept[group] = {**(present.get(group) or {}), **texts}
    kept = {name: value for name, value in kept.items() if present.get(name) != value}
    if not kept:
        return []
    before = path.with_name(f"{path.name}.before")
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            before.write_bytes(path.read_bytes())
        draft.write_text(yaml.safe_dump({**present, **kept}, sort_keys=False, allow_unicode=True), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path} ({error.strerror}); nothing was changed") from error
    lines = [f"{name} is set in {path}" for name in kept]
    return [*lines, f"the configuration of before is {before}"] if present else lines
