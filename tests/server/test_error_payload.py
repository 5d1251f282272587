"""Error responses and their statuses."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import errors
from harness.errors import HarnessError
from harness.server.error_payload import MAX_MESSAGE, error_payload, payload_of, status_of


def every(kind: type[HarnessError] = HarnessError) -> Iterator[type[HarnessError]]:
    """Yield every error that the harness raises on purpose."""
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from every(below)


@pytest.mark.parametrize("kind", list(every()), ids=lambda kind: kind.__name__)
def test_every_error_has_a_response(kind: type[HarnessError]) -> None:
    """With its own code and a status other than 500."""
    error = kind("what happened; what to do next")
    assert payload_of(error).model_dump() == {
        "status": "error",
        "code": kind.code,
        "message": "what happened; what to do next",
    }
    assert status_of(error) in {400, 403, 404, 429, 502, 503}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.InvalidInput, 400), (errors.NotFound, 404), (errors.AccessDenied, 403), (errors.TooManyRequests, 429),
        (errors.RateLimited, 429), (errors.EngineUnavailable, 502), (errors.SearchError, 502), (errors.PageError, 502),
        (errors.ModelUnavailable, 502), (errors.SearchBackendError, 503), (errors.StoreBusy, 503),
        (errors.StoreCorrupt, 503), (errors.OfflineMiss, 503), (errors.IndexUnavailable, 503),
        (errors.EmbeddingError, 503), (errors.HarnessError, 503),
    ],
)  # fmt: skip
def test_the_status_tells_the_cause(kind: type[HarnessError], status: int) -> None:
    """4xx: the caller; 502: another service; 503: the harness."""
    assert status_of(kind("x")) == status


@given(st.text())
def test_a_message_is_one_short_line(message: str) -> None:
    """Without characters that could control a terminal."""
    payload = error_payload("x", message * 50).message
    assert len(payload) <= MAX_MESSAGE
    assert not set(payload) & set("\n\r\t\x00\x07\x1b\x7f\x9b\u2028\u202e\u2066\u200f")
    payload.encode()
