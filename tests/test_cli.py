"""The program `harness`, run as its users run it: in another process where that can make a difference."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import search_cache
from tests.cli.program import Program

HARNESS = str(Path(sys.executable).parent / "harness")
QUESTION = "How does the with statement handle exceptions?"
RESULTS = [{"title": "RAG pipelines", "href": "https://example.org/rag", "body": "Chunk, then rank."}]


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, its output piped."""
    return subprocess.run(
        [HARNESS, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        timeout=60,
    )


def one_line_error(ended: subprocess.CompletedProcess[str], code: int) -> str:
    """Check that a run failed with `code` and a single line on standard error; return it."""
    assert ended.returncode == code, ended
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory in which the bundled corpus is indexed once for this module."""
    return tmp_path_factory.mktemp("corpora")


@contextmanager
def silent_proxy() -> Iterator[str]:
    """Listen on loopback, accept every connection, and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    accepted.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for connection in accepted:
            connection.close()


@pytest.mark.slow
def test_a_research_is_repeated_for_nothing(corpora: Path) -> None:
    """The second run makes 0 live calls and prints the same bytes; figures are on standard error only."""
    arguments = ("research", QUESTION, "--engine", "corpus:python-docs", "--data-dir", str(corpora))
    first, second = process(*arguments), process(*arguments)
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout
    assert first.stdout.startswith(f"# {QUESTION}\n")
    assert "## Sources" in first.stdout
    assert " 0 exact, " in first.stderr, "what hits there are, are by meaning"
    assert " 0 live calls" not in first.stderr
    assert " 0 live calls" in second.stderr
    assert "\x1b" not in first.stdout + first.stderr


@pytest.mark.slow
def test_research_as_json_tells_everything(corpora: Path) -> None:
    """Plan, rounds, novelty, sources, citations, live calls and cache hits, and the report itself."""
    arguments = ("research", QUESTION, "-e", "corpus:python-docs", "--data-dir", str(corpora), "--json")
    told = json.loads(process(*arguments, RESEARCH_CACHE="1").stdout)
    assert told["question"] == QUESTION
    assert len(told["plan"]["queries"]) >= 2
    assert told["novelty_scores"] == [round_["novelty"] for round_ in told["rounds"]]
    assert told["live_calls"] + told["cache_hits"] == sum(len(round_["searches"]) for round_ in told["rounds"])
    assert told["quotations_verified"] == told["quotations"] == len(told["citations"]) > 0
    cited = {source["number"]: source["url"] for source in told["sources"] if source["number"]}
    assert all(cited[citation["number"]] == citation["url"] for citation in told["citations"])
    assert told["research_cache"] == "stored"
    again = json.loads(process(*arguments, RESEARCH_CACHE="1").stdout)
    assert (again["research_cache"], again["live_calls"], again["report"]) == ("hit", 0, told["report"])


@pytest.mark.slow
def test_notes_are_researched(tmp_path: Path) -> None:
    """A folder is a corpus; unreadable files in it are reported and skipped."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "http.md").write_text(
        "# Retries\n\nRetries use exponential backoff, and stop after five failed attempts.\n"
    )
    (notes / "broken.pdf").write_bytes(b"%PDF-1.7 not really")
    ended = process("research", "what do my notes say about retries", "--engine", f"corpus:{notes}")
    assert ended.returncode == 0
    assert "“Retries use exponential backoff, and stop after five failed attempts.” [1]" in ended.stdout
    assert (notes / "http.md").as_uri() in ended.stdout
    assert f"warning: skipped {notes / 'broken.pdf'}" in ended.stderr


@pytest.mark.slow
def test_nothing_found_is_exit_code_1_and_no_report(tmp_path: Path) -> None:
    """An honest sentence on standard error, nothing on standard output."""
    (tmp_path / "soup.txt").write_text("Peel the onions and let them simmer in butter until they are golden brown.\n")
    for question in ("quantum chromodynamics", "who simmers semaphores"):
        ended = process("research", question, "--engine", f"corpus:{tmp_path / 'soup.txt'}")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "nothing found" in ended.stderr
    ended = process("search", "quantum", "--engine", f"corpus:{tmp_path / 'soup.txt'}")
    assert (ended.returncode, ended.stdout) == (1, "")


def test_a_search_prints_a_table_and_says_where_it_came_from() -> None:
    """Results cached by a script are a hit for the default engine, without network."""
    search_cache.put("best practices for rag pipelines", RESULTS)
    ended = process("search", "Best practices for  RAG pipelines")
    assert ended.returncode == 0
    assert "https://example.org/rag" in ended.stdout
    assert "Chunk, then rank." in ended.stdout
    assert ended.stderr == "1 result from the cache (exact, just now); 0 live calls\n"


def test_a_search_as_json_is_one_object(harness: Program) -> None:
    """`--json` prints results and outcome; `-q` keeps standard error silent, `-v` logs hits and misses."""
    search_cache.put("q", RESULTS)
    ended = harness("search", "q", "--json", "-q")
    told = ended.told
    assert (told["outcome"], told["found"], told["live_calls"], told["results"]) == ("hit", "exact", 0, RESULTS)
    assert ended.err == ""
    assert "info: hit 'q'" in harness("search", "q", "-v").err


@pytest.mark.slow
def test_no_network_is_an_error_not_an_empty_result() -> None:
    """The default engine, unreachable: exit code 3 and what to do."""
    assert "cannot be reached" in one_line_error(process("search", "q", HARNESS_PROXY="http://127.0.0.1:1"), 3)
    assert "cannot be reached" in one_line_error(process("research", "q", HARNESS_PROXY="http://127.0.0.1:1"), 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("search", ""), "empty"),
        (("search", "x" * 100_000), "100,000 characters"),
        (("search", os.fsdecode(b"a\xff")), "surrogate"),
        (("research", " "), "empty"),
        (("search", "q", "--max-results", "0"), "max_results"),
        (("search", "q", "--ttl", "-1"), "ttl"),
        (("search", "q", "--ttl", "nan"), "ttl"),
        (("research", "q", "--max-rounds", "6"), "max_rounds"),
        (("search", "q", "--engine", "altavista"), "no such engine"),
        (("search", "q", "--engine", "corpus:"), "which corpus"),
        (("search", "q", "--engine", "corpus:/no/such/folder"), "no such corpus"),
        (("search", "q", "--config", "/no/such/file.yaml"), "no such configuration file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(harness: Program, arguments: tuple[str, ...], says: str) -> None:
    """The message names the problem, without a traceback."""
    assert says in harness(*arguments).one_line_error(2)


def test_bad_input_ends_a_process_with_2() -> None:
    """Its text may be no text."""
    assert "surrogate" in one_line_error(process("search", os.fsdecode(b"a\xff")), 2)


def test_wrong_usage_is_exit_code_2(harness: Program) -> None:
    """Unknown commands and options, and a missing argument."""
    for arguments in (("serach", "q"), ("search", "q", "--colour"), ("search",)):
        harness(*arguments).one_line_error(2)


def test_a_data_directory_that_cannot_be_written_is_exit_code_4() -> None:
    """No live call is made when its results could not be kept."""
    line = one_line_error(process("search", "q", "--data-dir", "/proc/harness", HARNESS_PROXY="http://127.0.0.1:1"), 4)
    assert "--data-dir" in line


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    """The file stays as it is, and the message says how to go on."""
    search_cache.put("q", RESULTS)
    search_cache.close()
    with sqlite3.connect(tmp_path / "data" / "harness.db") as connection:
        connection.execute("INSERT INTO harness_migrations VALUES ('9999-from-the-future', 0)")
    connection.close()
    assert "upgrade" in one_line_error(process("search", "q"), 4)


def test_debug_shows_the_traceback() -> None:
    """Only then."""
    ended = process("search", "", "--debug")
    assert "Traceback" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("error: ")


@pytest.mark.slow
def test_ctrl_c_ends_at_once_with_130() -> None:
    """An engine that hangs does not block the program; cached entries stay."""
    with silent_proxy() as proxy:
        environment = {**os.environ, "HARNESS_PROXY": proxy, "HARNESS_SEARCH_TIMEOUT": "30"}
        process = subprocess.Popen(
            [HARNESS, "research", "q", "-v"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        assert "miss" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted; cached entries stay"


def test_config_tells_every_value_and_its_origin(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Defaults, file, environment and flags; the secret is hidden; `--path` names the file."""
    file = tmp_path / "config" / "harness" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("max_rounds: 3\nproxy: http://me:secret@localhost:1\n")
    assert harness("config", "--path").out == f"{file}\n"
    monkeypatch.setenv("HARNESS_TTL", "60")
    ended = harness("config", "--json", "--data-dir", str(tmp_path))
    told = ended.told
    assert told["max_rounds"]["origin"] == f"file {file}"
    assert told["ttl"] == {"value": "60.0", "origin": "environment HARNESS_TTL", "help": told["ttl"]["help"]}
    assert told["data_dir"]["origin"] == "flag --data-dir"
    assert told["engine"]["origin"] == "default"
    assert "secret" not in ended.out + harness("config").out


def test_a_typing_error_in_a_setting_names_the_nearest(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the environment and in the file."""
    (tmp_path / "my.yaml").write_text("max_round: 3\n")
    assert "'max_rounds'" in harness("config", "--config", tmp_path / "my.yaml").one_line_error(2)
    monkeypatch.setenv("HARNESS_DATADIR", "x")
    assert "'data_dir'" in harness("config").one_line_error(2)


def test_help_teaches_with_examples(harness: Program) -> None:
    """Every command's help shows how it is used; the exit codes are documented."""
    assert "130 interrupted" in harness("--help").out
    for command in ("research", "search", "config"):
        shown = harness(command, "--help").out
        assert f"\n    harness {command}" in shown, "an example has a separate line"
        assert "\\b" not in shown
    assert harness("--version").out.startswith("harness ")


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(corpora: Path) -> None:
    """`harness … | head -1` ends quietly."""
    command = f'"{HARNESS}" search attribute -n 50 -e corpus:python-docs --data-dir "{corpora}" -q | head -1'
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""


def test_output_that_cannot_be_written_is_one_line() -> None:
    """A full disk behind `> file` is not reported as a bug."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([HARNESS, "config"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 5
    assert ended.stderr == "error: cannot write the output (No space left on device); check where it goes\n"
