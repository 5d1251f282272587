"""Ranking of documents by their passages, and precision of the stored vectors."""

import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.multilingual_vectors import ENCODER, ENGLISH
from harness.sources.corpus import passage_vectors
from harness.sources.corpus.passage_ranking import (
    IN_ENGLISH,
    LEAST_SIMILARITY,
    PassageMatch,
    by_words,
    by_words_and_meaning,
    weighing,
)
from harness.sources.corpus.passage_vectors import Near

PER_DOCUMENT = 5
"""Passage n is of document n // PER_DOCUMENT."""

scores = st.dictionaries(st.integers(0, 40), st.floats(0.001, 30), max_size=20)
cosines = st.dictionaries(st.integers(0, 40), st.floats(-1, 1, width=32), max_size=40)


def matches_of(found: dict[int, float]) -> list[PassageMatch]:
    """Return matches, best first."""
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [PassageMatch(passage, passage // PER_DOCUMENT, score) for passage, score in ordered]


def near_of(found: dict[int, float]) -> Near:
    """Return what a comparison of vectors finds."""
    passages = np.array(list(found), np.int64)
    return Near(passages, passages // PER_DOCUMENT, np.array(list(found.values()), np.float32))


@given(scores, cosines, st.integers(1, 10))
def test_ranked_are_documents_with_their_own_passages(
    words: dict[int, float], near: dict[int, float], limit: int
) -> None:
    """Each document once, at most as many as asked for, with one to three of its passages in order, all found."""
    for ranked in (by_words(matches_of(words), limit), by_words_and_meaning(matches_of(words), near_of(near), limit)):
        assert len({each.document for each in ranked}) == len(ranked) <= limit
        for each in ranked:
            assert 1 <= len(each.passages) <= 3
            assert each.passages == sorted(set(each.passages))
            assert {passage // PER_DOCUMENT for passage in each.passages} == {each.document}
            assert all(p in words or near.get(p, 0.0) >= LEAST_SIMILARITY - 1e-6 for p in each.passages)


@given(scores, st.integers(1, 10))
def test_without_vectors_words_decide(words: dict[int, float], limit: int) -> None:
    """Passages without a vector count by their words: the best document is the same as by words."""
    matches = matches_of(words)
    plain, fused = by_words(matches, limit), by_words_and_meaning(matches, near_of({}), limit)
    assert {each.document for each in fused[:1]} == {each.document for each in plain[:1]}
    assert len(fused) == len(plain)


def test_equal_words_are_ordered_by_meaning_and_the_reverse() -> None:
    """Each of the two decides where the other is undecided."""
    by_cosine = by_words_and_meaning([PassageMatch(0, 0, 5.0), PassageMatch(5, 1, 5.0)], near_of({0: 0.4, 5: 0.5}), 2)
    by_score = by_words_and_meaning([PassageMatch(5, 1, 6.0), PassageMatch(0, 0, 5.0)], near_of({0: 0.5, 5: 0.5}), 2)
    assert [each.document for each in by_cosine] == [each.document for each in by_score] == [1, 0]


def test_in_another_language_words_weigh_more_than_in_english() -> None:
    """Vectors decide between two documents in English; with the weights for German by MiniLM, words do."""
    matches, near = [PassageMatch(0, 0, 5.0), PassageMatch(5, 1, 1.9)], near_of({0: 0.3, 5: 0.8})
    german, chinese = weighing(ENGLISH, "de"), weighing(f"{ENGLISH}+{ENCODER}", "zh")
    first = [by_words_and_meaning(matches, near, 1, each)[0].document for each in (IN_ENGLISH, german)]
    assert first == [1, 0]
    assert german.meaning < chinese.meaning < IN_ENGLISH.meaning
    assert weighing(ENGLISH, "") == weighing("openai:model", "de") == IN_ENGLISH


def test_a_lower_cosine_of_the_encoder_is_near_enough() -> None:
    """Without a word of the question, 0.25 is too little in English."""
    near = near_of({10: 0.25})
    assert by_words_and_meaning([], near, 1) == []
    assert [each.document for each in by_words_and_meaning([], near, 1, weighing(ENCODER, "zh"))] == [2]


def test_of_equals_the_first_indexed_comes_first() -> None:
    """Ties are no matter of chance."""
    near = near_of({20: 0.5, 10: 0.5, 0: 0.5})
    assert [each.document for each in by_words_and_meaning([], near, 3)] == [0, 2, 4]


def test_a_fraction_of_a_cosine_is_lost_by_keeping_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept vectors are within 0.01 of the float32 cosine, and the same to the bit however they are batched."""
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((500, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE passages (id INTEGER PRIMARY KEY, document INTEGER, digest BLOB)")
    connection.execute("CREATE TABLE vectors (embedder TEXT, digest BLOB, vector BLOB, PRIMARY KEY (embedder, digest))")
    keys = [n.to_bytes(16) for n in range(len(vectors))]
    connection.executemany("INSERT INTO passages VALUES (?, ?, ?)", [(n, n, key) for n, key in enumerate(keys)])
    passage_vectors.keep(connection, "e", dict(zip(keys, passage_vectors.packed(vectors), strict=True)))
    found = []
    for rows in (4_096, 37):
        monkeypatch.setattr(passage_vectors, "_SCAN_ROWS", rows)
        batches = passage_vectors.VectorReader().batches(connection, "e", 384, state=0, count=len(keys))
        found.append(passage_vectors.nearness(batches, vectors[7]))
    connection.close()
    assert np.array_equal(found[0].cosines, found[1].cosines)
    assert np.abs(found[0].cosines - (vectors @ vectors[7])[found[0].passages]).max() < 0.01
