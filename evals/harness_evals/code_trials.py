"""Trials of changed source files: each in a separate git worktree, checked in a sandbox, kept as a commit.

The branch `autoresearch/LOOP` begins with the first kept change, at the checkout's commit, and gets a commit for each;
nothing else of the user's checkout changes before `apply`.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import harness
from harness.core.text import clean, one_line
from harness.errors import InvalidInput
from harness_evals import sandbox
from harness_evals.git import Git
from harness_evals.space import InvalidProposal
from harness_evals.trial_checks import check, check_again, check_tools
from harness_evals.trial_runs import Worker, copy_store

DECLARED = (
    *("harness/research/planner.py", "harness/research/evidence.py", "harness/research/relevance.py"),
    *("harness/research/quotable_sentences.py", "harness/research/extractive_writer.py"),
    *("harness/core/quotable.py", "harness/core/dangling.py", "harness/core/definitions.py"),
    *("harness/core/sub_questions.py", "harness/core/text.py"),
)
"""Files that an experiment may change by default: planning, reading and quoting."""
FORBIDDEN = ("harness/settings/", "harness/cli/", "harness/server/", "harness/storage/", "harness/errors.py")
"""Files that no experiment may change, besides all that is outside `harness/`: tasks, scorers, tests, the loop."""
MAX_BYTES = 200_000
"""Largest file of a proposal."""
TRIALS = "trials"

_LOOP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_PARSE = "import ast, sys; ast.parse(sys.stdin.buffer.read())"
_PARSE_SECONDS = 20


def checkout_of_program() -> Path:
    """Return the folder that holds the running program's package."""
    return Path(harness.__file__).resolve().parents[1]


class Checkout:
    """The git checkout at `root`, for the trials of one loop; its worktrees are in `folder`. Without a sandbox on this
    system, trials run unconfined if that is allowed.

    Raises:
        InvalidInput: not a checkout, no sandbox, no tools for the checks; or declared files that cannot be declared, do
            not exist, or are not committed.
    """

    def __init__(
        self, root: Path, loop_id: str, folder: Path, *, allow_unsandboxed: bool = False, declared: Sequence[str] = ()
    ) -> None:
        self.git = Git(root)
        self.confined = sandbox.checked(allow_unsandboxed=allow_unsandboxed)
        check_tools()
        self.folder = folder
        self.branch = branch_of(loop_id)
        declared = declared or tuple(path for path in DECLARED if (root / path).is_file())
        _check_clean(self.git, _declarable(declared))
        self.base = self.git.output("merge-base", "HEAD", self.tip or "HEAD")
        self.texts = {path: _text(self.git, self.base, path) for path in declared}
        self.trials: dict[Path, Trial] = {}

    @property
    def head(self) -> str:
        """The commit with all that was kept so far."""
        return self.tip or self.base

    @property
    def tip(self) -> str:
        """The last commit of the branch; empty if nothing was kept."""
        return self.git.output("rev-parse", "--verify", "--quiet", self.branch, check=False)

    def trial(self, number: int, files: Mapping[str, str]) -> "Trial":
        """Return a worktree of the state kept so far with these files in it.

        Raises:
            InvalidProposal: a file that is not declared, or a text that is no Python program or too long.
            InvalidInput: Git cannot make it.
        """
        for path, text in files.items():
            _check_file(path, text, self.texts)
        trial = self._made(str(number), self.head, files)
        for path, text in files.items():
            (trial.root / path).write_bytes(text.encode())
        return trial

    def first(self) -> "Trial":
        """Return a worktree of the state at the start of the loop.

        Raises:
            InvalidInput: Git cannot make it.
        """
        return self._made("first", self.base, {})

    def kept(self, commit: str) -> "Trial":
        """Return a worktree of a kept commit.

        Raises:
            InvalidInput: Git cannot make it.
        """
        return self._made("kept", commit, {})

    def _made(self, name: str, commit: str, files: Mapping[str, str]) -> "Trial":
        root = self.folder / TRIALS / name
        _remove(self.git, root)
        root.parent.mkdir(parents=True, exist_ok=True)
        self.git.output("worktree", "add", "--quiet", "--detach", "--force", str(root), commit)
        self.trials[root] = Trial(self, root, commit, dict(files))
        return self.trials[root]

    def restore(self, commit: str) -> None:
        """Go back to this kept commit (empty: the start), and remove the worktrees that a killed loop has left.

        Raises:
            InvalidInput: the branch does not hold it.
        """
        self._remove_leftovers()
        if commit and not (self.tip and self.git.succeeds("merge-base", "--is-ancestor", commit, self.branch)):
            raise InvalidInput(f"{_short(self.branch)} does not hold the commit {commit[:12]}; begin a new loop")
        if commit:
            self.git.output("update-ref", self.branch, commit, self.head)
        elif self.tip:
            self.git.output("update-ref", "-d", self.branch, self.head)

    def refuse_broken(self, commit: str, changed: Sequence[str], failed: str) -> None:
        """Refuse a checkout whose commit fails the same check without a change.

        Raises:
            InvalidInput: it does.
        """
        trial = self._made("unchanged", commit, {})
        try:
            again = check_again(trial.root, changed, self.mypy_cache, failed, confined=self.confined)
        finally:
            trial.discard()
        if again:
            raise InvalidInput(f"the checkout fails its own checks without any change: {again}; repair and commit that")

    @property
    def mypy_cache(self) -> Path:
        """The folder of mypy's cache, which all loops share: it is large, and slow to make."""
        folder = self.folder.parent / "mypy"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _remove_leftovers(self) -> None:
        for root in (self.folder / TRIALS).glob("*"):
            shutil.rmtree(root, ignore_errors=True)
        self.git.output("worktree", "prune")


class Trial:
    """A worktree at `root` with changed files."""

    def __init__(self, checkout: Checkout, root: Path, commit: str, files: Mapping[str, str]) -> None:
        self.root = root
        self.files = files
        self.confined = checkout.confined
        self.workers: list[Worker] = []
        self._checkout = checkout
        self._commit = commit

    def check(self) -> str:
        """Return the first check that fails (ruff, mypy, a test of the changed folders), in one line; empty if all
        pass.

        Raises:
            InvalidInput: it fails without the change, too.
        """
        changed = self._changed()
        failed = check(self.root, changed, self._checkout.mypy_cache, confined=self.confined)
        if failed:
            self._checkout.refuse_broken(self._commit, changed, failed)
        return failed

    def keep(self, message: str) -> str:
        """Keep the files as a commit on the branch, with this message; return the commit. Without a changed file, that
        is the branch's last one.

        The commit holds what was proposed, whatever has become of the worktree.

        Raises:
            InvalidInput: the branch has moved since the trial began.
        """
        git, changed = self._checkout.git, self._changed()
        if not changed:
            return self._commit
        index = self._checkout.folder / "index"
        index.unlink(missing_ok=True)
        git.output("read-tree", self._commit, index=index)
        for path in changed:
            mode = git.output("ls-tree", self._commit, "--", path).split()[0]
            blob = git.output("hash-object", "-w", "--no-filters", "--stdin", given=self.files[path].encode())
            git.output("update-index", "--cacheinfo", f"{mode},{blob},{path}", index=index)
        tree = git.output("write-tree", index=index)
        index.unlink(missing_ok=True)
        said = clean(message, 10_000).encode(errors="replace")
        commit = git.output(*git.author(), "commit-tree", tree, "-p", self._commit, given=said)
        moved_from = self._commit if self._checkout.tip else ""
        git.output("update-ref", self._checkout.branch, commit, moved_from)
        return commit

    def discard(self) -> None:
        """Stop what runs in the worktree, and remove it."""
        for worker in self.workers:
            worker.close()
        self.workers.clear()
        self._checkout.trials.pop(self.root, None)
        shutil.rmtree(self.data, ignore_errors=True)
        _remove(self._checkout.git, self.root)

    @property
    def data(self) -> Path:
        """The data directory of its runs."""
        return self.root.with_name(f"{self.root.name}-data")

    def data_from(self, data_dir: Path) -> Path:
        """Return the data directory of its runs, at first a copy of the store in `data_dir`.

        Raises:
            StoreError: that cannot be read.
        """
        if not self.data.exists():
            copy_store(data_dir, self.data)
        return self.data

    def _changed(self) -> list[str]:
        git = self._checkout.git
        return [path for path, text in self.files.items() if git.file(self._commit, path) != text]


def apply(root: Path, loop_id: str, upto: str = "") -> list[str]:
    """Apply the commits of a loop, `upto` one of them (by default the last), to the branch that is checked out, all or
    none; return a line for each, with its commit and subject. Those applied before are left out.

    Raises:
        InvalidInput: no such loop, no branch is checked out, uncommitted changes, or a conflict.
    """
    git, branch = Git(root), branch_of(loop_id)
    if not git.succeeds("rev-parse", "--verify", "--quiet", branch):
        raise InvalidInput(f"there is no branch {_short(branch)} in {root}: the loop has kept no code")
    if not git.succeeds("symbolic-ref", "--quiet", "HEAD"):
        raise InvalidInput(f"no branch is checked out in {root}; `git switch` to the one to change")
    lines = [line.split(" ") for line in git.output("cherry", "HEAD", upto or branch).splitlines()]
    commits = [commit for sign, commit in lines if sign == "+"]
    if not commits:
        return []
    if not git.succeeds("diff", "--cached", "--quiet"):
        raise InvalidInput(f"there are staged changes in {root}; commit or stash them first")
    base = git.output("merge-base", "HEAD", commits[-1])
    _check_clean(git, git.output("diff", "--name-only", "--no-renames", base, commits[-1]).splitlines())
    before = git.output("rev-parse", "HEAD")
    try:
        git.output(*git.author(), "-c", "commit.gpgSign=false", "cherry-pick", "--allow-empty", *commits)
    except InvalidInput as error:
        files = ", ".join(git.output("diff", "--name-only", "--diff-filter=U").splitlines()[:5])
        git.output("cherry-pick", "--abort", check=False)
        what = f"conflicts with your branch in {files}" if files else f"cannot be applied ({error})"
        raise InvalidInput(
            f"{_short(branch)} {what}; nothing was changed. Merge it by hand (`git cherry-pick {commits[0][:12]}`), or "
            "begin a new loop from here"
        ) from error
    return git.output("log", "--reverse", "--format=%h %s", f"{before}..HEAD").splitlines()


def branch_of(loop_id: str) -> str:
    """Return the full name of a loop's branch.

    Raises:
        InvalidInput: not an id of a loop.
    """
    if not _LOOP.fullmatch(loop_id):
        raise InvalidInput(f"{loop_id[:40]!r} is not the id of a loop")
    return f"refs/heads/autoresearch/{loop_id}"


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/")


def _declarable(declared: Sequence[str]) -> Sequence[str]:
    for path in declared:
        plain = PurePosixPath(path)
        ours = plain.parts[:1] == ("harness",) and plain.suffix == ".py" and ".." not in plain.parts
        if not ours or str(plain) != path or path.startswith(FORBIDDEN):
            raise InvalidInput(
                f"{path!r} cannot be declared: experiments change Python files of harness/ alone, and none of "
                f"{', '.join(FORBIDDEN)}"
            )
    return declared


def _text(git: Git, commit: str, path: str) -> str:
    if (text := git.file(commit, path)) is None:
        raise InvalidInput(f"{path} is declared, but the commit {commit[:12]} has no such text; commit it first")
    return text


def _check_clean(git: Git, paths: Sequence[str]) -> None:
    found = git.output("diff", "--name-only", "--no-ext-diff", "HEAD", "--", *paths) if paths else ""
    if changed := found.splitlines():
        raise InvalidInput(f"uncommitted changes of {', '.join(changed[:5])} in {git.root}; commit or stash them first")


def _check_file(path: str, text: str, declared: Mapping[str, str]) -> None:
    """Check one file of a proposal; its text is parsed in another process, which may crash."""
    if path not in declared:
        raise InvalidProposal(
            f"{one_line(clean(path, 200))!r} may not be changed; the declared files are {', '.join(declared)}"
        )
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidProposal(f"{path}: the new text is not valid Unicode") from error
    if len(content) > MAX_BYTES:
        raise InvalidProposal(f"{path}: the new text has {len(content):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        parsed = subprocess.run(  # noqa: S603 - it parses the text, and does not run it
            [sys.executable, "-I", "-S", "-c", _PARSE],
            input=content,
            capture_output=True,
            check=False,
            timeout=_PARSE_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidProposal(f"{path}: the new text takes longer than {_PARSE_SECONDS} s to parse") from error
    if parsed.returncode:
        last = parsed.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"status {parsed.returncode}"]
        raise InvalidProposal(f"{path}: the new text is not a Python program: {one_line(clean(last[0], 300))}")


def _remove(git: Git, root: Path) -> None:
    with suppress(InvalidInput):
        if root.exists():
            git.output("worktree", "remove", "--force", "--force", "--", str(root))
    shutil.rmtree(root, ignore_errors=True)
    with suppress(InvalidInput):
        git.output("worktree", "prune")
