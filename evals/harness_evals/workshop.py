"""Copies of the program in which an agent edits the texts that may change."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from harness_evals.proposers import Situation
from harness_evals.space import code_of
from harness_evals.trials import CodeTrials


@contextmanager
def copy_to_edit(code: CodeTrials, situation: Situation) -> Iterator[tuple[Path, Mapping[str, Path]]]:
    """Yield the folder of a copy with the changes kept so far, and the file of each target in it, with its present
    text.
    """
    trial = code.trial(len(situation.tried) + 1, code_of(situation.best))
    try:
        paths = {target: trial.root / place_of(target) for target in situation.targets}
        for target, path in paths.items():
            path.write_text(situation.targets[target], encoding="utf-8")
        yield trial.root, paths
    finally:
        trial.discard()


def place_of(target: str) -> str:
    """Return the path of a target's file in a checkout."""
    if "/" in target:
        return target
    group, _, name = target.partition(".")
    found = [each.name for each in files(f"harness.research.{group}").iterdir() if each.name.startswith(f"{name}.")]
    return f"harness/research/{group}/{found[0] if found else name}"
