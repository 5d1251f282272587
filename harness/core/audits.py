"""Audits: what a live search brings where another query's results have answered by meaning, and whether they agree."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Self

from msgspec import Struct

from harness.core.keys import canonical_url, search_key
from harness.errors import InvalidInput

REFUSAL = "an audit found other results"
"""Why a query is not answered with what another one brought, once an audit of the two disagreed."""

DISAGREES_BELOW = 0.2
"""The overlap under which two queries are found to ask different things. Two wordings of one question share most of
their results on one engine, two questions next to none; so of ten results one in common is too few, and two are
enough. It is low because what follows is final: the pair never answers each other again, while an agreement changes
nothing."""
LEAST_COMPARED = 3
"""Addresses that the shorter list must have: the first one or two results differ between wordings of one question."""

END_OF_TIME = 253_402_300_800.0
"""The year 10000, in seconds since the epoch: what is later is no date."""


class Audit(Struct, frozen=True, kw_only=True):
    """One pair of queries, one of which was answered with the results of the other, and what the live search said.

    `queries` are in the order of their `keys`, so that the two ways round are one pair. `overlap` is the share (0..1)
    of addresses that they have in common, `similarity` (0..1) how alike they were taken to be, `probability` (0..1) how
    sure a verifier was that they ask the same, if one was asked. `created_at` is in seconds since the epoch.
    """

    queries: tuple[str, str]
    overlap: float
    similarity: float
    probability: float | None = None
    agreed: bool
    created_at: float

    @classmethod
    def of(
        cls, asked: str, answered: str, *, overlap: float, similarity: float, probability: float | None, now: float
    ) -> Self:
        """Return the audit of the query `asked` that was answered with the results of `answered`.

        Raises:
            InvalidInput: one of them is no query.
        """
        return cls(
            queries=(asked, answered) if search_key(asked) <= search_key(answered) else (answered, asked),
            overlap=overlap,
            similarity=similarity,
            probability=probability,
            agreed=overlap >= DISAGREES_BELOW,
            created_at=now,
        )

    @property
    def keys(self) -> tuple[str, str]:
        """The keys of the two queries, whatever engine they were put to, in ascending order."""
        one, other = self.queries
        return search_key(one), search_key(other)


def flaw(audit: Audit, keys: Sequence[str]) -> str:
    """Say what is wrong with an audit that was stored under `keys`, "" if nothing is."""
    own = [query_key(query) for query in audit.queries]
    if "" in own or own != sorted(set(own)) or own != list(keys):
        return "its queries are not those of its key"
    if not all(0 <= share <= 1 for share in (audit.overlap, audit.similarity, audit.probability or 0.0)):
        return "its shares are none"
    return "" if 0 <= audit.created_at < END_OF_TIME else "its time is none"


def query_key(text: str) -> str:
    """Return the key that `Audit.keys` has for a query; "" for what is none, and so is in no audit."""
    try:
        return search_key(text)
    except InvalidInput:
        return ""


def addresses(results: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the addresses that results lead to, each in one spelling."""
    return frozenset(url for result in results if (url := canonical_url(str(result.get("href") or ""))))


def overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float | None:
    """Return the share (0..1) of the addresses in the smaller set that the other one has, too; `None` if it has fewer
    than `LEAST_COMPARED`: too few to say anything.
    """
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller >= LEAST_COMPARED else None
