"""This project's rule and cache, built as the app does, with the verifier if it has been trained."""

import time
from collections.abc import Callable
from functools import cache

from benchmarks.rows import say
from harness.cache import Cache, Semantics
from harness.cache.semantic import MAX_DISTANCE, VERIFIED_DISTANCE
from harness.core.abbreviations import Meanings
from harness.core.equivalence import Decision, Rule, decide, rule_for
from harness.errors import VerifierError
from harness.models.local.cross_encoder import MiniLMVerifier
from harness.models.local.embedder import MiniLM
from harness.models.local.tokenizer import vocabulary
from harness.ports import Embedder, Store, Verifier

MAX_WRONG = 0.01

_words = cache(vocabulary)


@cache
def _verifier() -> MiniLMVerifier | None:
    verifier = MiniLMVerifier()
    try:
        verifier.rule(MAX_WRONG)
    except VerifierError as error:
        say(str(error))
        return None
    return verifier


def _rule(verifier: Verifier | None) -> Rule:
    return rule_for(MAX_WRONG) if verifier is None else verifier.rule(MAX_WRONG)


def decision(a: str, b: str, similarity: float, meanings: Meanings | None = None, *, verified: bool = True) -> Decision:
    """Decide by the shipped rule, with the verifier or without; `meanings` are the abbreviations that cached texts
    would have taught.
    """
    verifier = _verifier() if verified else None
    far = not near_enough(similarity, verified=verified)  # such a pair is not read
    verify = None if far or verifier is None else verifier.probability
    return decide(a, b, similarity, rule=_rule(verifier), known=_words(), meanings=meanings, verify=verify)


def served(decided: Decision, *, verified: bool = True) -> bool:
    """Return whether the cache serves what was so decided: it must also be near enough."""
    return decided.accepted and near_enough(decided.similarity, verified=verified)


def near_enough(similarity: float, *, verified: bool = True) -> bool:
    """Return whether two queries are within the distance beyond which the cache serves nothing, whatever the rule
    says.
    """
    return 1.0 - similarity <= (VERIFIED_DISTANCE if verified and _verifier() else MAX_DISTANCE)


def open_cache(store: Store, embedder: Embedder | None, clock: Callable[[], float] = time.time) -> Cache:
    """Return a cache on `store`; without an embedder, one of exact hits alone. The shipped verifier knows the shipped
    embedder's similarities; with another embedder there is none.
    """
    if embedder is None:
        return Cache(store, clock=clock)
    verifier = _verifier() if embedder.id == MiniLM.id else None
    semantics = Semantics(store, embedder, rule=_rule, verifier=verifier, words=vocabulary)
    return Cache(store, semantics=semantics, clock=clock)
