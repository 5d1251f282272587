"""Lookups by meaning: near rows are candidates, and equivalence decides which of them may answer."""

import logging
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from harness.cache.lookup_request import LookupRequest
from harness.core.audits import REFUSAL, query_key
from harness.core.entries import Entry, Neighbour
from harness.core.freshness import is_volatile
from harness.errors import EmbeddingError, StoreError, VerifierError
from harness.ports import Embedder, Store, Vectors, Verifier
from harness.storage.forks import cached_property, reset_in_child

if TYPE_CHECKING:  # with their libraries they take 60 ms to import, and an exact hit needs neither
    from harness.cache.result_reading import ResultReading
    from harness.core.abbreviations import Meanings
    from harness.core.equivalence import Decision, Examined, Rule

log = logging.getLogger(__name__)

CANDIDATES = 8
MAX_DISTANCE = 0.15
VERIFIED_DISTANCE = 0.4
"""The largest cosine distances that are accepted: without a verifier, and with one."""
MAX_VERIFIED = 3
"""Candidates that a verifier reads in one lookup: each takes milliseconds."""
MAX_ROWS_READ = 2
"""Refused queries whose results are read in one lookup."""
NOT_IN_WORDS = frozenset({"negation", "direction", "scope", "length", "abbreviations"})
"""Guards whose objection no result can settle by its words."""
MAX_REMEMBERED = 256
OWN_ROWS = 64
"""About how many rows one run stores. They do not answer it, so as many more neighbours are read."""
EMBED_AT_ONCE = 8
"""Rows that a live call embeds besides its own: 40 ms beside a second or so."""


class Candidate(Struct, frozen=True):
    """A near row, the decision about it, and why it cannot answer ("" if it can). `reason` is why it answers though its
    query was refused.
    """

    entry: Entry
    decision: "Decision"
    refusal: str
    reason: str = ""


class Semantics:
    """Lookups by meaning in one store, for one tenant.

    `rule` returns the acceptance rule for a verifier (or `None`), and `words` correctly spelled words; both are called
    when first needed. `results` decides whether the results of a query that is refused answer, `None`: they do not.
    `max_distance` (cosine distance, 0..1) is the largest distance that is accepted; `None` means
    `MAX_DISTANCE` or `VERIFIED_DISTANCE`. If the embedder fails, one warning is logged, and lookups by meaning find
    nothing. If the verifier fails, one warning is logged, and the stricter rule without a verifier decides.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        rule: "Callable[[Verifier | None], Rule]",
        verifier: Verifier | None = None,
        words: Callable[[], Container[str]] = frozenset,
        results: "ResultReading | None" = None,
        max_distance: float | None = None,
        candidates: int = CANDIDATES,
        tenant: str = "default",
    ) -> None:
        self.embedder = embedder
        self.max_distance = max_distance
        self.candidates = candidates
        self._store = store
        self._tenant = tenant
        self._load_words = words
        self._load_rule = rule
        self._rules: dict[bool, Rule] = {}
        self._verifier = verifier
        self._results = results
        self._failed = False
        self._embedded: set[str] = set()
        self.reset()
        reset_in_child(self)

    def reset(self) -> None:
        """See `Resettable`: a thread of the parent may hold the lock."""
        self._lock = threading.Lock()
        self._remembered = lru_cache(MAX_REMEMBERED)(self._embed)

    @property
    def rule(self) -> "Rule":
        """The acceptance rule for the present verifier, or for none."""
        verifier = self._verifier  # another thread may disable it
        reading = verifier is not None
        if reading not in self._rules:
            try:
                self._rules[reading] = self._load_rule(verifier)
            except VerifierError as error:
                self._continue_without_verifier(error)
                return self.rule
        return self._rules[reading]

    def _continue_without_verifier(self, error: VerifierError) -> None:
        self._verifier = None
        log.warning("fewer questions are answered by meaning, by a stricter rule: %s", error)

    @property
    def farthest(self) -> float:
        """The largest cosine distance (0..1) that is accepted."""
        if self.max_distance is not None:
            return self.max_distance
        return VERIFIED_DISTANCE if self.rule.weights else MAX_DISTANCE

    @cached_property
    def _words(self) -> Container[str]:
        return self._load_words()

    def find(
        self, request: LookupRequest[Any], now: float, *, volatile_ttl: float, before: float | None
    ) -> Candidate | None:
        """Return the first candidate that may answer a request, or `None`. Rows stored at or after `before` do not
        count.
        """
        from harness.core.equivalence import LEAST_REQUIRED

        least = 1.0 - self.farthest
        if not self.rule.weights and self._results is None:
            least = max(LEAST_REQUIRED + self.rule.threshold, least)
        found = self.candidates_for(request, now, volatile_ttl=volatile_ttl, before=before, least=least)
        return next((candidate for candidate in found if not candidate.refusal), None)

    def candidates_for(
        self,
        request: LookupRequest[Any],
        now: float,
        *,
        volatile_ttl: float,
        before: float | None = None,
        least: float = 0.0,
        texts: bool = True,
    ) -> Iterator[Candidate]:
        """Judge the rows nearest to a request with a similarity of at least `least`, nearest first. Those that were
        refused as queries only, and whose results answer, follow again. Without `texts`, no results are read.
        """
        from harness.core.equivalence import examine

        query = request.text
        meanings = self.meanings(query)
        near = self._near(request, meanings, now, least, before)
        if not near:
            return
        meanings = self.meanings(query, *(each.entry.text for each in near))
        year = time.gmtime(now).tm_year
        apart: Container[str] | None = None  # read once a row may answer
        left = MAX_VERIFIED
        refused, answered = list[Candidate](), False
        for each in near:
            entry = each.entry
            examined = examine(query, entry.text, each.similarity, known=self._words, meanings=meanings)
            volatile = is_volatile(query, year) or is_volatile(entry.text, year)
            if apart is None and not examined.vetoed:
                apart = self._store.audits.disagreeing(self._tenant, query_key(query))
            if apart and query_key(entry.text) in apart:
                reason = REFUSAL
            elif volatile and now - entry.created_at > volatile_ttl:
                reason = "too old for a question about now"
            elif not examined.vetoed and 1.0 - each.similarity > self.farthest:
                reason = f"farther away than {self.farthest:g}"
            else:
                reason = ""
            decision = self._decided(examined, verified=left > 0 and not reason)
            left -= decision.probability is not None
            why_not = reason or _why_not(decision)
            why = why_not or request.refusal(entry) or (_unmentioned(request, decision, entry) if texts else "")
            candidate = Candidate(entry, decision, why)
            answered |= not candidate.refusal
            if why_not and not reason and examined.english:  # the reader of results reads English
                refused.append(candidate)
            yield candidate
        if texts and self._results is not None and not answered:
            yield from self._answering_by_results(request, refused)

    def _answering_by_results(self, request: LookupRequest[Any], refused: Sequence[Candidate]) -> Iterator[Candidate]:
        """Yield those of the first refused queries whose results answer, by what they say. Who does what to whom, and
        what is not the case, no word of a result can show.
        """
        apart: Container[str] | None = None
        for candidate in refused[:MAX_ROWS_READ]:
            entry, decision = candidate.entry, candidate.decision
            objections = {verdict.guard for verdict in decision.verdicts if not verdict.passed}
            if decision.similarity < 1.0 - VERIFIED_DISTANCE or objections & NOT_IN_WORDS or request.refusal(entry):
                continue
            if apart is None:
                apart = self._store.audits.disagreeing(self._tenant, query_key(request.text))
            if self._results is None or query_key(entry.text) in apart:
                continue
            found = self._results.decide(request.text, entry.text, request.texts(entry), decision.similarity)
            if found is not None and found.accepted:
                yield Candidate(entry, decision, "", found.reason)

    def accepts(self, query: str, other: str, similarity: float) -> bool:
        """Return whether the results of `other` may answer `query`, given their similarity."""
        from harness.core.equivalence import examine

        if query_key(other) in self._store.audits.disagreeing(self._tenant, query_key(query)):
            return False
        examined = examine(query, other, similarity, known=self._words, meanings=self.meanings(query, other))
        near = 1.0 - similarity <= self.farthest
        return near and self._decided(examined, verified=True).accepted

    def _decided(self, examined: "Examined", *, verified: bool) -> "Decision":
        """Judge a pair. With `verified`, a verifier reads it if the rule needs one and no guard rejects the pair."""
        from harness.core.equivalence import judge

        probability = None
        if verified and self.rule.weights and self._verifier and examined.needs_verifier:
            try:
                probability = self._verifier.probability(examined.a, examined.b)
            except VerifierError as error:
                self._continue_without_verifier(error)
        return judge(examined, self.rule, probability)

    def embedding(self, text: str, teaches: tuple[tuple[str, str], ...] = ()) -> bytes | None:
        """Return the vector of a row about `text`; abbreviations that the row itself defines are written out."""
        meanings = self.meanings(text, teaches=teaches)
        vector = self._vector(meanings.expand(text) if meanings else text)
        return None if vector is None else vector.tobytes()

    def embed_missing(self, table: str, limit: int) -> int:
        """Embed up to `limit` rows without a vector of the present embedder; return how many.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        missing = self._store.nearest.unembedded(table, self._tenant, self.embedder.id, limit)
        if missing:
            self.embed_rows(table, missing)
        return len(missing)

    def embed_some(self, table: str) -> None:
        """Embed a few rows without a vector of the present embedder, until none is left. Errors are logged: the next
        process tries again.
        """
        if table in self._embedded:
            return
        try:
            if self.embed_missing(table, EMBED_AT_ONCE) < EMBED_AT_ONCE:
                self._embedded.add(table)
        except (EmbeddingError, StoreError) as error:
            self._embedded.add(table)
            log.debug("rows remain without a vector: %s", error)

    def embed_rows(self, table: str, rows: Sequence[tuple[str, str]]) -> None:
        """Embed the rows with these keys and texts.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        known = [self.meanings(text) for _, text in rows]
        texts = [each.expand(text) if each else text for each, (_, text) in zip(known, rows, strict=True)]
        for (key, _), vector in zip(rows, self.embedder.embed(texts), strict=True):
            self._store.nearest.embed(table, self._tenant, key, vector.tobytes(), self.embedder.id)

    def meanings(self, *texts: str, teaches: tuple[tuple[str, str], ...] = ()) -> "Meanings | None":
        """Return the meanings that cached texts define for the abbreviations in `texts`, if any."""
        from harness.core.abbreviations import Meanings

        shorts = sorted({short for text in texts for short in Meanings.shorts_in(text)})
        taught = [*teaches, *(self._store.nearest.meanings(self._tenant, shorts) if shorts else ())]
        return Meanings(taught) if taught else None

    def _near(
        self,
        request: LookupRequest[Any],
        meanings: "Meanings | None",
        now: float,
        least: float,
        before: float | None,
    ) -> list[Neighbour]:
        """Return the rows nearest to the query, as written and with its abbreviations written out, each once; only
        rows stored before the time `before`, if given. There are none if only the same key may answer.
        """
        query, scope = request.text, request.scope
        if scope is None:
            return []
        found: dict[str, Neighbour] = {}
        for text in dict.fromkeys((query, meanings.expand(query) if meanings else query)):
            vector = self._vector(text)
            if vector is None:
                return []
            for each in self._store.nearest.search(
                request.table,
                self._tenant,
                scope,
                vector,
                embedder=self.embedder.id,
                k=self.candidates + (0 if before is None else OWN_ROWS),
                now=now,
                at_least=least,
            ):
                if before is not None and each.entry.created_at >= before:
                    continue
                earlier = found.get(each.entry.key)
                if earlier is None or earlier.similarity < each.similarity:
                    found[each.entry.key] = each
        return sorted(found.values(), key=lambda each: (-each.similarity, each.entry.key))[: self.candidates]

    def _vector(self, text: str) -> "Vectors | None":
        """Embed `text`. A put follows a lookup that misses, so the last vectors are remembered."""
        try:
            return self._remembered(text)
        except EmbeddingError as error:
            with self._lock:
                warned, self._failed = self._failed, True
            if not warned:
                log.warning("lookups by meaning find nothing: %s", error)
            return None

    def _embed(self, text: str) -> "Vectors | None":
        vector: Vectors | None = None if self._failed else self.embedder.embed([text])[0]
        return vector


def _unmentioned(request: LookupRequest[Any], decision: "Decision", entry: Entry) -> str:
    """Return why results do not answer a query that a guard finds to name something else; "" if they mention it."""
    from harness.core.equivalence.results import unmentioned

    if all(verdict.passed for verdict in decision.verdicts):
        return ""
    found = request.texts(entry)
    missing = unmentioned(request.text, entry.text, found) if found else ()
    return f"its results do not mention {', '.join(missing)}" if missing else ""


def _why_not(decision: "Decision") -> str:
    """Return why a decision rejects the answer; "" if it accepts it."""
    if decision.accepted:
        return ""
    if objections := "; ".join(f"{verdict.guard}: {verdict.reason}" for verdict in decision.objections):
        return objections
    if not decision.verified:
        return "not similar enough for what differs"
    if decision.probability is None:
        return f"not read: {MAX_VERIFIED} nearer ones were"
    return f"not sure enough (the verifier alone: {decision.probability:.0%})"
