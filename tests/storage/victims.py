"""Processes to be killed while they write: `python -m tests.storage.victims`.

For every line on standard input, `PATH<TAB>FIRST`, a child is forked that puts the rows `FIRST`, `FIRST` + 1, … into
the store at `PATH` for ever. On standard output come the lines `pid N` (the child's), a row's number as soon as its put
has returned, and `dead N` with the signal that ended it. Forking one prepared process is a hundred times faster than
starting Python for every victim; the prepared one itself never opens a store.
"""

import os
import sys
from itertools import count
from pathlib import Path

import filelock  # noqa: F401 - the store imports it late: here it is paid for once

from harness.storage.sqlite.store import SqliteStore
from tests.storage.entries import SEARCHES, TENANT, an_entry

PAYLOAD = b"x" * 40_000
"""Ten pages a row: a commit takes many writes, and the log is copied into the file every hundred rows."""


def _tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # at once, and whole: shorter than PIPE_BUF


def _write_for_ever(path: Path, first: int) -> None:
    store = SqliteStore(path)
    for number in count(first):
        store.rows.put(SEARCHES, TENANT, an_entry(str(number), payload=PAYLOAD))
        _tell(number)


def _serve() -> None:
    for line in sys.stdin:
        path, first = line.rstrip("\n").split("\t")
        victim = os.fork()
        if victim == 0:
            try:
                _write_for_ever(Path(path), int(first))
            finally:
                os._exit(1)
        _tell("pid", victim)
        _tell("dead", os.WTERMSIG(os.waitpid(victim, 0)[1]))


if __name__ == "__main__":
    _serve()
