"""Verification of saved reports against their runs; `harness verify` and `harness read`."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from pytest_httpserver import HTTPServer

from harness.cache import Cache
from harness.core.tables import PAGES, SEARCHES
from harness.errors import InvalidInput
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import rarity
from harness.ports import SearchResult
from harness.research.drafting import Writer
from harness.research.fingerprint import Code
from harness.research.reports import as_html, as_markdown
from harness.research.result import Research
from harness.research.run import Researcher
from harness.research.run_view import past_run
from harness.research.saved_report import saved_research
from harness.research.services import ResearchServices
from harness.research.verification import MAX_REPORT_BYTES, SavedFile, read_report, verify
from harness.settings import FetchSettings, GatheringSettings
from harness.storage.sqlite.store import SqliteStore
from tests.cli.program import Program
from tests.research.test_model_writer import Model
from tests.research.test_run import Library, Scripted, memory_of, silent

QUESTION = "How does exponential backoff limit retries?"
URL = "https://example.org/retries"
EMBEDDER = MiniLM()
"""The real one; its weights are loaded once."""
LONG_URL = f"https://example.org/retries/{'a' * 1_500}"
BODY = "Exponential backoff doubles the waiting time after every failed retry, so that it limits retries."
UNREAD = "pydoc:retries"
LIMITED = "How many retries exponential backoff allows is limited by the number of attempts."
MORE = "With exponential backoff a client waits one second, then two, then four, and gives up after a minute."
PAGE = """\
# Backoff

Exponential backoff limits retries by doubling  the wait
after each one of them. A retry without backoff can overload the server that it waits for.

## Jitter

With jitter, the retries of many clients no longer come at the same time after exponential backoff.
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store on disk."""
    opened = SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()


@pytest.fixture
def cache(store: SqliteStore) -> Cache:
    """A cache with exact lookups."""
    return Cache(store)


def run(cache: Cache, *, keep: bool | None = None, words: str = "") -> Research:
    """Run a research with quotations from a search, a page, and a page of a long URL; `words` is a language model's
    answer.
    """

    def answer(query: str) -> list[SearchResult]:
        short = SearchResult(title="Retries", href=f"{URL}?utm_source=x", body=BODY)
        long = SearchResult(title="More on retries", href=LONG_URL, body="Of retries.")
        return [short, long, SearchResult(title="Limits of retries", href=UNREAD, body=LIMITED)]

    gathering = GatheringSettings(max_rounds=2, enough_score=1, max_results=5)
    pages = {URL: PAGE, LONG_URL: f"# More\n\n{MORE}\n"}
    return Researcher(
        ResearchServices(
            cache,
            (Scripted(answer),),
            Library(pages),
            EMBEDDER,
            memory_of(cache, EMBEDDER),
            silent,
            rarity,
        ),
        writer=Writer(Model(words) if words else None),
        gathering=gathering,
        fetch=FetchSettings(ttl=3_600, concurrency=2),
        keep_research=keep,
        code=Code(),
    ).run(QUESTION)


def saved(found: Research) -> dict[str, Any]:
    """Return a report as `harness research --json` prints it."""
    data: dict[str, Any] = orjson.loads(orjson.dumps(saved_research(found).as_dict()))
    return data


def read(data: dict[str, Any]) -> SavedFile:
    """Read a saved report."""
    return read_report(orjson.dumps(data))


@pytest.mark.parametrize("keep", [False, True])
def test_every_quotation_of_a_run_is_verified(cache: Cache, keep: bool) -> None:
    """Quotations of searches, of pages and of long URLs; also if the whole research is cached."""
    found = run(cache, keep=keep)
    result = verify(read(saved(found)), cache)
    verdicts = result.verdicts
    assert result.passed
    assert found.report is not None
    assert len(verdicts) == len(found.report.quotations) > 2
    assert {verdict.url for verdict in verdicts} == {URL, LONG_URL, UNREAD}
    assert [verdict for verdict in verdicts if not verdict.stands] == []
    if keep:
        again = run(cache, keep=True)
        assert again.research_cache == "hit"
        assert verify(read(saved(again)), cache).passed


def test_misspelled_quotations_of_a_model_are_verified(cache: Cache) -> None:
    """They were corrected when written; an invented one is detected and reported."""
    slip = LIMITED.replace("exponential", "exponentail")
    data = saved(run(cache, words="\n".join(f'Retries are limited. [{n}: "{slip}"]' for n in (1, 2, 3))))
    result = verify(read(data), cache)
    verdicts = result.verdicts
    assert (result.differences, result.passed) == ((), False)
    assert [(each.quotation, each.url) for each in verdicts if each.stands] == [(LIMITED, UNREAD)]
    assert [each.stands for each in verdicts] == [cited["verified"] for cited in data["citations"]]
    assert len(verdicts) == 3


@pytest.mark.parametrize("place", [0, 1, -1])
def test_one_changed_word_is_detected(cache: Cache, place: int) -> None:
    """Only that quotation fails."""
    data = saved(run(cache))
    cited = data["citations"][place]
    cited["quotation"] = cited["quotation"].replace("xponential", "xceptional").replace("retry", "reply")
    result = verify(read(data), cache)
    failed = [verdict for verdict in result.verdicts if not verdict.stands]
    assert [(verdict.quotation, verdict.url) for verdict in failed] == [(cited["quotation"], cited["url"])]
    assert [each.where.split(".")[1] for each in result.differences] == ["quotation"]


def test_a_quotation_moved_to_another_source_fails(cache: Cache) -> None:
    """It must be in the source that it cites."""
    data = saved(run(cache))
    data["citations"][0]["url"] = "https://example.org/elsewhere"
    assert [verdict.stands for verdict in verify(read(data), cache).verdicts].count(False) == 1


def test_a_report_is_verified_after_the_cache_is_gone(cache: Cache, store: SqliteStore) -> None:
    """The quoted passages are stored with the run, whatever expires or is replaced."""
    report = read(saved(run(cache)))
    cache.maintenance.clear()
    assert verify(report, cache).passed


ALTERED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "sentence": (
        lambda data: data["citations"][0].update(sentence="Retries never end."),
        "citations[0].sentence",
    ),
    "quotation cut to one word": (
        lambda data: data["citations"][0].update(quotation="the"),
        "citations[0].quotation",
    ),
    "url of a citation": (
        lambda data: data["citations"][0].update(url="https://evil.example"),
        "citations[0].url",
    ),
    "number": (lambda data: data["citations"][0].update(number=9), "citations[0].number"),
    "question": (lambda data: data.update(question="Is water wet?"), "question"),
    "title of a source": (lambda data: data["sources"][0].update(title="The BBC"), "sources[0].title"),
    "url of a source": (lambda data: data["sources"][0].update(url="https://bbc.example"), "sources[0].url"),
    "remark": (lambda data: data.update(remark="checked by experts"), "remark"),
    "writer": (lambda data: data.update(model="Ada"), "model"),
    "count": (lambda data: data.update(quotations=99), "quotations"),
    "a line of the report": (
        lambda data: data.update(report=data["report"] + "Bread cures.\n"),
        "report line ",
    ),
    "order": (lambda data: data["citations"].reverse(), "citations["),
    "one sentence more": (lambda data: data["citations"].append(data["citations"][0]), "citations["),
    "one sentence less": (lambda data: data["citations"].pop(), "citations["),
    "a field more": (lambda data: data.update(approved_by="the editors"), "approved_by"),
    "a field less": (lambda data: data.pop("rounds"), "rounds"),
    "no citations": (lambda data: data.update(citations=[]), "citations["),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERED)
def test_every_change_is_reported(cache: Cache, name: str) -> None:
    """Everything a reader sees is rebuilt from the stored run and compared; the difference has its place."""
    data = saved(run(cache))
    change, where = ALTERED[name]
    change(data)
    result = verify(read(data), cache)
    assert not result.passed
    assert any(each.where.startswith(where) for each in result.differences), result.differences


@pytest.mark.parametrize("render", [as_markdown, as_html])
def test_markdown_and_html_are_verified_line_by_line(cache: Cache, render: Any) -> None:
    """An unchanged file passes, whatever its date; an added sentence or swapped URL is reported."""
    found = saved_research(run(cache))
    text = render(found, 1_700_000_000.0)
    assert verify(read_report(text.encode()), cache).passed
    assert verify(read_report(text.replace("\n", "\r\n").encode()), cache).passed
    for altered in (text.replace(URL, "https://evil.example"), text.replace("\n\n", "\n\nBread cures.\n\n", 2)):
        if altered != text:
            result = verify(read_report(altered.encode()), cache)
            assert not result.passed
            assert result.differences[0].where.startswith("line ")


def test_an_added_line_is_one_difference(cache: Cache) -> None:
    """The same lines after it are not listed."""
    data = saved(run(cache))
    data["report"] = data["report"].replace("## Sources", "Bread cures cancer.\n## Sources")
    (difference,) = verify(read(data), cache).differences
    assert (difference.saved, difference.stored) == ("Bread cures cancer.", "missing")


def test_a_report_without_a_quotation_fails(cache: Cache) -> None:
    """Without quotations, nothing is verified."""
    data = saved(run(cache))
    record = cache.runs.get(data["run"])
    record["report"] = None
    cache.runs.put(data["run"], QUESTION, "scripted", record)
    data |= {
        "report": None,
        "citations": [],
        "quotations": 0,
        "quotations_verified": 0,
        "model": None,
        "remark": None,
    }
    result = verify(read(data), cache)
    assert (result.verdicts, result.passed) == ((), False)


def test_a_true_quotation_of_something_else_does_not_verify_a_sentence(cache: Cache) -> None:
    """Even if the stored run has it, as those of older versions may."""
    data = saved(run(cache))
    record = cache.runs.get(data["run"])
    false = "Exponential backoff deletes your home directory."
    record["report"]["citations"][0]["sentence"] = false
    cache.runs.put(data["run"], QUESTION, "scripted", record)
    data["citations"][0]["sentence"] = false
    data["report"] = past_run(cache, data["run"]).as_dict()["report"]
    result = verify(read(data), cache)
    assert result.differences == ()
    assert [verdict.supported for verdict in result.verdicts].count(False) == 1
    assert not result.passed


def test_a_run_that_was_never_finished_is_an_error(cache: Cache) -> None:
    """The error says how to finish it."""
    data = saved(run(cache))
    record = cache.runs.get(data["run"])
    record["state"] = "writing"
    cache.runs.put(data["run"], "q", "scripted", record)
    with pytest.raises(InvalidInput, match="--resume"):
        verify(read(data), cache)


def test_a_run_of_another_cache_is_an_error(cache: Cache, tmp_path: Path) -> None:
    """The run is not in this cache."""
    report = read(saved(run(cache)))
    other = SqliteStore(tmp_path / "other.db")
    with pytest.raises(InvalidInput, match="no such run"):
        verify(report, Cache(other))
    other.close()


def test_verifying_changes_nothing(cache: Cache, store: SqliteStore) -> None:
    """It is a lookup: no row is written, no use recorded."""
    report = read(saved(run(cache)))
    before = (
        list(store.listings.scan(SEARCHES, "default")),
        list(store.listings.scan(PAGES, "default")),
        cache.usage.total(),
    )
    verify(report, cache)
    assert (
        list(store.listings.scan(SEARCHES, "default")),
        list(store.listings.scan(PAGES, "default")),
        cache.usage.total(),
    ) == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"question": "q", "run": "r"}',
        b'{"question": "q", "run": 1, "citations": []}',
        b'{"question": "q", "run": "\\ud800", "citations": []}',
        b'{"question": "q", "run": "\xff", "citations": []}',
        b'{"question": "q", "run": "", "citations": []}',
        b'{"question": "q", "run": null, "citations": []}',
        b"---\nquestion: q\n---\n# A report\n",
        b'{"citations": ' + b"[" * 200_000,
        b" " * (MAX_REPORT_BYTES + 1),
        os.urandom(1_000),
    ],
    ids=lambda content: repr(content[:24]) if len(content) != 1_000 else "random",
)
def test_an_invalid_report_is_refused(content: bytes) -> None:
    """With a one-line error."""
    with pytest.raises(InvalidInput, match="report") as refused:
        read_report(content)
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


# --- the commands


@pytest.fixture
def report(harness: Program, tmp_path: Path) -> Path:
    """The saved report of a research in two notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "retries.md").write_text(f"# Retries\n\n{BODY}\n\nA retry budget limits how many retries there may be.\n")
    (notes / "more.md").write_text(PAGE)
    file = tmp_path / "report.json"
    ended = harness("research", QUESTION, "--engine", f"corpus:{notes}", "--json", "--output", file)
    assert ended.code == 0, ended
    return file


def changed(file: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change a saved report."""
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    return file


def test_verify_reports_the_number_of_verified_quotations(harness: Program, report: Path) -> None:
    """All of them: exit code 0."""
    ended = harness("verify", report)
    count = json.loads(report.read_text())["quotations"]
    assert (ended.code, ended.out) == (0, f"{count} of {count} quotations verified\n")
    data = {"passed": True, "quotations": count, "verified": count, "failed": [], "differences": []}
    assert harness("verify", report, "--json").told == data


def test_verify_lists_failed_quotations(harness: Program, report: Path) -> None:
    """Exit code 5; control characters of a report do not reach the terminal."""

    def invent(data: dict[str, Any]) -> None:
        data["citations"][0] |= {"quotation": "Bread is\x1b[2J baked.", "url": "https://example.org/\x1b]0;x\x07"}

    ended = harness("verify", changed(report, invent))
    assert ended.code == 5
    assert "“Bread is[2J baked.”" in ended.out
    assert not {"\x1b", "\x07"} & set(ended.out)
    data = harness("verify", report, "--json")
    assert (data.code, len(data.told["failed"])) == (5, 1)


def test_verify_refuses_what_it_cannot_check(harness: Program, report: Path, tmp_path: Path) -> None:
    """No file, a folder, not a report, another run: one line each, exit code 2."""
    assert "cannot read" in harness("verify", tmp_path / "none.json").one_line_error(2)
    assert "cannot read" in harness("verify", tmp_path).one_line_error(2)
    (tmp_path / "random").write_bytes(os.urandom(1_000))
    assert "not a report" in harness("verify", tmp_path / "random").one_line_error(2)
    changed(report, lambda data: data.update(run="20200101-000000-000000"))
    assert "no such run" in harness("verify", report).one_line_error(2)


@pytest.fixture
def served(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a page on loopback, which is allowed."""
    html = f"<html><head><title>Backoff</title></head><body><article><p>{BODY}</p><p>{BODY[::-1]}</p></article></body>"
    httpserver.expect_request("/page").respond_with_data(html, content_type="text/html; charset=utf-8")
    for path in ("/none", "/robots.txt"):
        httpserver.expect_request(path).respond_with_data("no", status=404)
    monkeypatch.setenv("HARNESS_ALLOWED_HOSTS", "127.0.0.1")
    return f"http://127.0.0.1:{httpserver.port}/"


def _paths(server: HTTPServer) -> list[str]:
    return [request.path for request, _ in server.log]


def test_read_prints_a_page_and_caches_it(harness: Program, served: str, httpserver: HTTPServer) -> None:
    """The second time without a live call, also offline, and for any spelling of the URL."""
    first = harness("read", f"{served}page")
    assert first.code == 0, first
    assert BODY in first.out
    assert "1 live call" in first.err
    again = harness("read", f"{served}page#part", "--offline")
    assert again.out == first.out
    assert "0 live calls" in again.err
    data = harness("read", f"{served}page", "--json").told
    assert (data["live_calls"], data["answered_by"], data["media_type"]) == (0, "exact", "text/html")
    assert _paths(httpserver) == ["/robots.txt", "/page"]


@pytest.mark.slow
def test_read_makes_live_calls_with_refresh(harness: Program, served: str, httpserver: HTTPServer) -> None:
    """`--refresh` and `--no-cache` make a live call each."""
    assert harness("read", f"{served}page", "--json").told["live_calls"] == 1
    assert harness("read", f"{served}page", "--refresh", "--json").told["live_calls"] == 1
    assert harness("read", f"{served}page", "--no-cache", "--json").told["live_calls"] == 1
    assert _paths(httpserver) == ["/robots.txt", "/page"] * 3


def test_read_refuses_loopback_unless_allowed(
    harness: Program, served: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A one-line error has the setting, and no request is made."""
    monkeypatch.delenv("HARNESS_ALLOWED_HOSTS")
    assert "allowed_hosts" in harness("read", f"{served}page").one_line_error(5)
    assert httpserver.log == []


def test_read_reports_unreadable_pages(harness: Program, served: str) -> None:
    """A missing page, an invalid URL, and an uncached page offline: 5, 2 and 6."""
    assert "404" in harness("read", f"{served}none").one_line_error(5)
    assert "http://" in harness("read", "ftp://127.0.0.1/x").one_line_error(2)
    assert "offline" in harness("read", f"{served}page", "--offline").one_line_error(6)
