"""HTTP server on loopback instead of a language model's endpoint, with the responses that a test sets."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

STREAM = "text/event-stream"


class Reply(NamedTuple):
    """Response to one request: `body` is made again for each; a body that is not `whole` breaks off."""

    body: Callable[[], Iterable[bytes]]
    status: int = 200
    content_type: str = STREAM
    headers: Mapping[str, str] = {}
    whole: bool = True


class Endpoint:
    """A server that gives `replies` in order, the last one again and again, and keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answers(self, *replies: Reply) -> None:
        """Give these replies."""
        self.replies = list(replies)

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of the test."""
        self.stopped.wait(seconds)

    def stop(self) -> None:
        """Stop serving."""
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                endpoint.asked.append(json.loads(body))
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                reply = endpoint.replies[min(len(endpoint.asked), len(endpoint.replies)) - 1]
                self.close_connection = True
                try:
                    self._reply(reply)
                except OSError:
                    endpoint.gone.set()

            def _reply(self, reply: Reply) -> None:
                self.send_response(reply.status)
                self.send_header("content-type", reply.content_type)
                self.send_header("transfer-encoding", "chunked")
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in reply.body():
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                if reply.whole:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


def event(**fields: Any) -> bytes:
    """Return one event that holds `fields` as JSON."""
    return f"data: {json.dumps(fields)}\n\n".encode()


def said(text: str) -> bytes:
    """Return the event that adds `text` to the answer."""
    return event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])


def ended(reason: str = "stop") -> bytes:
    """Return the events at the end of an answer, with 7 tokens asked and 3 answered."""
    last = event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])
    usage = event(choices=[], usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})
    return last + usage + b"data: [DONE]\n\n"


def saying(*pieces: str, reason: str = "stop") -> Reply:
    """Reply with `pieces`, one event each."""
    return Reply(lambda: [*map(said, pieces), ended(reason)])


def refusing(status: int, words: str, **headers: str) -> Reply:
    """Reply with an error as OpenAI words it; `retry_after` and the like become headers."""
    body = json.dumps({"error": {"message": words, "type": "invalid_request_error", "code": None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(lambda: [body], status, "application/json", named)


def endless(piece: bytes, pause: Callable[[], object] = lambda: None) -> Reply:
    """Reply with `piece` again and again, until the other side has had enough."""

    def body() -> Iterator[bytes]:
        while True:
            yield piece
            pause()

    return Reply(body)
