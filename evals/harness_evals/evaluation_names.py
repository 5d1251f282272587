"""Names of evaluations: the id of one in the data directory, or `LOOP:NUMBER:baseline|candidate` for an arm of an
experiment (number 0: the runs of identical settings).
"""

from collections.abc import Mapping
from pathlib import Path

from harness.errors import InvalidInput
from harness_evals.journal import EVALUATIONS, FOLDER, find_loop
from harness_evals.log import logs_in
from harness_evals.suite import FOLDER as LOGS
from harness_evals.suite import find_log

SEPARATOR = ":"


def find_evaluation(data_dir: Path, name: str) -> tuple[str, Path]:
    """Return the whole name of an evaluation, and its log: `name` may be a file, `last`, or the beginning of an id.

    Raises:
        InvalidInput: there is none, or several.
    """
    if SEPARATOR not in name or Path(name).is_file():
        path = find_log(data_dir / LOGS, name)
        return path.stem, path
    begun, _, arm = name.partition(SEPARATOR)
    loop = find_loop(data_dir / FOLDER, begun)
    arms, whole = arms_of(loop), f"{loop.name}{SEPARATOR}{arm}"
    if whole not in arms:
        some = ", ".join(list(arms)[-4:]) or "none"
        raise InvalidInput(f"no evaluation {whole!r}; write LOOP:NUMBER:baseline or candidate. There are {some}")
    return whole, arms[whole]


def arms_of(loop: Path) -> Mapping[str, Path]:
    """Return the logs of the arms in a loop's folder by the names of their evaluations, in the order of the files."""
    return {arm_name(loop.name, path.name): path for path in reversed(logs_in(loop / EVALUATIONS))}


def arm_name(loop: str, file: str) -> str:
    """Return the name of the evaluation of an arm from that of its file: `3-baseline.jsonl` is `LOOP:3:baseline`."""
    number, _, arm = file.removesuffix(".jsonl").rpartition("-")
    return f"{loop}{SEPARATOR}{number}{SEPARATOR}{arm}"


def resume_command(name: str) -> str:
    """Return the command that continues an evaluation, or the loop of an arm."""
    loop, of_loop, _ = name.partition(SEPARATOR)
    return f"harness autoresearch --resume {loop}" if of_loop else f"harness eval run --resume {name}"
