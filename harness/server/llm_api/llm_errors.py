"""Errors in the shape of OpenAI's, for its clients."""

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse
from starlette.requests import Request

from harness.errors import ModelRefused, OfflineMiss
from harness.server.error_payload import ErrorResponse, error_payload

PREFIX = "/v1"
NO_RETRY: Mapping[str, str] = {"x-should-retry": "false"}
"""OpenAI's clients repeat a request after a status of 500 or more, unless this header says no."""


def serves(request: Request) -> bool:
    """Return whether a request comes from a client of OpenAI's API."""
    return request.url.path.startswith(f"{PREFIX}/")


def failure(status: int, error: ErrorResponse) -> dict[str, Any]:
    """Return an error in OpenAI's shape."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = "server_error" if status >= 500 else kinds.get(status, "invalid_request_error")
    return {"error": {"message": error.message, "type": kind, "param": None, "code": error.code}}


def failure_response(status: int, error: ErrorResponse, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the response to a request that failed here."""
    more = NO_RETRY if error.code == OfflineMiss.code else {}
    return JSONResponse(failure(status, error), status, {**(headers or {}), **more})


def refused(error: ModelRefused) -> dict[str, Any]:
    """Return an error of the endpoint in OpenAI's shape, with the type, code and parameter that it named."""
    found = failure(error.status, error_payload(error.code, str(error)))
    named = {"type": error.kind, "code": error.reason, "param": error.parameter}
    found["error"].update({name: value for name, value in named.items() if value})
    return found


def refusal_response(error: ModelRefused) -> JSONResponse:
    """Return the response to a request that the endpoint refused, with its status and its `Retry-After`."""
    headers = {} if error.wait is None else {"Retry-After": str(error.wait)}
    return JSONResponse(refused(error), error.status, headers)
