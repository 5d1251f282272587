"""Cached answers to other programs' requests to models: chat completions and embeddings in OpenAI's format."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from msgspec import Struct

from harness.cache.completions import COMPLETION_TTL
from harness.cache.context import CachePart
from harness.cache.json_form import Made, Uncached
from harness.cache.lookup import Answer
from harness.cache.lookup_request import MAX_TEXT, UNREADABLE, LookupRequest, StructRequest
from harness.core.chat_answers import (
    UNFINISHED_STREAM,
    ChatAnswer,
    stored_stream,
    streamed_answer,
    text_of,
    whole_answer,
)
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.keys import digest_of, model_call_key
from harness.core.tables import COMPLETIONS, CompletionColumns
from harness.core.text import shorten
from harness.errors import ModelError, ModelRefused, ModelUnavailable

NO_CHANGE = ("user", "metadata", "safety_identifier", "prompt_cache_key")
"""Fields of a request that are sent on and do not change the answer."""
MIN_CHARS = 4
"""Characters of the shortest message that is compared by meaning."""


class ForwardedRequest(Struct, frozen=True):
    """One request of another program: the endpoint that gets it, and its fields, checked: `model` is a text."""

    endpoint: str
    fields: Mapping[str, Any]

    @property
    def model(self) -> str:
        """The requested model."""
        return str(self.fields["model"])

    def without(self, *names: str) -> dict[str, Any]:
        """Return the fields that change the answer, without `names`."""
        return {name: value for name, value in self.fields.items() if name not in (*NO_CHANGE, *names)}


class ChatRequest(LookupRequest[ChatAnswer], frozen=True, kw_only=True, gc=False):
    """One chat completion of `model`, whole or as a stream. With `by_meaning`, a row whose own column is equal (model
    and digest of all but the last message) may answer, too; `oldest` is the creation time that it must have at least.
    A stream has `choices` answers, and a count of tokens if `counts` is set.
    """

    table: ClassVar[str] = COMPLETIONS
    model: str
    by_meaning: bool = False
    oldest: float = 0.0
    streamed: bool = False
    prompt_chars: int = 0
    choices: int = 1
    counts: bool = False

    @property
    def source(self) -> str:
        """See `LookupRequest.source`."""
        return self.model

    @property
    def scope(self) -> tuple[str] | None:
        """See `LookupRequest.scope`."""
        return (str(self.own[0]),) if self.by_meaning else None

    def decode(self, entry: Entry) -> ChatAnswer | Miss:
        """Return the stored answer."""
        try:
            return stored_stream(entry.payload) if self.streamed else whole_answer(entry.payload)
        except ValueError:
            return Miss(UNREADABLE)

    def encode(self, value: bytes | Sequence[str]) -> Made | Uncached:
        """Return the body of a response, or the chunks of a stream, as an answer; an unfinished one is not stored.

        Raises:
            ModelError: it is not a chat completion, or the stream ended too early.
        """
        try:
            if isinstance(value, bytes):
                answer = whole_answer(value)
            else:
                answer = streamed_answer(value, self.prompt_chars, choices=self.choices, counts=self.counts)
        except ValueError:
            raise ModelError("the endpoint answered with something that is not a chat completion; check it") from None
        if answer.flaw == UNFINISHED_STREAM:
            raise ModelUnavailable(f"{answer.flaw}; try again")
        return Uncached(answer, answer.flaw) if answer.flaw else Made(answer, answer.payload)

    def refusal(self, entry: Entry) -> str:
        """Refuse rows that are too old for the request, and questions that ask for another form of answer, too."""
        from harness.core.chat_questions import forms_of

        if entry.created_at < self.oldest:
            return "older than the request allows"
        if forms_of(entry.text) != forms_of(self.text):
            return "it asks for another form of answer"
        return LookupRequest.refusal(self, entry)

    def may_share(self, error: Exception) -> bool:
        """Return whether other processes raise this error, too: not a refusal, whose status they would not learn."""
        return not isinstance(error, ModelRefused) and LookupRequest.may_share(self, error)

    def may_serve_stale(self, error: Exception) -> bool:
        """Return whether the endpoint is unreachable or busy."""
        return _is_outage(error)


class ChatCache(CachePart):
    """Cached chat completions of one tenant that other programs requested."""

    def request(self, forwarded: ForwardedRequest, *, by_meaning: bool, max_age: float | None) -> ChatRequest:
        """Return the lookup of a request. `max_age` is in seconds.

        Whole and streamed answers have different keys: the chunks of a stream cannot be made from a whole answer.
        Meaning applies to the last message if it is a question of a user with 4 to 1,000 characters (see
        `is_plain_question`).

        Raises:
            InvalidInput: a field is not JSON, or is nested too deeply.
        """
        streamed = forwarded.fields.get("stream") is True
        fields = forwarded.without() if streamed else forwarded.without("stream", "stream_options")
        messages, options = forwarded.fields["messages"], forwarded.fields.get("stream_options")
        text, column = text_of(messages[-1]), forwarded.model
        asks = messages[-1].get("role") == "user" and isinstance(messages[-1].get("content"), str)
        by_meaning = by_meaning and asks and len(text.strip()) >= MIN_CHARS and len(text) <= MAX_TEXT
        if by_meaning:
            from harness.core.chat_questions import is_plain_question  # its word lists take a while to import

            by_meaning = is_plain_question(text)
        key = model_call_key("chat", forwarded.endpoint, fields)
        if by_meaning:
            rest = {**fields, "messages": [*messages[:-1], {**messages[-1], "content": ""}]}
            column = f"{column} {model_call_key('chat by meaning', forwarded.endpoint, rest)[:16]}"
        return ChatRequest(
            key=key,
            text=text if by_meaning else shorten(text, MAX_TEXT),
            ttl=COMPLETION_TTL,
            own=CompletionColumns(column),
            model=forwarded.model,
            function=f"the model {forwarded.model!r}",
            by_meaning=by_meaning,
            oldest=0.0 if max_age is None else self._context.clock() - max_age,
            streamed=streamed,
            prompt_chars=sum(len(text_of(each)) for each in messages),
            choices=choices if type(choices := forwarded.fields.get("n")) is int else 1,
            counts=isinstance(options, dict) and options.get("include_usage") is True,
        )

    def find(self, request: ChatRequest) -> Hit[ChatAnswer] | Stale[ChatAnswer] | Miss:
        """See `Lookup.find`."""
        return self._lookup.find(request)

    def is_too_old(self, request: ChatRequest) -> bool:
        """Return whether the row of a request is older than the request allows."""
        held = self._lookup.peek(request)
        return isinstance(held, Hit) and held.age > self._context.clock() - request.oldest

    def answer(self, request: ChatRequest, compute: Callable[[], bytes | Sequence[str]]) -> Answer[ChatAnswer]:
        """Return the cached answer, else that of `compute()`: the body of a response, or the chunks of a stream. See
        `Lookup.answer`.
        """
        return self._lookup.answer(request, compute)


class EmbeddedText(Struct, frozen=True, gc=False):
    """Vector of one text, as numbers or as their float32 form in base64; the model's name for itself, and tokens."""

    embedding: str | list[float]
    model: str
    tokens: int


class EmbeddingRequest(StructRequest[EmbeddedText], frozen=True, kw_only=True, gc=False):
    """Vector of one text."""

    table: ClassVar[str] = COMPLETIONS

    def may_share(self, error: Exception) -> bool:
        """See `ChatRequest.may_share`."""
        return not isinstance(error, ModelRefused) and StructRequest.may_share(self, error)

    def may_serve_stale(self, error: Exception) -> bool:
        """Return whether the endpoint is unreachable or busy."""
        return _is_outage(error)


class EmbeddingCache(CachePart):
    """Cached vectors of one tenant that other programs requested; each text has its own row."""

    def requests(self, forwarded: ForwardedRequest, texts: Sequence[str | list[int]]) -> list[EmbeddingRequest]:
        """Return the lookup of each text (or list of tokens). How numbers are written is not in the keys.

        Raises:
            InvalidInput: a field is not JSON, or is nested too deeply.
        """
        rest = forwarded.without("encoding_format")
        return [
            EmbeddingRequest(
                key=model_call_key("embedding", forwarded.endpoint, {**rest, "input": text}),
                text=shorten(text, MAX_TEXT) if isinstance(text, str) else f"{len(text)} tokens",
                ttl=COMPLETION_TTL,
                own=CompletionColumns(forwarded.model),
                kind=EmbeddedText,
            )
            for text in texts
        ]

    def find(self, requests: Sequence[EmbeddingRequest], max_age: float | None) -> dict[str, Answer[EmbeddedText]]:
        """Return the cached vectors that are at most `max_age` seconds old, by key.

        Raises:
            StoreError: the store cannot be read.
        """
        found: dict[str, Answer[EmbeddedText]] = {}
        for request in requests:
            held = self._lookup.peek(request) if self._policy.read and max_age is not None else None
            if request.key in found or (isinstance(held, Hit) and held.age > (max_age or 0.0)):
                continue
            if isinstance(outcome := self._lookup.find(request), Hit):
                found[request.key] = Answer(outcome.value, outcome, outcome.found)
        return found

    def compute(
        self, missing: Mapping[str, EmbeddingRequest], embed: Callable[[], Mapping[str, EmbeddedText]]
    ) -> dict[str, Answer[EmbeddedText]]:
        """Return the vectors of `missing` texts from one call of `embed`, all by key, and store them. Of all who miss
        the same texts at the same time, one calls. If the endpoint is down, expired vectors may answer (see `Policy`).

        Raises:
            ModelError: the endpoint does not answer, or refuses.
            OfflineMiss: it may not be called.
            StoreError: the store cannot be read.
        """
        if self._policy.offline:
            return self._answers(missing, {})
        try:
            return self._together(missing, embed) if self._policy.write else self._answers(missing, embed())
        except ModelError as error:
            return self._answers(missing, {}, error)

    def _together(
        self, missing: Mapping[str, EmbeddingRequest], embed: Callable[[], Mapping[str, EmbeddedText]]
    ) -> dict[str, Answer[EmbeddedText]]:
        mine: dict[str, Answer[EmbeddedText]] = {}

        def call() -> Mapping[str, EmbeddedText]:
            computed = embed()
            mine.update(self._answers(missing, computed))  # calls after this flight find the rows
            return computed

        def stored_meanwhile() -> Mapping[str, EmbeddedText] | None:
            if not self._policy.read:
                return None
            held = {key: self._lookup.peek(each) for key, each in missing.items()}
            hits = {key: each.value for key, each in held.items() if isinstance(each, Hit)}
            return hits if len(hits) == len(missing) else None

        name = f"{self._context.tenant} embeddings {digest_of(sorted(missing))}"
        computed: Mapping[str, EmbeddedText]
        computed, _ = self._context.flights.run(name, stored_meanwhile, call)
        return mine or self._answers(missing, computed)

    def _answers(
        self,
        missing: Mapping[str, EmbeddingRequest],
        computed: Mapping[str, EmbeddedText],
        failure: ModelError | None = None,
    ) -> dict[str, Answer[EmbeddedText]]:
        """Return the cached vectors, those `computed`, which are stored, or, after a failure, expired ones."""

        def supply(key: str) -> EmbeddedText:
            if failure is not None:
                raise failure
            return computed[key]

        return {key: self._lookup.answer(each, partial(supply, key)) for key, each in missing.items()}


def _is_outage(error: Exception) -> bool:
    busy = isinstance(error, ModelRefused) and (error.status == 429 or error.status >= 500)
    return busy or isinstance(error, ModelUnavailable)
