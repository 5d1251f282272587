"""A file is replaced whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.storage.files import replacing


def test_the_new_content_replaces_the_old(tmp_path: Path) -> None:
    """Until the end of the block the old content is there, and nothing else is left in the folder."""
    path = tmp_path / "rule.json"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["rule.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_if_writing_fails_the_old_content_stays(tmp_path: Path, error: type[BaseException]) -> None:
    """Ctrl-C, or a disk that is full."""
    path = tmp_path / "rule.json"
    path.write_bytes(b"old")
    with pytest.raises(error):
        _fail_halfway(path, error)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["rule.json"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    """It is raised before anything is written."""
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "none" / "rule.json"):
        pytest.fail("there is nothing to write to")


def test_a_link_stays_one_and_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    """The file behind the link has the new content."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """A device likewise: neither is replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        with replacing(pipe) as file:
            file.write(b"new")
        assert read.result() == b"new"
    assert pipe.is_fifo()


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Other files are readable as the umask allows."""
    for private, mode in ((True, 0o600), (False, None)):
        path = tmp_path / f"{private}"
        with replacing(path, private=private) as file:
            file.write(b"")
        other = tmp_path / "other"
        other.touch()
        assert stat.S_IMODE(path.stat().st_mode) == (mode or stat.S_IMODE(other.stat().st_mode))


def _fail_halfway(path: Path, error: type[BaseException]) -> None:
    with replacing(path) as file:
        file.write(b"half of")
        raise error
