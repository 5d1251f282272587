"""Memories: exchanges of conversations and passages of documents."""

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Meta, Struct, field

from harness.core.entries import Entry
from harness.core.text import clean
from harness.errors import InvalidInput, StoreCorrupt

MAX_MESSAGE = 200_000
"""Characters of one message that are stored."""
MAX_PRIOR = 50
"""Ids of earlier exchanges that an exchange lists: the last ones."""
MAX_SOURCE = 4_096

Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Source: TypeAlias = Literal["vadd_command", "file"]


class Exchange(Struct, frozen=True, kw_only=True, tag="exchange", tag_field="kind"):
    """A message and its answer. A thread is a conversation that can be continued: the session that started it has the
    continuation 0, and each later session the next number.

    `timestamp` is ISO 8601, in UTC. `prior_exchange_ids` are the ids of at most the last 50 exchanges of the
    conversation before this one, in order.
    """

    id: Id
    thread_id: Id
    session_id: Id
    user_message: str
    assistant_message: str
    timestamp: str
    prior_exchange_ids: Annotated[tuple[Id, ...], Meta(max_length=MAX_PRIOR)] = ()
    thread_continuation_seq: Annotated[int, Meta(ge=0, lt=2**31)] = 0

    @property
    def thread_session_id(self) -> str:
        """Thread and session: `thread_session`."""
        return f"{self.thread_id}_{self.session_id}"

    @property
    def text(self) -> str:
        """The text that is embedded."""
        return f"User: {self.user_message}\nAssistant: {self.assistant_message}"


class DocumentChunk(Struct, frozen=True, kw_only=True, tag="document", tag_field="kind"):
    """A passage of an added document or text; `chunk_index` counts from 0.

    `source_file` is the document's path, empty for a text. `session_id` is the session that added it, if any.
    """

    id: Id
    document_id: Id
    text: str
    source: Source
    timestamp: str
    chunk_index: Annotated[int, Meta(ge=0)] = 0
    total_chunks: Annotated[int, Meta(ge=1)] = 1
    source_file: str = ""
    session_id: Id | None = None


Remembered: TypeAlias = Exchange | DocumentChunk


class MemoryMatch(Struct, frozen=True):
    """A memory that matches a query. `similarity` is the cosine (0..1) of its embedding to the query's; memories are
    ranked by `score`, whose meaning depends on the strategy.
    """

    remembered: Remembered
    similarity: float
    score: float


class ThreadInfo(Struct, frozen=True):
    """A thread in a list: `title` is its first message, `sessions` the number of its sessions."""

    id: str
    title: str
    exchanges: int
    sessions: int
    first: str
    last: str
    continuation: int = field(default=0)
    """The highest continuation so far."""


def new_id() -> str:
    """Return a random UUID."""
    return str(uuid4())


def iso(seconds: float) -> str:
    """Return a time (seconds since the epoch) as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def seconds_of(timestamp: str) -> float:
    """Return an ISO 8601 time as seconds since the epoch; without a zone it is UTC.

    Raises:
        InvalidInput: it is not a time.
    """
    try:
        time = datetime.fromisoformat(timestamp)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).timestamp()  # a year that `iso` has
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"not an ISO 8601 time: {clean(timestamp, 50)!r}") from error


def remembered_in(entry: Entry) -> Remembered:
    """Return the memory in a row.

    Raises:
        StoreCorrupt: the row is damaged.
    """
    try:
        remembered: Remembered = msgspec.json.decode(entry.payload, type=Exchange | DocumentChunk)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"the memory {entry.key:.64} is damaged; delete it with `harness memory delete`") from error
    return remembered
