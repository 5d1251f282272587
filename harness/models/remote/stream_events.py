"""Events of a streamed chat completion, and the answer that they add up to."""

from collections.abc import Callable

from msgspec import Struct

from harness.models.remote.visible_text import CleanedStream, ThoughtFilter

_CHARS_PER_TOKEN = 4


class _Delta(Struct):
    content: str | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class CompletionChunk(Struct):
    """The fields of one event that are read; not `reasoning_content`, in which some endpoints send thoughts."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None

    @property
    def text(self) -> str:
        """Text that the event adds to the answer."""
        delta = self.choices[0].delta if self.choices else None
        return (delta.content if delta else None) or ""


class StreamEnd(Struct):
    """Number of events so far, reason of the end ("" before it), and token counts."""

    chunks: int = 0
    reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def note(self, chunk: CompletionChunk) -> None:
        """Add an event."""
        self.chunks += 1
        if chunk.choices and chunk.choices[0].finish_reason:
            self.reason = chunk.choices[0].finish_reason
        if chunk.usage:
            self.prompt_tokens = max(0, chunk.usage.prompt_tokens or 0)
            self.completion_tokens = max(0, chunk.usage.completion_tokens or 0)


class StreamedAnswer:
    """The answer so far: at most `max_chars` characters, thoughts included. Visible text goes to `on_text`.

    `full` is set when a piece exceeds that, or when both counts exceed `max_tokens`: more pieces than tokens, and more
    than 4 characters a token. For `hold` see `ThoughtFilter`.
    """

    def __init__(
        self, on_text: Callable[[str], None] | None, max_chars: int, max_tokens: int | None, *, hold: int | None
    ) -> None:
        self.full = False
        self.chars = 0
        self._pieces = 0
        self._on_text = on_text
        self._max_chars = max_chars
        self._max_tokens = max_tokens
        self._thoughts = ThoughtFilter(hold)
        self._cleaned = CleanedStream()
        self._text: list[str] = []

    @property
    def began_in_thought(self) -> bool:
        """Whether the answer began with a thought without an opening tag."""
        return self._thoughts.began_in_thought

    def take(self, piece: str) -> None:
        """Add the next piece; an exception of `on_text` propagates."""
        if not piece:
            return
        taken = piece[: self._max_chars - self.chars]
        self.chars += len(taken)
        self._pieces += 1
        most = self._max_tokens
        endless = most is not None and self._pieces > most and self.chars > _CHARS_PER_TOKEN * most
        self.full = endless or len(taken) < len(piece)
        self._emit(self._thoughts.feed(taken))

    def finish(self) -> str:
        """End the answer and return its text."""
        self._emit(self._thoughts.finish())
        return "".join(self._text)

    def _emit(self, text: str) -> None:
        text = self._cleaned.feed(text)
        if not text:
            return
        self._text.append(text)
        if self._on_text is not None:
            self._on_text(text)
