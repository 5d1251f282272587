"""The library as JSON: passages that were read."""

import time
from typing import Annotated

from fastapi import APIRouter, Query

from harness.app import App
from harness.core.text import one_line
from harness.errors import InvalidInput, NotFound
from harness.library import in_language
from harness.server.responses.history_responses import DeleteResponse, deleted_response
from harness.server.responses.library_responses import (
    LibraryResponse,
    LibraryStats,
    PassagesResponse,
    library_response,
    library_stats,
    passages_response,
)
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["library"], responses=ERROR_RESPONSES)

UrlQuery = Annotated[str, Query(min_length=1, max_length=2_000, description="Address of a source.")]


@router.get("/library")
def search(
    app: RequestApp,
    q: Annotated[str, Query(max_length=10_000, description="What to look for.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    language: Annotated[
        str, Query(max_length=100, description="Only passages in this language, such as `en`; empty: any.")
    ] = "",
) -> LibraryResponse:
    """Search everything that was read, by words and meaning; the best passages are read by the local reader."""
    if not one_line(q):
        raise InvalidInput("no query: pass ?q=…")
    return found_in(app, q, limit, language)


@router.get("/library/stats")
def stats(app: RequestApp) -> LibraryStats:
    """Return the numbers of the library."""
    return library_stats(app.library)


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
    return deleted_response(app.library.forget(url)[0], "passage")


def found_in(app: App, query: str, limit: int, language: str = "") -> LibraryResponse:
    """Search the library for a user, in one language or in any."""
    found = app.library.search(query, limit, only=in_language(language), progress=app.progress)
    return library_response(query, found, app.library.least_relevance, time.time())
