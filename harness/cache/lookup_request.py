"""Lookup requests: each cached kind declares its table, key, codec, lifetime and rules as a subclass."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import orjson
from msgspec import Struct

from harness.cache.failures import is_failure
from harness.cache.json_form import Made, Uncached
from harness.core.entries import Entry, Miss
from harness.core.tables import UnansweredColumns
from harness.core.text import shorten
from harness.errors import HarnessError, InvalidInput

T = TypeVar("T")

UNREADABLE = "unreadable"
MAX_TEXT = 1_000
"""Characters of a prompt, a question or arguments in a row; the key is made from all of them."""
MAX_SHOWN = 300
"""Characters of a request that a message repeats."""


class LookupRequest(Struct, Generic[T], frozen=True, kw_only=True, gc=False):
    """One lookup of one kind. `text` is the readable form of `key`; `ttl` is the lifetime (seconds) of a new row; `own`
    are the columns that only its table has. `function` names the called function in messages.
    """

    table: ClassVar[str]
    exact_ttl: ClassVar[bool] = False
    """A new row lives for exactly `ttl`: neither jitter nor words such as "today" shorten it."""
    keep_stale: ClassVar[float] = 0.0
    """Seconds for which expired rows of the table are kept at least."""
    remembers_empty: ClassVar[bool] = False
    """An empty result answers later lookups for `Policy.negative_ttl`."""
    failure: ClassVar[type[Exception] | None] = None
    """The exceptions that a stale answer may replace; `None`: see `is_failure`."""
    shares_bugs: ClassVar[bool] = False
    """Processes that wait for this one raise any exception, too; otherwise they compute after a bug."""
    subject: ClassVar[str] = ""
    """The request, in messages about its failure; by default its text."""

    key: str
    text: str
    ttl: float
    own: tuple[Any, ...] = ()
    function: str = ""

    @property
    def scope(self) -> tuple[str, ...] | None:
        """Values that a row must share to answer by meaning; `None` if only the same key may answer."""
        return None

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of a live call."""
        return ()

    @property
    def flight(self) -> str:
        """The name under which equal requests of one tenant wait for each other."""
        return f"{self.table} {self.key}"

    @property
    def unanswered_row(self) -> tuple[str, UnansweredColumns]:
        """Key and own columns of the row about an empty result or a failure."""
        return self.key, UnansweredColumns(self.table, "{}")

    def decode(self, entry: Entry) -> T | Miss:
        """Return the value of a row, or a `Miss` with the reason why the row cannot answer."""
        raise NotImplementedError

    def encode(self, value: Any) -> Made | Uncached:
        """Return value and bytes to store.

        Raises:
            InvalidInput: the value is not of this kind.
        """
        raise NotImplementedError

    def columns(self, value: T) -> tuple[Any, ...]:
        """Return the own columns of a new row."""
        return self.own

    @property
    def source(self) -> str:
        """The engine, reader, model or tool that a live call asks; "" if there is none."""
        return str(self.own[0]) if self.own else ""

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
        return value.reason if type(value) is Miss else ""

    def texts(self, entry: Entry) -> list[str]:
        """Return the texts of a row that may answer other requests, best first; none if only the whole row answers."""
        return []

    def may_share(self, error: Exception) -> bool:
        """Return whether processes that wait for this one raise this exception, too."""
        return self.shares_bugs or isinstance(error, HarnessError) or self.may_serve_stale(error)

    def may_serve_stale(self, error: Exception) -> bool:
        """Return whether a stale answer may replace this exception."""
        return is_failure(error) if self.failure is None else isinstance(error, self.failure)


class StructRequest(LookupRequest[T], frozen=True, kw_only=True, gc=False):
    """One lookup whose value is a struct of type `kind`; the first own column is its origin."""

    kind: type[T]

    def decode(self, entry: Entry) -> T | Miss:
        """Return the payload as a struct."""
        try:
            return msgspec.json.decode(entry.payload, type=self.kind)
        except msgspec.MsgspecError:
            return Miss(UNREADABLE)

    def encode(self, value: T) -> Made:
        """Return the struct and its JSON; raise `InvalidInput` for lone surrogates."""
        try:
            return Made(value, msgspec.json.encode(value))
        except UnicodeEncodeError:
            shown = shorten(self.text, MAX_SHOWN)
            raise InvalidInput(f"the result for {shown!r} is broken Unicode; re-encode it") from None

    def origin(self, entry: Entry) -> str:
        """Return the source."""
        return self.source


def encoded_json(value: object) -> bytes:
    """Return `value` as JSON.

    Raises:
        InvalidInput: it is not JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidInput(f"not JSON: {error}; pass strings, numbers, lists and dicts with text keys") from error
