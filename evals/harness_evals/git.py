"""Git, called without hooks, filters, questions or any configuration but the repository's own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from harness.core.text import clean, one_line
from harness.errors import InvalidInput

SECONDS = 300.0
NAME = "autoresearch"
"""Author of commits where Git does not know the user."""

_FILTER = r"^filter\..*\.(smudge|clean|process|required)$"


class Git:
    """Git in the checkout `root`.

    Raises:
        InvalidInput: Git is not installed, or `root` is not the top of a checkout with a commit.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        given = (f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "gc.auto=0", f"safe.directory={root}")
        self._settings = [part for each in given for part in ("-c", each)]
        top = self.output("rev-parse", "--show-toplevel", "--verify", "HEAD", check=False).splitlines()
        if len(top) != 2 or Path(top[0]).resolve() != root.resolve():
            raise InvalidInput(
                f"experiments with code need the git checkout that the program comes from, and {root} is none; "
                "clone the project, `pip install --editable .` there, and run that"
            )
        filters = self.output("config", "--name-only", "--get-regexp", _FILTER, check=False)
        for key in dict.fromkeys(filters.splitlines()):
            self._settings += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]

    def output(self, *arguments: str, given: bytes | None = None, index: Path | None = None, check: bool = True) -> str:
        """Return what a command prints, without white space at its ends; `given` is its input, `index` the file of
        another index.

        Raises:
            InvalidInput: it fails, if `check`; or it takes longer than `SECONDS`.
        """
        done = self._run(arguments, given, {"GIT_INDEX_FILE": str(index)} if index else {})
        if check and done.returncode:
            said = one_line(clean(done.stderr.decode(errors="replace"), 500))
            raise InvalidInput(f"git {arguments[0]} failed in {self.root}: {said or f'status {done.returncode}'}")
        return done.stdout.decode(errors="replace").strip()

    def succeeds(self, *arguments: str) -> bool:
        """Return whether a command ends with status 0."""
        return self._run(arguments).returncode == 0

    def file(self, commit: str, path: str) -> str | None:
        """Return the text of a file in a commit; `None` if it has none, or not one in UTF-8."""
        done = self._run(("cat-file", "blob", f"{commit}:{path}"))
        try:
            return done.stdout.decode() if done.returncode == 0 else None
        except UnicodeDecodeError:
            return None

    def author(self) -> list[str]:
        """Return the options that make the user the author of a commit, as Git's configuration names them."""
        found = list[str]()
        for key, default in (("user.name", NAME), ("user.email", f"{NAME}@localhost")):
            done = self._run(("config", key), personal=True)
            found += ["-c", f"{key}={one_line(done.stdout.decode(errors='replace')) or default}"]
        return found

    def _run(
        self,
        arguments: tuple[str, ...],
        given: bytes | None = None,
        more: Mapping[str, str] = MappingProxyType({}),
        *,
        personal: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
        environment = {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
        try:
            return subprocess.run(  # noqa: S603 - explicit arguments, no shell
                ["git", "-C", str(self.root), *([] if personal else self._settings), *arguments],  # noqa: S607 - as the user has it
                input=given if given is not None else b"",
                capture_output=True,
                check=False,
                timeout=SECONDS,
                env={**environment, **({} if personal else alone), **more},
            )
        except OSError as error:
            raise InvalidInput(f"experiments with code need git, which cannot be run ({error.strerror})") from error
        except subprocess.TimeoutExpired as error:
            raise InvalidInput(f"git {arguments[0]} took longer than {SECONDS:g} s in {self.root}") from error
