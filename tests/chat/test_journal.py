"""The journal: bounded, readable only by its owner, without losing a line."""

import logging
import os
from pathlib import Path

import pytest

from harness.chat import Exchange
from harness.chat.exchanges import Remembered
from harness.chat.journal import MAX_BYTES, Journal
from harness.errors import StoreBusy, StoreError
from tests.chat.said import said

MINE = ("default", "conversations")


@pytest.fixture
def kept(tmp_path: Path) -> Journal:
    """Return an empty journal in a folder that does not exist yet."""
    return Journal(tmp_path / "new" / "journal.jsonl")


def replayed(journal: Journal) -> list[Remembered]:
    """Return all memories of the journal, in order, and empty it."""
    held: list[Remembered] = []
    journal.replay(*MINE, held.append)
    return held


def test_lines_come_back_in_order(kept: Journal) -> None:
    """Once; then the journal is gone."""
    exchanges = [said(f"e{number}", "hello\nworld", "\N{SNOWMAN}") for number in range(3)]
    for exchange in exchanges:
        kept.append(*MINE, exchange)
    assert replayed(kept) == exchanges
    assert not kept.exists
    assert replayed(kept) == []


def test_a_damaged_line_is_set_aside(kept: Journal, caplog: pytest.LogCaptureFixture) -> None:
    """A warning; the line moves to a file next to the journal, and the others are saved."""
    kept.append(*MINE, said("e1", "one"))
    with kept.path.open("ab") as file:
        file.write(b'{"tenant": "default", "coll\n\xff\xfe\n')
    kept.append(*MINE, said("e2", "two"))
    with caplog.at_level(logging.WARNING):
        assert [each.id for each in replayed(kept)] == ["e1", "e2"]
    assert "2 damaged lines" in caplog.text
    aside = kept.path.with_name("journal.jsonl.damaged")
    assert aside.read_bytes() == b'{"tenant": "default", "coll\n\xff\xfe\n'


def test_a_line_cut_off_by_a_crash_damages_no_other(kept: Journal) -> None:
    """The next write starts a new line."""
    kept.append(*MINE, said("e1", "one"))
    os.truncate(kept.path, kept.path.stat().st_size - 10)
    kept.append(*MINE, said("e2", "two"))
    assert [each.id for each in replayed(kept)] == ["e2"]


def test_lines_saved_before_a_failure_are_not_saved_again(kept: Journal) -> None:
    """The rest waits, in order."""
    for number in range(3):
        kept.append(*MINE, said(f"e{number}", "hello"))
    held: list[str] = []

    def save(remembered: Remembered) -> None:
        if held:
            raise StoreBusy("locked")
        held.append(remembered.id)

    with pytest.raises(StoreBusy):
        kept.replay(*MINE, save)
    assert held == ["e0"]
    assert [each.id for each in replayed(kept)] == ["e1", "e2"]


def test_a_refused_line_does_not_block_the_rest(kept: Journal) -> None:
    """An undamaged line that is refused is set aside like a damaged one."""
    from harness.errors import InvalidInput

    for number in range(2):
        kept.append(*MINE, said(f"e{number}", "hello"))
    held: list[Remembered] = []

    def save(remembered: Remembered) -> None:
        if remembered.id == "e0":
            raise InvalidInput("not a time")
        held.append(remembered)

    assert kept.replay(*MINE, save) == 1
    assert not kept.exists
    assert b'"e0"' in kept.path.with_name("journal.jsonl.damaged").read_bytes()


def test_a_full_journal_says_so(kept: Journal) -> None:
    """At 16 MiB; its content stays."""
    kept.append(*MINE, said("e1", "one"))
    size = kept.path.stat().st_size
    with kept.path.open("ab") as file:
        file.write(b" " * (MAX_BYTES - size - 1) + b"\n")
    with pytest.raises(StoreError, match="is full"):
        kept.append(*MINE, said("e2", "two"))
    assert [each.id for each in replayed(kept)] == ["e1"]


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    """Typed, with advice."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write the journal"):
        Journal(tmp_path / "file" / "journal.jsonl").append(*MINE, said("e1", "hello"))


def test_a_line_holds_the_whole_exchange(kept: Journal) -> None:
    """All its fields."""
    exchange = said("e1", "hello", "hi", continuation=2, prior=("a", "b"), at=5)
    kept.append(*MINE, exchange)
    (back,) = replayed(kept)
    assert isinstance(back, Exchange)
    assert back == exchange
