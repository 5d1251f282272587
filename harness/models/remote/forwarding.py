"""Requests of other programs, forwarded to an OpenAI-compatible endpoint."""

import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from harness.core.text import clean, shorten
from harness.errors import ModelError, ModelRefused, ModelUnavailable
from harness.models.remote.endpoint import checked_address, checked_key, words_of

if TYPE_CHECKING:  # httpx2 takes 0.1 s to import
    import httpx2

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_ANSWER = 8 * 2**20
"""Bytes of one answer."""
MAX_WORD = 100
END = "[DONE]"
"""Data of the last event of a stream."""
_SECONDS = re.compile("[0-9]{1,5}")


class ForwardingEndpoint:
    """OpenAI-compatible endpoint at `address`. Every request has its own connection, with the endpoint's own key and no
    header of the program that sent it. Nothing is repeated: programs do that themselves. Safe for threads and after a
    fork.

    `timeout` is the longest silence in a stream and `total_timeout` the longest answer, in seconds. Errors about a
    missing or refused key name `key_variable`. Errors do not name the address, because any client may read them; the
    log does.

    Raises:
        InvalidInput: `address` is not a plain URL, or the key has invalid characters.
    """

    def __init__(
        self, address: str, *, api_key: str | None, key_variable: str, timeout: float, total_timeout: float
    ) -> None:
        self.address = checked_address(address)
        self._key = checked_key(api_key, "the endpoint", key_variable)
        self._key_variable = key_variable
        self._timeout = timeout
        self._total_timeout = total_timeout

    def __repr__(self) -> str:
        return f"ForwardingEndpoint({self.address!r})"

    def post(self, path: str, fields: Mapping[str, Any]) -> bytes:
        """Send `fields` as JSON; return the body of the response: one JSON object without `error`.

        Raises:
            ModelRefused: it answers with an error.
            ModelUnavailable: it does not answer in time.
            ModelError: it refuses the key, or its answer is too long or not JSON.
        """

        def read(response: "httpx2.Response") -> bytes:
            body = response.read()
            self._object(body)
            return body

        return self._request(path, fields, self._total_timeout, read)

    def stream(self, path: str, fields: Mapping[str, Any], on_chunk: Callable[[str], None]) -> list[str]:
        """Send `fields` as JSON; return the data of all events, JSON objects without `error`. `on_chunk` is called with
        each as it arrives.

        Raises:
            ModelError: see `post`; also an error event in the stream.
        """

        def read(response: "httpx2.Response") -> list[str]:
            from httpx2 import EventSource

            response.encoding = "utf-8"
            chunks: list[str] = []
            for event in EventSource(response, max_event_size=MAX_ANSWER):
                if event.data.strip() == END:
                    break
                if event.data:
                    found = self._object(event.data)
                    chunks.append(orjson.dumps(found).decode() if "\n" in event.data else event.data)  # on one line
                    on_chunk(chunks[-1])
            return chunks

        return self._request(path, fields, self._timeout, read)

    def _request(
        self, path: str, fields: Mapping[str, Any], timeout: float, read: "Callable[[httpx2.Response], T]"
    ) -> T:
        import httpx2

        from harness.sources.http.transport import Deadline, EndpointTransport

        deadline = Deadline(self._total_timeout)
        transport = EndpointTransport(self.address, self._key, deadline, MAX_ANSWER, whole=True)
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        try:
            with (
                httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=timeout) as client,
                client.stream(
                    "POST", f"{self.address}{path}", content=orjson.dumps(fields), headers=headers
                ) as response,
            ):
                if not response.is_success:
                    raise self._refusal(response.status_code, response.read(), response.headers.get("retry-after", ""))
                return read(response)
        except httpx2.HTTPError as error:
            failure = self._failure(error, deadline.left <= 0)
            log.warning("%s: %s (%s)", self.address, failure, words_of(str(error), self._key))
            raise failure from None  # the cause may quote the key
        except ModelRefused:
            raise
        except ModelError as error:
            log.warning("%s: %s", self.address, error)
            raise

    def _object(self, body: bytes | str) -> dict[str, Any]:
        try:
            found = orjson.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ModelError(
                "the model endpoint answered with something that is not a JSON object; check its URL, which often "
                "ends in /v1"
            )
        if error := found.get("error"):
            raise self._refused(502, error)
        return found

    def _refusal(self, status: int, body: bytes, retry_after: str) -> ModelError:
        try:
            error = orjson.loads(body)
        except ValueError:
            error = body.decode(errors="replace")
        if isinstance(error, dict):
            error = error.get("error") or error
        if status in {401, 403}:
            problem = "needs a key; set"
            if self._key:
                problem = f"refuses the key of this server: {words_of(error, self._key)}; check"
            return ModelError(f"the model endpoint {problem} {self._key_variable}")
        if status < 400:
            return ModelError(f"the model endpoint redirects (HTTP {status}); set the final URL")
        return self._refused(status, error, int(retry_after) if _SECONDS.fullmatch(retry_after) else None)

    def _refused(self, status: int, error: object, wait: int | None = None) -> ModelRefused:
        fields = error if isinstance(error, dict) else {}
        kind, reason, parameter = (
            shorten(clean(text, MAX_WORD), MAX_WORD) if isinstance(text := fields.get(name), str) else ""
            for name in ("type", "code", "param")
        )
        return ModelRefused(
            words_of(error, self._key), status, kind=kind, reason=reason, parameter=parameter, wait=wait
        )

    def _failure(self, error: "httpx2.HTTPError", late: bool) -> ModelError:
        import httpx2

        from harness.sources.http.transport import TooLong

        if isinstance(error, TooLong):
            return ModelError(f"the model endpoint answers with more than {MAX_ANSWER:,} bytes; ask for less at once")
        if isinstance(error, httpx2.TimeoutException):
            bound = self._total_timeout if late else self._timeout
            return ModelUnavailable(
                f"the model endpoint did not answer within {bound:g} s; check it, or allow it more time"
            )
        if isinstance(error, httpx2.DecodingError):
            return ModelError(
                "the model endpoint answered with compressed data, which was not requested; use another endpoint"
            )
        if isinstance(error, httpx2.SSEError):
            return ModelError("the model endpoint sends no stream; check it, or do not request one")
        return ModelUnavailable("the model endpoint cannot be reached, or broke off; is it running?")
