"""Chat completions in OpenAI's format, as an endpoint sent them: whole, or as a stream of chunks."""

from collections.abc import Sequence
from typing import Any

import msgspec
import orjson
from msgspec import Struct

MAX_TOKENS = 10**9
"""Greatest number of tokens that is believed."""
CHARS_PER_TOKEN = 4
"""Estimate for endpoints that do not count tokens."""


class ChatAnswer(Struct, frozen=True, gc=False):
    """One answer. `payload` is the stored JSON object: the response of the endpoint, byte by byte, or the `chunks` of
    its stream. `flaw` says why it cannot answer again; it is empty if it can.
    """

    payload: bytes
    chunks: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    flaw: str = ""


UNFINISHED_STREAM = "the stream ended before the answer did"
"""Flaw of a stream whose client must learn that it broke off."""


class _Choice(Struct):
    """One choice. Endpoints differ in the types of its fields."""

    index: Any = 0
    delta: Any = None
    finish_reason: Any = None

    @property
    def is_finished(self) -> bool:
        return self.finish_reason not in (None, "error")


class _Response(Struct):
    choices: list[_Choice]
    usage: Any = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: Any = None


class _StoredStream(Struct):
    stream: tuple[str, ...]
    usage: Any


def whole_answer(payload: bytes) -> ChatAnswer:
    """Return the answer in the body of a response.

    Raises:
        ValueError: it is not a chat completion.
    """
    response = msgspec.json.decode(payload, type=_Response)
    unfinished = not response.choices or not all(each.is_finished for each in response.choices)
    read, written = _tokens(response.usage)
    return ChatAnswer(payload, (), read, written, "the answer is not finished" if unfinished else "")


def streamed_answer(chunks: Sequence[str], prompt_chars: int, *, choices: int = 1, counts: bool = False) -> ChatAnswer:
    """Return the answer that the chunks of a stream make. Without a token count in them, tokens are estimated.

    It has a flaw if it has fewer than the requested `choices`, or no token count although `counts` were requested.

    Raises:
        ValueError: a chunk is not one of a chat completion.
    """
    begun, finished, chars, usage = set[str](), set[str](), 0, None
    for chunk in chunks:
        read = msgspec.json.decode(chunk, type=_Chunk)
        usage = read.usage or usage
        for choice in read.choices or ():
            begun.add(str(choice.index))
            if choice.is_finished:
                finished.add(str(choice.index))
            chars += len(text_of(choice.delta))
    if not begun or begun != finished:
        flaw = UNFINISHED_STREAM
    elif len(begun) < choices:
        flaw = f"the stream has {len(begun)} of {choices} choices"
    else:
        flaw = "the stream has no token count, which was requested" if counts and usage is None else ""
    estimated = {"prompt_tokens": prompt_chars // CHARS_PER_TOKEN, "completion_tokens": chars // CHARS_PER_TOKEN}
    prompt, completion = _tokens(usage or estimated)
    payload = orjson.dumps({"stream": chunks, "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})
    return ChatAnswer(payload, tuple(chunks), prompt, completion, flaw)


def stored_stream(payload: bytes) -> ChatAnswer:
    """Return the answer that `streamed_answer` made.

    Raises:
        ValueError: the payload is damaged.
    """
    stored = msgspec.json.decode(payload, type=_StoredStream)
    return ChatAnswer(payload, stored.stream, *_tokens(stored.usage))


def text_of(message: Any) -> str:
    """Return the text of a message: its content, or the text parts of that, one a line; "" for anything else."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _tokens(usage: Any) -> tuple[int, int]:
    """Return prompt and completion tokens."""
    return tokens_in(usage, "prompt_tokens"), tokens_in(usage, "completion_tokens")


def tokens_in(usage: Any, name: str) -> int:
    """Return a number of tokens in the `usage` of a response, 0 where the endpoint does not count."""
    found = usage.get(name) if isinstance(usage, dict) else None
    return int(found) if isinstance(found, int | float) and 0 <= found <= MAX_TOKENS else 0
