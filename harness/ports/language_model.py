"""Port of language models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict

from msgspec import Struct


class Message(TypedDict):
    """One message of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(Struct, frozen=True):
    """What a language model answered: `text` without its thoughts; `whole` is false where the bound cut it off.

    The numbers of tokens are the endpoint's own, 0 where it tells none.
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
    """Whom the name is told; with it and `parameters`, part of the key of every completion."""

    parameters: Mapping[str, Any]
    """JSON-able: what else decides the answer (temperature, seed, most tokens)."""

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
