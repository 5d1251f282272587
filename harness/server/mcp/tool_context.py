"""Context of a tool call: the app of the caller, and threads to work in."""

from collections import OrderedDict
from typing import Annotated, Any, TypeAlias

from mcp.server.mcpserver import Context
from pydantic import Field

from harness.app import App
from harness.server.auth import REQUEST_APP
from harness.server.mcp.worker_threads import WorkerThreads

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
        self._threads: OrderedDict[str, WorkerThreads] = OrderedDict()

    def app(self, call: Call) -> App:
        """Return the app for a call. An HTTP request never falls back to the server's own app.

        Raises:
            LookupError: the request was not authenticated, or there is no app.
        """
        request = call.request_context.request
        app: App | None = self._own if request is None else request.scope["state"][REQUEST_APP]
        if app is None:
            raise LookupError("the call has no HTTP request, and the server has no app")
        return app

    def threads(self, call: Call) -> WorkerThreads:
        """Return the threads for the tenant of a call; only the event loop may call this."""
        tenant = self.app(call).identity.tenant
        threads = self._threads.pop(tenant, None) or WorkerThreads()
        self._threads[tenant] = threads
        if len(self._threads) > MAX_TENANTS:
            self._threads.popitem(last=False)
        return threads
