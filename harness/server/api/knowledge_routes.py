"""Knowledge as JSON, read-only except for deletion. Agents write it through their tools."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from harness.errors import NotFound
from harness.knowledge.knowledge_checks import MAX_AGENT
from harness.server.responses.history_responses import DeleteResponse, deleted_response
from harness.server.responses.knowledge_responses import (
    DocumentsResponse,
    VersionsResponse,
    documents_response,
    versions_response,
)
from harness.server.route_dependencies import ERROR_RESPONSES, RequestApp

router = APIRouter(prefix="/api", tags=["knowledge"], responses=ERROR_RESPONSES)

DocumentPath = Annotated[str, Path(min_length=1, max_length=64, pattern="^[0-9A-Za-z]+$", description="Its id.")]


@router.get("/knowledge")
def documents(
    app: RequestApp,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    tag: Annotated[str, Query(max_length=100, description="Only documents with this tag.")] = "",
    agent: Annotated[str, Query(max_length=MAX_AGENT, description="Only documents by this agent.")] = "",
) -> DocumentsResponse:
    """List documents, last updated first."""
    return documents_response(
        app.knowledge.list(limit, tags=[tag] if tag.strip() else None, agent=agent.strip() or None)
    )


@router.get("/knowledge/{id}")
def document(app: RequestApp, id: DocumentPath) -> VersionsResponse:  # noqa: A002 - the name in the URL
    """Return a document with its earlier versions."""
    versions = app.knowledge.history(id)
    if not versions:
        raise NotFound("there is no such document; it may have been deleted")
    return versions_response(versions)


@router.delete("/knowledge/{id}")
def delete(app: RequestApp, id: DocumentPath) -> DeleteResponse:  # noqa: A002
    """Delete a document with its earlier versions."""
    app.identity.require("admin")
    return deleted_response(int(app.knowledge.delete(id)), "document")
