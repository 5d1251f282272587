"""What a call of a tool works with: the app of whoever asks, and a thread to work in."""

from typing import Annotated, Any, TypeAlias

from mcp.server.mcpserver import Context
from msgspec import Struct
from pydantic import Field

from harness.app import App
from harness.server.auth import REQUEST_APP
from harness.server.mcp.threads import Threads

Call: TypeAlias = Context[Any, Any]
Offset = Annotated[
    int, Field(ge=0, description="Where to go on: the `next_offset` of the reply before. 0 for the beginning.")
]


class Serving(Struct, frozen=True):
    """Who serves: over stdio one app, over HTTP (`own` is `None`) the one that the request was let in with."""

    own: App | None
    threads: Threads

    def app(self, call: Call) -> App:
        """Return the app of whoever makes this very call. An HTTP request never falls back on the server's own.

        Raises:
            LookupError: the request was not let in by the gate, or there is none.
        """
        request = call.request_context.request
        found = self.own if request is None else request.scope["state"][REQUEST_APP]
        if found is None:
            raise LookupError("a call came neither over HTTP nor to a server with an app of its own")
        app: App = found
        return app
