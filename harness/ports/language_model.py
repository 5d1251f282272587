"""Port of language models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict

from msgspec import Struct


class Message(TypedDict):
    """One message of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(Struct, frozen=True):
    """Answer of a language model: `text` without its reasoning; `whole` is false if the limit cut it off.

    The token counts are those that the endpoint reports, 0 if it reports none.
    """

    text: str
    whole: bool
    prompt_tokens: int = 0
    completion_tokens: int = 0


class LanguageModel(Protocol):
    """Answers messages."""

    name: str
    """The model's name at its endpoint."""

    endpoint: str
    """Address that serves the model; with the name and `parameters`, part of the key of every completion."""

    parameters: Mapping[str, Any]
    """JSON-able: the other settings of the answer (temperature, seed, token limit)."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """Answer `messages`; as JSON that fits `schema` (a JSON schema), if given. `on_text` gets the text as it comes.

        Raises:
            ModelUnavailable: the endpoint does not answer, refuses, or takes too long.
            ModelError: the answer cannot be used: empty, not JSON, or not of the schema.
        """
