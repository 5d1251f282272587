"""Cached values that are computed here from answers."""

import logging
from collections.abc import Callable
from hashlib import sha256
from typing import ClassVar, TypeVar

import msgspec

from harness.cache.context import CachePart
from harness.cache.lookup_request import MAX_TEXT, UNREADABLE, StructRequest
from harness.core.entries import Hit, Miss
from harness.core.tables import EVIDENCE, EvidenceColumns
from harness.core.text import shorten
from harness.errors import InvalidInput, StoreError

log = logging.getLogger(__name__)
T = TypeVar("T")


class DerivedRequest(StructRequest[T], frozen=True, kw_only=True, gc=False):
    """One derived value; its own column is the ranking."""

    table: ClassVar[str] = EVIDENCE


class DerivedCache(CachePart):
    """Cached derived values of one tenant."""

    def get(
        self,
        question: str,
        ranking: str,
        sources: object,
        compute: Callable[[], T],
        kind: type[T],
        *,
        ttl: float,
        worth: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Return the cached value that `compute` derives from `sources` (JSON values or structs) for a question, else
        compute it now.

        `ranking` names everything else that determines it. It is computed offline, too, because nothing outside is
        asked, and it is not counted as an answer. It is stored only if it is `worth` it. A run is recorded with it:
        another machine may compute the last digit of a similarity differently.

        Raises:
            StoreError: the store cannot be read.
        """
        key = sha256(msgspec.json.encode((question, ranking, sources))).hexdigest()
        text = shorten(question, MAX_TEXT)
        request: DerivedRequest[T] = DerivedRequest(
            key=key, text=text, ttl=ttl, own=EvidenceColumns(ranking), kind=kind
        )
        if self._policy.read:
            outcome = self._lookup.peek(request)
            if isinstance(outcome, Hit):
                self._run.add(EVIDENCE, key, key, "derived", outcome.payload)
                return outcome.value
            if isinstance(outcome, Miss) and outcome.reason == UNREADABLE:
                log.warning("a value derived for %r is unreadable in the cache; it is computed again", question)
        value = compute()
        if self._policy.write and worth(value):
            payload = msgspec.json.encode(value)
            try:
                self._lookup.put(request, value, payload)
                self._run.add(EVIDENCE, key, key, "derived", payload)
            except (StoreError, InvalidInput) as error:
                self._context.log_once(logging.ERROR, str(error), f"a derived value is not cached: {error}")
        return value
