"""Lookup requests: each cached kind declares its table, key, codec, lifetime and rules as a subclass."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import orjson
from msgspec import Struct

from harness.cache.failures import is_failure
from harness.cache.json_form import Made, Uncached
from harness.core.entries import Entry, Miss
from harness.core.text import shorten
from harness.errors import HarnessError, InvalidInput

T = TypeVar("T")

UNREADABLE = "unreadable"
MAX_SHOWN = 300
"""Characters of a request that a message repeats."""


class LookupRequest(Struct, Generic[T], frozen=True, kw_only=True):
    """One lookup of one kind. `text` is the readable form of `key`; `ttl` is the lifetime (seconds) of a new row;
    `function` names the called function in messages.
    """

    table: ClassVar[str]
    exact_ttl: ClassVar[bool] = False
    """A new row lives for exactly `ttl`: neither jitter nor words such as "today" shorten it."""
    keep_stale: ClassVar[float] = 0.0
    """Seconds for which expired rows of the table are kept at least."""
    remembers_empty: ClassVar[bool] = False
    """An empty result answers later lookups for `Policy.negative_ttl`."""

    key: str
    text: str
    ttl: float
    function: str = ""

    @property
    def scope(self) -> tuple[str, ...] | None:
        """Values that a row must share to answer by meaning; `None` if only the same key may answer."""
        return None

    def decode(self, entry: Entry) -> T | Miss:
        """Return the value of a row, or a `Miss` with the reason why the row cannot answer."""
        raise NotImplementedError

    def encode(self, value: Any) -> Made | Uncached:
        """Return value and bytes to store.

        Raises:
            InvalidInput: the value is not of this kind.
        """
        raise NotImplementedError

    def own(self, value: T) -> tuple[Any, ...]:
        """Return the columns that only this table has."""
        raise NotImplementedError

    def origin(self, entry: Entry) -> str | None:
        """Return the engine, reader, model or user that the row came from."""
        return None

    def taught_text(self, value: T) -> str:
        """Return the text of a value that may define abbreviations."""
        return ""

    def empty_value(self, reason: Mapping[str, Any]) -> Any:
        """Return the empty value that was stored with this reason."""
        return reason.get("value", [])

    def refusal(self, entry: Entry) -> str:
        """Return why a row cannot answer by meaning; "" if it can."""
        value = self.decode(entry)
        return value.reason if isinstance(value, Miss) else ""

    def may_serve_stale(self, error: Exception) -> bool:
        """Return whether a stale answer may replace this exception."""
        return is_failure(error)

    def shares(self, error: Exception) -> bool:
        """Return whether processes that wait for this one raise the exception, too, instead of computing."""
        return isinstance(error, HarnessError) or self.may_serve_stale(error)

    @property
    def subject(self) -> str:
        """The request, in messages about its failure."""
        return repr(shorten(self.text, MAX_SHOWN))

    @property
    def flight(self) -> str:
        """The name under which equal requests of one tenant wait for each other."""
        return f"{self.table} {self.key}"

    @property
    def unanswered_key(self) -> str:
        """The key of the row about an empty result or a failure."""
        return self.key

    @property
    def unanswered_own(self) -> tuple[str, str]:
        """The own columns of that row."""
        return (self.table, "{}")


def json_or_miss(payload: bytes) -> Any:
    """Return the value of a JSON payload, or a `Miss`."""
    try:
        return orjson.loads(payload)
    except ValueError:
        return Miss(UNREADABLE)


def struct_or_miss(payload: bytes, kind: type[T]) -> T | Miss:
    """Return the payload as a value of type `kind`, or a `Miss`."""
    try:
        return msgspec.json.decode(payload, type=kind)
    except msgspec.MsgspecError:
        return Miss(UNREADABLE)


def encoded_struct(value: Any, text: str) -> Made:
    """Return a struct with its JSON bytes; `text` is the request.

    Raises:
        InvalidInput: it contains a lone surrogate.
    """
    try:
        return Made(value, msgspec.json.encode(value))
    except UnicodeEncodeError:
        raise InvalidInput(f"the result for {shorten(text, MAX_SHOWN)!r} is broken Unicode; re-encode it") from None


def encoded_json(value: object) -> bytes:
    """Return `value` as JSON.

    Raises:
        InvalidInput: it is not JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"not JSON: {error}; pass strings, numbers, lists and dicts with text keys") from error
