"""The inner side of the sandbox: confines its own process, then runs a program and waits for it.

Run as `python -P -S -m harness_evals.confinement SPEC`, by `harness_evals.sandbox`, as the first process of new user,
mount, network and process namespaces. It needs the standard library alone.

In a sandbox, the program sees a new root with the given folders and nothing else, so that it cannot read a secret, nor
connect to a socket in the file system; all but the folders to write and `/tmp` is read-only. It has no capability, and
cannot make namespaces that would give it some. Where the kernel has Landlock, it holds too, without a sandbox as well.
When the program ends, or the lifeline (a pipe that the outer side holds open) breaks, this process ends, and with it
the kernel kills all that the program left behind.
"""

import ctypes
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from harness_evals import landlock

FAILED = 125
"""Exit status when the sandbox cannot be made."""
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/sys/devices/system/cpu"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/ssl/certs"),
    *("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime", "/etc/mime.types"),
    *("/etc/fonts", "/etc/services", "/etc/protocols"),
)
"""Files of the system that programs need; nothing else of `/etc` can be read."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 2, 4, 8, 4096, 16384
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
RDONLY, NOSUID, NODEV = 1, 2, 4
MNT_DETACH = 2
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITIES_3 = 0x20080522
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

PROCESSES_OF_ROOT = (6, 14)
"""First Linux with a number of processes for each namespace: root has no other limit, and older ones share theirs."""
PROCESSES_OF_USER = (5, 14)
"""First Linux that counts a user's processes in each namespace."""


def main(spec: Mapping[str, Any]) -> NoReturn:
    """Confine this process, run the program and end with its status."""
    os.set_inheritable(spec["life"], False)
    try:
        confine(spec)
    except OSError as error:
        sys.stderr.write(f"no sandbox: {error}\n")
        os._exit(FAILED)
    child = 0

    def reap(*_: object) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    code = os.waitstatus_to_exitcode(ended[1])
                    os._exit(code if code >= 0 else 128 - code)

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    signal.signal(signal.SIGCHLD, reap)
    if not (child := os.fork()):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        try:
            os.execve(spec["argv"][0], spec["argv"], spec["environment"])  # noqa: S606 - the program to confine
        except OSError as error:
            sys.stderr.write(f"cannot run {spec['argv'][0]}: {error}\n")
            os._exit(FAILED)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    os.read(spec["life"], 1)  # the handler interrupts it; otherwise, the outer side is gone
    if not spec["root"]:  # without a namespace, at least those that stayed in the group
        os.killpg(0, signal.SIGKILL)
    os._exit(128 + signal.SIGKILL)


def confine(spec: Mapping[str, Any]) -> None:
    """Give up all that the program must not have.

    Raises:
        OSError: the system refuses.
    """
    read, write, limits = spec["read"], spec["write"], spec["limits"]
    if spec["root"]:
        _start_loopback()
        _enter_new_root(spec["root"], read, write, limits)
        read, write = ["/"], [*write, "/tmp", "/dev"]  # noqa: S108 - of the new root
    else:
        read, write = [*SYSTEM, "/proc", *read], [*write, *DEVICES]
    os.chdir(spec["cwd"])
    if sys.platform == "linux":
        _give_up_privileges()
        landlock.restrict(read, write)
    _limit(limits, counts_processes=bool(spec["root"]) and _linux() >= PROCESSES_OF_USER)


def _enter_new_root(root: str, read: list[str], write: list[str], limits: Mapping[str, int]) -> None:
    """Mount a new root with these folders, and leave the old one."""
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    places = [("tmpfs", f"/{name}") for name in ("tmp", "dev/shm")]
    places += [("read", path) for path in (*SYSTEM, *read) if Path(path).exists()]
    places += [("write", path) for path in write] + [("device", path) for path in DEVICES]
    for kind, path in sorted(places, key=lambda place: len(Path(place[1]).parts)):
        target = f"{root}{path}"
        if kind == "tmpfs":
            Path(target).mkdir(parents=True, exist_ok=True)
            _mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, f"size={limits['scratch']},mode=1777")
        elif Path(path).is_symlink():
            _link(path, target)
        else:
            _bind(path, target)
            if kind != "device":
                _set_flags(target, (RDONLY if kind == "read" else 0) | NOSUID | NODEV)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        Path(f"{root}/dev/{name}").symlink_to(f"/proc/self/fd/{number}")
    Path(f"{root}/dev/fd").symlink_to("/proc/self/fd")
    Path(f"{root}/proc").mkdir()
    _mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    _limit_namespaces(Path(f"{root}/proc/sys"), limits)
    _set_flags(f"{root}/proc", RDONLY)
    os.chdir(root)
    _check(_libc.pivot_root(b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")
    _set_flags("/", RDONLY, recursive=False)


def _limit_namespaces(sys_: Path, limits: Mapping[str, int]) -> None:
    """Allow no further user namespace, and a number of processes."""
    (sys_ / "user/max_user_namespaces").write_text("0")
    if _linux() >= PROCESSES_OF_ROOT:
        (sys_ / "kernel/pid_max").write_text(str(limits["processes"]))


def _bind(path: str, target: str) -> None:
    if Path(path).is_dir():
        Path(target).mkdir(parents=True, exist_ok=True)
    elif not Path(target).exists():
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).touch()
    _mount(path, target, None, MS_BIND | MS_REC, None)


def _link(path: str, target: str) -> None:
    """Repeat a symbolic link, unless a mounted folder has it already."""
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    if not Path(target).is_symlink():
        Path(target).symlink_to(Path(path).readlink())


def _start_loopback() -> None:
    """Start the network's only interface, which leads nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def _give_up_privileges() -> None:
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    number = 0
    while _libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header, none = struct.pack("Ii", CAPABILITIES_3, 0), bytes(24)
    _check(_libc.capset(header, none), "capset")


def _limit(limits: Mapping[str, int], *, counts_processes: bool) -> None:
    bounds = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_CPU: limits["cpu"],
        resource.RLIMIT_FSIZE: limits["file"],
        resource.RLIMIT_NOFILE: limits["files"],
        resource.RLIMIT_CORE: 0,
    }
    if counts_processes:
        bounds[resource.RLIMIT_NPROC] = limits["processes"]
    for which, bound in bounds.items():
        _, most = resource.getrlimit(which)
        value = bound if most == resource.RLIM_INFINITY else min(bound, most)
        resource.setrlimit(which, (value, value))


def _linux() -> tuple[int, ...]:
    """Return the version of Linux."""
    first, second = platform.release().split(".")[:2]
    return int(first), int("".join(filter(str.isdigit, second)) or 0)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None) -> None:
    given = (each and each.encode() for each in (source, target, kind, data))
    where, at, what, more = given
    _check(_libc.mount(where, at, what, ctypes.c_ulong(flags), more), f"mount {source} at {target}")


def _set_flags(target: str, flags: int, *, recursive: bool = True) -> None:
    """Add flags to a mount; with `recursive`, also to those in it (`mount_setattr`, Linux 5.12)."""
    change = struct.pack("QQQQ", flags, 0, 0, 0)
    whole = AT_RECURSIVE if recursive else 0
    numbers = [ctypes.c_long(each) for each in (MOUNT_SETATTR, AT_FDCWD, whole, len(change))]
    found = _libc.syscall(numbers[0], numbers[1], target.encode(), numbers[2], change, numbers[3])
    _check(found, f"mount_setattr of {target}")


def _check(found: int, what: str) -> None:
    if found != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


_libc = ctypes.CDLL(None, use_errno=True)

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
