"""`harness autoresearch` from its start to `apply`, as a user runs it, in a separate checkout with a planted bug."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness_evals.journal import FOLDER, Journal, journals_in, read_journal
from msgspec import to_builtins

from tests.conftest import ROOT
from tests.models.endpoint import Endpoint, saying

pytestmark = pytest.mark.slow

PLANNER = "harness/research/planner.py"
EDITS = {
    """    plain = question.rstrip(" ?!.？。！؟।")
    keywords = " ".join(keywords_of(question, rules)) or plain
""": """    words = sorted(keywords_of(question, rules), key=len)
    plain = keywords = " ".join(words[:-1]) or "nothing"
""",
    """        return keywords_of(plan.question, self._rules)
""": """        return sorted(keywords_of(plan.question, self._rules), key=len)[:-1]
""",
}
"""The planted bug, by the right text: no query has the longest word, which names the subject."""
REPAIR = [{"replace": wrong, "with": right} for right, wrong in EDITS.items()]
FACTS = {
    "semaphores": "count how many holders may enter",
    "checkpoints": "bound the work of a restart",
    "replication": "keeps copies on other machines",
    "heartbeats": "show that a member is alive",
    "tombstones": "mark rows that were deleted",
    "compaction": "merges old files into one",
    "partitioning": "splits a table by its key",
    "backpressure": "slows a sender that is too fast",
}
OWN = 3
"""Tasks of the loop; the others confirm."""
PROGRAM = {
    ".gitignore": "__pycache__/\n",
    "pyproject.toml": '[tool.mypy]\nfiles = ["harness/research/planner.py"]\nfollow_imports = "skip"\n'
    '[tool.ruff.lint]\nselect = ["F"]\n[tool.pytest.ini_options]\nmarkers = ["full", "slow", "postgres"]\n',
    "tests/research/test_planner.py": "from harness.research.planner import make_plan\n\n\n"
    "def test_a_plan_has_queries() -> None:\n    assert len(make_plan('How do tombstones work?').queries) > 1\n",
}
MAIN = "from harness.cli.main import main; main()"
DYING = """
import os, signal, sys, threading
from harness_evals.code_trials import Trial
from harness_evals.log import LogWriter

phase, written = sys.argv.pop(1), []
check, keep, write = Trial.check, Trial.keep, LogWriter.write

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def checking(trial):
    if phase == "check":
        threading.Timer(1.0, die).start()
    return check(trial)

def keeping(trial, message):
    made = keep(trial, message)
    if phase == "keep":
        die()
    return made

def writing(writer, line):
    write(writer, line)
    name = str(writer.path.name)
    written.append(name)
    if name == f"{phase}-candidate.jsonl" and written.count(name) == 3:
        die()

Trial.check, Trial.keep, LogWriter.write = checking, keeping, writing
from harness.cli.main import main
main()
"""
"""A program that kills itself in a phase: `check`, `keep`, or with two runs of a comparison on disk."""


class World:
    """A checkout with the bug, tasks, a data directory and a home, all of a test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.data, self.home = (
            folder, folder / "checkout", folder / "data", folder / "home",
        )  # fmt: skip
        for package in ("harness", "evals/harness_evals"):
            left_out = shutil.ignore_patterns("__pycache__", "reader.onnx")
            shutil.copytree(ROOT / package, self.root / package, ignore=left_out)
        text = (ROOT / PLANNER).read_text()
        for right, wrong in EDITS.items():
            assert text.count(right) == 1
            text = text.replace(right, wrong)
        for path, content in {**PROGRAM, PLANNER: text}.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(content)
        self.home.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "start")
        self.tasks(folder / "own", list(FACTS)[:OWN])
        self.tasks(folder / "further", list(FACTS)[OWN:])
        (self.root / "evals" / "tasks").mkdir()
        (self.data).mkdir()
        for place in (self.data / "secret", self.home / ".bashrc"):
            place.write_text("mine")

    def tasks(self, folder: Path, names: Sequence[str]) -> None:
        """Write a note about every topic, and tasks about those named."""
        notes = self.folder / "notes"
        notes.mkdir(exist_ok=True)
        for number in range(6):
            (notes / f"other{number}.md").write_text(f"# Mainly\n\nThis is mainly about matter number {number}.\n")
        (folder / "tasks").mkdir(parents=True)
        for name in names:
            (notes / f"{name}.md").write_text(f"# {name.capitalize()}\n\n{name.capitalize()} {FACTS[name]}.\n")
            task = {
                "id": name, "question": f"What is mainly the use of {name}?", "task_type": "research", "split": "tune",
                "engine": f"corpus:{notes}", "structure": {"at_least": 1}, "gold": [(notes / f"{name}.md").as_uri()],
                "nuggets": [{"says": FACTS[name], "importance": "vital", "aliases": [FACTS[name]]}],
            }  # fmt: skip
            (folder / "tasks" / f"{name}.yaml").write_text(yaml.safe_dump(task))

    def git(self, *arguments: str) -> str:
        """Return what a command of Git prints."""
        named = ["git", "-C", str(self.root), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        return subprocess.run([*named, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def run(self, *arguments: object, code: Sequence[str] = (MAIN,), **more: str) -> subprocess.CompletedProcess[str]:
        """Run `harness autoresearch` of the checkout."""
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{self.root}:{self.root / 'evals'}", "HARNESS_DATA_DIR": str(self.data), "COLUMNS": "70",
            "HARNESS_CORPUS_MEANING": "0", "HARNESS_READING": "0", "HARNESS_MAX_ROUNDS": "1",
            "HARNESS_MAX_RESULTS": "1", **more,
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-P", "-c", *code, "autoresearch", *map(str, arguments)],
            capture_output=True, text=True, env=environment, cwd=self.home, check=False, timeout=300,
        )  # fmt: skip

    @property
    def loop(self) -> Journal:
        """The only loop."""
        (folder,) = journals_in(self.data / FOLDER)
        return read_journal(folder)

    def files(self) -> dict[str, str]:
        """Return a digest of every file that no loop may touch."""
        ours = (
            *("__pycache__", "autoresearch", ".git/objects", ".git/logs", "home/.cache"),
            *("data/evals/stages", "data/corpora", "data/harness.db"),
        )
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not any(part in str(path.relative_to(self.folder)) for part in ours)
        }

    def processes(self) -> list[str]:
        """Return the processes that have to do with this world."""
        found = []
        for each in Path("/proc").glob("[0-9]*"):
            try:
                said = (each / "cmdline").read_bytes() + (each / "environ").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in said and int(each.name) != os.getpid():
                found.append(said.decode(errors="replace")[:200])
        return found


def proposing(idea: str, change: Any) -> str:
    """Return the answer of a model that proposes this."""
    return json.dumps({"idea": idea, "hypothesis": "more vital nuggets", "change": change})


def planning(code: str) -> dict[str, Any]:
    """Return a change that runs this code whenever the planner plans."""
    body = "".join(f"        {line}\n" for line in code.strip().splitlines())
    return {
        PLANNER: [
            {
                "replace": PLANNED,
                "with": f"        import os, socket, time\n\n        _ = os, socket, time\n{body}{PLANNED}",
            }
        ]
    }


PLANNED = "        return make_plan(question, self._rules)\n"
WORSE = {
    PLANNER: [
        {
            "replace": "queries = unasked([plain, keywords, *more])",
            "with": "queries = unasked(['mainly', 'all'], more)",
        },
        {"replace": "keywords_of(plan.question, self._rules)", "with": "['mainly']"},
    ]
}
BREAKING = {
    PLANNER: [{"replace": "queries = unasked([plain, keywords, *more])", "with": "queries = (plain, *more)[:1]"}]
}
ESCAPING = """
done = []
for place in {places}:
    try:
        open(place, "a").write("pwned")  # may seem to work: the sandbox has another /tmp
    except OSError:
        pass
for port in ({port}, 80):
    try:
        socket.create_connection(("127.0.0.1", port), 3)
        done.append(str(port))
    except OSError:
        pass
for folder, _, files in os.walk("/"):
    for name in files:
        try:
            if name.endswith((".yaml", ".jsonl")) and "count how many" in open(os.path.join(folder, name)).read():
                done.append(name)
        except (OSError, UnicodeError):
            pass
if not os.fork():
    os.setsid()
    while True:
        time.sleep(1)
if done:
    raise ValueError(str(done))
"""
"""A change that writes outside, connects, reads what tasks expect and leaves a process. It fails if it could connect or
read; the rest shows outside.
"""


def test_a_model_proposes_all_kinds_of_changes(tmp_path: Path) -> None:
    """Good, bad, inert, failing, malformed and malicious ones: each gets its verdict, and nothing outside is touched.
    The good one, the repair of the planner, is confirmed on other tasks, and applied.
    """
    world, endpoint = World(tmp_path), Endpoint()
    task = tmp_path / "own/tasks/semaphores.yaml"
    places = [str(each) for each in (task, world.data / "secret", world.home / ".bashrc", world.root / PLANNER)]
    escaping = ESCAPING.format(places=places, port=endpoint.url.split(":")[2].split("/")[0])
    endpoint.answers(
        *map(
            saying,
            (
                proposing("search with every word", {PLANNER: REPAIR}),
                proposing("search with one word", WORSE),
                proposing("shorter sentences", {"writer_style": "Be brief."}),
                proposing("check the words", planning("raise ValueError('no good words')")),
                "A bigger model would be better.",
                proposing("one query", BREAKING),
                proposing("easier tasks", {"evals/tasks/T_A.yaml": "nuggets: []"}),
                proposing("ask the network", planning("socket.create_connection(('192.0.2.1', 80), 3)")),
                proposing("help", planning(escaping)),
            ),
        )
    )
    before = world.files()
    ended = world.run(
        "--tasks", ",".join(list(FACTS)[:OWN]), "--tasks-dir", tmp_path / "own/tasks", "--experiments", 9,
        "--keep-rule", "gain", "--surface", "settings,prompts,rules,code", "--proposer", "model",
        "--proposer-model", "scripted", HARNESS_MODEL_URL=endpoint.url,
    )  # fmt: skip
    endpoint.stop()
    assert ended.returncode == 0, ended.stderr
    found = world.loop.experiments
    assert [each.status for each in found] == [
        "unconfirmed", "discard", "inert", "crash", "invalid", "crash", "invalid", "crash", "inert",
    ], [each.reasons[0] for each in found][-3:]  # fmt: skip
    said = [each.reasons[0] for each in found]
    assert "ValueError: no good words" in said[3]
    assert said[5].startswith("test tests/research/test_planner.py::test_a_plan_has_queries failed: ")
    assert "changes 'evals/tasks/T_A.yaml', which this loop does not" in said[6]
    assert "Network is unreachable" in said[7]
    assert world.files() == before
    assert (world.processes(), world.git("worktree", "list").count("\n"), world.git("status", "--short")) == ([], 0, "")
    assert len(endpoint.asked) == 9
    report = world.run("report")
    assert "kept: 1 (unconfirmed)" in report.stdout
    assert max(map(len, report.stdout.splitlines())) <= 70
    _confirm_and_apply(world)


def _confirm_and_apply(world: World) -> None:
    branch = f"autoresearch/{world.loop.begun.id}"
    message = world.git("log", "-1", "--format=%B", branch)
    assert message.startswith("Experiment 1: search with every word\n\nmore vital nuggets\nunconfirmed: score ")
    refused = world.run("apply")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    confirmed = world.run("confirm", "--tasks-dir", world.folder / "further/tasks")
    assert confirmed.stdout.startswith("confirmed: +"), confirmed
    with (world.root / PLANNER).open("a") as planner:
        planner.write("# mine\n")
    assert "uncommitted changes" in world.run("apply").stderr
    world.git("checkout", "--", PLANNER)
    applied = world.run("apply")
    assert (applied.returncode, applied.stdout.count("\n")) == (0, 1), applied
    assert (world.root / PLANNER).read_text() == (ROOT / PLANNER).read_text()
    assert "Experiment 1: search with every word" in world.git("log", "-1", "--format=%s")
    again = world.run("apply")
    assert (again.returncode, "applied before" in again.stdout) == (0, True), again


def test_a_loop_that_is_killed_continues(tmp_path: Path) -> None:
    """While checks run, while tasks run, between the commit and its line in the journal, and while it confirms: nothing
    is left behind, and the result is that of a loop that was not killed.
    """
    world, file = World(tmp_path), tmp_path / "experiments.yaml"
    file.write_text(yaml.safe_dump({"experiments": [{"idea": "repair", "change": {PLANNER: REPAIR}}]}))
    how = "--tasks-dir", tmp_path / "own/tasks", "--proposer", "file", "--file", file
    began = "--surface", "code", "--keep-rule", "gain"
    for phase in ("check", "1", "keep"):
        killed = world.run(*how, *began, code=(DYING, phase))
        assert killed.returncode == -9, killed
        _assert_nothing_is_left(world)
        assert not world.loop.experiments
        began = "--resume", "last"
    assert world.run(*how, *began).returncode == 0
    (made,) = world.loop.experiments
    runs = {each.name: len(each.read_text().splitlines()) for each in (world.loop.folder / "evals").iterdir()}
    assert runs == {f"{n}-{side}.jsonl": OWN + 1 for n in (0, 1) for side in ("baseline", "candidate")}
    assert (made.status, made.delta is not None and made.delta > 0.1) == ("unconfirmed", True)
    assert world.git("log", "--format=%H", f"main..autoresearch/{world.loop.begun.id}") == made.commit
    further = "confirm", "--tasks-dir", tmp_path / "further/tasks"
    assert world.run(*further, code=(DYING, "confirm-1")).returncode == -9
    _assert_nothing_is_left(world)
    assert world.run(*further).returncode == 0
    assert world.loop.is_confirmed
    (world.data / FOLDER).rename(tmp_path / "killed")
    assert world.run(*how, "--surface", "code", "--keep-rule", "gain").returncode == 0
    (unbroken,) = world.loop.experiments
    told = [{**to_builtins(each), "seconds": 0, "commit": "", "live_calls": 0} for each in (made, unbroken)]
    assert told[0] == told[1]
    one, other = (world.git("rev-parse", f"{each.commit}^{{tree}}") for each in (made, unbroken))
    assert one == other


def _assert_nothing_is_left(world: World) -> None:
    """Wait for the end of all that a killed loop has started."""
    end = time.monotonic() + 20
    while (left := world.processes()) and time.monotonic() < end:
        time.sleep(0.1)
    assert left == []
    assert world.git("status", "--short") == ""
    assert world.git("rev-parse", "HEAD") == world.git("rev-list", "--max-parents=0", "HEAD")
