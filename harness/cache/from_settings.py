"""Lookups by meaning as the settings say."""

from collections.abc import Callable, Container

from harness.cache.acceptance_rule import rule_of
from harness.cache.semantic import Semantics
from harness.ports import Embedder, Reader, Store, Verifier
from harness.settings import Settings


def semantics_of(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    *,
    verifier: Verifier | None,
    reader: Reader | None,
    words: Callable[[], Container[str]],
    tenant: str,
) -> Semantics:
    """Return the lookups by meaning of a tenant. With a `reader`, the results of a refused query may answer."""
    results = None
    if reader is not None and settings.reading:
        from harness.cache.result_reading import ResultReading

        results = ResultReading.of(reader, embedder, settings.max_wrong)
    return Semantics(
        store,
        embedder,
        rule=lambda verifier: rule_of(verifier, settings),
        verifier=verifier,
        words=words,
        results=results,
        max_distance=settings.semantic_cache_threshold,
        candidates=settings.candidates,
        tenant=tenant,
    )
