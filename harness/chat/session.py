"""A conversation: what was said, what is remembered of earlier ones, and the model's replies. No terminal in it."""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from harness.chat.exchanges import MAX_MESSAGE, MAX_PRIOR, Exchange, Match, iso, new_id
from harness.chat.prompt import own_words, prompt_for
from harness.core.text import clean
from harness.errors import HarnessError, InvalidInput, ModelError
from harness.ports import NOTHING, Completion, LanguageModel, Message

if TYPE_CHECKING:
    from harness.chat.memory import Memory
    from harness.research.result import Research

CUT = "[cut off here]"
"""Ends a reply that was stopped, or that the model did not finish."""

MAX_REPORT = 50_000
"""Characters of a report that are remembered."""

Ending: TypeAlias = Literal["whole", "length", "stopped", "failed", "no model"]


class Reply(Struct, frozen=True):
    """What came of one message. `text` is what the model said, as far as it came; `ending` says why it ended: it is
    `whole`, has the greatest `length`, was `stopped` by the user, `failed` in the middle, or there is `no model`.

    `context` are the memories that the model was shown (without a model, what was found), best first. `warnings` say
    what did not work, one line each.
    """

    text: str
    ending: Ending
    context: tuple[Match, ...] = ()
    warnings: tuple[str, ...] = ()


class EchoModel:
    """The `LanguageModel` of `--dummy`: it says what the user has said, word by word."""

    name = "echo"
    endpoint = "none"
    parameters: Mapping[str, Any] = NOTHING

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - the port's
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`; a schema is not heeded."""
        text = f"You said: {own_words(messages[-1]['content'])}"
        if on_text is not None:
            for word in re.findall(r"\s*\S+", text):
                on_text(word)
        return Completion(text, whole=True)


class Chat:
    """One conversation, for one thread. Every reply is remembered where there is a `memory` and `remembers` says so;
    `why_no_memory` says to the user why there is none. `research` leads a research; `None` where it cannot.

    `budget` is how many tokens the model is shown, by estimate.
    """

    def __init__(
        self,
        model: LanguageModel | None,
        memory: "Memory | None",
        *,
        why_no_memory: str = "",
        remembers: bool = True,
        research: "Callable[[str], Research] | None" = None,
        budget: int = 3_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.model = model
        self.memory = memory
        self.why_no_memory = why_no_memory
        self.remembers = remembers
        self.research = research
        self.retrieves = True
        self.context: tuple[Match, ...] = ()
        self._budget = budget
        self._clock = clock
        self.begin(new_id())

    def begin(self, thread_id: str, *, continuation: int = 0, earlier: Sequence[Exchange] = ()) -> None:
        """Begin a new session, of a new thread or of one that goes on; what was said before is cleared."""
        self.thread_id = thread_id
        self.session_id = new_id()
        self.continuation = continuation
        self.earlier = list(earlier)
        self.context = ()

    def now(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._clock()

    def remembering(self) -> "Memory":
        """Return the memory.

        Raises:
            InvalidInput: there is none; the message says why, and what to do.
        """
        if self.memory is None:
            raise InvalidInput(self.why_no_memory or "there is no memory")
        return self.memory

    def say(self, text: str, on_text: Callable[[str], None]) -> Reply:
        """Send a message; `on_text` gets the reply as it comes. What the user stops (`KeyboardInterrupt`) and what
        breaks off is kept as far as it came, with the mark `CUT`. What cannot be looked up or remembered is a warning.

        Raises:
            InvalidInput: there is nothing in the message.
            ModelError: the model failed before it said anything.
            KeyboardInterrupt: the user stopped it before it said anything.
        """
        text = checked_text(text)
        if not text:
            raise InvalidInput("there is nothing in this message; type a question, or /help")
        found, warnings = self._recalled(text)
        if self.model is None:
            self.context = found
            return Reply("", "no model", found, warnings)
        prompt = prompt_for(text, self.earlier, found, self._budget)
        self.context = prompt.context
        answer, ending, failure = self._answer(self.model, prompt.messages, on_text)
        kept = answer if ending == "whole" else f"{answer}\n\n{CUT}"
        warnings += tuple(filter(None, (failure, self.note(text, kept))))
        return Reply(answer, ending, prompt.context, warnings)

    def note(self, user: str, assistant: str) -> str:
        """Add an exchange to the conversation, and remember it; return a warning if that did not work, else ""."""
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
            with _undisturbed():
                self.memory.remember(exchange)
        except HarnessError as error:
            return f"this exchange is not stored yet: {error}"
        return ""

    def _recalled(self, text: str) -> tuple[tuple[Match, ...], tuple[str, ...]]:
        """Look up what fits the message; a failure is a warning, and then nothing is recalled."""
        if self.memory is None or not self.retrieves:
            return (), ()
        try:
            return tuple(self.memory.context_for(text, self.earlier)), ()
        except HarnessError as error:
            return (), (f"earlier conversations cannot be looked up: {error}",)

    def _answer(
        self, model: LanguageModel, messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> tuple[str, Ending, str]:
        """Return what the model said, why it ended, and what failed (else "")."""
        pieces: list[str] = []

        def heard(piece: str) -> None:
            pieces.append(piece)
            on_text(piece)

        ending: Ending
        failure = ""
        try:
            completion = model.complete(messages, on_text=heard)
            return completion.text, "whole" if completion.whole else "length", ""
        except KeyboardInterrupt:
            if not "".join(pieces).strip():
                raise
            ending = "stopped"
        except ModelError as error:
            if not "".join(pieces).strip():
                raise
            ending, failure = "failed", str(error)
        return "".join(pieces).strip(), ending, failure


def checked_text(text: str) -> str:
    """Return what was typed, cleaned.

    Raises:
        InvalidInput: it is longer than a message may be.
    """
    if len(text) > MAX_MESSAGE:
        raise InvalidInput(f"this is longer than {MAX_MESSAGE:,} characters; put it in a file, and /vdoc FILE")
    return clean(text, MAX_MESSAGE)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no Ctrl-C end what is done within: it takes milliseconds, and there is nothing left to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
