"""Context of a tool call: the app of the caller, and threads to work in."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Annotated, Any, TypeAlias, TypeVar

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from pydantic import Field

from harness.app import App
from harness.ports import Progress
from harness.server.auth import REQUEST_APP
from harness.server.mcp.worker_threads import Report, WorkerThreads

T = TypeVar("T")
Call: TypeAlias = Context[Any, Any]
Offset = Annotated[
    int, Field(ge=0, description="Where to continue: the `next_offset` of the previous response. 0: from the start.")
]
MAX_TENANTS = 1_000
"""Tenants whose threads are remembered."""


class ToolContext:
    """Apps and threads for tool calls. Over stdio all calls use `own`; over HTTP (`own` is `None`) each uses the app of
    its request. Each tenant has its own limits of threads, so that one tenant's long work does not block another's.
    """

    def __init__(self, own: App | None) -> None:
        self._own = own
        self._threads = lru_cache(MAX_TENANTS)(lambda _tenant: WorkerThreads())

    async def look_up(self, call: Call, work: Callable[[App], T]) -> T:
        """Run work that only uses the database."""
        app = self._app(call)
        return await run_sync(work, app, limiter=self._threads(app.identity.tenant).lookups)

    async def fetch(self, call: Call, work: Callable[[App], T]) -> T:
        """Run work that may call a search engine or a web site."""
        app = self._app(call)
        return await run_sync(work, app, limiter=self._threads(app.identity.tenant).fetches)

    async def research(self, call: Call, work: Callable[[App, Progress], T], report: Report) -> T:
        """Run long work with progress reports (see `WorkerThreads.research`)."""
        app = self._app(call)
        return await self._threads(app.identity.tenant).research(partial(work, app), report)

    def _app(self, call: Call) -> App:
        """Return the app for a call. An HTTP request never falls back to the server's own app.

        Raises:
            LookupError: the request was not authenticated, or there is no app.
        """
        request = call.request_context.request
        app: App | None = self._own if request is None else request.scope["state"][REQUEST_APP]
        if app is None:
            raise LookupError("the call has no HTTP request, and the server has no app")
        return app
