"""Pages, completions and tool results: looked up whole, otherwise computed once for all who ask."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Generic, Literal, TypeVar

import msgspec
import orjson
from msgspec import Struct

from harness.cache.json_form import Made, Uncached
from harness.cache.lookup import MAX_TOLD, NO_RESULTS, UNREADABLE, Answer, Road, raise_told, told
from harness.cache.tables import COMPLETIONS, EVIDENCE, PAGES, UNANSWERED
from harness.cache.usage import Use
from harness.core.entries import Entry, Hit, Miss, Stale
from harness.core.freshness import DAY, HOUR, checked_ttl, is_expired
from harness.core.keys import canonical_json, canonical_url, completion_key, page_key
from harness.core.pages import Page
from harness.core.tables import UnansweredColumns
from harness.core.text import shorten
from harness.errors import HarnessError, InvalidInput, ModelError, PageError, StoreError
from harness.ports import Completion, LanguageModel, Message, PageReader

log = logging.getLogger(__name__)
T = TypeVar("T")

PAGE_TTL = HOUR
COMPLETION_TTL = 30 * DAY
FAILURE_SECONDS = 30.0
"""How long a failure is kept for those in other processes that wait for it."""
MAX_TEXT = 1_000
"""Characters of what a model was asked that stand in the row; the key is made from all of them."""
MAX_URL = 10_000
"""Likewise of an address: a report is verified by whole ones, and no reader takes one as long."""


class Asked(Struct, Generic[T], frozen=True, kw_only=True):
    """One thing as it is asked for: its table, its key, what a person may read of it, and of what type the answer is.

    `compute` makes the answer, `encode` its form and bytes, or says that it is not to be cached, and `keep` stores the
    two. `name` is the function that is called, for messages. `failures` says for which exceptions
    an expired answer may stand in. `like` looks for an answer to something that means the same. `told_as` is the key
    under which those who wait are told how it ended without an answer that is kept.
    """

    table: str
    key: str
    text: str
    kind: type[T]
    compute: Callable[[], T]
    encode: Callable[[T], Made | Uncached]
    keep: Callable[[Any, bytes], object]
    failures: Callable[[Exception], bool]
    like: Callable[[], Hit[T] | None] = lambda: None
    told_as: str
    name: str = ""


class Kept(Road):
    """The cache of pages and of what language models answer."""

    def page(self, url: str, reader: PageReader, *, ttl: float = PAGE_TTL) -> Answer[Page]:
        """Return the page behind `url` from the cache, else have `reader` read it, and keep it for `ttl` seconds.

        What a page defines as abbreviations is learned, as from results. Of all who ask at the same time, one reads.

        Raises:
            InvalidInput: not an address of the web, an unusable `ttl`.
            PageError: the page cannot be read (see `PageReader.read`).
            OfflineMiss: it is not in the cache, and may not be read.
            StoreError: the store cannot be read.
        """
        checked_ttl(ttl)
        key, text = page_key(url, reader.name), canonical_url(url)[:MAX_URL]

        def keep(page: Page, payload: bytes) -> None:
            self._put(PAGES, key, text, payload, ttl, (reader.name,), page.text, meant=False)

        asked = Asked(
            table=PAGES,
            key=key,
            text=text,
            kind=Page,
            compute=partial(reader.read, url),
            encode=partial(_encoded, asked=text),
            keep=keep,
            failures=lambda error: isinstance(error, PageError),
            told_as=key,
        )
        return self._kept(asked)

    def completion(
        self,
        model: LanguageModel,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        epoch: str = "",
        ttl: float = COMPLETION_TTL,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer[Completion]:
        """Return what `model` answers: the same question, with the same parameters and in the same `epoch`, once.

        `on_text` is told the text as it comes; from the cache it comes at once.

        Raises:
            InvalidInput: messages or a schema that are not JSON.
            ModelError: the model does not answer, or with something unusable (see `LanguageModel.complete`).
            OfflineMiss: it is not in the cache, and may not be asked.
            StoreError: the store cannot be read.
        """
        checked_ttl(ttl)
        key = completion_key(
            model.endpoint, model.name, list(messages), parameters=dict(model.parameters), schema=schema, epoch=epoch
        )
        text = shorten(messages[-1]["content"], MAX_TEXT) if messages else ""

        def keep(_: Completion, payload: bytes) -> None:
            self._put(COMPLETIONS, key, text, payload, ttl, (model.name,), "", meant=False)

        asked = Asked(
            table=COMPLETIONS,
            key=key,
            text=text,
            kind=Completion,
            compute=partial(model.complete, messages, schema=schema, on_text=on_text),
            encode=partial(_encoded, asked=text),
            keep=keep,
            failures=lambda error: isinstance(error, ModelError),
            told_as=key,
        )
        answer = self._kept(asked)
        if on_text is not None and answer.how != "live":
            on_text(answer.value.text)
        told = answer.value.prompt_tokens + answer.value.completion_tokens
        self.tokens += told or sum(map(_tokens, [answer.value.text, *(each["content"] for each in messages)]))
        return answer

    def derived(
        self, question: str, ranking: str, sources: object, compute: Callable[[], T], kind: type[T], *, ttl: float
    ) -> T:
        """Return what `compute` makes, for a question, of `sources` (JSON-able, or structs), or has made before.

        `ranking` names everything else that decides it. Nothing is asked from outside for it, so it may be computed
        offline, and counts as no answer. A run is recorded with it: another machine may compute the last digit of a
        similarity otherwise.

        Raises:
            StoreError: the store cannot be read.
        """
        key = sha256(msgspec.json.encode((question, ranking, sources))).hexdigest()
        entry = self._store.rows.get(EVIDENCE, self._tenant, key) if self.policy.read else None
        if entry is not None and not is_expired(entry.expires_at, self._clock(), entry.created_at):
            try:
                value = msgspec.json.decode(entry.payload, type=kind)
            except msgspec.MsgspecError:
                log.warning("what was found for %r is unreadable in the cache; it is found anew", question)
            else:
                self._derived(key, entry.payload)
                return value
        value = compute()
        payload = msgspec.json.encode(value)
        if self.policy.write:
            try:
                text = shorten(question, MAX_TEXT)
                self._put(EVIDENCE, key, text, payload, ttl, (ranking,), "", meant=False)
                self._derived(key, payload)
            except (StoreError, InvalidInput) as error:
                self._say_once(f"what was found is not cached: {error}")
        return value

    def _derived(self, key: str, payload: bytes) -> None:
        if self._uses is not None:
            self._uses.append(Use(EVIDENCE, key, key, "derived", sha256(payload).hexdigest()))

    def _kept(self, asked: Asked[T]) -> Answer[T]:
        outcome: Hit[T] | Stale[T] | Miss = Miss("not looked up")
        if self.policy.read:
            outcome = self._found_whole(asked.table, asked.key, asked.text, asked.kind)
            if isinstance(outcome, Hit):
                return Answer(outcome.value, outcome, "exact")
            if (other := asked.like()) is not None:
                return Answer(other.value, other, other.found)
            self._raise_as_then(asked.told_as)
        if self.policy.offline:
            late = self._late(asked.table, asked.key, asked.text, outcome, None)
            return Answer(late.value, late, "stale")
        try:
            return self._once_for_all(asked, outcome)
        except Exception as error:  # which ones an expired answer stands in for, `asked` says
            if not asked.failures(error):
                raise
            self._failed(asked.table, asked.key, error)
            late = self._late(asked.table, asked.key, asked.text, outcome, error)
            return Answer(late.value, late, "stale")

    def _found_whole(self, table: str, key: str, text: str, kind: type[T]) -> Hit[T] | Stale[T] | Miss:
        entry = self._store.rows.get(table, self._tenant, key)
        if entry is None:
            return self._missed(text, "unknown")
        try:
            value = msgspec.json.decode(entry.payload, type=kind)
        except msgspec.MsgspecError:
            return self._missed(text, UNREADABLE)
        return self._found(table, entry, key, text, value)

    def _once_for_all(self, asked: Asked[T], outcome: Hit[T] | Stale[T] | Miss) -> Answer[T]:
        started = self._clock()
        work = partial(self._computed, asked)
        if self.policy.write:
            name = f"{self._tenant} {asked.table} {asked.key}"
            payload, mine = self._once.run(name, partial(self._meanwhile, asked, started), work)
        else:
            payload, mine = work(), True
        how: Literal["live", "exact"] = "live" if mine else "exact"
        if isinstance(payload, Uncached):
            self._note(asked.table, asked.key, "", how, b"")
            return Answer(payload.value, outcome, how, own=False)
        self._note(asked.table, asked.key, asked.key, how, payload)
        value = msgspec.json.decode(payload, type=asked.kind)
        if mine:
            return Answer(value, outcome, "live")
        return Answer(value, Hit(value, "exact", asked.text, 1.0, 0.0), "exact")

    def _computed(self, asked: Asked[T]) -> bytes | Uncached:
        try:
            made = asked.encode(asked.compute())
        except Exception as error:  # raised again in every case
            if isinstance(error, HarnessError) or asked.failures(error):
                self._tell_waiting(asked, told(error, repr(shorten(asked.text, MAX_TOLD))))
            raise
        if isinstance(made, Uncached):
            self._warn_uncached(asked.name, made.reason)
            return made
        if self.policy.write:
            try:
                asked.keep(made.value, made.payload)
            except (StoreError, InvalidInput) as error:  # the disk is full, or it is too many bytes
                self._say_once(f"what was read is not cached: {error}")
        return made.payload

    def _meanwhile(self, asked: Asked[Any], started: float) -> bytes | None:
        """Return what somebody else has stored since this look-up began; raise what they failed with."""
        now = self._clock()
        entry = self._store.rows.get(asked.table, self._tenant, asked.key)
        fresh = entry is not None and not is_expired(entry.expires_at, now, entry.created_at)
        if entry is not None and fresh and (self.policy.read or self._answers_unread(entry, started)):
            return entry.payload if _is_readable(entry.payload, asked.kind) else None
        ended = self._store.rows.get(UNANSWERED, self._tenant, asked.told_as)
        if ended is None or ended.created_at <= started or is_expired(ended.expires_at, now, ended.created_at):
            return None
        reason = orjson.loads(ended.payload)
        if reason["code"] != NO_RESULTS:
            raise_told(reason)
        return orjson.dumps(reason["value"])

    def _tell_waiting(self, asked: Asked[Any], reason: Mapping[str, Any]) -> None:
        if not self.policy.write:
            return
        now = self._clock()
        payload = canonical_json(reason).encode()
        entry = Entry(
            asked.told_as, asked.text, payload, now, now + FAILURE_SECONDS, now, UnansweredColumns(asked.table, "{}")
        )
        try:
            self._store.rows.put(UNANSWERED, self._tenant, entry, sweep_before=now)
        except StoreError as failure:
            log.debug("others are not told how %r ended: %s", asked.text, failure)


def _tokens(text: str) -> int:
    """Estimate how many tokens a text has, where the endpoint does not tell."""
    return len(text) // 4


def _encoded(value: object, asked: str) -> Made:
    try:
        return Made(value, msgspec.json.encode(value))
    except UnicodeEncodeError:
        raise InvalidInput(f"what was read for {shorten(asked, 300)!r} is broken Unicode; re-encode it") from None


def _is_readable(payload: bytes, kind: type[Any]) -> bool:
    try:
        msgspec.json.decode(payload, type=kind)
    except msgspec.MsgspecError:
        return False
    return True
