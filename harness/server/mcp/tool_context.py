"""Context of a tool call: the app of the caller, and threads to work in."""

from typing import Annotated, Any, TypeAlias

from mcp.server.mcpserver import Context
from msgspec import Struct
from pydantic import Field

from harness.app import App
from harness.server.auth import REQUEST_APP
from harness.server.mcp.worker_threads import WorkerThreads

Call: TypeAlias = Context[Any, Any]
Offset = Annotated[
    int, Field(ge=0, description="Where to continue: the `next_offset` of the previous response. 0: from the start.")
]


class ToolContext(Struct, frozen=True):
    """Apps and threads for tool calls. Over stdio all calls use `own`; over HTTP (`own` is `None`) each uses the app of
    its request.
    """

    own: App | None
    threads: WorkerThreads

    def app(self, call: Call) -> App:
        """Return the app for a call. An HTTP request never falls back to the server's own app.

        Raises:
            LookupError: the request was not authenticated, or there is no app.
        """
        request = call.request_context.request
        app: App | None = self.own if request is None else request.scope["state"][REQUEST_APP]
        if app is None:
            raise LookupError("the call has no HTTP request, and the server has no app")
        return app
