"""Language of a search, from the setting and the question to what each engine sends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.core.keys import search_key
from harness.errors import InvalidInput
from harness.ports import SearchEngine
from harness.settings import Settings
from harness.sources.engines.brave import Brave
from harness.sources.engines.openalex import OpenAlex
from harness.sources.engines.serper import Serper
from harness.sources.from_settings import Sources

ENGLISH, GERMAN, CHINESE = "How long is the notice period?", "Wie lange ist die Kündigungsfrist?", "解除合同的通知期限"
RUSSIAN, HINDI, LIST = "Какой срок расторжения договора?", "नोटिस अवधि कितनी है?", "SQLite WAL"
EVERY = ("ddgs", "browser", "wikipedia", "searxng:http://a.example", "openalex", "stackexchange", "brave", "serper")
OTHERS = ("pubmed", "arxiv", "crossref", "semanticscholar", "europepmc", "github", "hackernews", "exa")


def engines(folder: Path, question: str, *specs: str, **settings: Any) -> dict[str, SearchEngine]:
    """Return the engines for a question by name."""

    def unused() -> Any:
        raise AssertionError("it needs no embedder and no library")

    keys = {f"{name}_api_key": "key" for name in ("brave", "serper", "exa")}
    sources = Sources(Settings(data_dir=folder, **keys, **settings), unused, lambda *_: None, unused)
    return {each.name: each for each in sources.engines(specs, question=question)}


def options(folder: Path, question: str, *specs: str, **settings: Any) -> dict[str, Any]:
    """Return the options of the engines for a question; they are part of the keys."""
    return {name: dict(each.options) for name, each in engines(folder, question, *specs, **settings).items()}


AS_BEFORE = {
    "ddgs": {},
    "browser": {},
    "wikipedia": {"language": "en"},
    "searxng": {"url": "http://a.example"},
    "openalex": {},
    "stackexchange": {"site": "stackoverflow"},
    "brave": {},
    "serper": {},
}
"""Options, and so the keys, of searches without a language."""


@pytest.mark.parametrize("question", [ENGLISH, LIST, ""])
def test_english_and_unknown_questions_ask_as_before(tmp_path: Path, question: str) -> None:
    """Entries that are in the cache stay valid."""
    assert options(tmp_path, question, *EVERY) == AS_BEFORE
    made = engines(tmp_path, question, "ddgs")["ddgs"]
    assert search_key(ENGLISH, made.name, made.options) == search_key(ENGLISH)


def test_any_requests_no_language(tmp_path: Path) -> None:
    """For users who want pages in all languages."""
    assert options(tmp_path, GERMAN, *EVERY, language="any") == AS_BEFORE


@pytest.mark.parametrize(
    ("question", "region", "language", "site", "brave", "serper"),
    [
        (GERMAN, "de-de", "de", "stackoverflow", ("de", "DE"), ("de", "de")),
        (CHINESE, "cn-zh", "zh", "stackoverflow", ("zh-hans", "CN"), ("zh-cn", "cn")),
        (RUSSIAN, "ru-ru", "ru", "ru.stackoverflow", ("ru", "RU"), ("ru", "ru")),
        (HINDI, "wt-wt", "hi", "stackoverflow", ("hi", "IN"), ("hi", "in")),
    ],
)
def test_a_question_is_searched_in_its_language(
    tmp_path: Path,
    question: str,
    region: str,
    language: str,
    site: str,
    brave: tuple[str, str],
    serper: tuple[str, str],
) -> None:
    """By every engine that knows it, each in its own terms."""
    assert options(tmp_path, question, *EVERY) == {
        "ddgs": {"region": region},
        "browser": {"region": region},
        "wikipedia": {"language": language},
        "searxng": {"url": "http://a.example", "language": language},
        "openalex": {"language": language},
        "stackexchange": {"site": site},
        "brave": dict(zip(("search_lang", "country"), brave, strict=True)),
        "serper": dict(zip(("hl", "gl"), serper, strict=True)),
    }


def test_other_engines_have_no_language(tmp_path: Path) -> None:
    """They ask and are keyed as for an English question."""
    assert options(tmp_path, GERMAN, *OTHERS) == options(tmp_path, ENGLISH, *OTHERS)


def test_what_is_set_for_an_engine_wins_over_the_language_of_the_question(tmp_path: Path) -> None:
    """Also the region of English, and another Wikipedia."""
    found = options(
        tmp_path,
        GERMAN,
        "ddgs",
        "wikipedia:fr",
        "searxng:http://a.example",
        ddgs_region="us-en",
        searxng_language="all",
    )
    assert found["ddgs"] == {}
    assert found["wikipedia"] == {"language": "fr"}
    assert found["searxng"]["language"] == "all"


def test_a_language_that_is_set_wins_over_the_question(tmp_path: Path) -> None:
    """And over the region for another language; a region for the same one stays."""
    specs = ("ddgs", "wikipedia", "searxng:http://a.example", "brave", "serper")
    found = options(tmp_path, GERMAN, *specs, language="pt-BR", ddgs_region="at-de", searxng_language="de")
    assert found == {
        "ddgs": {"region": "br-pt"},
        "wikipedia": {"language": "pt"},
        "searxng": {"url": "http://a.example", "language": "pt-BR"},
        "brave": {"search_lang": "pt-br", "country": "BR"},
        "serper": {"hl": "pt-br", "gl": "br"},
    }
    assert options(tmp_path, ENGLISH, "ddgs", language="de", ddgs_region="at-de") == {"ddgs": {"region": "at-de"}}
    assert options(tmp_path, GERMAN, "ddgs", "brave", language="en") == {"ddgs": {}, "brave": {}}


def test_a_country_that_duckduckgo_lacks_is_an_error(tmp_path: Path) -> None:
    """Its results would be from elsewhere."""
    with pytest.raises(InvalidInput, match="no region for the language de-BR"):
        engines(tmp_path, ENGLISH, "ddgs", language="de-BR")


@pytest.mark.parametrize(
    ("language", "parameters"),
    [
        ("ja", {"search_lang": "jp", "country": "JP"}),
        ("zh-TW", {"search_lang": "zh-hant", "country": "TW"}),
        ("pt", {"search_lang": "pt-pt", "country": "PT"}),
        ("de-LU", {"search_lang": "de", "country": "ALL"}),
        ("fa", {"country": "ALL"}),
        ("en-GB", {"search_lang": "en-gb", "country": "GB"}),
    ],
)
def test_brave_gets_only_values_that_it_accepts(language: str, parameters: dict[str, str]) -> None:
    """Others are refused with HTTP 422."""
    assert Brave(api_key="key", language=language).options == parameters


@pytest.mark.parametrize(
    ("language", "parameters"),
    [
        ("he", {"hl": "iw", "gl": "il"}),
        ("zh-Hant", {"hl": "zh-tw", "gl": "cn"}),
        ("fr-CA", {"hl": "fr", "gl": "ca"}),
        ("haw", {"hl": "haw"}),
    ],
)
def test_google_gets_its_codes(language: str, parameters: dict[str, str]) -> None:
    """Some are older than the language's own; a country is left out where none is known."""
    assert Serper(api_key="key", language=language).options == parameters


def requests_to(server: HTTPServer, reply: object) -> list[Request]:
    """Let a server answer everything with this JSON; return the requests."""
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        return Response(json.dumps(reply), content_type="application/json")

    server.expect_request(re.compile(".*")).respond_with_handler(answer)
    return requests


def test_the_language_is_in_the_requests(httpserver: HTTPServer) -> None:
    """Not only in the keys."""
    asked = requests_to(httpserver, {"type": "search", "web": {"results": []}, "organic": [], "results": []})
    url = httpserver.url_for("/api")
    Brave(api_key="key", language="de", base_url=url).search(GERMAN, 3)
    Serper(api_key="key", language="de", base_url=url).search(GERMAN, 3)
    OpenAlex(language="de", base_url=url).search(GERMAN, 3)
    assert (asked[0].args["search_lang"], asked[0].args["country"]) == ("de", "DE")
    assert asked[1].json == {"q": GERMAN, "page": 1, "hl": "de", "gl": "de"}
    assert asked[2].args["filter"] == "language:de"


def test_a_chain_is_made_for_each_language(tmp_path: Path) -> None:
    """It remembers which engine failed; the engines differ."""

    def unused() -> Any:
        raise AssertionError("it needs no embedder and no library")

    sources = Sources(Settings(data_dir=tmp_path), unused, lambda *_: None, unused)
    german, english, again = (
        sources.engines(["ddgs,wikipedia"], question=question)[0] for question in (GERMAN, ENGLISH, GERMAN)
    )
    assert german is again
    assert german.options != english.options
