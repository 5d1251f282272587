"""The sandbox: whatever a program tries, nothing outside it changes, and nothing of it is left."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_evals import landlock, sandbox
from harness_evals.sandbox import Ended, Limits, Sandbox

from harness.errors import InvalidInput

SMALL = Limits(memory=2**28, file=2**20, scratch=2**22, written=2**22, processes=400)


def tried(code: str, *, seconds: float = 30.0, write: tuple[Path, ...] = ()) -> Ended:
    """Run a Python program in the sandbox."""
    return sandbox.run([sys.executable, "-I", "-c", code], seconds=seconds, write=write, limits=SMALL)


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key, and a token in the environment."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    key = tmp_path / "home" / ".ssh" / "id_ed25519"
    key.write_text("PRIVATE KEY")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HARNESS_TOKEN", "sesame")
    return key


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server on this machine's loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def test_this_system_has_a_sandbox() -> None:
    """The other tests here need one: Linux with user namespaces."""
    assert not sandbox.available()


def test_a_program_ends_with_its_status_and_output() -> None:
    """A signal counts as 128 and its number, as in a shell."""
    assert tried("print('hi'); raise SystemExit(3)") == Ended(3, "hi\n")
    assert tried("import os, signal; os.kill(os.getpid(), signal.SIGTERM)").status == 143


def test_no_host_can_be_reached(listener: socket.socket) -> None:
    """Neither this machine's loopback, nor an address outside, nor a socket in a file; its own loopback can."""
    port = listener.getsockname()[1]
    ended = tried(f"""
import socket
for kind, place in ((2, ("127.0.0.1", {port})), (2, ("192.0.2.1", 80)), (1, "/run/docker.sock"), (1, "\\0abstract")):
    with socket.socket(kind) as one:
        try:
            one.connect(place)
            print("connected to", place)
        except OSError as error:
            print(error.errno)
with socket.create_server(("127.0.0.1", 0)) as own, socket.create_connection(own.getsockname()):
    print("own loopback")
""")
    assert ended.output.splitlines() == ["111", "101", "2", "111", "own loopback"]
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_no_process_is_left() -> None:
    """A thousand forks reach the limit; all of them, and a daemon in another session, end with the program."""
    mark = f"daemon-{os.getpid()}-{time.monotonic_ns()}"
    ended = tried(f"""
import os, time
made = 0
try:
    for _ in range(1_000):
        if not os.fork():
            os.setsid()
            time.sleep(600)
        made += 1
except OSError:
    pass
print({mark!r}[:6], made < 500)
""")
    assert ended.output == "daemon True\n"
    assert mark not in subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout


def test_only_the_given_folders_are_written(tmp_path: Path) -> None:
    """Not the checkout, the data directory, the system's files or its parameters, by no way; /tmp is another one."""
    (tmp_path / "data").mkdir()
    (tmp_path / "given").mkdir()
    mark = Path(f"/tmp/harness-test-{os.getpid()}")  # noqa: S108 - it must not be written
    places = [tmp_path / "data" / "harness.db", Path(__file__), Path("/etc/passwd"), Path("/usr/x"), Path("/x")]
    before = Path(__file__).read_bytes()
    ended = tried(
        f"""
import os
for place in {[str(each) for each in places]!r} + ["/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj"]:
    try:
        open(place, "a").write("x")
        print("wrote", place)
    except OSError:
        pass
open({str(mark)!r}, "w").write("x")
open({str(tmp_path / "given" / "kept")!r}, "w").write("x")
for step in ("os.mkdir('/new')", "os.symlink('/etc', '/usr/link')", "os.chroot('/usr')", "os.mknod('/tmp/d', 0o60600)"):
    try:
        exec(step)
        print("did", step)
    except OSError:
        pass
print(os.system("unshare -rm true 2>/dev/null || mount -o remount,rw / 2>/dev/null || echo no"))
""",
        write=(tmp_path / "given",),
    )
    assert ended.output == "no\n0\n"
    assert [each.name for each in (tmp_path / "given").iterdir()] == ["kept"]
    assert not mark.exists()
    assert not list((tmp_path / "data").iterdir())
    assert Path(__file__).read_bytes() == before


def test_secrets_are_not_there(secret: Path) -> None:
    """Neither files of the home, nor the environment of this process, nor other processes."""
    ended = tried(f"""
import os
for place in ({str(secret)!r}, "~/.ssh/id_ed25519", "/etc/shadow", "/proc/1/environ", "/proc/{os.getppid()}/environ"):
    try:
        print(open(os.path.expanduser(place)).read())
    except OSError:
        pass
left = set(os.listdir("/tmp")) - set({Path(__file__).parts!r})  # a checkout below /tmp has its folder there
print(sorted(os.environ), sorted(left), max(int(each) for each in os.listdir("/proc") if each.isdigit()) < 100)
""")
    assert ended.output.endswith("['HOME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'TMPDIR'] [] True\n")
    assert "PRIVATE" not in ended.output
    assert "sesame" not in ended.output


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("open('/tmp/big', 'wb').write(bytes(2**21))", "File too large"),
        ("for n in range(9): open(f'/tmp/{n}', 'wb').write(bytes(2**20))", "No space left on device"),
        ("bytearray(2**29)", "MemoryError"),
        ("held = [open('/dev/null') for _ in range(2_000)]", "Too many open files"),
    ],
)
def test_space_memory_and_files_are_limited(code: str, says: str) -> None:
    """One file, all files of /tmp, memory, open files."""
    ended = tried(code)
    assert ended.status == 1
    assert says in ended.output


@pytest.mark.parametrize("then", ["time.sleep(60)", "while True: print(end='.', flush=True); time.sleep(0.05)"])
@pytest.mark.slow
def test_many_files_in_a_given_folder_end_the_program(tmp_path: Path, then: str) -> None:
    """Each is small; together they are too much, also if the program is never silent."""
    code = f"import time\nfor n in range(8): open(f'{tmp_path}/{{n}}', 'wb').write(bytes(2**20))\n{then}"
    assert tried(code, write=(tmp_path,)).killed == "it wrote more than 4,194,304 bytes and was killed"


@pytest.mark.slow
def test_a_program_that_does_not_end_is_killed() -> None:
    """With its children, at the time limit."""
    began = time.monotonic()
    ended = tried("import os\nos.fork()\nwhile True: pass", seconds=1.0)
    assert ended.killed == "it took longer than 1 s and was killed"
    assert time.monotonic() - began < 10


def test_output_is_bounded() -> None:
    """A flood ends the program; the first and the last part of much output are kept."""
    flood = tried("import os\nfor _ in range(1_000): os.write(1, b'x' * 100_000)")
    assert flood.killed == "it printed more than 50,000,000 bytes and was killed"
    assert len(flood.output) < sandbox.MAX_KEPT * 2
    much = tried("print('first'); print('x' * 1_000_000); print('last')").output
    assert (much[:5], much[-5:-1], len(much) < sandbox.MAX_KEPT * 2) == ("first", "last", True)


def test_it_ends_when_this_process_is_gone() -> None:
    """A broken lifeline ends all that is in it: here, only that is closed."""
    code = "import time; print('up', flush=True); time.sleep(600)"
    with Sandbox([sys.executable, "-I", "-c", code]) as running:
        assert running.read(time.monotonic() + 20) == b"up\n"
        os.close(running._lifeline)
        running._lifeline = os.open(os.devnull, os.O_RDONLY)
        assert running.ended(time.monotonic() + 20) == 137


def test_input_that_is_not_read_does_not_block() -> None:
    """Writing it has a time limit, too."""
    program = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]
    with Sandbox(program, interactive=True) as running, pytest.raises(TimeoutError):
        running.write(bytes(2**20), time.monotonic() + 0.5)


def test_without_a_sandbox_it_must_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the reason and the option."""
    monkeypatch.setattr(sandbox, "available", lambda: "the program `unshare` (of util-linux) is not installed")
    with pytest.raises(InvalidInput, match=r"`unshare` .* is not installed; --allow-unsandboxed"):
        sandbox.checked(allow_unsandboxed=False)
    assert not sandbox.checked(allow_unsandboxed=True)


def test_landlock_holds_without_namespaces(tmp_path: Path, secret: Path) -> None:
    """Unconfined, a program still writes only what it is given, and reads nothing else, where the kernel has it."""
    assert landlock.version()
    given, other = tmp_path / "given", tmp_path / "other"
    given.mkdir()
    code = f"""
import os, tempfile
tempfile.TemporaryFile().write(b"x")
open({str(given / "kept")!r}, "w").write("x")
for step in ("open({str(other)!r}, 'w')", "open({str(secret)!r})", "os.unlink({str(secret)!r})"):
    try:
        exec(step)
        print("did", step)
    except PermissionError:
        pass
"""
    ended = sandbox.run([sys.executable, "-I", "-c", code], seconds=30, write=[given], confined=False)
    assert (ended.status, ended.output) == (0, "")
    assert (given / "kept").exists()
    assert secret.exists()
    assert not other.exists()
