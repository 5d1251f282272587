"""Language models behind OpenAI-compatible endpoints: OpenAI, vLLM, llama.cpp, Ollama, LM Studio."""

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness.errors import ModelError, ModelUnavailable
from harness.models.remote.endpoint import checked_address, checked_key, words_of
from harness.models.remote.json_answers import json_answer
from harness.models.remote.request_format import RequestFormat, SchemaSupport
from harness.models.remote.stream_events import CompletionChunk, StreamedAnswer, StreamEnd
from harness.ports import Completion, Message

if TYPE_CHECKING:  # openai takes a second to import, and `--help` needs no model
    from openai import Stream

    from harness.models.remote.connection import FailedAttempt
    from harness.sources.http.transport import Deadline

log = logging.getLogger(__name__)

BACK_OFF = 0.5
"""Seconds. The wait before the first retry is a random 50 % to 100 % of it; each retry doubles it."""

MAX_WAIT = 30.0
"""Seconds. A longer pause (`Retry-After`) is not waited for: the request fails."""

HELD_BACK = 200
"""Characters held back from `on_text` at the beginning, because they may be thoughts."""

_BYTES_PER_CHAR = 300

Outcome: TypeAlias = "Completion | FailedAttempt"


class CompletionSettings(Struct, frozen=True, kw_only=True):
    """Parameters and limits of completions.

    `temperature`, `max_tokens` and `seed` are sent unchanged; `None` is not sent. `timeout` is the longest silence in
    seconds, before and between tokens; `total_timeout` bounds the whole request, retries and waits included; `max_wait`
    bounds all waiting for an answer to begin: silence, failed attempts and pauses.

    A request is repeated up to `retries` times when the endpoint is unreachable, busy (429, 5xx) or silent, as long as
    no part of an answer has arrived. An answer, thoughts included, is cut after `max_chars` characters; if an endpoint
    ignores `max_tokens`, also after more than that many pieces with more than 4 characters a token. A cut answer is not
    `whole`.

    `schema_support` is how a schema is sent: as `json_schema`, as `json_object` with the schema in the system message,
    or in that message only (`none`). `auto` starts with the first and goes on to the next when the endpoint refuses.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = 2_048
    seed: int | None = 0
    timeout: float = 60.0
    total_timeout: float = 300.0
    max_wait: float = 60.0
    retries: int = 2
    max_chars: int = 200_000
    schema_support: SchemaSupport | Literal["auto"] = "auto"


DEFAULTS = CompletionSettings()


class OpenAICompatible:
    """Language model `name` at an OpenAI-compatible `endpoint`, such as `http://127.0.0.1:8080/v1`.

    Errors about a missing or refused key name `key_variable`. The object remembers what the endpoint accepts: how a
    schema is sent, `max_completion_tokens` instead of `max_tokens`, no `stream_options`. Safe for threads and after a
    fork.

    Raises:
        InvalidInput: `endpoint` is not a plain URL, or the key has invalid characters.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        settings: CompletionSettings = DEFAULTS,
        *,
        api_key: str | None = None,
        key_variable: str = "HARNESS_LLM_API_KEY",
    ) -> None:
        self.name = name
        self.endpoint = checked_address(endpoint)
        sent = {"temperature": settings.temperature, "max_tokens": settings.max_tokens, "seed": settings.seed}
        self.parameters: Mapping[str, Any] = {key: value for key, value in sent.items() if value is not None}
        self._settings = settings
        self._key = checked_key(api_key, "the language model", key_variable)
        self._key_variable = key_variable
        support = settings.schema_support
        self._format = RequestFormat() if support == "auto" else RequestFormat(schema_support=support, negotiable=False)
        self._begins_in_thought = False

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.name!r}, {self.endpoint!r})"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """See `LanguageModel.complete`. The pieces passed to `on_text`, joined, are the text; an exception from it
        ends the request.

        The text is cleaned. `<think>…</think>` is removed, and so is everything after an unclosed `<think>` or before a
        `</think>` without an opening tag. To detect the latter, `on_text` is delayed for the first 200 characters, or,
        if this model has begun that way before, until that tag or the end; text already passed on stays.
        With a schema, the text is one JSON value and nothing else; `on_text` gets it once it fits the schema.
        """
        answer = self._answer(messages, schema, on_text if schema is None else None)
        if schema is None:
            return answer
        answer = msgspec.structs.replace(answer, text=json_answer(answer.text, schema, whole=answer.whole))
        if on_text is not None:
            on_text(answer.text)
        return answer

    def _answer(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, on_text: Callable[[str], None] | None
    ) -> Completion:
        """Send the request until there is an answer or another attempt is useless."""
        from harness.sources.http.transport import Deadline

        settings = self._settings
        deadline, waiting = Deadline(settings.total_timeout), Deadline(settings.max_wait)
        attempt = 0
        while True:
            hold = None if on_text is None or self._begins_in_thought else HELD_BACK
            answer = StreamedAnswer(on_text, settings.max_chars, settings.max_tokens, hold=hold)
            form = self._format
            body = form.body(self.name, messages, self.parameters, schema)
            outcome = self._request(body, answer, deadline, min(settings.timeout, waiting.left))
            self._begins_in_thought = self._begins_in_thought or answer.began_in_thought
            if isinstance(outcome, Completion):
                return outcome
            if other := form.after(outcome.refusal, schema=schema is not None):
                log.info("%s refuses %s; trying %s", self.endpoint, form, other)
                self._format = other
                continue
            jitter = random.uniform(0.5, 1.0)  # noqa: S311
            wait = BACK_OFF * 2.0**attempt * jitter if outcome.wait is None else outcome.wait
            exhausted = attempt >= settings.retries or wait >= min(MAX_WAIT, deadline.left, waiting.left)
            if answer.chars or exhausted or not outcome.again:
                raise outcome.error from None  # the cause may quote what the endpoint said about the key
            time.sleep(wait)
            attempt += 1

    def _request(
        self, body: Mapping[str, Any], answer: StreamedAnswer, deadline: "Deadline", timeout: float
    ) -> Outcome:
        from openai import Stream

        from harness.models.remote.connection import FOREIGN, Endpoint, client_of, failure_of
        from harness.sources.http.transport import EndpointTransport

        endpoint = Endpoint(
            self.endpoint, self.name, self._key, self._key_variable, timeout, self._settings.total_timeout
        )
        max_bytes = _BYTES_PER_CHAR * self._settings.max_chars
        transport = EndpointTransport(self.endpoint, self._key, deadline, max_bytes, whole=False)
        # openai's retries would ignore the deadline, and give up on a stream that breaks before the first word
        with client_of(self.endpoint, transport, timeout=timeout, retries=0) as client:
            try:  # `object`: openai does not check its own types
                stream = client.post(
                    "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=Stream[object]
                )
            except FOREIGN as error:
                return failure_of(error, endpoint, deadline)
            end = StreamEnd()
            with stream:
                while not answer.full:
                    try:
                        chunk = msgspec.convert(next(stream), CompletionChunk)
                    except StopIteration:
                        break
                    except FOREIGN as error:
                        if not answer.chars or deadline.left > 0:
                            return failure_of(error, endpoint, deadline)
                        answer.full = True
                        break
                    end.note(chunk)
                    answer.take(chunk.text)
                return self._outcome(answer, end, stream)

    def _outcome(self, answer: StreamedAnswer, end: StreamEnd, stream: "Stream[object]") -> Outcome:
        """Return the completion, or why the stream does not make one."""
        from harness.models.remote.connection import FailedAttempt

        where = f"{self.name} at {self.endpoint}"
        if not end.reason and not answer.full:
            kind = words_of(stream.response.headers.get("content-type", "no content type"), self._key)
            if not end.chunks and not kind.startswith("text/event-stream"):
                advice = "check the URL, which often ends in /v1"
                return FailedAttempt(ModelError(f"{where} answered with {kind}, not with an event stream; {advice}"))
            return FailedAttempt(
                ModelUnavailable(f"{where} stopped in the middle of its answer; try again"), again=True
            )
        text = answer.finish()
        whole = not answer.full and end.reason not in {"length", "content_filter"}
        if not text:
            content = "only thoughts" if answer.chars else "nothing"
            advice = "change the prompt or the model" if whole else "raise max_tokens or the time limit"
            reason = f" ({words_of(end.reason, self._key)})" if end.reason else ""
            return FailedAttempt(ModelError(f"{where} answered with {content}{reason}; {advice}"))
        return Completion(text, whole, end.prompt_tokens, end.completion_tokens)
