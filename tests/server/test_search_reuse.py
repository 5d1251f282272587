"""`/search` and `/tavily/search` where passages that were read before answer instead of the engines."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import Response
from lxml import html
from starlette.testclient import TestClient

from harness.app import App
from harness.core.freshness import HOUR
from harness.identity import Identity
from harness.models.from_settings import Models
from harness.server.responses.cache_responses import stats_response
from harness.settings import Settings
from harness.settings.mode import Mode
from tests.fakes import WordEmbedder, WordReader
from tests.research.test_reuse import POOL, QUESTION, TEXT, Engine, hold
from tests.server.dropin import request_app

TIMEOUTS = "https://docs.example.org/timeouts"
NOW = 1_795_000_000.0
ADA = Identity("lab", "ada", "admin", "a" * 16)
BOB = Identity("mill", "bob", "admin", "b" * 16)
REUSED = {
    "passages": 1,
    "newest_age_seconds": 2 * HOUR,
    "oldest_age_seconds": 2 * HOUR,
    "probability": 0.9755,
    "reasons": ["the likeliest passage answers with 98%"],
}
ENDPOINTS = ("/search", "/tavily/search")

Open = Callable[..., App]
Serve = Callable[[App], TestClient]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open apps on one database, with a fake embedder and reader."""
    monkeypatch.setattr(Models, "reader", property(lambda _: WordReader()))
    with ExitStack() as stack:

        def open_app(**changes: Any) -> App:
            made = App(Settings(data_dir=tmp_path / "data", semantic=False, **changes), Mode(at=NOW))
            made.models.__dict__["embedder"] = WordEmbedder()
            return stack.enter_context(made)

        yield open_app


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a client that an app serves."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(TestClient(request_app(app)))


@pytest.fixture
def client(opened: Open, engine: Engine, serve: Serve) -> TestClient:
    """A client of an app that holds a passage about the question."""
    app = opened()
    hold(app)
    return serve(app)


def sent(client: TestClient, endpoint: str, query: str = QUESTION, **options: Any) -> Response:
    """Search through an endpoint."""
    answer: Response
    if endpoint == "/search":
        answer = client.get(endpoint, params={"q": query, "format": "json"} | options)
    else:
        answer = client.post(endpoint, json={"query": query} | options)
    return answer


def ask(client: TestClient, endpoint: str, query: str = QUESTION, **options: Any) -> dict[str, Any]:
    """Search through an endpoint; return the response to a search that succeeded."""
    answer = sent(client, endpoint, query, **options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def urls(answer: dict[str, Any]) -> list[str]:
    """Return the addresses of the results, in order."""
    return [each["url"] for each in answer["results"]]


# --- passages answer


def test_a_response_of_searxng_says_that_passages_answered(client: TestClient, engine: Engine) -> None:
    """The engine of the result is the library, and `reuse` has ages and reasons."""
    answer = ask(client, "/search")
    assert engine.asked == []
    (result,) = answer["results"]
    assert (result["url"], result["title"], result["content"]) == (POOL, "Pool", TEXT)
    assert (result["engine"], result["engines"], result["positions"]) == ("library", ["library"], [1])
    assert (answer["number_of_results"], answer["unresponsive_engines"], answer["reuse"]) == (1, [], REUSED)
    assert client.post("/search", data={"q": QUESTION, "format": "json"}).json() == answer


def test_the_html_leads_on_to_the_results_of_the_engines(client: TestClient, engine: Engine) -> None:
    """It is their first page, without passages."""
    page = client.get("/search", params={"q": QUESTION}).text
    assert engine.asked == []
    (address,) = html.fromstring(page).xpath("//nav/a[@class='next_page']/@href")
    assert parse_qs(urlsplit(address).query) == {"q": [QUESTION], "reuse": ["off"], "pageno": ["1"]}
    assert client.get(address).status_code == 200
    assert len(engine.asked) == 1


def test_a_response_of_tavily_says_that_passages_answered(client: TestClient, engine: Engine) -> None:
    """It costs no credits."""
    answer = ask(client, "/tavily/search")
    assert engine.asked == []
    assert [(each["url"], each["content"], each["score"]) for each in answer["results"]] == [(POOL, TEXT, 1.0)]
    assert (answer["usage"], answer["reuse"]) == ({"credits": 0}, REUSED)


@pytest.mark.parametrize(
    ("endpoint", "options"),
    [
        ("/search", {"pageno": 1, "time_range": "None", "safesearch": "1", "language": "all", "reuse": ""}),
        ("/search", {"time_range": "", "safesearch": "0", "reuse": "passages"}),
        ("/tavily/search", {"include_domains": [], "exclude_domains": None, "safe_search": False, "reuse": None}),
        ("/tavily/search", {"time_range": None, "max_results": 20, "reuse": "passages"}),
    ],
)
def test_options_that_change_nothing_leave_it_to_the_passages(
    client: TestClient, engine: Engine, endpoint: str, options: dict[str, Any]
) -> None:
    """Clients send them if the user chose nothing."""
    assert ask(client, endpoint, **options)["reuse"] == REUSED
    assert engine.asked == []


def test_tavily_limits_results_of_passages(opened: Open, engine: Engine, serve: Serve) -> None:
    """As it limits those of an engine, the best first; `reuse` counts all passages that answered."""
    app = opened()
    hold(app)
    hold(app, "The pool of the gateway does hold connections.", "https://docs.example.org/more", age=3 * HOUR)
    answer = ask(serve(app), "/tavily/search", max_results=1)
    assert urls(answer) == [POOL]
    assert (answer["reuse"]["passages"], answer["reuse"]["oldest_age_seconds"]) == (2, 3 * HOUR)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_offline_passages_answer(opened: Open, engine: Engine, serve: Serve, endpoint: str) -> None:
    """Another search fails, as nothing is cached."""
    app = opened(offline=True)
    hold(app)
    client = serve(app)
    assert ask(client, endpoint)["reuse"] == REUSED
    assert sent(client, endpoint, "bread").status_code == 503
    assert engine.asked == []


def test_answers_of_passages_are_counted(opened: Open, engine: Engine, serve: Serve) -> None:
    """As live calls that were saved, in the statistics of own searches."""
    app = opened()
    hold(app)
    client = serve(app)
    for endpoint in ENDPOINTS:
        ask(client, endpoint)
        ask(client, endpoint, "what is the timeout of the gateway")
    assert app.cache.usage.total() == {"library": 2, "live": 1, "exact": 1}
    stats = stats_response(app, "own")
    assert (stats.hits["library"], stats.live_calls_saved, stats.misses) == (2, 3, 1)


# --- an engine answers


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_without_a_held_answer_the_engine_is_asked_as_before(
    opened: Open, engine: Engine, serve: Serve, endpoint: str
) -> None:
    """The response has no field `reuse`, and is the one of a search that must not reuse anything."""
    app = opened()
    hold(app, "Bread rises for two hours at a warm place before it is baked.")
    client = serve(app)
    live = ask(client, endpoint)
    assert engine.asked == [QUESTION]
    assert urls(live) == [TIMEOUTS]
    assert "reuse" not in live
    assert live.get("usage", {"credits": 1}) == {"credits": 1}
    assert ask(client, endpoint, reuse="off")["results"] == live["results"]
    assert len(engine.asked) == 1


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_reuse_can_be_switched_off(client: TestClient, engine: Engine, endpoint: str) -> None:
    """The results of that search are cached, and answer the next one, although the passage is still held."""
    live = ask(client, endpoint, reuse="off")
    assert (urls(live), engine.asked) == ([TIMEOUTS], [QUESTION])
    assert "reuse" not in live
    again = ask(client, endpoint)
    assert (again["results"], len(engine.asked)) == (live["results"], 1)
    assert "reuse" not in again


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_the_setting_is_the_default(opened: Open, engine: Engine, serve: Serve, endpoint: str) -> None:
    """A request may still allow passages."""
    app = opened(reuse="off")
    hold(app)
    client = serve(app)
    assert ask(client, endpoint, reuse="passages")["reuse"] == REUSED
    assert engine.asked == []
    assert "reuse" not in ask(client, endpoint)
    assert engine.asked == [QUESTION]


@pytest.mark.parametrize(
    ("endpoint", "options"),
    [
        ("/search", {"pageno": 2}),
        ("/search", {"time_range": "week"}),
        ("/search", {"safesearch": "2"}),
        ("/tavily/search", {"time_range": "d"}),
        ("/tavily/search", {"safe_search": True}),
        ("/tavily/search", {"include_domains": ["example.org"]}),
        ("/tavily/search", {"exclude_domains": ["example.net"]}),
    ],
)
@pytest.mark.parametrize("reuse", ["passages", None])
def test_searches_that_passages_cannot_answer_ask_the_engine(
    client: TestClient, engine: Engine, endpoint: str, options: dict[str, Any], reuse: str | None
) -> None:
    """Passages have no time range, no level of safety and no second page, and are of any site."""
    answer = ask(client, endpoint, **options, **({"reuse": reuse} if reuse else {}))
    assert engine.asked == [QUESTION]
    assert "reuse" not in answer
    assert POOL not in urls(answer)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_passages_of_another_tenant_never_answer(opened: Open, engine: Engine, serve: Serve, endpoint: str) -> None:
    """Each tenant has its own library."""
    app = opened()
    hold(app.serving(ADA))
    assert "reuse" not in ask(serve(app.serving(BOB)), endpoint)
    assert engine.asked == [QUESTION]
    assert ask(serve(app.serving(ADA)), endpoint)["reuse"] == REUSED
    assert len(engine.asked) == 1


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_old_passages_never_answer(opened: Open, engine: Engine, serve: Serve, endpoint: str) -> None:
    """Not when they are older than the setting allows, nor questions about now after an hour."""
    app = opened(reuse_max_age=3 * HOUR)
    hold(app, age=4 * HOUR)
    hold(app, f"latest {TEXT}", "https://docs.example.org/latest")
    client = serve(app)
    assert urls(ask(client, endpoint)) == ["https://docs.example.org/latest"]
    assert engine.asked == []
    latest = f"latest {QUESTION}"
    assert "reuse" not in ask(client, endpoint, latest)
    assert engine.asked == [latest]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_unknown_values_are_refused(client: TestClient, engine: Engine, endpoint: str) -> None:
    """By name, before anything is searched."""
    answer = sent(client, endpoint, reuse="always")
    assert answer.status_code == 400
    assert "reuse" in answer.json()["message"]
    assert engine.asked == []
