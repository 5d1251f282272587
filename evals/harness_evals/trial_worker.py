"""The program of a trial's processes: runs the tasks that it reads from its input, and answers in JSON, line by line.

Its `harness` is the trial's, so nothing of it is imported before the first task: an error of it is an outcome.
"""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Answer each line of the input; what the trial's code prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for line in sys.stdin.buffer:
        answers.write(_answer(json.loads(line)) + b"\n")
        answers.flush()


def _answer(request: dict[str, Any]) -> bytes:
    try:
        return _run(request)
    except BaseException as error:  # noqa: BLE001 - also of an import, or a wish to exit
        said = f"{type(error).__name__}: {error}"[:2_000].encode(errors="replace").decode()
        outcome = {"task": request["task"]["id"], "repeat": request["repeat"], "error": said}
        return json.dumps({"outcome": outcome}).encode()


def _run(request: dict[str, Any]) -> bytes:
    from pathlib import Path

    import msgspec
    from msgspec.structs import replace

    from harness.settings import Settings, checked
    from harness_evals.run import Job, run_apart
    from harness_evals.stages import text_of
    from harness_evals.tasks import Task

    data = Path(request["data_dir"])
    settings = replace(Settings(), **checked(request["settings"], "the experiment"), data_dir=data)
    task = msgspec.convert(request["task"], Task)
    job = Job(task, request["repeat"], settings, request["at"], request["fresh"], request["origin"])
    outcome = run_apart(job)
    names = {name for each in (outcome, *outcome.parts) for name in each.digests.values()}
    texts = {name: text for name in sorted(names) if (text := text_of(data, name))}
    return msgspec.json.encode({"outcome": outcome, "texts": texts})


if __name__ == "__main__":
    main()
