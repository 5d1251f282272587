"""What a call of a tool works with: the workbench of whoever asks, and a thread to work in."""

from typing import Annotated, Any, TypeAlias

from mcp.server.mcpserver import Context
from msgspec import Struct
from pydantic import Field

from harness.mcp.threads import Threads
from harness.serving.admission import REQUESTS_WORKBENCH
from harness.workbench import Workbench

Call: TypeAlias = Context[Any, Any]
Offset = Annotated[
    int, Field(ge=0, description="Where to go on: the `next_offset` of the reply before. 0 for the beginning.")
]


class Serving(Struct, frozen=True):
    """Who serves: over stdio one workbench, over HTTP (`own` is `None`) the one that the request was let in with."""

    own: Workbench | None
    threads: Threads

    def workbench(self, call: Call) -> Workbench:
        """Return the workbench of whoever makes this very call. An HTTP request never falls back on the server's own.

        Raises:
            LookupError: the request was not let in by the gate, or there is none.
        """
        request = call.request_context.request
        found = self.own if request is None else request.scope["state"][REQUESTS_WORKBENCH]
        if found is None:
            raise LookupError("a call came neither over HTTP nor to a server with a workbench of its own")
        workbench: Workbench = found
        return workbench
