"""The library as JSON: passages that were read."""

import time
from typing import Annotated, Literal, TypeAlias

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from harness.core.keys import is_url
from harness.core.sites import host_of, is_within
from harness.core.text import one_line
from harness.errors import InvalidInput, NotFound
from harness.library import HeldPassage, in_language
from harness.library.library_sources import MAX_COUNTED, overview_of
from harness.research.used_sources import used_sources
from harness.server.library_reading import read_document
from harness.server.responses.history_responses import DeleteResponse, deleted_response
from harness.server.responses.library_responses import (
    LibraryResponse,
    LibraryStats,
    PageRead,
    PassagesResponse,
    SourcesResponse,
    library_response,
    library_stats,
    passages_response,
    sources_response,
)
from harness.server.responses.response_schema import example
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["library"], responses=ERROR_RESPONSES)

KindName: TypeAlias = Literal["", "snippet", "page", "file", "knowledge"]
KindQuery = Annotated[
    KindName,
    Query(description="Only sources of this kind; `snippet` is an excerpt in search results."),
]
HostQuery = Annotated[str, Query(max_length=253, description="Only sources of this host, or of hosts below it.")]
OffsetQuery = Annotated[int, Query(ge=0, le=100_000)]
UrlQuery = Annotated[str, Query(min_length=1, max_length=2_000, description="Address of a source.")]


class PageToRead(BaseModel):
    """The page to read."""

    model_config = example(url="https://docs.example.org/pool") | {"extra": "forbid"}

    url: str = Field(max_length=2_000, description="Its address.")


@router.get("/library")
def search(
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000, description="What to look for.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    language: Annotated[
        str, Query(max_length=100, description="Only passages in this language, such as `en`; empty: any.")
    ] = "",
    kind: KindQuery = "",
    host: HostQuery = "",
) -> LibraryResponse:
    """Search everything that was read, by words and meaning; the best passages are read by the local reader."""
    if not one_line(q):
        raise InvalidInput("no query: pass ?q=…")
    spoken, sites = in_language(language), _sites(host)

    def fits(passage: HeldPassage) -> bool:
        return (
            kind in {"", passage.source} and spoken(passage) and (not sites or is_within(host_of(passage.url), sites))
        )

    found = app.library.search(q, limit, only=fits, progress=app.progress)
    return library_response(q, found, app.library.least_relevance, time.time())


@router.get("/library/stats")
def stats(app: RequestApp) -> LibraryStats:
    """Return the numbers of the library."""
    return library_stats(app.library)


@router.get("/library/sources")
def sources(
    app: RequestApp,
    kind: KindQuery = "",
    host: HostQuery = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: OffsetQuery = 0,
) -> SourcesResponse:
    """List the sources of the library, the most used first, and count its newest passages by kind, host and day."""
    now, sites = time.time(), _sites(host)
    overview = overview_of(app.library.newest(MAX_COUNTED), now)
    wanted = [
        each for each in overview.sources if kind in {"", each.kind} and (not sites or is_within(each.host, sites))
    ]
    return sources_response(overview, used_sources(app.cache), wanted, slice(offset, offset + limit), now)


@router.post("/library/pages")
def read_page(app: RequestApp, request: PageToRead) -> PageRead:
    """Read a page of the web into the library, where it stays until it is deleted."""
    app.identity.require("writer")
    if not is_url(request.url):
        raise InvalidInput("not the address of a page; it begins with https:// or http://")
    document = read_document(app, request.url)
    return PageRead(url=document.url, title=document.title, passages=app.library.index.add(document))


@router.get("/library/passages")
def passages(app: RequestApp, url: UrlQuery) -> PassagesResponse:
    """Return all passages of one source, in order."""
    now, found = time.time(), app.library.passages_of(url)
    if not found:
        raise NotFound("nothing of this source is in the library")
    return passages_response(found, now)


@router.delete("/library/passages")
def forget(app: RequestApp, url: UrlQuery) -> DeleteResponse:
    """Delete the passages of one source, and the cached pages and searches that contain them."""
    app.identity.require("admin")
    passages, _ = app.library.forget(url)
    if not passages and (kept := [each.knowledge for each in app.library.passages_of(url) if each.knowledge]):
        raise InvalidInput(f"this is knowledge: DELETE /api/knowledge/{kept[0]} deletes it")
    return deleted_response(passages, "passage")


def _sites(host: str) -> tuple[str, ...]:
    """Return the host that a filter names as a list of sites: empty if there is none. It may be a URL."""
    named = one_line(host).lower()
    return (host_of(named if "://" in named else f"https://{named}") or named,) if named else ()
