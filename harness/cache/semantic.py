"""The look-up by meaning: near rows are candidates, and equivalence decides which of them may answer."""

import logging
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from harness.core.audits import REFUSAL, query_key
from harness.core.entries import Entry, Neighbour
from harness.core.freshness import is_volatile
from harness.errors import EmbeddingError, VerifierError
from harness.ports import Embedder, Store, Vectors, Verifier
from harness.storage.forks import begins_anew, cached_property

if TYPE_CHECKING:  # with the libraries beneath them they take 60 ms to import, and an exact hit needs neither
    from harness.core.abbreviations import Meanings
    from harness.core.equivalence import Decision, Examined, Rule

log = logging.getLogger(__name__)

CANDIDATES = 8
MAX_DISTANCE = 0.15
VERIFIED_DISTANCE = 0.4
"""The cosine distances beyond which nothing is accepted: without a verifier, and where one reads the pair."""
MAX_VERIFIED = 3
"""Candidates that a verifier reads in one look-up: each takes milliseconds."""
MAX_REMEMBERED = 256
OWN_ROWS = 64
"""Rows that one run may store itself, about: as many more neighbours are looked at where these do not count."""


class Candidate(Struct, frozen=True):
    """A near row, what equivalence says of it, and why it cannot answer (nothing when it can)."""

    entry: Entry
    decision: "Decision"
    refusal: str


class Semantics:
    """Look-ups by meaning in one store, for one tenant.

    `rule` returns what decides what is accepted, given the verifier (or `None`), `words` correctly written words; both
    are asked for when first needed. `max_distance` (cosine distance, 0..1) is the classic threshold, beyond which
    nothing is accepted anyway; `None` leaves it to `MAX_DISTANCE` and `VERIFIED_DISTANCE`. If no vector can be made,
    that is said once, and look-ups by meaning find nothing; if the verifier fails, that is said once, and the stricter
    rule without one decides.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        rule: "Callable[[Verifier | None], Rule]",
        verifier: Verifier | None = None,
        words: Callable[[], Container[str]] = frozenset,
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
        self._failed = False
        self.begin_anew()
        begins_anew(self)

    def begin_anew(self) -> None:
        """See `Forked`: a thread of the parent may hold the lock."""
        self._lock = threading.Lock()
        self._remembered: dict[str, Vectors] = {}

    @property
    def rule(self) -> "Rule":
        """The acceptance rule of the present verifier, or the one without."""
        verifier = self._verifier  # another thread may go on without it
        reading = verifier is not None
        if reading not in self._rules:
            try:
                self._rules[reading] = self._load_rule(verifier)
            except VerifierError as error:
                self._go_on_without(error)
                return self.rule
        return self._rules[reading]

    def _go_on_without(self, error: VerifierError) -> None:
        self._verifier = None
        log.warning("fewer questions are answered by meaning, by a stricter rule: %s", error)

    @property
    def farthest(self) -> float:
        """The cosine distance (0..1) beyond which nothing is accepted."""
        if self.max_distance is not None:
            return self.max_distance
        return VERIFIED_DISTANCE if self.rule.weights else MAX_DISTANCE

    @cached_property
    def _words(self) -> Container[str]:
        return self._load_words()

    def find(
        self,
        table: str,
        scope: tuple[str, ...],
        query: str,
        now: float,
        *,
        volatile_ttl: float,
        before: float | None = None,
        unfit: Callable[[Entry], str] = lambda _: "",
    ) -> Candidate | None:
        """Return the first candidate that may answer `query`, or `None`.

        `unfit` says why a row cannot answer for reasons of its own ("" when it can). Rows stored at or after `before`
        do not count.
        """
        from harness.core.equivalence import LEAST_REQUIRED

        least = 1.0 - self.farthest
        if not self.rule.weights:
            least = max(LEAST_REQUIRED + self.rule.threshold, least)
        found = self.candidates_for(
            table, scope, query, now, volatile_ttl=volatile_ttl, before=before, unfit=unfit, least=least
        )
        return next((candidate for candidate in found if not candidate.refusal), None)

    def candidates_for(
        self,
        table: str,
        scope: tuple[str, ...],
        query: str,
        now: float,
        *,
        volatile_ttl: float,
        before: float | None = None,
        unfit: Callable[[Entry], str] = lambda _: "",
        least: float = 0.0,
    ) -> Iterator[Candidate]:
        """Judge the nearest rows that are at least so similar, nearest first."""
        from harness.core.equivalence import examine

        meanings = self.meanings(query)
        near = self._near(table, scope, query, meanings, now, least, before)
        if not near:
            return
        meanings = self.meanings(query, *(each.entry.text for each in near))
        year = time.gmtime(now).tm_year
        apart: Container[str] | None = None  # asked for once something may answer
        left = MAX_VERIFIED
        for each in near:
            entry = each.entry
            examined = examine(query, entry.text, each.similarity, known=self._words, meanings=meanings)
            volatile = is_volatile(query, year) or is_volatile(entry.text, year)
            if apart is None and not examined.vetoed:
                apart = self._store.audits.disagreeing(self._tenant, query_key(query))
            if apart and query_key(entry.text) in apart:
                refusal = REFUSAL
            elif volatile and now - entry.created_at > volatile_ttl:
                refusal = "too old for a question about now"
            elif not examined.vetoed and 1.0 - each.similarity > self.farthest:
                refusal = f"farther away than {self.farthest:g}"
            else:
                refusal = ""
            decision = self._decided(examined, verified=left > 0 and not refusal)
            left -= decision.probability is not None
            yield Candidate(entry, decision, refusal or _why_not(decision) or unfit(entry))

    def accepts(self, query: str, other: str, similarity: float) -> bool:
        """Say whether what was found for another query may answer this one, which is so similar."""
        from harness.core.equivalence import examine

        if query_key(other) in self._store.audits.disagreeing(self._tenant, query_key(query)):
            return False
        examined = examine(query, other, similarity, known=self._words, meanings=self.meanings(query, other))
        near = 1.0 - similarity <= self.farthest
        return near and self._decided(examined, verified=True).accepted

    def _decided(self, examined: "Examined", *, verified: bool) -> "Decision":
        """Judge a pair; where the rule needs a verifier, it reads the pair if it is to, and no guard vetoes."""
        from harness.core.equivalence import judge

        probability = None
        if verified and self.rule.weights and self._verifier and not (examined.identical or examined.vetoed):
            try:
                probability = self._verifier.probability(examined.a, examined.b)
            except VerifierError as error:
                self._go_on_without(error)
        return judge(examined, self.rule, probability)

    def embedding(self, text: str, teaches: tuple[tuple[str, str], ...] = ()) -> bytes | None:
        """Return the vector that a row about `text` is kept with; what the row itself teaches counts already."""
        meanings = self.meanings(text, teaches=teaches)
        vector = self._vector(meanings.expand(text) if meanings else text)
        return None if vector is None else vector.tobytes()

    def embed_missing(self, table: str, limit: int) -> int:
        """Embed up to `limit` rows that have no vector of the present embedder; return how many.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the store cannot be written.
        """
        missing = self._store.nearest.unembedded(table, self._tenant, self.embedder.id, limit)
        if missing:
            self.embed_rows(table, missing)
        return len(missing)

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
        """Return what the cached texts teach of the short forms in `texts`, if anything."""
        from harness.core.abbreviations import Meanings

        shorts = sorted({short for text in texts for short in Meanings.shorts_in(text)})
        taught = [*teaches, *(self._store.nearest.meanings(self._tenant, shorts) if shorts else ())]
        return Meanings(taught) if taught else None

    def _near(
        self,
        table: str,
        scope: tuple[str, ...],
        query: str,
        meanings: "Meanings | None",
        now: float,
        least: float,
        before: float | None,
    ) -> list[Neighbour]:
        """Return the rows nearest to the query as written, and as its abbreviations mean, each once; only those stored
        before the time `before`, if given.
        """
        found: dict[str, Neighbour] = {}
        for text in dict.fromkeys((query, meanings.expand(query) if meanings else query)):
            vector = self._vector(text)
            if vector is None:
                return []
            for each in self._store.nearest.search(
                table,
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
                held = found.get(each.entry.key)
                if held is None or held.similarity < each.similarity:
                    found[each.entry.key] = each
        return sorted(found.values(), key=lambda each: (-each.similarity, each.entry.key))[: self.candidates]

    def _vector(self, text: str) -> "Vectors | None":
        """Embed `text`; a look-up that misses is followed by a put, so the last vectors are remembered."""
        with self._lock:
            held = self._remembered.get(text)
        if held is not None:
            return held
        if self._failed:
            return None
        try:
            vector: Vectors = self.embedder.embed([text])[0]
        except EmbeddingError as error:
            with self._lock:
                said, self._failed = self._failed, True
            if not said:
                log.warning("nothing is found by meaning: %s", error)
            return None
        with self._lock:
            self._remembered[text] = vector
            while len(self._remembered) > MAX_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return vector


def _why_not(decision: "Decision") -> str:
    """Say why a decision is against the answer; nothing where it is for it."""
    if decision.accepted:
        return ""
    if objections := "; ".join(f"{verdict.guard}: {verdict.reason}" for verdict in decision.objections):
        return objections
    if not decision.verified:
        return "not similar enough for what differs"
    if decision.probability is None:
        return f"not read: {MAX_VERIFIED} nearer ones were"
    return f"not sure enough, all in all (the verifier alone: {decision.probability:.0%})"
