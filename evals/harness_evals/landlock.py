"""Landlock: a process gives up access to files, for itself and its children, until they end.

Linux 5.13 and newer, see https://docs.kernel.org/userspace-api/landlock.html. The package `landlock` on PyPI has only
development versions, so these are the three system calls themselves. This module needs no other of this package.
"""

import ctypes
import os
import stat
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on every architecture."""
VERSION = 1
"""Flag of `CREATE_RULESET` that asks for the version."""
PATH_BENEATH = 1
EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
WRITE_FILE, TRUNCATE, IOCTL_DEV = 1 << 1, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
"""Rights that a rule for one file may give."""
RIGHTS = (0, 13, 14, 15, 15, 16)
"""Number of rights that each version knows; newer ones know the last."""


def version() -> int:
    """Return the version of Landlock that the kernel has; 0 without it."""
    try:
        return max(0, _call(CREATE_RULESET, None, 0, VERSION))
    except OSError:
        return 0


def restrict(read: Iterable[str], write: Iterable[str]) -> None:
    """Allow this process and its children to read and execute only what is in `read` and `write`, and to change only
    what is in `write`; paths that do not exist are left out. Nothing happens without Landlock.

    Raises:
        OSError: the kernel refuses.
    """
    if not (found := version()):
        return
    every = (1 << RIGHTS[min(found, len(RIGHTS) - 1)]) - 1
    ruleset = _call(CREATE_RULESET, ctypes.byref(ctypes.c_uint64(every)), 8, 0)
    try:
        for path in read:
            _allow(ruleset, path, READ & every)
        for path in write:
            _allow(ruleset, path, every)
        _call(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


class _Rule(ctypes.Structure):
    """`struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(_Rule(rights, place)), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    plain = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    found = int(_libc.syscall(ctypes.c_long(number), *plain))
    if found < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return found


_libc = ctypes.CDLL(None, use_errno=True)
