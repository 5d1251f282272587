"""HTTP connections whose requests must arrive in time, and whose unreadable requests get the envelope of a failure.

uvicorn bounds how long a connection may be idle between two requests, and nothing else: a client that sends a request
byte by byte, or never, would hold its connection for ever (Slowloris). The parser is h11, which bounds the size of the
request line and the headers; httptools, which uvicorn prefers where it is installed, does not.
"""

import asyncio
import json
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from harness.server.error_payload import INVALID, envelope

TOO_SLOW = "request_timeout"
LINGER_SECONDS = 1.0
"""Time in which the rest of a refused request is read and dropped: a client whose connection is reset at once may not
see the answer."""


class TimedProtocol(H11Protocol):
    """One connection. The request line and the headers must arrive within `head_seconds` of the connection, or of their
    first byte on a connection that is used again; the body within `body_seconds` of the headers. A request that is late
    is answered with 408 where that is still possible, and the connection is closed. How long the server takes to answer
    is not bounded.
    """

    def __init__(self, *args: Any, head_seconds: float, body_seconds: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = {"head": head_seconds, "body": body_seconds, "rest": LINGER_SECONDS}
        self._awaited: tuple[str, RequestResponseCycle | None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_for("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle bytes of the present request; drop those of a refused one."""
        if not self._is_refused:
            super().data_received(data)

    def handle_events(self) -> None:
        """Handle what has arrived, then wait for the part of the request that is missing."""
        super().handle_events()
        if self._is_refused:
            return
        if self.transport.is_closing():
            self._wait_for("")
        elif self.conn.their_state is h11.SEND_BODY:
            self._wait_for("body")
        elif self.conn.their_state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            self._wait_for("head")
        else:
            self._wait_for("")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text says less than ours
        """Answer a request that cannot be read; see `H11Protocol.handle_events`, whose exception is being handled."""
        error = sys.exception()
        if getattr(error, "error_status_hint", 400) != HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            self._refuse(HTTPStatus.BAD_REQUEST, INVALID, "this is not a request in HTTP/1.1")
            return
        most = self.config.h11_max_incomplete_event_size
        whole_line = b"\n" in self.conn.trailing_data[0]
        what = "the headers of a request have" if whole_line else "an address has"
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if whole_line else HTTPStatus.REQUEST_URI_TOO_LONG
        self._refuse(status, INVALID, f"{what} at most {most:,} bytes here; send less")

    @property
    def _is_refused(self) -> bool:
        return self._awaited is not None and self._awaited[0] == "rest"

    def _wait_for(self, part: str) -> None:
        """Wait for a part of the present request, or for nothing; the time runs from when it was first waited for."""
        awaited = (part, self.cycle) if part else None
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._bounds[part], self._is_late) if part else None

    def _is_late(self) -> None:
        """Close the connection, unless it is the application that does not read what has arrived."""
        part, cycle = self._awaited or ("", None)
        self._awaited = None
        if part == "rest" or (part == "head" and not self.conn.trailing_data[0]):
            self.transport.close()
        elif part == "body" and self.flow.read_paused and cycle is not None and not cycle.response_complete:
            self._wait_for("body")
        else:
            message = f"the {part} of the request did not arrive within {self._bounds[part]:g} seconds; send it at once"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW, message)

    def _refuse(self, status: HTTPStatus, code: str, message: str) -> None:
        """Answer with an envelope, and close the connection soon; at once where an answer has begun already."""
        state = self.conn.our_state
        unanswered = state is h11.IDLE or (state is h11.SEND_RESPONSE and self.scope["method"] != "HEAD")
        if unanswered:
            body = json.dumps(envelope(code, message)).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            head = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:  # what the application still sends is dropped, and its `receive` ends
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if unanswered and self.transport.can_write_eof():
            self.transport.write_eof()
            self.flow.resume_reading()
            self._wait_for("rest")
        else:
            self.transport.close()
