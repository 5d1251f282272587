"""Trials of changed code: checked, run without harm, kept as commits, applied only when asked."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness_evals import sandbox
from harness_evals.code_trials import DECLARED, Checkout, Trial, apply
from harness_evals.outcome import Outcome
from harness_evals.run import Job
from harness_evals.space import InvalidProposal
from harness_evals.trial_checks import folders_to_test
from harness_evals.trial_runs import run_in_trial, with_trials
from msgspec.structs import replace

from harness.errors import InvalidInput
from harness.settings import Settings
from tests.conftest import ROOT
from tests.evals.stand_ins import fact_task, saying

TEXT = "harness/core/text.py"
GOOD = '"""Texts."""\n\n\ndef double(text: str) -> str:\n    """Return it twice."""\n    return text + text\n'
FILES = {
    TEXT: GOOD,
    "harness/__init__.py": "import harness.core.text as text\n",
    "harness/core/__init__.py": "",
    "tests/core/test_text.py": "from harness.core.text import double\n\n\ndef test_twice() -> None:\n"
    '    assert double("a") == "aa"\n',
    "pyproject.toml": '[tool.mypy]\nstrict = true\npackages = ["harness"]\n[tool.ruff.lint]\nselect = ["F"]\n'
    '[tool.pytest.ini_options]\nmarkers = ["full", "slow", "postgres"]\n',
}
ANSWERING = """
import json, os, sys, time
frame = sys._getframe()
while "answers" not in frame.f_locals:
    frame = frame.f_back
request, out = json.loads(frame.f_locals["line"]), frame.f_locals["answers"].fileno()
def answer(**more):
    outcome = {"task": request["task"]["id"], "repeat": request["repeat"], **more}
    return json.dumps({"outcome": outcome}).encode() + b"\\n"
"""
"""The beginning of a change that takes over the worker's pipe."""


class Git:
    """Git in a repository, as its user calls it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, *arguments: str) -> str:
        """Return what a command prints."""
        named = ["git", "-C", str(self.root), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        return subprocess.run([*named, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, files: dict[str, str], message: str = "change") -> None:
        """Write files and commit them."""
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        self("add", ".")
        self("commit", "-q", "-m", message)


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A small repository of a program with one test; Git knows no user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "repository").mkdir()
    found = Git(tmp_path / "repository")
    found("init", "-q", "-b", "main")
    found.commit(FILES, "start")
    return found


@pytest.fixture
def checkout(git: Git, tmp_path: Path) -> Checkout:
    """Its trials."""
    return made(git, tmp_path)


def made(git: Git, tmp_path: Path) -> Checkout:
    """Return the trials of the loop `loop-1`."""
    return Checkout(git.root, "loop-1", tmp_path / "data" / "loop-1", declared=(TEXT,))


def jobs_in(tmp_path: Path, *names: str) -> list[Job]:
    """Return jobs with an empty store."""
    (tmp_path / "data").mkdir(exist_ok=True)
    settings = replace(Settings(), data_dir=tmp_path / "data", brave_api_key="sesame")
    return [Job(fact_task(name), 1_002, settings) for name in names or ("one",)]


def ran(checkout: Checkout, code: str, tmp_path: Path, *names: str, seconds: float = 30.0) -> list[Outcome]:
    """Return the outcomes of jobs whose code is `code`."""
    trial = checkout.trial(1, {TEXT: code})
    try:
        return [outcome for _, outcome in run_in_trial(jobs_in(tmp_path, *names), trial, seconds=seconds)]
    finally:
        trial.discard()


# Proposals and checks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("evals/tasks/closures.yaml", "x = 1", "may not be changed"),
        ("tests/core/test_text.py", "x = 1", "may not be changed"),
        ("harness/core/../../tests/core/test_text.py", "x = 1", "may not be changed"),
        ("/etc/passwd", "x = 1", "may not be changed"),
        ("harness/core/../core/text.py", "x = 1", "may not be changed"),
        (TEXT, "x = '" + "x" * 200_000 + "'", "200,006 bytes"),
        (TEXT, "def f(:", "SyntaxError: invalid syntax"),
        (TEXT, "\udc80", "not valid Unicode"),
        (TEXT, "x = 1\0", "not a Python program"),
        (TEXT, "(" * 100_000, "not a Python program"),
        (TEXT, "-" * 199_000 + "1", "not a Python program"),
    ],
)
def test_a_proposal_that_cannot_be_tried_is_invalid(checkout: Checkout, path: str, text: str, says: str) -> None:
    """Undeclared or escaping paths, texts that are too long or no programs, also those that crash a parser."""
    with pytest.raises(InvalidProposal, match=says):
        checkout.trial(1, {path: text})
    assert not checkout.trials


@pytest.mark.parametrize(
    "path",
    [
        "evals/harness_evals/loop.py",
        "tests/core/test_text.py",
        "harness/settings/declared.py",
        "harness/cli/main.py",
        "harness/core/../cli/main.py",
        "harness//cli/main.py",
        "/harness/core/text.py",
        "pyproject.toml",
    ],
)
def test_what_judges_cannot_be_declared(git: Git, tmp_path: Path, path: str) -> None:
    """Tasks, scorers, tests, settings, commands and the loop."""
    with pytest.raises(InvalidInput, match="cannot be declared"):
        Checkout(git.root, "loop-1", tmp_path / "data", declared=(path,))


def test_the_default_files_exist() -> None:
    """Each is in this checkout."""
    assert [path for path in DECLARED if not (ROOT / path).is_file()] == []


@pytest.mark.slow
def test_a_change_that_breaks_a_test_is_named(checkout: Checkout) -> None:
    """ruff, then mypy, then the tests: the reason of the first that fails, in one line."""
    reasons = []
    for text in (
        GOOD.replace('"""Texts."""', '"""Texts."""\n\nimport os'),
        GOOD.replace("text + text", "len(text)"),
        GOOD.replace("text + text", "text"),
        GOOD.replace('"""Texts."""', '"""Texts."""\n\nimport os\n\nos._exit(0)'),
        GOOD.replace("text + text", "text * 2"),
    ):
        trial = checkout.trial(1, {TEXT: text})
        reasons.append(trial.check())
        trial.discard()
    ruff, mypy, broken, cheating, good = reasons
    assert ruff == "ruff: harness/core/text.py:3:8: F401 [*] `os` imported but unused"
    assert mypy.startswith('mypy: harness/core/text.py:6: error: Incompatible return value type (got "int"')
    assert broken == "test tests/core/test_text.py::test_twice failed: AssertionError: assert 'a' == 'aa'"
    assert cheating == "tests: it ended with status 0"
    assert good == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("harness/core/other.py", "count: int = ''\n", r"mypy: harness/core/other\.py:1: error"),
        (
            "tests/core/test_text.py",
            "def test_never() -> None:\n    assert 0\n",
            "test tests/core/test_text.py::test_never",
        ),
    ],
)
def test_a_checkout_that_fails_its_own_checks_is_refused(
    git: Git, tmp_path: Path, path: str, text: str, says: str
) -> None:
    """No change is blamed for that; one that repairs it would pass."""
    git.commit({path: text})
    trial = made(git, tmp_path).trial(1, {TEXT: GOOD + "# better\n"})
    with pytest.raises(InvalidInput, match=f"the checkout fails its own checks without any change: {says}"):
        trial.check()
    trial.discard()
    assert git("worktree", "list").count("\n") == 0


def test_the_folders_to_test_a_file_are_found(tmp_path: Path) -> None:
    """Tests of the folder of the same name; else tests that import it; else all."""
    for path, text in {
        "tests/core/test_any.py": "",
        "tests/other/test_this.py": "from harness.odd.this import that\n",
        "tests/other/test_these.py": "from harness.odd import those, this\n",
        "tests/other/test_those.py": "from harness.odd import those\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = folders_to_test(tmp_path, ["harness/core/text.py", "harness/odd/this.py"])
    assert found == ["tests/core", "tests/other/test_these.py", "tests/other/test_this.py"]
    assert folders_to_test(tmp_path, ["harness/odd/unknown.py"]) == ["tests"]


# Runs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import os; os._exit(3)", "ProcessDied: its process ended with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "ProcessDied: its process ended with status 137"),
        ("while True: pass", "TimeoutError: it took longer than 2 s and was killed"),
        ("import socket; socket.create_connection(('192.0.2.1', 80))", "OSError: .*Network is unreachable"),
        (f"open({str(ROOT / 'evals/tasks/closures.yaml')!r}, 'a')", "FileNotFoundError|Read-only"),
        (f"open({str(ROOT / 'evals/harness_evals/run.py')!r}, 'a')", "Read-only file system"),
        (f"{ANSWERING}\nos.write(out, b'\\x80garbage\\n'); time.sleep(60)", "JSON is malformed"),
        (
            f"{ANSWERING}\nos.write(out, b'[' * 60_000 + b'\\n'); time.sleep(60)",
            "Expected `object`, got `array`",
        ),
        (f"{ANSWERING}\nwhile True: os.write(out, b'x' * 2**20)", "answered with more than 33,554,432 bytes"),
        (
            f"{ANSWERING}\nos.write(out, answer(task='one')); time.sleep(60)",
            "ValueError: the process answered for another task",
        ),
        (
            f"{ANSWERING}\nos.write(out, answer(repeat=1)); time.sleep(60)",
            "ValueError: the process answered for another task",
        ),
        (
            f"{ANSWERING}\nos.write(out, answer(sources=['x' * 5_000_000])); time.sleep(60)",
            "ValueError: the process answered with an outcome of more than 4,194,304 bytes",
        ),
        (f"{ANSWERING}\nos.write(out, answer() * 2); time.sleep(60)", "ValueError: the process answered twice"),
        (
            f"{ANSWERING}\nos.write(out, answer(digests={{'report': '../../x'}})); time.sleep(60)",
            "ValueError: the process answered with digests that are none",
        ),
        (
            f"{ANSWERING}\nos.write(out, answer(cost={{'live_calls': -9, 'tokens': 0, 'seconds': 0}})); time.sleep(60)",
            "ValueError: the process answered with a negative cost",
        ),
    ],
)
def test_whatever_a_job_does_is_an_outcome(checkout: Checkout, tmp_path: Path, code: str, says: str) -> None:
    """An error, in one line; the checkout and its tasks stay as they are."""
    before = (ROOT / "evals/tasks/closures.yaml").read_bytes()
    (outcome,) = ran(checkout, code, tmp_path, seconds=2.0 if code == "while True: pass" else 30.0)
    assert (outcome.task, outcome.repeat) == ("one", 1_002)
    assert re.search(says, outcome.error), outcome.error
    assert (ROOT / "evals/tasks/closures.yaml").read_bytes() == before


def test_a_job_is_run_without_what_is_expected(checkout: Checkout, tmp_path: Path) -> None:
    """The process gets a question under another name, without nuggets, sources and secrets; no task is readable."""
    code = f"""{ANSWERING}
evals = next(path for path in sys.path if path.endswith("/evals"))
places = [place for place, _, _ in os.walk(evals) if "tasks" in place.split("/")]
open(request["data_dir"] + "/seen", "w").write(json.dumps([request, places, sorted(os.environ)]))
os.write(out, answer())
time.sleep(60)
"""
    trial = checkout.trial(1, {TEXT: code})
    assert [outcome.error for _, outcome in run_in_trial(jobs_in(tmp_path), trial)] == [""]
    request, places, environment = json.loads((trial.data / "seen").read_text())
    trial.discard()
    assert request["task"]["question"] == "What of one?"
    assert request["task"].keys() == {"id", "question", "engine", "structure"}
    assert "sesame" not in json.dumps(request)
    assert places == []
    assert environment == ["HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "TMPDIR"]


def test_an_answer_counts_under_the_tasks_own_name(checkout: Checkout, tmp_path: Path) -> None:
    """With a time that it can have taken; texts of stages are stored if they are what they say."""
    code = f"""{ANSWERING}
import hashlib
text, digest = "the report", hashlib.sha256(b"the report").hexdigest()[:16]
sent = json.loads(answer(digests={{"report": digest, "plan": "0" * 16}}, run="r", cost={{"live_calls": 2, "tokens": 0,
    "seconds": 1e9}}))
sent["texts"] = {{digest: text, "0" * 16: "another", "1" * 16: "a third"}}
os.write(out, json.dumps(sent).encode() + b"\\n")
time.sleep(60)
"""
    (outcome,) = ran(checkout, code, tmp_path)
    assert (outcome.task, outcome.repeat, outcome.error, outcome.run) == ("one", 1_002, "", "")
    assert outcome.cost.live_calls == 2
    assert outcome.cost.seconds < 30
    stored = {path.name for path in (tmp_path / "data/evals/stages").iterdir()}
    assert f"{outcome.digests['report']}.gz" in stored
    assert not stored & {f"{'0' * 16}.gz", f"{'1' * 16}.gz"}


def test_after_a_dead_process_the_next_job_runs(checkout: Checkout, tmp_path: Path) -> None:
    """In a new one, which has the same data directory; that is a copy, and is removed with the trial."""
    code = f"""{ANSWERING}
mark = request["data_dir"] + "/died"
if not os.path.exists(mark):
    open(mark, "w").close()
    os._exit(1)
os.write(out, answer())
time.sleep(60)
"""
    first, second = ran(checkout, code, tmp_path, "one", "two")
    assert first.error == "ProcessDied: its process ended with status 1"
    assert (second.task, second.error) == ("two", "")
    assert not list(tmp_path.rglob("died"))
    assert not list((tmp_path / "data/loop-1/trials").iterdir())


def test_stopping_the_iteration_kills_running_jobs(checkout: Checkout, tmp_path: Path) -> None:
    """Soon, however long they would take."""
    code = f"{ANSWERING}\nif request['task']['question'] == 'What of one?': os._exit(1)\ntime.sleep(600)"
    trial = checkout.trial(1, {TEXT: code})
    began = time.monotonic()
    running = run_in_trial(jobs_in(tmp_path, "one", "two"), trial, workers=2)
    job, _ = next(running)
    running.close()  # type: ignore[attr-defined]
    assert job.task.id == "one"
    assert time.monotonic() - began < 20
    assert all(worker._sandbox is None for worker in trial.workers)


def test_jobs_without_a_trial_run_as_ever(checkout: Checkout, tmp_path: Path) -> None:
    """One runner for both arms of an experiment."""
    trial = checkout.trial(1, {TEXT: "1 / 0"})
    plain, tried = jobs_in(tmp_path, "plain", "tried")
    run = with_trials(lambda jobs: ((job, saying(job, 1)) for job in jobs), checkout.trials)
    found = {job.task.id: outcome.error for job, outcome in run([plain, replace(tried, trial=trial.root)])}
    trial.discard()
    assert found == {"plain": "", "tried": "ZeroDivisionError: division by zero"}


@pytest.mark.parametrize("changes", [{"store": "postgresql://host/db"}, {"model": "a model"}])
def test_settings_that_need_the_network_are_refused(
    checkout: Checkout, tmp_path: Path, changes: dict[str, str]
) -> None:
    """A team's database, and a language model."""
    (job,) = jobs_in(tmp_path)
    trial = checkout.trial(1, {})
    with pytest.raises(InvalidInput, match="leave out"):
        list(run_in_trial([replace(job, settings=replace(job.settings, **changes))], trial))


# Git ----------------------------------------------------------------------------------------------------------------


def kept(checkout: Checkout, text: str, message: str = "better") -> str:
    """Keep a change; return its commit."""
    trial = checkout.trial(1, {TEXT: text})
    try:
        return trial.keep(message)
    finally:
        trial.discard()


def test_a_change_is_kept_on_a_branch_of_its_own(checkout: Checkout, git: Git) -> None:
    """As proposed, whatever became of the worktree; the user's checkout stays as it is."""
    before = git("rev-parse", "HEAD")
    trial: Trial = checkout.trial(1, {TEXT: GOOD + "# better\n"})
    (trial.root / TEXT).write_text("tampered")
    (trial.root / "harness" / "more.py").write_text("tampered")
    commit = trial.keep("Experiment 1\n\nscore 0.9")
    trial.discard()
    assert git("log", "--format=%H %an %s|%b", "main..autoresearch/loop-1") == (
        f"{commit} autoresearch Experiment 1|score 0.9"
    )
    assert git("show", f"{commit}:{TEXT}") == (GOOD + "# better\n").strip()
    assert git("diff", "--name-only", "main", commit) == TEXT
    assert (git("rev-parse", "HEAD"), git("status", "--porcelain")) == (before, "")
    assert git("worktree", "list").count("\n") == 0
    assert (git.root / TEXT).read_text() == GOOD
    assert checkout.texts == {TEXT: GOOD}
    assert (checkout.trial(2, {}).root / TEXT).read_text() == GOOD + "# better\n"


def test_the_users_name_is_the_author(checkout: Checkout, git: Git) -> None:
    """As Git's configuration has it."""
    git("config", "user.name", "Bea")
    kept(checkout, GOOD + "# better\n")
    assert git("log", "-1", "--format=%an <%ae>", "autoresearch/loop-1") == "Bea <autoresearch@localhost>"


def test_no_hook_and_no_filter_runs(git: Git, tmp_path: Path) -> None:
    """Neither for a worktree, nor for a commit, nor when commits are applied."""
    mark, script = tmp_path / "ran", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    git.commit({".gitattributes": "*.py filter=marked\n"})
    for name in ("post-checkout", "pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        shutil.copy(script, git.root / ".git" / "hooks" / name)
    for name in ("smudge", "clean"):
        git("config", f"filter.marked.{name}", str(script))
    mark.unlink(missing_ok=True)
    kept(made(git, tmp_path), GOOD + "# better\n")
    assert len(apply(git.root, "loop-1")) == 1
    assert not mark.exists()


def test_a_loop_goes_on_where_it_was(checkout: Checkout, git: Git, tmp_path: Path) -> None:
    """Leftovers of a killed loop are removed; a commit that the journal does not know, too."""
    first = kept(checkout, GOOD + "# first\n")
    kept(checkout, GOOD + "# second\n")
    left = checkout.trial(3, {TEXT: GOOD + "# third\n"}).root
    again = made(git, tmp_path)
    assert again.texts == {TEXT: GOOD}
    assert left.exists()  # the other program may still run: only the lock of the journal says that it does not
    again.restore(first)
    assert not left.exists()
    assert git("worktree", "list").count("\n") == 0
    assert git("rev-parse", "autoresearch/loop-1") == first
    again.restore("")
    assert (git("branch", "--list", "autoresearch/*"), again.head) == ("", git("rev-parse", "main"))
    git.commit({"other.txt": "x"})
    with pytest.raises(InvalidInput, match="begin a new loop"):
        again.restore(git("rev-parse", "HEAD"))


def test_commits_are_applied_when_asked(checkout: Checkout, git: Git) -> None:
    """In order, onto what the user has done meanwhile; a second time, nothing is left."""
    kept(checkout, GOOD + "# first\n", "one")
    kept(checkout, GOOD + "# second\n", "two")
    git.commit({"other.txt": "x"})
    first = git("rev-parse", "autoresearch/loop-1~1").strip()
    assert [line.split(" ", 1)[1] for line in apply(git.root, "loop-1", first)] == ["one"]
    assert [line.split(" ", 1)[1] for line in apply(git.root, "loop-1")] == ["two"]
    assert (git.root / TEXT).read_text() == GOOD + "# second\n"
    assert (git.root / "other.txt").exists()
    assert apply(git.root, "loop-1") == []


def conflicting(git: Git) -> None:
    """Change the same line as the loop."""
    git.commit({TEXT: GOOD + "# mine\n"})


def uncommitted(git: Git) -> None:
    """Change the file, without a commit."""
    (git.root / TEXT).write_text(GOOD + "# mine\n")


def staged(git: Git) -> None:
    """Stage a change of another file."""
    (git.root / "other.txt").write_text("x")
    git("add", "other.txt")


def detached(git: Git) -> None:
    """Check out a commit."""
    git("checkout", "-q", "--detach")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (conflicting, "autoresearch/loop-1 conflicts with your branch in harness/core/text.py; nothing was changed"),
        (uncommitted, "uncommitted changes of harness/core/text.py"),
        (staged, "staged changes"),
        (detached, "no branch is checked out"),
    ],
)
def test_what_cannot_be_applied_changes_nothing(
    checkout: Checkout, git: Git, change: Callable[[Git], None], says: str
) -> None:
    """A conflict, uncommitted or staged changes, no branch: the message says what to do."""
    kept(checkout, "# first\n" + GOOD, "one")
    kept(checkout, "# first\n" + GOOD + "# second\n", "two")
    change(git)
    before = git("rev-parse", "HEAD"), git("status", "--porcelain"), (git.root / TEXT).read_text()
    with pytest.raises(InvalidInput, match=says):
        apply(git.root, "loop-1")
    assert (git("rev-parse", "HEAD"), git("status", "--porcelain"), (git.root / TEXT).read_text()) == before


def test_unusable_checkouts_are_refused(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No checkout, a part of one, changed files, an unknown loop, no sandbox, no git: each says what to do."""
    for folder in (tmp_path, git.root / "harness"):
        with pytest.raises(InvalidInput, match="clone the project"):
            Checkout(folder, "loop-1", tmp_path / "data")
    with pytest.raises(InvalidInput, match="the loop has kept no code"):
        apply(git.root, "loop-2")
    with pytest.raises(InvalidInput, match="not the id of a loop"):
        apply(git.root, "../../heads/main")
    uncommitted(git)
    with pytest.raises(InvalidInput, match=r"uncommitted changes of harness/core/text\.py"):
        made(git, tmp_path)
    monkeypatch.setattr(sandbox, "available", lambda: "no `unshare`")
    with pytest.raises(InvalidInput, match="--allow-unsandboxed"):
        made(git, tmp_path)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(InvalidInput, match="need git"):
        made(git, tmp_path)
