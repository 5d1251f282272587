"""Conversations: prompts, stored exchanges, and behaviour after failures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from harness.chat import Memory
from harness.chat.conversation import CUT, Chat, EchoModel
from harness.chat.exchanges import MAX_MESSAGE, Exchange
from harness.chat.prompt import MEMORY_HEADING
from harness.errors import InvalidInput, ModelError, ModelUnavailable, StoreError
from harness.models.remote import chat_completions
from harness.models.remote.chat_completions import CompletionSettings, OpenAICompatible
from harness.ports import Completion, Message
from harness.settings import VectorStoreSettings
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.models.endpoint import Endpoint, Reply, said, saying

LOOSE = VectorStoreSettings(retrieval_strategy="default", similarity_threshold=0.1)


class Scripted:
    """A `LanguageModel` that returns these pieces, then raises if told to; `asked` holds its prompts."""

    name, endpoint, parameters = "scripted", "none", {}

    def __init__(self, *pieces: str, then: BaseException | None = None) -> None:
        self.pieces = pieces
        self.then = then
        self.asked: list[list[Message]] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`."""
        self.asked.append(list(messages))
        for piece in self.pieces:
            if on_text is not None:
                on_text(piece)
        if self.then is not None:
            raise self.then
        return Completion("".join(self.pieces), whole=True)


class BrokenStore(MemoryStore):
    """A store that fails every call once it is `broken`."""

    broken = False

    def __init__(self) -> None:
        super().__init__()
        self.broken = True

    def __getattribute__(self, name: str) -> Any:
        """Refuse the methods of the port."""
        if not name.startswith("_") and name != "broken" and self.broken:
            raise StoreError("the disk is full; make room")
        return super().__getattribute__(name)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Return a model endpoint with scripted answers."""
    monkeypatch.setattr(chat_completions, "BACK_OFF", 0.01)
    serving = Endpoint()
    yield serving
    serving.stop()


@pytest.fixture
def memory() -> Memory:
    """Return a memory that finds exchanges with a common word."""
    return Memory(MemoryStore(), WordEmbedder(), LOOSE, clock=FakeClock())


def unheard(text: str) -> None:
    """Ignore a piece of text."""


def kept(memory: Memory) -> list[Exchange]:
    """Return every stored exchange, oldest first."""
    return [each for thread in reversed(memory.listing.threads()) for each in memory.listing.thread(thread.id)]


def test_an_answer_is_streamed_and_stored(endpoint: Endpoint, memory: Memory) -> None:
    """Text arrives in pieces; the exchange lists its thread, its session, and the earlier exchanges."""
    endpoint.answers(saying("They back ", "off."), saying("Five."))
    chat = Chat(OpenAICompatible("m", endpoint.url), memory)
    heard: list[str] = []
    reply = chat.say("How do retries work?", heard.append)
    assert (reply.text, reply.ending, "".join(heard)) == ("They back off.", "whole", "They back off.")
    chat.say("How many?", unheard)
    first, second = kept(memory)
    assert (first.user_message, first.assistant_message) == ("How do retries work?", "They back off.")
    assert (first.thread_id, first.session_id) == (chat.thread_id, chat.session_id)
    assert (first.prior_exchange_ids, second.prior_exchange_ids) == ((), (first.id,))
    assert [each["content"] for each in endpoint.asked[1]["messages"][1:]] == [
        "How do retries work?", "They back off.", "How many?",
    ]  # fmt: skip


def test_a_memory_is_given_to_the_model_and_not_stored_again(memory: Memory) -> None:
    """The prompt has a marked memory of another conversation; only the user's own text is stored."""
    Chat(Scripted("It is restarted on Monday."), memory).say("When is staging restarted?", unheard)
    model = Scripted("On Monday.")
    chat = Chat(model, memory)
    reply = chat.say("Is staging restarted today?", unheard)
    told = model.asked[0][-1]["content"]
    assert told.startswith(MEMORY_HEADING)
    assert "> The reply: It is restarted on Monday." in told
    assert [match.similarity > 0.1 for match in reply.context] == [True]
    assert kept(memory)[-1].user_message == "Is staging restarted today?"
    chat.say("And staging tomorrow?", unheard)
    assert sum(MEMORY_HEADING in each["content"] for each in model.asked[1]) == 1


def test_context_can_be_switched_off(memory: Memory) -> None:
    """The prompt then has no memories, and answers are still stored."""
    Chat(Scripted("Monday."), memory).say("When is staging restarted?", unheard)
    model = Scripted("?")
    chat = Chat(model, memory)
    chat.retrieves = False
    assert chat.say("When is staging restarted?", unheard).context == ()
    assert model.asked[0][-1]["content"] == "When is staging restarted?"
    assert len(kept(memory)) == 2


def test_an_echo_is_not_stored(memory: Memory) -> None:
    """`--dummy`: the answer is the user's own text without memories, and nothing is stored."""
    memory.writer.add_text("staging is restarted on Monday")
    reply = Chat(EchoModel(), memory, remembers=False).say("when is staging restarted", unheard)
    assert reply.text == "You said: when is staging restarted"
    assert len(reply.context) == 1
    assert kept(memory) == []


def test_a_stopped_answer_is_kept(memory: Memory) -> None:
    """It has the mark of a cut, and the conversation continues with it."""
    model = Scripted("It began ", then=KeyboardInterrupt())
    chat = Chat(model, memory)
    reply = chat.say("Tell me a long story", unheard)
    assert (reply.text, reply.ending) == ("It began", "stopped")
    assert kept(memory)[0].assistant_message == f"It began\n\n{CUT}"
    model.then = None
    chat.say("go on", unheard)
    assert model.asked[1][2]["content"] == f"It began\n\n{CUT}"


def test_an_answer_stopped_before_the_first_text_is_not_kept(memory: Memory) -> None:
    """There is no answer to store."""
    chat = Chat(Scripted(then=KeyboardInterrupt()), memory)
    with pytest.raises(KeyboardInterrupt):
        chat.say("Tell me a story", unheard)
    assert (kept(memory), chat.earlier) == ([], [])


def test_an_interrupted_answer_is_kept_with_a_warning(endpoint: Endpoint, memory: Memory) -> None:
    """The connection is lost in the middle: a warning, and the text so far."""
    endpoint.answers(Reply(lambda: [said("word " * 100)], whole=False))
    reply = Chat(OpenAICompatible("m", endpoint.url, CompletionSettings(retries=0)), memory).say("Tell me", unheard)
    assert reply.ending == "failed"
    assert reply.text.startswith("word word")
    assert "m at http://127.0.0.1" in reply.warnings[0]
    assert kept(memory)[0].assistant_message.endswith(CUT)


@pytest.mark.parametrize("error", [ModelUnavailable("no answer; start it"), ModelError("nothing; ask otherwise")])
def test_a_model_that_fails_at_once_changes_nothing(memory: Memory, error: ModelError) -> None:
    """An error; nothing is stored, and the next message continues the conversation."""
    chat = Chat(Scripted(then=error), memory)
    with pytest.raises(type(error)):
        chat.say("Hello", unheard)
    assert (kept(memory), chat.earlier) == ([], [])


def test_a_failing_store_does_not_end_the_conversation() -> None:
    """No memories, one warning for the search and one for storing; this answer and the next arrive."""
    chat = Chat(Scripted("Yes."), Memory(BrokenStore(), WordEmbedder(), LOOSE))
    for message in ("Are you there?", "Still?"):
        reply = chat.say(message, unheard)
        assert (reply.text, reply.ending, reply.context) == ("Yes.", "whole", ())
        assert any("not stored" in warning for warning in reply.warnings)
        assert all("the disk is full" in warning for warning in reply.warnings)
    assert len(chat.earlier) == 2


def test_without_a_model_the_chat_shows_memories(memory: Memory) -> None:
    """The matching memories are the answer; nothing is stored."""
    memory.writer.add_text("staging is restarted on Monday")
    reply = Chat(None, memory).say("when is staging restarted", unheard)
    assert (reply.text, reply.ending, len(reply.context)) == ("", "no model", 1)
    assert kept(memory) == []


def test_the_chat_works_without_a_memory() -> None:
    """The prompt has the conversation only."""
    model = Scripted("Yes.")
    chat = Chat(model, None, why_no_memory="disabled")
    chat.say("one", unheard)
    assert chat.say("two", unheard).warnings == ()
    assert [each["content"] for each in model.asked[1][1:]] == ["one", "Yes.", "two"]


@pytest.mark.parametrize("text", ["", "  \n", "\x00\x1b", "x" * (MAX_MESSAGE + 1)])
def test_an_unusable_message_is_refused(memory: Memory, text: str) -> None:
    """Empty, control characters only, or too long: an error, and the model is not called."""
    model = Scripted("?")
    with pytest.raises(InvalidInput):
        Chat(model, memory).say(text, unheard)
    assert model.asked == []
