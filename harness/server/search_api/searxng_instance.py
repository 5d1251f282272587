"""`/config` and `/autocompleter` as SearXNG answers them: what can be searched here, and earlier queries.

https://docs.searxng.org/dev/search_api.html
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, RootModel

from harness import __version__
from harness.app import App
from harness.cache.tables import SEARCHES
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean, one_line
from harness.server.api.responses import example
from harness.server.dependencies import FAILURES, Mine
from harness.server.search_api.search_options import abilities, engine_names, safe_search
from harness.settings import Settings

CATEGORY: Literal["general"] = "general"
MAX_SUGGESTIONS = 10
MAX_LOOKED_AT = 1_000
"""Queries that are compared with what was typed, the newest first."""
MAX_SUGGESTION = 300
"""Characters; a longer query is not suggested."""
_RELEVANCE = 600
"""SearXNG's number for the first suggestion, and one less for each after it: without these, Chromium shows three."""
_SUGGESTIONS = "application/x-suggestions+json"

_ENGINE: dict[str, Any] = {
    "name": "ddgs",
    "categories": [CATEGORY],
    "shortcut": "ddgs",
    "enabled": True,
    "paging": True,
    "language_support": True,
    "languages": [],
    "regions": [],
    "safesearch": True,
    "time_range_support": True,
    "timeout": 10.0,
}


class SearxngEngine(BaseModel):
    """An engine that is set up here."""

    model_config = example(**_ENGINE)

    name: str
    categories: list[Literal["general"]] = [CATEGORY]
    shortcut: str = Field(description="Its name; there are no shorter ones.")
    enabled: Literal[True] = True
    paging: Literal[True] = True
    language_support: bool
    languages: list[str] = Field(default=[], max_length=0, description="Not listed here.")
    regions: list[str] = Field(default=[], max_length=0, description="Not listed here.")
    safesearch: bool = Field(description="Whether strict safe search can be chosen.")
    time_range_support: bool
    timeout: float = Field(description="Seconds.")


class SearxngConfig(BaseModel):
    """Description of this instance."""

    model_config = example(
        categories=[CATEGORY],
        engines=[_ENGINE],
        plugins=[],
        instance_name="harness",
        locales={"en": "English"},
        default_locale="en",
        autocomplete="harness",
        safe_search=1,
        default_theme="",
        version=__version__,
        formats=["json"],
        public_instance=False,
        brand={},
        doi_resolvers=[],
        default_doi_resolver="",
    )

    categories: list[Literal["general"]] = [CATEGORY]
    engines: list[SearxngEngine]
    plugins: list[str] = Field(default=[], max_length=0)
    instance_name: Literal["harness"] = "harness"
    locales: dict[str, str] = {"en": "English"}
    default_locale: Literal["en"] = "en"
    autocomplete: Literal["harness"] = Field(
        default="harness", description="Suggestions are the tenant's own earlier queries."
    )
    safe_search: int = Field(description="Without a choice: 0 off, 1 moderate, 2 strict.", ge=0, le=2)
    default_theme: Literal[""] = ""
    version: str = __version__
    formats: list[Literal["json"]] = ["json"]
    public_instance: Literal[False] = False
    brand: dict[str, str] = {}
    doi_resolvers: list[str] = Field(default=[], max_length=0)
    default_doi_resolver: Literal[""] = ""


class Suggestions(RootModel[list[Any]]):
    """Suggestions in the form of OpenSearch: what was typed, the suggestions, two empty lists, how relevant each is."""

    model_config = {
        "json_schema_extra": {
            "examples": [["rag", ["rag best practices"], [], [], {"google:suggestrelevance": [_RELEVANCE]}]]
        }
    }


class PlainSuggestions(RootModel[list[str]]):
    """The suggestions alone, for `X-Requested-With: XMLHttpRequest`."""

    model_config = {"json_schema_extra": {"examples": [["rag best practices"]]}}


router = APIRouter(tags=["search for other tools"], responses=FAILURES)


@router.get("/config")
def searxng_config(app: Mine) -> SearxngConfig:
    """Return what can be searched here, as SearXNG describes itself."""
    settings = app.settings
    return SearxngConfig(
        engines=[_engine(name, settings) for name in engine_names(settings)], safe_search=safe_search(settings)
    )


@router.get(
    "/autocompleter",
    response_model=PlainSuggestions,
    responses={
        200: {
            "model": PlainSuggestions,
            "content": {_SUGGESTIONS: {"schema": Suggestions.model_json_schema()}},
            "description": "Earlier queries that begin so, the newest first.",
        }
    },
)
def searxng_autocompleter(
    app: Mine,
    q: Annotated[str, Query(max_length=MAX_QUERY_CHARS, description="The beginning of a query.")] = "",
    x_requested_with: Annotated[str, Header(max_length=100, description="`XMLHttpRequest`: a plain list.")] = "",
) -> JSONResponse:
    """Complete a query from the tenant's own earlier ones. Nothing is searched."""
    found = suggestions(app, q)
    if x_requested_with == "XMLHttpRequest":
        return JSONResponse(found)
    relevance = {"google:suggestrelevance": [_RELEVANCE - place for place in range(len(found))]}
    typed = clean(one_line(q), MAX_QUERY_CHARS)
    return JSONResponse([typed, found, [], [], relevance], media_type=_SUGGESTIONS)


def suggestions(app: App, beginning: str) -> list[str]:
    """Return up to 10 of the tenant's last 1,000 queries that begin with `beginning`, the newest first.

    Case, and spaces around and between words, do not matter. The query that was typed whole is left out.

    Raises:
        StoreError: the store cannot be read.
    """
    typed = _one_spelling(beginning)
    if not typed:
        return []
    rows = app.store.listings.timeline(SEARCHES, app.identity.tenant, limit=MAX_LOOKED_AT)
    found: dict[str, str] = {}
    for row in rows:
        if len(row.text) <= MAX_SUGGESTION and (query := _one_spelling(row.text)).startswith(typed) and query != typed:
            found.setdefault(query, clean(one_line(row.text), MAX_SUGGESTION))
    return list(found.values())[:MAX_SUGGESTIONS]


def _one_spelling(query: str) -> str:
    return " ".join(query.lower().split())


def _engine(name: str, settings: Settings) -> SearxngEngine:
    can = abilities(name, settings)
    return SearxngEngine(
        name=name,
        shortcut=name,
        language_support=can.language,
        safesearch=can.safety,
        time_range_support=can.time_range,
        timeout=settings.search_timeout,
    )
