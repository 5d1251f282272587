"""A sandbox for programs that a language model wrote: no network, no files but those given, bounded in time, memory,
processes and output. Nothing of the program outlives it.

It needs Linux with user namespaces, which `unshare` of util-linux makes; `available` says what is missing. The inner
side is `harness_evals.confinement`.
"""

import os
import platform
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct, structs

from harness.core.text import one_line
from harness.errors import InvalidInput

MAX_PRINTED = 50_000_000
"""Bytes of output after which a program is killed."""
MAX_KEPT = 200_000
"""Bytes of output that are kept: the first and the last half."""
MAX_ENTRIES = 50_000
"""Files in folders to write after which a program is killed."""
LOOK_SECONDS = 0.5
"""Least seconds between two looks at what a program has written."""
UNSANDBOXED = (
    "--allow-unsandboxed runs it all the same, with limits of time and memory, but with your network and your rights"
)


class Limits(Struct, frozen=True):
    """Limits of a program: bytes of address space of each process; seconds of CPU of each; bytes of the largest file;
    bytes of all files in `/tmp`, and of those in the folders to write; open files of each process; processes and
    threads together.
    """

    memory: int = 8 * 2**30
    cpu: int = 3_600
    file: int = 2**30
    scratch: int = 2**30
    written: int = 4 * 2**30
    files: int = 1_024
    processes: int = 1_024


class Ended(Struct, frozen=True):
    """End of a program: its exit status (128 and the signal's number after a signal), what it printed (the first
    and last part of it), and why it was killed, if it was.
    """

    status: int
    output: str
    killed: str = ""


class WroteTooMuch(RuntimeError):
    """Error: a program has written more to its folders than it may."""


class Sandbox:
    """A running program, confined; end it with `close`, or use it as a context manager.

    `program` are its absolute path and arguments, `read` and `write` the files and folders that it may use besides
    those of the system and of Python. Its environment is `environment` and what Python needs. Not `confined`, it has
    limits, but no namespaces.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        program: Sequence[str],
        *,
        read: Iterable[Path] = (),
        write: Sequence[Path] = (),
        folder: Path | None = None,
        environment: Mapping[str, str] = {},
        limits: Limits = Limits(),  # noqa: B008 - immutable
        confined: bool = True,
        interactive: bool = False,
    ) -> None:
        self._limits = limits
        self._write = write
        self._looked = time.monotonic()
        self._own = Path(tempfile.mkdtemp(prefix="harness-sandbox-"))
        life, self._lifeline = os.pipe()
        scratch = "/tmp" if confined else str(self._own)  # noqa: S108 - its own
        spec = {
            "root": str(self._own) if confined else "",
            "read": _real([*_python(), *read]),
            "write": _real([*write, *([] if confined else [self._own])]),
            "limits": structs.asdict(limits),
            "cwd": str(folder or scratch),
            "argv": list(program),
            "environment": {**_environment(scratch), **environment},
            "life": life,
        }
        inner = [sys.executable, "-P", "-S", "-m", "harness_evals.confinement", msgspec.json.encode(spec).decode()]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - explicit arguments, no shell
                [*_namespaces(), *inner] if confined else inner,
                stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if interactive else subprocess.STDOUT,
                env={"PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[1])},
                cwd="/",
                pass_fds=(life,),
                start_new_session=True,
            )
        except OSError:
            os.close(self._lifeline)
            shutil.rmtree(self._own, ignore_errors=True)
            raise
        finally:
            os.close(life)

    @property
    def status(self) -> int | None:
        """The exit status; `None` while the program runs."""
        found = self._process.poll()
        return 128 - found if found is not None and found < 0 else found

    def ended(self, end: float) -> int | None:
        """Wait for the end of the program until `end`; return the exit status, `None` if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, end - time.monotonic()))
        return self.status

    def read(self, end: float) -> bytes:
        """Return some output, nothing if there is no more.

        Raises:
            TimeoutError: none came before `end`, in the time of `time.monotonic`.
            WroteTooMuch: it has written too much to its folders.
        """
        output = self._process.stdout
        assert output is not None  # noqa: S101 - for mypy
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while (left := end - time.monotonic()) > 0:
                ready = selector.select(min(left, LOOK_SECONDS))
                self._look()
                if ready:
                    return os.read(output.fileno(), 65_536)
                if self.status is not None:  # an abandoned process may still hold the pipe
                    return b""
        raise TimeoutError

    def _look(self) -> None:
        """Check what the program has written to its folders, at most once in `LOOK_SECONDS`."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        if too_much(self._write, self._limits.written):
            raise WroteTooMuch(f"it wrote more than {self._limits.written:,} bytes and was killed")
        self._looked = time.monotonic()

    def write(self, content: bytes, end: float) -> None:
        """Give input to an interactive program.

        Raises:
            TimeoutError: it has not taken it before `end`, in the time of `time.monotonic`.
            BrokenPipeError: it reads no more.
        """
        given = self._process.stdin
        assert given is not None  # noqa: S101 - for mypy
        os.set_blocking(given.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(given, selectors.EVENT_WRITE)
            while content and (left := end - time.monotonic()) > 0:
                if selector.select(left):
                    with suppress(BlockingIOError):
                        content = content[os.write(given.fileno(), content[:65_536]) :]
        if content:
            raise TimeoutError

    def close(self) -> None:
        """Kill the program and all that it started."""
        os.close(self._lifeline)
        kill_group(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._own, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill all processes of the session that a process leads, and wait for its end."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(
    program: Sequence[str],
    *,
    seconds: float,
    read: Iterable[Path] = (),
    write: Sequence[Path] = (),
    folder: Path | None = None,
    environment: Mapping[str, str] = {},
    limits: Limits = Limits(),  # noqa: B008 - immutable
    confined: bool = True,
) -> Ended:
    """Run a program for at most `seconds`; see `Sandbox`.

    Raises:
        OSError: it cannot be started.
    """
    end, printed, killed = time.monotonic() + seconds, 0, ""
    first, last = b"", b""
    with Sandbox(
        program, read=read, write=write, folder=folder, environment=environment, limits=limits, confined=confined
    ) as sandbox:
        try:
            while piece := sandbox.read(end):
                printed += len(piece)
                if len(first) < MAX_KEPT // 2:
                    first += piece
                else:
                    last = (last + piece)[-MAX_KEPT // 2 :]
                if printed > MAX_PRINTED:
                    killed = f"it printed more than {MAX_PRINTED:,} bytes and was killed"
                    break
        except TimeoutError:
            killed = f"it took longer than {seconds:g} s and was killed"
        except WroteTooMuch as error:
            killed = str(error)
        status = sandbox.ended(end) if not killed else 128 + signal.SIGKILL
    if status is None:
        status, killed = 128 + signal.SIGKILL, f"it took longer than {seconds:g} s and was killed"
    return Ended(status, (first + last).decode("utf-8", errors="replace"), killed)


@lru_cache(maxsize=1)
def available() -> str:
    """Return why no program can be confined on this system; empty if it can."""
    if sys.platform != "linux":
        return f"this is {platform.system()}; the sandbox needs Linux"
    if shutil.which("unshare", path=os.defpath) is None:
        return "the program `unshare` (of util-linux) is not installed"
    ended = run([sys.executable, "-I", "-S", "-c", "print('confined')"], seconds=60)
    if ended.status == 0 and ended.output == "confined\n":
        return ""
    return one_line(ended.killed or ended.output.strip() or f"it ended with status {ended.status}")[:300]


def checked(*, allow_unsandboxed: bool) -> bool:
    """Return whether programs are confined.

    Raises:
        InvalidInput: they cannot be, and that is not allowed.
    """
    if not (reason := available()):
        return True
    if allow_unsandboxed:
        return False
    raise InvalidInput(f"experiments with code need a sandbox, and there is none: {reason}; {UNSANDBOXED}")


def too_much(folders: Iterable[Path], most: int) -> bool:
    """Return whether folders hold more than `most` bytes, or more than `MAX_ENTRIES` files and folders."""
    total = entries = 0
    waiting = [str(folder) for folder in folders]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                entries += 1
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                if total > most or entries > MAX_ENTRIES:
                    return True
    return False


def _namespaces() -> list[str]:
    unshare = shutil.which("unshare", path=os.defpath) or "unshare"
    return [unshare, "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--"]


def _python() -> list[Path]:
    """Return the folders of this Python, and of its packages."""
    packages = (Path(path) for path in sys.path)
    kept = (path for path in packages if path.name in {"site-packages", "dist-packages"})
    return [Path(sys.prefix), Path(sys.base_prefix), *kept]


def _real(paths: Iterable[Path]) -> list[str]:
    """Return the paths, and where symbolic links lead."""
    return list(dict.fromkeys(str(each) for path in paths for each in (path.absolute(), path.resolve())))


def _environment(scratch: str) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
