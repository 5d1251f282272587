"""Rows about lookups without an answer: empty results, and failures of the last seconds."""

import logging
from collections.abc import Mapping
from typing import Any

import orjson

from harness.cache.context import CacheContext
from harness.cache.failures import raise_error
from harness.cache.lookup_request import LookupRequest
from harness.core.entries import Entry
from harness.core.freshness import is_expired
from harness.core.tables import UNANSWERED
from harness.errors import StoreError

log = logging.getLogger(__name__)

FAILURE_SECONDS = 30.0
"""Lifetime of a failure, or an empty result, for processes that wait for it."""
NO_RESULTS = "no_results"
"""The code of a row about an empty result."""
_EMPTY_LIST = {"code": NO_RESULTS}


class Unanswered:
    """Empty results and recent failures of one tenant."""

    def __init__(self, context: CacheContext) -> None:
        self._store = context.store
        self._tenant = context.tenant
        self._clock = context.clock
        self._policy = context.policy

    def put_empty(self, request: LookupRequest[Any], value: Any) -> Entry:
        """Store an empty result, if the policy allows; return its row."""
        reason = _EMPTY_LIST if value == [] else {**_EMPTY_LIST, "value": value}
        ttl = max(self._policy.negative_ttl, FAILURE_SECONDS) if request.remembers_empty else FAILURE_SECONDS
        return self.put(request, reason, ttl)

    def put(self, request: LookupRequest[Any], reason: Mapping[str, Any], ttl: float = FAILURE_SECONDS) -> Entry:
        """Store code and message of an error for processes that wait for it, or another reason; return the row."""
        now = self._clock()
        payload = orjson.dumps(reason)
        key, own = request.unanswered_row
        entry = Entry(key, request.text, payload, now, now + ttl, now, own)
        if self._policy.write:
            try:
                self._store.rows.put(UNANSWERED, self._tenant, entry, sweep_before=now)
            except StoreError as error:
                log.debug("not stored that %r has no answer: %s", request.text, error)
        return entry

    def remembered_empty(self, key: str) -> Entry | None:
        """Return the row of an empty list of results that still answers: for `Policy.negative_ttl`, or in a replay."""
        entry = self._store.rows.get(UNANSWERED, self._tenant, key)
        if entry is None or orjson.loads(entry.payload) != _EMPTY_LIST:
            return None
        now = self._clock()
        recent = now - entry.created_at < self._policy.negative_ttl
        fresh = recent and not is_expired(entry.expires_at, now, entry.created_at)
        return entry if self._policy.replay or fresh else None

    def raise_recorded(self, key: str) -> None:
        """In a replay, raise the error that was recorded; otherwise do nothing."""
        if self._policy.replay and (entry := self._store.rows.get(UNANSWERED, self._tenant, key)):
            reason = orjson.loads(entry.payload)
            if reason.get("code") != NO_RESULTS:
                raise_error(reason)

    def since(self, request: LookupRequest[Any], started: float) -> Entry | None:
        """Return the row of an empty result that another process stored after `started`; raise its error if it failed.

        Older rows do not count: the process that this one waits for began later.
        """
        entry = self._store.rows.get(UNANSWERED, self._tenant, request.unanswered_row[0])
        if entry is None or entry.created_at <= started:
            return None
        if is_expired(entry.expires_at, self._clock(), entry.created_at):
            return None
        reason = orjson.loads(entry.payload)
        if reason["code"] != NO_RESULTS:
            raise_error(reason)
        return entry
