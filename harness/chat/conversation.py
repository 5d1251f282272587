"""Conversation with a language model and a memory of earlier ones, independent of the terminal."""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from harness.chat.exchanges import MAX_MESSAGE, MAX_PRIOR, Exchange, MemoryMatch, iso, new_id
from harness.chat.lookups import MAX_LOOKED_UP, ChatServices, LookedUpText
from harness.chat.prompt import Prompt, own_words, prompt_for
from harness.core.text import clean
from harness.errors import AccessDenied, HarnessError, InvalidInput, ModelError
from harness.ports import NOTHING, Completion, LanguageModel, Message

if TYPE_CHECKING:
    from harness.chat.conversation_memory import Memory

CUT = "[cut off here]"
"""Last line of an answer that was stopped or that the model did not finish."""

NO_SERVICES = ChatServices()

MAX_REPORT = 50_000
"""Characters of a report that are stored in memory."""

Ending: TypeAlias = Literal["whole", "length", "stopped", "failed", "no model"]


class ChatResponse(Struct, frozen=True):
    """Response to one message. `text` is the model's answer, possibly incomplete; `ending` says why it ended: it is
    `whole`, reached the maximum `length`, was `stopped` by the user, `failed` in the middle, or there is `no model`.

    `context` are the memories in the prompt (without a model, those found), best first. `warnings` describe failures,
    one line each. `looked_up` is the number of texts in the prompt that commands looked up.
    """

    text: str
    ending: Ending
    context: tuple[MemoryMatch, ...] = ()
    warnings: tuple[str, ...] = ()
    looked_up: int = 0


class EchoModel:
    """`LanguageModel` for `--dummy`: it repeats the user's message word by word."""

    name = "echo"
    endpoint = "none"
    parameters: Mapping[str, Any] = NOTHING

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - part of the port
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`; the schema is ignored."""
        text = f"You said: {own_words(messages[-1]['content'])}"
        if on_text is not None:
            for word in re.findall(r"\s*\S+", text):
                on_text(word)
        return Completion(text, whole=True)


class Chat:
    """Conversation in one thread. Each exchange is stored if there is a `memory` and `remembers` is true;
    `why_no_memory` is the user's message if there is none. `services` are what commands may call.

    `budget` is the estimated size of the prompt in tokens. `looked_up` are texts that commands added to the context.
    """

    def __init__(
        self,
        model: LanguageModel | None,
        memory: "Memory | None",
        *,
        why_no_memory: str = "",
        remembers: bool = True,
        services: ChatServices = NO_SERVICES,
        budget: int = 3_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.model = model
        self.memory = memory
        self.why_no_memory = why_no_memory
        self.remembers = remembers
        self.services = services
        self.retrieves = True
        self.context: tuple[MemoryMatch, ...] = ()
        self.budget = budget
        self._clock = clock
        self.begin(new_id())

    def begin(self, thread_id: str, *, continuation: int = 0, earlier: Sequence[Exchange] = ()) -> None:
        """Start a session of a new or continued thread; clear the conversation."""
        self.thread_id = thread_id
        self.session_id = new_id()
        self.continuation = continuation
        self.earlier = list(earlier)
        self.context = ()
        self.looked_up: list[LookedUpText] = []

    def required_memory(self) -> "Memory":
        """Return the memory.

        Raises:
            InvalidInput: there is no memory; the message says why and what to do.
        """
        if self.memory is None:
            raise InvalidInput(self.why_no_memory or "there is no memory")
        return self.memory

    def add_texts(self, texts: Sequence[LookedUpText]) -> None:
        """Add texts to the context of the next messages, until the conversation is cleared. Each address is in it once:
        a later text replaces an earlier one.
        """
        by_url = {text.url: text for text in self.looked_up}
        for text in texts:
            by_url.pop(text.url, None)
            by_url[text.url] = text
        self.looked_up = list(by_url.values())[-MAX_LOOKED_UP:]

    def prompt_with(self, text: str) -> tuple[Prompt, tuple[str, ...]]:
        """Return the prompt of a message, and warnings, without sending it; an empty text searches no memories."""
        found, warnings = self._recalled(text) if text else ((), ())
        return prompt_for(text, self.earlier, found, self.budget, self.looked_up), warnings

    def say(self, text: str, on_text: Callable[[str], None]) -> ChatResponse:
        """Send a message; `on_text` gets the answer in pieces. An answer that the user stops (`KeyboardInterrupt`) or
        that breaks off is stored, marked with `CUT`. A memory that cannot be read or written is a warning.

        Raises:
            InvalidInput: the message is empty.
            ModelError: the model failed before the first text.
            KeyboardInterrupt: the user stopped it before the first text.
        """
        text = checked_text(text)
        if not text:
            raise InvalidInput("the message is empty; type a question, or /help")
        found, warnings = self._recalled(text)
        if self.model is None:
            self.context = found
            return ChatResponse("", "no model", found, warnings)
        prompt = prompt_for(text, self.earlier, found, self.budget, self.looked_up)
        self.context = prompt.context
        answer, ending, failure = self._answer(self.model, prompt.messages, on_text)
        stored = answer if ending == "whole" else f"{answer}\n\n{CUT}"
        warnings += tuple(filter(None, (failure, self.note(text, stored))))
        return ChatResponse(answer, ending, prompt.context, warnings, prompt.looked_up)

    def note(self, user: str, assistant: str) -> str:
        """Add an exchange to the conversation and the memory; return a warning if storing it failed, else ""."""
        exchange = Exchange(
            id=new_id(),
            thread_id=self.thread_id,
            session_id=self.session_id,
            user_message=user,
            assistant_message=assistant,
            timestamp=iso(self._clock()),
            prior_exchange_ids=tuple(each.id for each in self.earlier[-MAX_PRIOR:]),
            thread_continuation_seq=self.continuation,
        )
        self.earlier.append(exchange)
        if self.memory is None or not self.remembers:
            return ""
        try:
            with _without_interrupts():
                self.memory.writer.remember(exchange)
        except AccessDenied as error:
            return f"this exchange is not stored: {error}"
        except HarnessError as error:
            return f"this exchange is not stored yet: {error}"
        return ""

    def _recalled(self, text: str) -> tuple[tuple[MemoryMatch, ...], tuple[str, ...]]:
        """Return the memories that fit the message; after a failure, none and a warning."""
        if self.memory is None or not self.retrieves:
            return (), ()
        try:
            return tuple(self.memory.search.context_for(text, self.earlier)), ()
        except HarnessError as error:
            return (), (f"earlier conversations cannot be searched: {error}",)

    def _answer(
        self, model: LanguageModel, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> tuple[str, Ending, str]:
        """Return the model's answer, why it ended, and the error, else ""."""
        pieces: list[str] = []

        def collect(piece: str) -> None:
            pieces.append(piece)
            on_text(piece)

        try:
            completion = model.complete(messages, on_text=collect)
        except (KeyboardInterrupt, ModelError) as error:
            if not (begun := "".join(pieces).strip()):
                raise
            return (begun, "failed", str(error)) if isinstance(error, ModelError) else (begun, "stopped", "")
        return completion.text, "whole" if completion.whole else "length", ""


def checked_text(text: str) -> str:
    """Return a typed text, cleaned.

    Raises:
        InvalidInput: it is too long for a message.
    """
    if len(text) > MAX_MESSAGE:
        raise InvalidInput(f"a message has at most {MAX_MESSAGE:,} characters; save it to a file, then /vdoc FILE")
    return clean(text, MAX_MESSAGE)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in the block, which takes milliseconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
