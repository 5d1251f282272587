"""`/config` and `/autocompleter` compatible with SearXNG: the engines set up here, and earlier queries.

https://docs.searxng.org/dev/search_api.html
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, RootModel

from harness import __version__
from harness.app import App
from harness.core.keys import MAX_QUERY_CHARS
from harness.core.origins import OWN
from harness.core.tables import SEARCHES
from harness.core.text import clean, one_line
from harness.server.responses.response_schema import example
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp
from harness.server.search_api.search_options import capabilities, engine_names, safe_search
from harness.settings import Settings

CATEGORY: Literal["general"] = "general"
MAX_SUGGESTIONS = 10
MAX_COMPARED = 1_000
"""Queries that are compared with the typed text, newest first."""
MAX_SUGGESTION = 300
"""Characters of a suggestion; longer queries are left out."""
_RELEVANCE = 600
"""SearXNG's number for the first suggestion, one less for each next one; without them, Chromium shows only three."""
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
    """An engine set up here."""

    model_config = example(**_ENGINE)

    name: str
    categories: list[Literal["general"]] = [CATEGORY]
    shortcut: str = Field(description="Same as the name.")
    enabled: Literal[True] = True
    paging: Literal[True] = True
    language_support: bool
    languages: list[str] = Field(default=[], max_length=0, description="Not listed.")
    regions: list[str] = Field(default=[], max_length=0, description="Not listed.")
    safesearch: bool = Field(description="Whether it supports strict safe search.")
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
        formats=["html", "json"],
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
    autocomplete: Literal["harness"] = Field(default="harness", description="Suggests the tenant's earlier queries.")
    safe_search: int = Field(description="Default level: 0 off, 1 moderate, 2 strict.", ge=0, le=2)
    default_theme: Literal[""] = ""
    version: str = __version__
    formats: list[Literal["html", "json"]] = ["html", "json"]
    public_instance: Literal[False] = False
    brand: dict[str, str] = {}
    doi_resolvers: list[str] = Field(default=[], max_length=0)
    default_doi_resolver: Literal[""] = ""


class Suggestions(RootModel[list[Any]]):
    """Suggestions in OpenSearch format: the typed text, the suggestions, two empty lists, and their relevances."""

    model_config = {
        "json_schema_extra": {
            "examples": [["rag", ["rag best practices"], [], [], {"google:suggestrelevance": [_RELEVANCE]}]]
        }
    }


class PlainSuggestions(RootModel[list[str]]):
    """Only the suggestions, for `X-Requested-With: XMLHttpRequest`."""

    model_config = {"json_schema_extra": {"examples": [["rag best practices"]]}}


router = APIRouter(tags=["search for other tools"], responses=ERROR_RESPONSES)


@router.get("/config")
def searxng_config(app: RequestApp) -> SearxngConfig:
    """Describe this instance as SearXNG does."""
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
            "description": "Earlier queries that start with the text, newest first.",
        }
    },
)
def searxng_autocompleter(
    app: RequestApp,
    q: Annotated[str, Query(max_length=MAX_QUERY_CHARS, description="The start of a query.")] = "",
    x_requested_with: Annotated[str, Header(max_length=100, description="`XMLHttpRequest`: a plain list.")] = "",
) -> JSONResponse:
    """Suggest earlier queries of the tenant. Searches nothing."""
    found = suggestions(app, q)
    if x_requested_with == "XMLHttpRequest":
        return JSONResponse(found)
    relevance = {"google:suggestrelevance": [_RELEVANCE - place for place in range(len(found))]}
    typed = clean(one_line(q), MAX_QUERY_CHARS)
    return JSONResponse([typed, found, [], [], relevance], media_type=_SUGGESTIONS)


def suggestions(app: App, beginning: str) -> list[str]:
    """Return up to 10 of the last 1,000 queries of the tenant's users and agents that start with `beginning`, newest
    first.

    Case and extra spaces are ignored. A query equal to `beginning` is left out.

    Raises:
        StoreError: the store cannot be read.
    """
    typed = one_line(beginning.lower())
    if not typed:
        return []
    rows = app.store.listings.timeline(SEARCHES, app.identity.tenant, limit=MAX_COMPARED, origins=OWN)
    found: dict[str, str] = {}
    for row in rows:
        if (
            len(row.text) <= MAX_SUGGESTION
            and (query := one_line(row.text.lower())).startswith(typed)
            and query != typed
        ):
            found.setdefault(query, clean(one_line(row.text), MAX_SUGGESTION))
    return list(found.values())[:MAX_SUGGESTIONS]


def _engine(name: str, settings: Settings) -> SearxngEngine:
    supports = capabilities(name, settings)
    return SearxngEngine(
        name=name,
        shortcut=name,
        language_support=supports.language,
        safesearch=supports.safety,
        time_range_support=supports.time_range,
        timeout=settings.search_timeout,
    )
