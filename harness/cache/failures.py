"""Failures of live calls: which ones a stale answer may replace, and how other processes learn of them."""

from collections.abc import Iterator, Mapping
from typing import NoReturn

from harness.errors import AccessDenied, HarnessError, InvalidInput, OfflineMiss, SearchError, StoreError

_BUGS = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, AssertionError, SyntaxError)
_OURS = (InvalidInput, OfflineMiss, StoreError, AccessDenied)


def is_failure(error: Exception) -> bool:
    """Return whether an exception of a function means that its service failed, so that a stale answer may be served.

    It does not if the function or the call is wrong, or if the cache itself failed.
    """
    return not isinstance(error, (*_OURS, *_BUGS))


def error_code_message(error: Exception, subject: str = "the search") -> dict[str, str]:
    """Return code and message of an error of `subject`, so that another process can raise it."""
    if isinstance(error, HarnessError):
        code, message = error.code, str(error)
    else:
        code, message = SearchError.code, f"{subject} failed in another process: {type(error).__name__}: {error}"
    return {"code": code, "message": message.encode(errors="replace").decode()}


def raise_error(reason: Mapping[str, str]) -> NoReturn:
    """Raise the error with this code and message; a `SearchError` if the code is unknown."""
    known = {error.code: error for error in _subclasses(HarnessError)}
    raise known.get(reason.get("code", ""), SearchError)(str(reason.get("message", "it failed")))


def _subclasses(root: type[HarnessError]) -> Iterator[type[HarnessError]]:
    yield root
    for error in root.__subclasses__():
        yield from _subclasses(error)
