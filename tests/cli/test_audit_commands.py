"""Audits in use: `audit_rate`, and the output and files of `harness cache` about them."""

import json
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import search_cache
from harness.app import App
from harness.cache.audit import Auditor
from harness.cli.labelled_pairs import read_pairs
from harness.core.audits import Audit
from harness.identity import Identity
from harness.settings import load
from tests.cli.program import Program

STORED, ASKED = "semantic cache false positives", "false positives in semantic caches"


class Engine:
    """A SearXNG that finds ten pages for each query: each query its own, or everybody the same."""

    def __init__(self, server: HTTPServer) -> None:
        self.address = f"searxng:{server.url_for('/')}"
        self.asked: list[str] = []
        self.same = False
        self.may_answer = threading.Event()
        self.may_answer.set()
        server.expect_request("/search").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        query = request.args["q"]
        self.asked.append(query)
        self.may_answer.wait(30)
        of = 0 if self.same else len(query)
        found = [
            {"title": f"{query} {n}", "url": f"https://example.org/{of}/{n}", "content": "It is so."} for n in range(10)
        ]
        return Response(json.dumps({"query": query, "results": found}), content_type="application/json")


@pytest.fixture
def engine(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The engine of every search; each hit by meaning is audited."""
    made = Engine(httpserver)
    monkeypatch.setenv("HARNESS_ENGINE", made.address)
    monkeypatch.setenv("HARNESS_AUDIT_RATE", "1")
    monkeypatch.setenv("HARNESS_SEARCHES_PER_MINUTE", "60000")
    yield made
    made.may_answer.set()


def found_otherwise(*pairs: tuple[str, str, float]) -> None:
    """Keep audits of these pairs, with these overlaps."""
    with App(load().settings) as app:
        for at, (asked, answered, overlap) in enumerate(pairs):
            found = Audit.of(asked, answered, overlap=overlap, similarity=0.9, probability=None, now=1.7e9 + at)
            app.databases.store.audits.put("default", found)


def test_an_answer_that_was_wrong_is_given_once(harness: Program, engine: Engine, tmp_path: Path) -> None:
    """The audit finds other results: then the exact search answers, and the pair is shown, explained and exported."""
    harness("search", STORED)
    assert harness("search", ASKED, "--json").told["found"] == "semantic"
    assert engine.asked == [STORED, ASKED]
    assert harness("search", ASKED, "--json").told["found"] == "exact"
    harness("cache", "clear", "--query", ASKED, "--yes")
    explained = harness("cache", "explain", ASKED)
    assert "refused: an audit found other results" in explained.out
    assert "decision: a miss" in explained.out
    told = harness("cache", "stats", "--json").told["audits"]
    assert (told["audited"], told["agreeing"], told["disagreeing"], told["wrong"]["share"]) == (1, 0, 1, 1.0)
    assert told["wrong"]["low"] == pytest.approx(0.025)
    line = "audited: 1 pair, 0 agreeing, 1 disagreeing, 100.0% (95 %: 2.5% to 100.0%)"
    assert line in harness("cache", "stats").out.splitlines()
    assert harness("cache", "export", "--pairs", tmp_path / "pairs.jsonl").code == 0
    _, [pair] = read_pairs(tmp_path / "pairs.jsonl")
    a, b, label = pair.first, pair.second, pair.label
    assert ({a, b}, label) == ({STORED, ASKED}, False)


def test_an_answer_that_was_right_stays(harness: Program, engine: Engine) -> None:
    """The same pages were found: the pair agrees, and answers others."""
    engine.same = True
    harness("search", STORED)
    assert harness("search", ASKED, "--json").told["found"] == "semantic"
    told = harness("cache", "stats", "--json").told
    assert (told["audits"]["agreeing"], told["audits"]["disagreeing"]) == (1, 0)
    assert (told["hits"]["semantic"], told["misses"]) == (1, 2)  # the live call of the audit is one


@pytest.mark.parametrize("flags", [("--offline",), ()])
def test_by_default_and_offline_nothing_is_audited(
    harness: Program, engine: Engine, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """The rate is 0 unless it is set; offline no socket is opened."""
    harness("search", STORED)
    if not flags:
        monkeypatch.delenv("HARNESS_AUDIT_RATE")
    assert harness("search", ASKED, *flags).code == 0
    assert engine.asked == [STORED]
    assert harness("cache", "stats", "--json").told["audits"]["wrong"] == {"share": 0.0, "low": 0.0, "high": 1.0}
    assert "audited" not in harness("cache", "stats").out


@pytest.mark.slow
def test_the_program_ends_though_the_engine_hangs(harness: Program, engine: Engine) -> None:
    """An audit is waited for shortly, and given up."""
    harness("search", STORED)
    engine.may_answer.clear()
    began = time.monotonic()
    with App(load().settings) as app:
        app.search(ASKED)
        answered = time.monotonic()
    assert time.monotonic() - answered < 5
    assert answered - began < 10
    with pytest.raises(KeyboardInterrupt), App(load().settings) as app:  # noqa: PT012
        app.search("false positives of semantic caches")
        interrupted = time.monotonic()
        raise KeyboardInterrupt
    assert time.monotonic() - interrupted < 1


def test_a_request_does_not_wait_for_its_audit(harness: Program, engine: Engine) -> None:
    """A server's app for one request closes at once; the server's own waits, and the call is counted."""
    ada = Identity("lab", "ada", "writer", "a" * 16)
    with App(load().settings) as bench:
        with bench.serving(ada) as mine:
            mine.search(STORED)
            engine.may_answer.clear()
            mine.search(ASKED)
            answered = time.monotonic()
        assert time.monotonic() - answered < 1
        engine.may_answer.set()
    with App(load().settings) as bench:
        assert bench.databases.store.audits.count("lab") == (0, 1)
        assert bench.databases.store.audits.count("default") == (0, 0)
        assert bench.serving(ada).cache.usage.total() == {"live": 2, "semantic": 1}


def test_the_answer_is_shown_before_its_audit_is_waited_for(
    harness: Program, engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Closing waits; the reader of the answer does not."""
    shown: list[str] = []
    close = Auditor.close

    def closed(auditor: Auditor, seconds: float = 30.0) -> None:
        shown.append(capsys.readouterr().out)
        close(auditor, seconds)

    harness("search", STORED)
    monkeypatch.setattr(Auditor, "close", closed)
    harness("search", ASKED, "--json")
    assert json.loads(shown[0])["matched_query"] == STORED


def test_a_rate_that_is_no_share_is_wrong_usage(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is opened."""
    monkeypatch.setenv("HARNESS_AUDIT_RATE", "1.5")
    assert "audit_rate" in harness("search", "q").one_line_error(2)


# --- export


def test_pairs_are_lines_with_their_evidence(harness: Program, tmp_path: Path) -> None:
    """The oldest first; the summary as text and as JSON; to standard output alone with `-`."""
    found_otherwise(("a b", "b a", 0.5), ("c\n\u2028d", "dé", 0.1))
    file = tmp_path / "new" / "pairs.jsonl"
    assert harness("cache", "export", "--pairs", file).out == f"wrote 2 pairs, 1 of them disagreeing, to {file}\n"
    lines = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
    assert [{line["a"], line["b"]} for line in lines] == [{"a b", "b a"}, {"c\n\u2028d", "dé"}]
    evidence = {"overlap": 0.1, "similarity": 0.9, "probability": None, "audited_at": "2023-11-14T22:13:21Z"}
    assert {name: lines[1][name] for name in evidence} == evidence
    assert [line["label"] for line in lines] == [1, 0]
    assert len(read_pairs(file)[1]) == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    printed = harness("cache", "export", "--pairs", "-")
    assert (printed.out.encode(), printed.err) == (file.read_bytes(), "2 pairs, 1 of them disagreeing\n")
    told = harness("cache", "export", "--pairs", file, "--force", "--json").told
    assert told == {"file": str(file), "pairs": 2, "agreeing": 1, "disagreeing": 1}


def test_a_file_is_written_whole_or_not_at_all(harness: Program, tmp_path: Path) -> None:
    """One that is there is left alone unless `--force` is given; where none can be written, nothing is left."""
    found_otherwise(("a", "b", 0.0))
    file = tmp_path / "pairs.jsonl"
    file.write_text("mine")
    assert "--force" in harness("cache", "export", "--pairs", file).one_line_error(2)
    assert file.read_text() == "mine"
    assert harness("cache", "export", "--pairs", file, "--force").code == 0
    assert len(read_pairs(file)[1]) == 1
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "cannot write" in harness("cache", "export", "--pairs", folder, "--force").one_line_error(2)
    assert "cannot write" in harness("cache", "export", "--pairs", file / "below").one_line_error(2)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "folder", "pairs.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--pairs"),
        (("x.snapshot", "--pairs", "y"), "leave out"),
        (("--pairs", "y", "--all"), "leave out"),
        (("--pairs", "y", "--run", "z"), "leave out"),
        (("--pairs", "-", "--json"), "standard output"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(harness: Program, arguments: tuple[str, ...], told: str) -> None:
    """In one line."""
    assert told in harness("cache", "export", *arguments).one_line_error(2)


def test_a_snapshot_takes_audits_along(harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To another database, once; and a look-up by meaning in the snapshot itself respects them."""
    search_cache.put(STORED, [{"title": "t", "href": "https://example.org", "body": "b"}])
    search_cache.close()
    found_otherwise((ASKED, STORED, 0.0))
    assert harness("cache", "export", tmp_path / "all.snapshot", "--json").told["entries"] == 2
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "other"))
    assert harness("search", ASKED, "--replay", tmp_path / "all.snapshot").one_line_error(6)
    assert harness("cache", "import", tmp_path / "all.snapshot", "--json").told["added"] == 2
    assert harness("cache", "import", tmp_path / "all.snapshot", "--json").told["added"] == 0
    assert harness("cache", "stats", "--json").told["audits"]["disagreeing"] == 1
    assert harness("search", ASKED, "--offline").one_line_error(6)


# --- clear


def test_clearing_the_cache_leaves_audits(harness: Program) -> None:
    """They are deleted only by name, all at once, after confirmation; help says so."""
    found_otherwise(("a", "b", 0.0))
    assert harness("cache", "clear", "--yes").code == 0
    assert "Results of audits are only deleted by --kind audits" in harness("cache", "clear", "--help").out
    clear = ("cache", "clear", "--kind", "audits")
    assert harness(*clear, "--dry-run").out == "would delete 1 audit\n"
    assert "nothing was deleted" in harness(*clear, stdin="n\n").err
    assert harness(*clear, "--json", stdin="y\n").told == {"selected": 1, "deleted": {"audits": 1}}
    assert harness(*clear, "--yes").out == "deleted 0 audits\n"


@pytest.mark.parametrize(
    "choice", [("--older-than", "1"), ("--query", "q"), ("--type", "t"), ("--user", "u")], ids=lambda choice: choice[0]
)
def test_audits_cannot_be_selected(harness: Program, choice: tuple[str, str]) -> None:
    """A choice that would be ignored is wrong usage."""
    assert choice[0] in harness("cache", "clear", "--kind", "audits", *choice).one_line_error(2)


def test_doctor_says_when_audits_learn_nothing(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """One or two results are too few to be compared."""
    monkeypatch.setenv("HARNESS_MAX_RESULTS", "2")
    assert "set max_results" not in harness("doctor").out
    monkeypatch.setenv("HARNESS_AUDIT_RATE", "0.5")
    assert "set max_results to 3 or more" in harness("doctor").out
    monkeypatch.setenv("HARNESS_MAX_RESULTS", "3")
    assert "set max_results" not in harness("doctor").out
