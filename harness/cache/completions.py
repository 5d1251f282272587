"""Cached completions of language models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from harness.cache.context import CachePart
from harness.cache.lookup import Answer
from harness.cache.lookup_request import MAX_TEXT, StructRequest
from harness.core.freshness import DAY, checked_ttl
from harness.core.keys import completion_key
from harness.core.tables import COMPLETIONS, CompletionColumns
from harness.core.text import shorten
from harness.errors import ModelError
from harness.ports import Completion, LanguageModel, Message

COMPLETION_TTL = 30 * DAY


class CompletionRequest(StructRequest[Completion], frozen=True, kw_only=True, gc=False):
    """One prompt to one model."""

    table: ClassVar[str] = COMPLETIONS
    failure: ClassVar[type[Exception]] = ModelError


class CompletionCache(CachePart):
    """Cached completions of one tenant."""

    def answer(
        self,
        model: LanguageModel,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        epoch: str = "",
        ttl: float = COMPLETION_TTL,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer[Completion]:
        """Return the cached completion, else ask `model`: once for the same messages, parameters and `epoch`.

        `on_text` is called with the text as it arrives; from the cache it arrives at once.

        Raises:
            InvalidInput: messages or a schema that are not JSON.
            ModelError: the model does not answer, or its answer is unusable (see `LanguageModel.complete`).
            OfflineMiss: it is not in the cache, and the model may not be asked.
            StoreError: the store cannot be read.
        """
        checked_ttl(ttl)
        key = completion_key(
            model.endpoint, model.name, list(messages), parameters=dict(model.parameters), schema=schema, epoch=epoch
        )
        text = shorten(messages[-1]["content"], MAX_TEXT) if messages else ""
        request = CompletionRequest(key=key, text=text, ttl=ttl, own=CompletionColumns(model.name), kind=Completion)
        answer = self._lookup.answer(request, partial(model.complete, messages, schema=schema, on_text=on_text))
        completion = answer.value
        if on_text is not None and answer.how != "live":
            on_text(completion.text)
        read, written = completion.prompt_tokens, completion.completion_tokens
        if not read + written:  # the endpoint does not count
            read, written = sum(len(each["content"]) // 4 for each in messages), len(completion.text) // 4
        self._run.tokens += read + written
        self._run.answer_tokens += written
        return answer
