"""`harness knowledge …`: right and wrong usage, and what it prints."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program

TITLE, ASKED = "GitHub REST API rate limits", "what is the rate limit of the github rest api"
URL = "https://docs.github.com/rest"
COMMANDS = ("lookup", "write", "get", "list", "history", "delete")


def write(harness: Program, *arguments: object) -> Any:
    """Write a document; return the output as JSON."""
    return harness("knowledge", "write", *arguments, "--json").told


def test_the_whole_story(harness: Program) -> None:
    """Written, looked up by meaning and by URL, refreshed, listed, shown, deleted."""
    written = write(harness, TITLE, "5,000 an hour.", "--source-url", URL, "--tag", "api", "--confidence", 0.9)
    assert (written["outcome"], written["version"], written["document"]["tags"]) == ("created", 1, ["api"])
    document_id = written["id"]
    by_meaning = harness("knowledge", "lookup", ASKED, "--tag", "API")
    assert by_meaning.code == 0
    assert TITLE in by_meaning.out
    assert "5,000 an hour." in by_meaning.out
    assert "found by meaning, similarity 0.9" in by_meaning.err
    told = harness("knowledge", "lookup", "anything", "--source-url", f"{URL}/#x", "--json").told
    assert {"hit", "document", "stale_exists", "stale_id"} <= told.keys()
    assert (told["hit"], told["document"]["id"], told["stale_exists"], told["stale_id"]) == (
        True, document_id, False, None,
    )  # fmt: skip
    assert write(harness, "--id", document_id)["outcome"] == "updated"
    listed = harness("knowledge", "list", "--tag", "api", "--json").told
    assert [each["version"] for each in listed["items"]] == [2]
    assert TITLE in harness("knowledge", "list").out
    versions = harness("knowledge", "history", document_id, "--json").told
    assert versions["document"]["version"] == 2
    assert [each["version"] for each in versions["earlier"]] == [1]
    assert "2 " in harness("knowledge", "history", document_id).out
    assert harness("knowledge", "get", document_id, "--json").told == versions["document"]
    assert "5,000" in harness("knowledge", "get", document_id).out
    assert harness("knowledge", "delete", document_id, "--yes", "--json").told == {"deleted": 1}
    assert harness("knowledge", "list").out == "nothing is known yet\n"


def test_a_lookup_without_an_answer_exits_with_1(harness: Program) -> None:
    """A miss and a document that is too old have different messages, and both exit with 1."""
    missed = harness("knowledge", "lookup", ASKED)
    assert (missed.code, missed.out, missed.err) == (1, "", "nothing is known\n")
    document_id = write(harness, TITLE, "5,000 an hour.")["id"]
    stale = harness("knowledge", "lookup", ASKED, "--max-age-hours", "0.0000001", "--json")
    assert stale.code == 1
    assert (stale.told["hit"], stale.told["stale_exists"], stale.told["stale_id"]) == (False, True, document_id)
    assert document_id in stale.err


def test_a_document_that_is_not_written_exits_with_5(harness: Program) -> None:
    """A URL that another document has, and a version that is no longer the present one, with the id to look at."""
    document_id = write(harness, TITLE, "1", "--source-url", URL)["id"]
    duplicate = harness("knowledge", "write", "Another title", "2", "--source-url", f"{URL}/")
    assert (duplicate.code, document_id in duplicate.out) == (5, True)
    harness("knowledge", "write", "--id", document_id, "--version", 1)
    conflict = harness("knowledge", "write", "--id", document_id, "--version", 1, "--json")
    assert (conflict.code, conflict.told["outcome"], conflict.told["version"]) == (5, "version_conflict", 2)
    assert "is at version 2" in harness("knowledge", "write", "--id", document_id, "--version", 1).out


def test_a_content_comes_from_a_file_or_standard_input(harness: Program, tmp_path: Path) -> None:
    """`--file` and `-`; a file that is no text, or not there, is an error, and so are two contents."""
    file = tmp_path / "retries.md"
    file.write_text("Back off.")
    assert write(harness, "Retries", "--file", file)["document"]["content"] == "Back off."
    piped = harness("knowledge", "write", "Timeouts", "-", "--json", stdin="Wait 10 s.")
    assert piped.told["document"]["content"] == "Wait 10 s."
    harness("knowledge", "write", "Both", "text", "--file", file).one_line_error(2)
    file.write_bytes(b"\xff\xfe")
    harness("knowledge", "write", "Bytes", "--file", file).one_line_error(2)
    harness("knowledge", "write", "Gone", "--file", tmp_path / "none").one_line_error(2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("lookup", ""), ("lookup", "x", "--limit", 0), ("lookup", "x", "--min-confidence", "nan"),
        ("lookup", "x", "--max-age-hours", "inf"), ("lookup", "x", "--max-age-hours", 0),
        ("lookup", "x", "--source-url", "a.org"), ("write",), ("write", "title only"),
        ("write", "a", "b", "--version", 1),
        ("write", "a", "b", "--confidence", 2), ("write", "a", "b", "--ttl-hours", -1),
        ("write", "a", "b", "--expires-at", "tomorrow"), ("write", "--id", "0" * 32), ("list", "--limit", 0),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(harness: Program, arguments: tuple[object, ...]) -> None:
    """Unusable arguments exit with 2."""
    harness("knowledge", *arguments).one_line_error(2)


def test_an_unanswered_question_deletes_nothing(harness: Program) -> None:
    """Without `--yes` it is asked, and the end of the input counts as no."""
    document_id = write(harness, TITLE, "1")["id"]
    assert harness("knowledge", "delete", document_id).code == 2
    assert harness("knowledge", "get", document_id).code == 0
    assert harness("knowledge", "delete", document_id, stdin="y\n").code == 0
    assert harness("knowledge", "get", document_id).code == 1


def test_unknown_ids_exit_with_1(harness: Program) -> None:
    """For every command that takes an id."""
    for arguments in (("get",), ("history",), ("delete", "--yes")):
        ended = harness("knowledge", arguments[0], "0" * 32, *arguments[1:])
        assert (ended.code, ended.out) == (1, "")
        assert "no document" in ended.err


def test_the_settings_decide_lifetime_and_floor(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """`knowledge_ttl_hours` and `knowledge_floor`, from the environment as every setting."""
    monkeypatch.setenv("HARNESS_KNOWLEDGE_TTL_HOURS", "0.0000001")
    document_id = write(harness, TITLE, "5,000 an hour.")["id"]
    assert harness("knowledge", "lookup", ASKED, "--json").told["stale_id"] == document_id
    assert "expired" in harness("knowledge", "list").out
    monkeypatch.setenv("HARNESS_KNOWLEDGE_FLOOR", "0.99")
    assert harness("knowledge", "lookup", ASKED, "--json").told["stale_id"] is None
    monkeypatch.setenv("HARNESS_KNOWLEDGE_FLOOR", "1.1")
    assert "knowledge_floor" in harness("knowledge", "lookup", ASKED).one_line_error(2)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(harness: Program, command: str) -> None:
    """`--help` shows how it is used."""
    ended = harness("knowledge", command, "--help")
    assert (ended.code, f"harness knowledge {command}" in ended.out) == (0, True)
