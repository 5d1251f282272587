"""`harness memory …`: right and wrong usage, and what it prints."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program

COMMANDS = ("add", "query", "get", "delete", "threads", "stats", "export", "import", "forget")
FACT = "Staging is restarted every Monday at 6."
ASKED = "when is staging restarted"


@pytest.fixture
def fact(harness: Program) -> Any:
    """A remembered text, as JSON."""
    return harness("memory", "add", "-", "--json", stdin=FACT).told


def converse(harness: Program, *lines: str) -> None:
    """Hold a conversation without a model, which keeps no exchange; commands alone."""
    assert harness("chat", "-q", stdin="\n".join(lines)).code == 0


def exported(tmp_path: Path, harness: Program) -> list[str]:
    """Return the lines of an export, without its header."""
    file = tmp_path / "exported.jsonl"
    harness("memory", "export", file)
    return file.read_text().splitlines()[1:]


def test_the_whole_story(harness: Program, tmp_path: Path, fact: Any) -> None:
    """Added, found with its similarity, shown, counted, exported, deleted, imported, forgotten."""
    assert (fact["source"], fact["chunks"]) == ("-", 1)
    found = harness("memory", "query", ASKED, "--json").told["matches"]
    assert [each["text"] for each in found] == [FACT]
    assert 0.5 < found[0]["similarity"] <= 1
    printed = harness("memory", "query", ASKED, "-k", 1)
    assert (printed.code, FACT in printed.out, "similarity 0." in printed.out) == (0, True, True)
    id_ = found[0]["id"]
    assert harness("memory", "get", id_[:8], "--json").told == {"remembered": [
        {name: value for name, value in found[0].items() if name not in {"similarity", "score"}}
    ]}  # fmt: skip
    assert FACT in harness("memory", "get", fact["document_id"]).out
    told = harness("memory", "stats", "--json").told
    assert (told["total_exchanges"], told["document_chunks"], told["embedding_dimension"]) == (0, 1, 384)
    assert "store path: " in harness("memory", "stats").out
    assert harness("memory", "export", tmp_path / "all.jsonl", "--json").told["exported"] == 1
    assert harness("memory", "delete", id_[:8], "--yes", "--json").told == {"id": id_, "deleted": 1}
    assert harness("memory", "query", ASKED).code == 1
    assert harness("memory", "import", tmp_path / "all.jsonl", "--json").told["imported"] == 1
    assert "0 imported" in harness("memory", "import", tmp_path / "all.jsonl").out
    assert harness("memory", "forget", "--older-than", "1h", "--yes").out == "0 forgotten\n"
    assert harness("memory", "query", ASKED).code == 0


def test_every_command_prints_the_same_id(harness: Program) -> None:
    """The id that /vadd printed is in /vquery and /vget, and /vdelete takes it."""
    added = harness("chat", "-q", stdin=f"/vadd {FACT}").out
    id_ = added.split()[-1]
    assert harness("memory", "get", id_).out.count(id_) >= 1
    told = harness("chat", "-q", stdin=f"/vquery {ASKED}\n/vget {id_}\n/vdelete {id_}").out
    found, shown, deleted = told.partition("similarity")[2], told.partition("passage ")[2], told.splitlines()[-1]
    assert f"{id_} · passage · added by hand" in found
    assert shown.startswith(("·", id_))
    assert re.search(rf"deleted {id_}", deleted)


def test_a_passage_of_many_is_named_with_its_document(harness: Program, tmp_path: Path) -> None:
    """The document's id comes first, as it was added; the passage's own, which can be shown alone, after its number."""
    file = tmp_path / "retries.md"
    file.write_text("\n\n".join(f"Rule {number}: retries stop after {number} attempts. " * 20 for number in (1, 2, 3)))
    id_ = harness("memory", "add", file).out.split()[-1]
    found = harness("memory", "query", "retries", "-k", 1).out
    own = re.search(rf"{id_} · passage \d of \d, (\w{{8}}) ·", found)
    assert own is not None
    assert harness("memory", "get", own[1]).out.count("passage ") == 2
    assert harness("memory", "get", id_).out.count(f"passage {id_}") > 1


def test_a_file_replaces_its_earlier_version(harness: Program, tmp_path: Path) -> None:
    """Added again, the earlier passages are gone, and the output says so."""
    file = tmp_path / "retries.md"
    file.write_text("# Retries\n\nThey stop after five attempts.\n")
    assert "as 1 passage" in harness("memory", "add", file).out
    file.write_text("# Retries\n\nThey stop after seven attempts.\n")
    assert "replaced 1" in harness("memory", "add", file).out
    (only,) = harness("memory", "query", "how many attempts", "--json").told["matches"]
    assert "seven" in only["text"]


def test_a_secret_is_masked(harness: Program, tmp_path: Path) -> None:
    """Text like a key is not stored, and the output says so."""
    key = "ghp_" + "a1B2" * 9
    added = harness("memory", "add", "-", stdin=f"The key of the robot is {key}.")
    assert "1 secret was masked" in added.out
    assert key not in "".join(exported(tmp_path, harness))


def test_threads_are_listed_and_forgotten(harness: Program, tmp_path: Path) -> None:
    """A thread that was imported: listed with its first words, shown, forgotten by the start of its id."""
    from harness.chat import Exchange, Memory
    from harness.models.local.embedder import MiniLM
    from tests.fakes import MemoryStore

    memory = Memory(MemoryStore(), MiniLM())
    for number in (1, 2):
        exchange = Exchange(
            id=f"{number}1111111-0000-4000-8000-000000000000", thread_id="abcd1111-0000-4000-8000-000000000000",
            session_id=f"{number}2222222-0000-4000-8000-000000000000", user_message=f"question {number}",
            assistant_message="answer", timestamp=f"2026-11-2{number}T10:00:00+00:00", thread_continuation_seq=number,
        )  # fmt: skip
        memory.writer.remember(exchange)
    memory.transfer.export_to(tmp_path / "made.jsonl")
    harness("memory", "import", tmp_path / "made.jsonl")
    (listed,) = harness("memory", "threads", "--json").told["threads"]
    assert (listed["title"], listed["exchanges"], listed["sessions"]) == ("question 1", 2, 2)
    printed = harness("memory", "threads").out
    assert "abcd1111 · " in printed
    assert "2 exchanges, 2 sessions" in printed
    both = harness("memory", "get", "abcd1111").out
    assert both.index("question 1") < both.index("question 2")
    continued = harness("chat", "-q", "--continue", "abcd", stdin="")
    assert (continued.code, "continuation 3" in continued.out) == (0, True)
    assert harness("memory", "forget", "--thread", "abcd", "--yes", "--json").told == {"forgotten": 2}
    assert harness("memory", "threads").out == "No conversations yet.\n"


def test_nothing_is_deleted_without_consent(harness: Program, fact: Any) -> None:
    """The end of the input counts as no, like `n`."""
    for arguments in (("delete", fact["document_id"]), ("forget", "--older-than", "1h")):
        ended = harness("memory", *arguments, stdin="n\n")
        assert (ended.code, "nothing was deleted" in ended.err) == (2, True)
    assert harness("memory", "query", ASKED).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("get", "zzzz"), ("get", "ab"), ("get", "00000000-0000-4000-8000-000000000000"), ("delete", "zzzz", "--yes"),
        ("query", ""), ("query", "x", "-k", "0"), ("query", "x", "-k", "51"), ("forget",), ("add", "none.md"),
        ("add", "."), ("add", "docs:../x"), ("add", "-"), ("import", "none.jsonl"), ("export", "/none/x.jsonl"),
        ("forget", "--older-than", "90d", "--thread", "abcd"), ("forget", "--older-than", "soon", "--yes"),
        ("forget", "--older-than", "0d", "--yes"), ("forget", "--thread", "zzzz", "--yes"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_ends_with_two(harness: Program, arguments: tuple[str, ...]) -> None:
    """The message has the problem and the remedy."""
    harness("memory", *arguments).one_line_error(2)


@pytest.mark.parametrize("command", COMMANDS)
def test_disabled_each_command_says_so(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """And how to enable it."""
    config = tmp_path / "config.yaml"
    config.write_text("vector_store:\n  enabled: false\n")
    needed = {"threads": (), "stats": (), "forget": ("--older-than", "1d")}.get(command, ("x",))
    line = harness("memory", command, *needed, "--config", config).one_line_error(2)
    assert "enabled" in line
    assert "true" in line


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(harness: Program, command: str) -> None:
    """Every command has at least one, and `--json`."""
    told = harness("memory", command, "--help").out
    assert f"harness memory {command}" in told.partition("Example")[2]
    assert "--json" in told


def test_the_historical_options_of_chat(harness: Program, tmp_path: Path) -> None:
    """A document is added, found and counted without a conversation; one option at a time."""
    file = tmp_path / "staging.md"
    file.write_text(FACT)
    assert harness("chat", "--query-vector-store", ASKED).code == 1
    assert harness("chat", "--add-to-vector-store", file).code == 0
    found = harness("chat", "--query-vector-store", ASKED)
    assert (found.code, FACT in found.out) == (0, True)
    assert "documents: 1" in harness("chat", "--vector-store-stats").out
    harness("chat", "--vector-store-stats", "--no-vector-store").one_line_error(2)
    harness("chat", "--vector-store-stats", "--query-vector-store", "x").one_line_error(2)
    harness("chat", "--add-to-vector-store", tmp_path / "none.md").one_line_error(2)
