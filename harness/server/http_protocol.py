"""HTTP connections with time limits for requests; unreadable requests get an error response in JSON.

uvicorn limits only the idle time between two requests: a client that sends a request byte by byte, or never, would keep
its connection open for ever (Slowloris). The parser is h11, which limits the size of the request line and the headers;
httptools, which uvicorn prefers if it is installed, does not.
"""

import asyncio
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from harness.server.error_payload import INVALID, error_payload

TOO_SLOW = "request_timeout"
HEAD_SECONDS = 10.0
"""Longest time for a request line with its headers to arrive."""
BODY_SECONDS = 30.0
"""Longest time for a body to arrive."""
UNREAD_SECONDS = 30.0
"""Longest time in which a client reads nothing of a response that waits for it."""
LINGER_SECONDS = 1.0
"""Time in which the rest of a refused request is read and dropped: a client whose connection is reset at once may not
see the response."""


class TimedProtocol(H11Protocol):
    """One connection. The request line and the headers must arrive within `HEAD_SECONDS` of the connection, or of their
    first byte on a reused connection; the body within `BODY_SECONDS` of the headers. A late request gets status 408 if
    that is still possible, and the connection is closed. The time to respond is not limited, but a client must read.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = {"head": HEAD_SECONDS, "body": BODY_SECONDS, "rest": LINGER_SECONDS}
        self._awaited: tuple[str, RequestResponseCycle | None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._wait_for("head")

    def pause_writing(self) -> None:
        """Give up a client that does not read its response."""
        super().pause_writing()
        self._stuck = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        self._keep_sending()
        super().resume_writing()

    def _keep_sending(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._keep_sending()
        self._wait_for("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle bytes of the current request; drop those of a refused one."""
        if not self._is_refused:
            super().data_received(data)

    def handle_events(self) -> None:
        """Handle the received bytes, then wait for the missing part of the request."""
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

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - our message says more than uvicorn's
        """Refuse an unreadable request; called while `H11Protocol.handle_events` handles the exception."""
        error = sys.exception()
        if getattr(error, "error_status_hint", 400) != HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            self._refuse(HTTPStatus.BAD_REQUEST, INVALID, "this is not an HTTP/1.1 request")
            return
        most = self.config.h11_max_incomplete_event_size
        whole_line = b"\n" in self.conn.trailing_data[0]
        what = "the headers of a request may have" if whole_line else "a URL may have"
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if whole_line else HTTPStatus.REQUEST_URI_TOO_LONG
        self._refuse(status, INVALID, f"{what} at most {most:,} bytes; send less")

    @property
    def _is_refused(self) -> bool:
        return self._awaited is not None and self._awaited[0] == "rest"

    def _wait_for(self, part: str) -> None:
        """Start the timer for a part of the current request, or stop it; a running timer for the same part goes on."""
        awaited = (part, self.cycle) if part else None
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._bounds[part], self._is_late) if part else None

    def _is_late(self) -> None:
        """Close the connection, unless the application is what does not read the received bytes."""
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
        """Send an error response and close the connection soon; close it at once if a response has started already."""
        state = self.conn.our_state
        unanswered = state is h11.IDLE or (state is h11.SEND_RESPONSE and self.scope["method"] != "HEAD")
        if unanswered:
            body = error_payload(code, message).model_dump_json().encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            head = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:  # drops what the application still sends, and ends its `receive`
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if unanswered and self.transport.can_write_eof():
            self.transport.write_eof()
            self.flow.resume_reading()
            self._wait_for("rest")
        else:
            self.transport.close()
