"""What the events of a streamed chat completion say, and what of it is heard."""

from collections.abc import Callable

from msgspec import Struct

from harness.models.remote.visible_text import CleanedStream, Thoughts

_CHARS_PER_TOKEN = 4


class _Delta(Struct):
    content: str | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Chunk(Struct):
    """One event, as far as it is of interest: not the thoughts that some endpoints send in `reasoning_content`."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None

    @property
    def text(self) -> str:
        """What the event adds to the answer."""
        delta = self.choices[0].delta if self.choices else None
        return (delta.content if delta else None) or ""


class Ending:
    """What the events so far tell of the end: how many they are, why it ended ("" if it did not), tokens."""

    def __init__(self) -> None:
        self.chunks = 0
        self.reason = ""
        self.prompt_tokens = 0
        self.completion_tokens = 0

    def note(self, chunk: Chunk) -> None:
        """Take note of an event."""
        self.chunks += 1
        if chunk.choices and chunk.choices[0].finish_reason:
            self.reason = chunk.choices[0].finish_reason
        if chunk.usage:
            self.prompt_tokens = max(0, chunk.usage.prompt_tokens or 0)
            self.completion_tokens = max(0, chunk.usage.completion_tokens or 0)


class Heard:
    """The answer so far: at most `max_chars` characters, thoughts included, given on to `on_text` as they are clear.

    `full` is set by what goes beyond that, or beyond `max_tokens` by any count: more pieces than tokens, and more than
    4 characters a token. `hold` is that of `Thoughts`.
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
        self._thoughts = Thoughts(hold)
        self._cleaned = CleanedStream()
        self._text: list[str] = []

    @property
    def began_in_thought(self) -> bool:
        """Whether the answer began with a thought that nothing opened."""
        return self._thoughts.began_in_thought

    def take(self, piece: str) -> None:
        """Hear the next piece; what `on_text` raises goes through."""
        if not piece:
            return
        heard = piece[: self._max_chars - self.chars]
        self.chars += len(heard)
        self._pieces += 1
        most = self._max_tokens
        endless = most is not None and self._pieces > most and self.chars > _CHARS_PER_TOKEN * most
        self.full = endless or len(heard) < len(piece)
        self._say(self._thoughts.feed(heard))

    def finish(self) -> str:
        """Say that nothing follows; return the whole text."""
        self._say(self._thoughts.finish())
        return "".join(self._text)

    def _say(self, text: str) -> None:
        text = self._cleaned.feed(text)
        if not text:
            return
        self._text.append(text)
        if self._on_text is not None:
            self._on_text(text)
