"""Scenes of lookups by words in other processes: `python -m tests.storage.word_scenes NAME PATH …`."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.storage.sqlite.store import SqliteStore
from tests.storage.scenarios import _all_ended_well, _fork
from tests.storage.words import found, passage, put

NOBODY = 65_534


def put_and_find(path: Path, key: str) -> None:
    """Put a passage and find it."""
    store = SqliteStore(path)
    put(store, passage(key, f"written by {key}"))
    assert found(store, key) == [key]
    store.close()


def fork_and_find(path: Path) -> None:
    """Put and find passages in a child and in its parent, with the store that the parent has opened."""
    store = SqliteStore(path)
    put(store, passage("parent", "written by a parent"))
    assert found(store, "parent") == ["parent"]

    def child(_: object) -> None:
        put(store, passage("child", "written by a child"))
        assert found(store, "child") == ["child"]
        assert found(store, "parent") == ["parent"]

    _all_ended_well([_fork(child, None)])
    assert found(store, "child") == ["child"]
    store.close()


def read_only_index() -> None:
    """Find new rows although the index may only be read; its folder may be written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "harness.db"
        store = SqliteStore(path)
        put(store, passage("a", "a zebra"))
        assert found(store, "zebra") == ["a"]
        put(store, passage("b", "one more zebra"))
        store.close()
        Path(folder).chmod(0o777)
        for file in Path(folder).iterdir():
            file.chmod(0o444 if ".words" in file.name else 0o666)
        _all_ended_well([_fork(_finds_both, path)])


def read_only_folder() -> None:
    """Look up words although nothing in the folder can be written."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        path = Path(folder) / "harness.db"
        for each in (path, Path(other) / "harness.db"):  # the second one imports modules that the child cannot read
            store = SqliteStore(each)
            put(store, passage("a", "a zebra"))
            assert found(store, "zebra") == ["a"]
            store.close()
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        Path(folder).chmod(0o555)
        try:
            _all_ended_well([_fork(_finds_it_or_nothing, path)])
        finally:
            Path(folder).chmod(0o755)


def _finds_it_or_nothing(path: Path) -> None:
    _become_nobody()
    store = SqliteStore(path)
    assert found(store, "zebra") in (["a"], [])


def _become_nobody() -> None:
    if os.getuid() == 0:
        os.setuid(NOBODY)


def _finds_both(path: Path) -> None:
    _become_nobody()
    store = SqliteStore(path)
    assert sorted(found(store, "zebra")) == ["a", "b"]
    store.close()


SCENES: dict[str, Callable[..., None]] = {
    scene.__name__: scene for scene in (put_and_find, fork_and_find, read_only_index, read_only_folder)
}

if __name__ == "__main__":
    SCENES[sys.argv[1]](*(Path(each) if "/" in each else each for each in sys.argv[2:]))
