"""Any language model behind an OpenAI-compatible endpoint: that of OpenAI, vLLM, llama.cpp, Ollama, LM Studio."""

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from harness.errors import ModelError, ModelUnavailable
from harness.models.remote.dialect import Dialect, SchemaSupport
from harness.models.remote.endpoint import checked_address, checked_key, words_of
from harness.models.remote.json_answers import json_answer
from harness.models.remote.stream_events import Chunk, Ending, Heard
from harness.ports import Completion, Message

if TYPE_CHECKING:  # openai takes a second to import, and `--help` asks no model
    from openai import Stream

    from harness.models.remote.connection import Failure
    from harness.sources.http.transport import Deadline

log = logging.getLogger(__name__)

BACK_OFF = 0.5
"""Seconds; the wait before the first new try is a random half to whole of it, and doubles with each."""

MAX_WAIT = 30.0
"""Seconds; an endpoint that asks for a longer pause (`Retry-After`) is not waited for."""

HELD_BACK = 200
"""Characters that a listener waits for at the beginning, for the case that they are thoughts."""

_BYTES_PER_CHAR = 300

Outcome: TypeAlias = "Completion | Failure"


class OpenAICompatible:
    """The model `name` at `endpoint`, as `http://127.0.0.1:8080/v1`. Safe for threads and after a fork.

    `timeout` is the seconds of silence that are borne before and between tokens, `total_timeout` those for the whole,
    tries and waits included. `temperature`, `max_tokens` and `seed` are sent as they are, `None` is not sent. An
    answer, thoughts included, is cut after `max_chars` characters, and where an endpoint does not heed `max_tokens`,
    after as many pieces that are longer than 4 characters a token together; a cut one is not `whole`.

    `max_wait` is the seconds that are spent in all on waiting for an answer to begin: silence, failed tries and pauses.

    `retries` says how often it is tried again when the endpoint is unreachable, busy (429, 5xx) or silent, as long as
    nothing of an answer has come. `key_variable` is named where the key is missing or refused.

    `schema_support` says how a schema is asked for: as `json_schema`, as `json_object` with the schema in the system
    message, or only there (`none`). With `auto` the first is tried, then the others when the endpoint refuses, and what
    it took is remembered, as are two more of its wishes: `max_completion_tokens`, and no `stream_options`.

    Raises:
        InvalidInput: `endpoint` is no address, holds more than one, or the key has characters that no key has.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        *,
        api_key: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = 2_048,
        seed: int | None = 0,
        timeout: float = 60.0,
        total_timeout: float = 300.0,
        max_wait: float = 60.0,
        retries: int = 2,
        max_chars: int = 200_000,
        schema_support: SchemaSupport | Literal["auto"] = "auto",
        key_variable: str = "HARNESS_LLM_API_KEY",
    ) -> None:
        self.name = name
        self.endpoint = checked_address(endpoint)
        chosen = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self.parameters: Mapping[str, Any] = {key: value for key, value in chosen.items() if value is not None}
        self._key = checked_key(api_key, "the language model", key_variable)
        self._key_variable = key_variable
        self._timeout = timeout
        self._total_timeout = total_timeout
        self._max_wait = max_wait
        self._retries = retries
        self._max_chars = max_chars
        self._max_tokens = max_tokens
        auto = schema_support == "auto"
        self._dialect = Dialect("json_schema" if schema_support == "auto" else schema_support, negotiable=auto)
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
        """See `LanguageModel.complete`. What `on_text` got, joined, is the text; what it raises ends the request.

        The text is cleaned and has no `<think>…</think>` in it, nor what follows a `<think>` that nothing closes, nor
        what stands before a `</think>` that nothing opened. For the last, `on_text` waits for the first 200
        characters, and to the end or that tag where this model has begun so before; what it got already stays.
        With a schema, the text is one JSON value without anything around it, which `on_text` gets once it fits.
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
        """Ask until there is an answer, or no use in asking again."""
        from harness.sources.http.transport import Deadline

        deadline, waiting = Deadline(self._total_timeout), Deadline(self._max_wait)
        attempt = 0
        while True:
            heard = Heard(on_text, self._max_chars, self._max_tokens, hold=self._hold(on_text))
            dialect = self._dialect
            body = dialect.body(self.name, messages, self.parameters, schema)
            outcome = self._ask(body, heard, deadline, min(self._timeout, waiting.left))
            self._begins_in_thought = self._begins_in_thought or heard.began_in_thought
            if isinstance(outcome, Completion):
                return outcome
            if other := dialect.after(outcome.refusal, schema=schema is not None):
                log.info("%s refuses %s; trying %s", self.endpoint, dialect, other)
                self._dialect = other
                continue
            jitter = random.uniform(0.5, 1.0)  # noqa: S311
            wait = BACK_OFF * 2.0**attempt * jitter if outcome.wait is None else outcome.wait
            tired = attempt >= self._retries or wait >= min(MAX_WAIT, deadline.left, waiting.left)
            if heard.chars or tired or not outcome.again:
                raise outcome.error from None  # the cause may hold what the endpoint said of the key
            time.sleep(wait)
            attempt += 1

    def _hold(self, on_text: Callable[[str], None] | None) -> int | None:
        return None if on_text is None or self._begins_in_thought else HELD_BACK

    def _ask(self, body: Mapping[str, Any], heard: Heard, deadline: "Deadline", timeout: float) -> Outcome:
        from harness.models.remote.connection import FOREIGN, Endpoint, connected, failure_of, streamed

        whom = Endpoint(self.endpoint, self.name, self._key, self._key_variable, timeout, self._total_timeout)
        with connected(whom, deadline, max_bytes=_BYTES_PER_CHAR * self._max_chars) as client:
            try:
                stream = streamed(client, body)
            except FOREIGN as error:
                return failure_of(error, whom, deadline)
            end = Ending()
            with stream:
                while not heard.full:
                    try:
                        chunk = msgspec.convert(next(stream), Chunk)
                    except StopIteration:
                        break
                    except FOREIGN as error:
                        if not heard.chars or deadline.left > 0:
                            return failure_of(error, whom, deadline)
                        heard.full = True
                        break
                    end.note(chunk)
                    heard.take(chunk.text)
                return self._judged(heard, end, stream)

    def _judged(self, heard: Heard, end: Ending, stream: "Stream[object]") -> Outcome:
        """Tell whether what was heard is an answer."""
        from harness.models.remote.connection import Failure

        where = f"{self.name} at {self.endpoint}"
        if not end.reason and not heard.full:
            kind = words_of(stream.response.headers.get("content-type", "no content type"), self._key)
            if not end.chunks and not kind.startswith("text/event-stream"):
                advice = "check the address, which often ends in /v1"
                return Failure(ModelError(f"{where} answered with {kind}, which is no stream of events; {advice}"))
            return Failure(ModelUnavailable(f"{where} broke off in the middle of its answer; ask again"), again=True)
        text = heard.finish()
        whole = not heard.full and end.reason not in {"length", "content_filter"}
        if not text:
            why = "only thoughts" if heard.chars else "nothing"
            advice = "ask otherwise, or another model" if whole else "raise max_tokens, or allow it more time"
            reason = f" ({words_of(end.reason, self._key)})" if end.reason else ""
            return Failure(ModelError(f"{where} answered with {why}{reason}; {advice}"))
        return Completion(text, whole, end.prompt_tokens, end.completion_tokens)
