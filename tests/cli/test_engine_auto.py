"""`--engine auto`: which engines are asked for a question, what is said about it, and how such a run is repeated."""

import importlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.app import App
from harness.core.search_engines import ENGINES, KEYED
from harness.errors import EngineUnavailable
from harness.ports import SearchResult
from harness.settings import Settings
from tests.cli.program import Program

MEDICAL = "How do vaccines train the immune system?"
CODE = "Why does asyncio.gather hide an exception?"
GENERAL = "Who built the lighthouse of Alexandria?"
CHOSEN = ("pubmed", "europepmc", "ddgs")
"""For the medical question."""
ONLINE = tuple(
    each.name for each in ENGINES if each.name not in {"auto", "browser", "corpus", "library"} and ":" not in each.name
)


class Web:
    """All engines that send requests; each has one result, at its own host, or fails. `asked` names those asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing: set[str] = set()
        self._lock = threading.Lock()

    def ask(self, name: str, query: str) -> Sequence[SearchResult]:
        """Answer for one engine.

        Raises:
            EngineUnavailable: the engine fails.
        """
        with self._lock:
            self.asked.append(name)
        if name in self.failing:
            raise EngineUnavailable(f"{name} is down; try again later")
        body = f"Vaccines train the immune system to see a germ, says {name}. The words {query} were asked for."
        return [SearchResult(title=name, href=f"https://{name}.example.org/", body=body)]


class Engine:
    """One of them."""

    options: Mapping[str, Any] = {}

    def __init__(self, name: str, web: Web) -> None:
        self.name = name
        self._web = web

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`."""
        return self._web.ask(self.name, query)


@pytest.fixture(autouse=True)
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    """Put an engine without a network in the place of each."""
    monkeypatch.setenv("HARNESS_READ_PAGES", "0")  # their addresses do not exist
    monkeypatch.setenv("HARNESS_SEARCHES_PER_MINUTE", "60000")
    made = Web()
    for name in ONLINE:
        module = importlib.import_module(f"harness.sources.engines.{name}")
        monkeypatch.setattr(module, "from_settings", lambda argument, settings, name=name: Engine(name, made))
    return made


def newest(harness: Program) -> dict[str, Any]:
    """Return the newest run of the list of runs."""
    run: dict[str, Any] = harness("runs", "--json").told["items"][0]
    return run


def test_the_engines_that_suit_the_question_are_asked(harness: Program, web: Web) -> None:
    """Each once, and no other; a line on standard error says which and why."""
    ended = harness("search", MEDICAL, "-e", "auto", "--json")
    assert ended.code == 0
    assert sorted(web.asked) == sorted(CHOSEN)
    assert [each["engine"] for each in ended.told["searches"]] == [*CHOSEN]
    assert ended.err.splitlines()[0] == (
        "engines: pubmed, europepmc, ddgs; the question is about medicine (vaccines, immune)"
    )


@pytest.mark.parametrize(
    ("question", "engines"),
    [(CODE, {"stackexchange", "github", "ddgs"}), (GENERAL, {"ddgs", "wikipedia"}), ("today's news", {"ddgs"})],
)
def test_another_question_has_other_engines(harness: Program, web: Web, question: str, engines: set[str]) -> None:
    """Code, nothing in particular, and news."""
    assert harness("search", question, "-e", "auto").code == 0
    assert {*web.asked} == engines


def test_the_same_question_has_the_same_engines(harness: Program, web: Web) -> None:
    """So all of them answer from the cache the second time, with the same results."""
    first = harness("search", MEDICAL, "-e", "auto")
    asked = len(web.asked)
    again = harness("search", MEDICAL, "-e", "auto", "--offline")
    assert (again.code, again.out) == (0, first.out)
    assert again.err.splitlines()[0] == first.err.splitlines()[0]
    assert again.err.count("from the cache (exact") == len(CHOSEN)
    assert len(web.asked) == asked


def test_engines_named_one_by_one_give_the_same_report(harness: Program, web: Web) -> None:
    """The choice changes nothing else: no live call is left, and no line explains it."""
    first = harness("research", MEDICAL, "-e", "auto")
    assert first.code == 0
    asked = len(web.asked)
    named = harness("research", MEDICAL, *(part for name in CHOSEN for part in ("-e", name)))
    assert named.out == first.out
    assert len(web.asked) == asked
    assert "engines:" in first.err
    assert "engines:" not in named.err


def test_the_line_is_not_for_everyone(harness: Program) -> None:
    """Not with `--quiet`, and never on standard output, where programs read."""
    assert "engines:" not in harness("search", MEDICAL, "-e", "auto", "--quiet").err
    assert "engines:" not in harness("search", MEDICAL, "-e", "auto").out


def test_the_setting_works_as_the_option(harness: Program, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment sets it, without an option."""
    monkeypatch.setenv("HARNESS_ENGINE", "auto")
    assert "about medicine" in harness("search", MEDICAL).err
    assert sorted(web.asked) == sorted(CHOSEN)


@pytest.mark.parametrize("keyed", [*((name,) for name in KEYED), KEYED])
def test_engines_with_a_key_stand_in_for_the_web(
    harness: Program, web: Web, monkeypatch: pytest.MonkeyPatch, keyed: tuple[str, ...]
) -> None:
    """They are asked only when the one before fails, and the line names them."""
    for name in keyed:
        monkeypatch.setenv(f"HARNESS_{name.upper()}_API_KEY", "k3y")
    ended = harness("search", GENERAL, "-e", "auto")
    assert ended.err.startswith(f"engines: {' or '.join(['ddgs', *keyed])}, wikipedia; ")
    assert sorted(web.asked) == ["ddgs", "wikipedia"]
    assert "k3y" not in ended.err
    web.failing = {"ddgs", *keyed[:-1]}
    told = harness("search", "Where was Rembrandt born?", "-e", "auto", "--json").told
    assert [each["engine"] for each in told["searches"]] == [keyed[-1], "wikipedia"]


def test_without_a_key_an_engine_is_not_chosen(harness: Program, web: Web) -> None:
    """If the web fails, the others answer, and the failure is reported."""
    web.failing = {"ddgs"}
    ended = harness("search", MEDICAL, "-e", "auto", "--json")
    assert ended.code == 0
    assert [each["outcome"] for each in ended.told["searches"]] == ["miss", "miss", "failed"]
    assert "warning: ddgs: ddgs is down" in ended.err
    assert not {*web.asked} & {*KEYED}


@pytest.mark.parametrize(
    "specs", [("auto", "pubmed"), ("pubmed", "auto"), ("ddgs", "auto"), ("europepmc", "auto", "ddgs")]
)
def test_an_engine_that_is_chosen_and_named_is_asked_once(harness: Program, web: Web, specs: tuple[str, ...]) -> None:
    """It does not count twice in the order of the results."""
    told = harness("search", MEDICAL, *(part for spec in specs for part in ("-e", spec)), "--json").told
    assert sorted(web.asked) == sorted(each["engine"] for each in told["searches"]) == sorted(CHOSEN)


def test_an_engine_beside_the_choice_is_asked_as_well(harness: Program, web: Web) -> None:
    """In the order in which they are given."""
    told = harness("search", MEDICAL, "-e", "wikipedia", "-e", "auto", "-e", "hackernews", "--json").told
    assert [each["engine"] for each in told["searches"]] == ["wikipedia", *CHOSEN, "hackernews"]


def test_the_choice_is_named_once_and_takes_no_argument(harness: Program, web: Web) -> None:
    """One line of error, and no engine is asked."""
    line = harness("search", MEDICAL, "-e", "auto:medicine").one_line_error(2)
    assert "the engine auto takes no argument" in line
    twice = harness("search", MEDICAL, "-e", "auto", "-e", "auto")
    assert twice.code == 2
    assert "named twice" in twice.err
    assert web.asked == []


def test_offline_no_engine_is_asked(harness: Program, web: Web) -> None:
    """The choice needs no network; without a cached answer it is a miss."""
    ended = harness("search", MEDICAL, "-e", "auto", "--offline")
    assert ended.code == 6
    assert ended.err.startswith("engines: pubmed, europepmc, ddgs; ")
    assert web.asked == []


def test_a_run_keeps_the_engines_that_were_chosen(harness: Program, tmp_path: Path) -> None:
    """Its record has them instead of the choice, so that a later version that chooses others repeats it."""
    assert harness("research", MEDICAL, "-e", "auto").code == 0
    run = newest(harness)
    assert run["engine"] == "+".join(CHOSEN)
    with App(Settings(data_dir=tmp_path / "data")) as app:
        record = app.cache.runs.get(run["id"])
    assert record["settings"]["engine"] == [*CHOSEN]
    assert [each["name"] for each in record["engines"]] == [*CHOSEN]


@pytest.mark.parametrize("now", ["wikipedia", "auto"])
def test_a_resumed_run_asks_the_engines_that_were_chosen(
    harness: Program, web: Web, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    """Whichever engine and key are set by now: the same report, no other engine, and no line about a new choice."""
    first = harness("research", MEDICAL, "-e", "auto", "--json").told
    monkeypatch.setenv("HARNESS_ENGINE", now)
    monkeypatch.setenv("HARNESS_BRAVE_API_KEY", "k3y")
    again = harness("research", "--resume", first["run"], "--json")
    assert again.told["report"] == first["report"]
    assert again.told["engine"] == first["engine"]
    assert {*web.asked} == {*CHOSEN}
    assert "engines:" not in again.err


@pytest.mark.slow
def test_a_run_with_chosen_engines_is_replayed(harness: Program, web: Web, tmp_path: Path) -> None:
    """The same bytes, without an engine."""
    first = harness("research", MEDICAL, "-e", "auto")
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", newest(harness)["id"]).code == 0
    asked = len(web.asked)
    replayed = harness("research", MEDICAL, "--replay", file, "--data-dir", tmp_path / "empty")
    assert (replayed.code, replayed.out) == (0, first.out)
    assert len(web.asked) == asked


@pytest.mark.parametrize(
    "question",
    [
        "why does `\x1b[31mred\x1b[0m` fail",
        "what is `\u202egnp.exe` in python",
        "a `b\nc\r\nd` e",
        "python 'quoted' {braces} [markup]no[/markup] %s",
        "vaccine; rm -rf /",
        "--help",
        "`" * 999,
        "vaccine " * 500,
    ],
    ids=["escape", "direction", "lines", "markup", "shell", "dash", "backticks", "long"],
)
def test_a_hostile_question_is_explained_in_one_safe_line(harness: Program, question: str) -> None:
    """No control character reaches the terminal, and the question is searched as any other."""
    ended = harness("search", "-e", "auto", "--", question)
    assert ended.code == 0
    line = ended.err.splitlines()[0]
    assert line.startswith("engines: ")
    assert len(line) < 250
    assert line.isprintable()
    assert not any(line.startswith("engines: ") for line in ended.err.splitlines()[1:])


@pytest.mark.parametrize("question", ["", "word\0", "vaccine " * 20_000], ids=["empty", "NUL", "too long"])
def test_a_question_that_cannot_be_searched_is_an_error(harness: Program, web: Web, question: str) -> None:
    """The last line says why; no engine is asked."""
    for command in ("search", "research"):
        ended = harness(command, "-e", "auto", "--", question)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.splitlines()[-1].startswith("error: the query ")
    assert web.asked == []


def test_every_choice_can_be_opened(tmp_path: Path) -> None:
    """With keys and without, for a question about each subject; an app without a question has a choice, too."""
    keys = {f"{name}_api_key": "k3y" for name in KEYED}
    for settings in (Settings(data_dir=tmp_path), Settings(data_dir=tmp_path, **keys)):  # type: ignore[arg-type]
        with App(settings) as app:
            for question in (MEDICAL, CODE, GENERAL, "evidence for quantum theory", "today's news", ""):
                specs = app.sources.suited(question).specs
                assert [each.name for each in app.sources.engines(["auto"], question=question)] == [*specs]
                assert app.sources.chosen(["auto"], question) == specs
