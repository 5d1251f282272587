"""Which names are of one type and yet not the same thing: contexts compared, aliases and spellings set aside."""

from collections import Counter
from typing import Any

import numpy as np

from training.contrasts.contexts import Token, Vocabulary, contexts, units
from training.contrasts.sameness import same_thing

MAX_CONTEXTS = 10_000
MIN_CONTEXT_COUNT = 3
MIN_SHARED = 4
"""So many different contexts two names must share."""
NEIGHBOURS = 7
MUTUAL = 20
"""Names of one type are among so many likest of each other."""
MIN_SIMILARITY = 0.24
TOLD_APART = 0.1
"""So much likelier are two names of one type that a writer tells apart."""


def neighbours(vocabulary: Vocabulary, sentences: list[list[Token]]) -> dict[str, tuple[str, ...]]:
    """Return for each name the other names of its type, the likest first, at most `NEIGHBOURS`.

    Each is among the likest of the other: a name of few contexts resembles many, and they not it.
    """
    rows, values = _counted(vocabulary, sentences)
    if not rows:
        return {}
    weights = _weights(values)
    present = (values > 0).astype(np.float32)
    likeness = np.where(present @ present.T >= MIN_SHARED, weights @ weights.T, 0.0)
    places = {name: place for place, name in enumerate(rows)}
    for one, two in vocabulary.told_apart:
        if one in places and two in places:
            likeness[places[one], places[two]] += TOLD_APART
            likeness[places[two], places[one]] += TOLD_APART
    np.fill_diagonal(likeness, 0.0)
    order = np.argsort(-likeness.round(5), axis=1, kind="stable")[:, :MUTUAL]
    near = [{int(other) for other in row} for row in order]
    found: dict[str, tuple[str, ...]] = {}
    for at, name in enumerate(rows):
        others = [int(other) for other in order[at] if likeness[at, other] >= MIN_SIMILARITY and at in near[int(other)]]
        kept = tuple(rows[other] for other in others if _distinct(name, rows[other], vocabulary))[:NEIGHBOURS]
        if kept:
            found[name] = kept
    return found


def _counted(vocabulary: Vocabulary, sentences: list[list[Token]]) -> tuple[list[str], Any]:
    """Return the names and how often each name occurs in each context."""
    pairs: Counter[tuple[str, str]] = Counter()
    for words in sentences:
        for unit in units(words, vocabulary):
            pairs.update((unit.key, context) for context in contexts(unit, words))
    spread: Counter[str] = Counter(context for _, context in pairs)
    kept = [
        context
        for context, count in sorted(spread.items(), key=lambda item: (-item[1], item[0]))
        if count >= MIN_CONTEXT_COUNT
    ]
    columns = {context: place for place, context in enumerate(kept[:MAX_CONTEXTS])}
    rows = {name: place for place, name in enumerate(sorted({name for name, _ in pairs}))}
    values = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for (name, context), count in pairs.items():
        if context in columns:
            values[rows[name], columns[context]] = count
    return list(rows), values


def _weights(values: Any) -> Any:
    """Return positive pointwise mutual information, rows of length 1.

    Contexts are smoothed by 0.75 (Levy et al. 2015), rare pairs discounted (Pantel and Lin 2002).
    """
    total = values.sum() or 1.0
    by_name, by_context = values.sum(axis=1, keepdims=True), values.sum(axis=0, keepdims=True)
    of_names, of_contexts = by_name / total, by_context**0.75 / ((by_context**0.75).sum() or 1.0)
    rarer = np.minimum(by_name, by_context)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.nan_to_num(np.log(values / total / (of_names * of_contexts)), nan=0.0, neginf=0.0, posinf=0.0)
    weights = np.maximum(weights, 0.0) * (values / (values + 1.0)) * (rarer / (rarer + 3.0))
    length = np.linalg.norm(weights, axis=1, keepdims=True)
    return weights / np.where(length == 0, 1.0, length)


def _distinct(one: str, two: str, vocabulary: Vocabulary) -> bool:
    """Return whether two names of one type name two things, neither a part of one name with the other."""
    beside = {(a, b) for a in one.split() for b in two.split()}
    return not same_thing(one, two) and not any(
        vocabulary.together[a, b] + vocabulary.together[b, a] for a, b in beside
    )
