"""What is known, as JSON: to be read. Agents write it, through their tools."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from harness.errors import NotFound
from harness.knowledge import KnowledgeDocument
from harness.server.api.responses import DocumentReply, Done, KnowledgeReply, VersionsReply, done
from harness.server.dependencies import FAILURES, Mine

router = APIRouter(prefix="/api", tags=["knowledge"], responses=FAILURES)

DocumentPath = Annotated[str, Path(min_length=1, max_length=64, pattern="^[0-9A-Za-z]+$", description="Its id.")]


@router.get("/knowledge")
def documents(
    app: Mine,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    tag: Annotated[str, Query(max_length=100, description="Only documents with this tag.")] = "",
    agent: Annotated[str, Query(max_length=100, description="Only what this agent has written.")] = "",
) -> KnowledgeReply:
    """List what is known, the document that was updated last first."""
    found = app.knowledge.list(limit, tags=[tag] if tag.strip() else None, agent=agent.strip() or None)
    return KnowledgeReply(items=[shown(each) for each in found])


@router.get("/knowledge/{id}")
def document(app: Mine, id: DocumentPath) -> VersionsReply:  # noqa: A002 - the address names it so
    """Return a document with its earlier versions."""
    versions = app.knowledge.history(id)
    if not versions:
        raise NotFound("there is no such document, or not any more")
    return VersionsReply(document=shown(versions[0]), earlier=[shown(each) for each in versions[1:]])


@router.delete("/knowledge/{id}")
def delete(app: Mine, id: DocumentPath) -> Done:  # noqa: A002
    """Delete a document with its earlier versions."""
    app.identity.require("admin")
    return done(int(app.knowledge.delete(id)), "document")


def shown(document: KnowledgeDocument) -> DocumentReply:
    """Tell of a document."""
    return DocumentReply.model_validate(document.as_dict())
