"""Lookups: by URL first, then by meaning; a hit, a stale document, or a miss."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from harness.core.tables import KNOWLEDGE, KNOWLEDGE_HISTORY
from harness.errors import EmbeddingError, InvalidInput, SearchBackendError, StoreCorrupt, StoreError
from harness.knowledge import Knowledge
from harness.knowledge.knowledge_documents import KnowledgeDocument
from harness.ports import Store
from tests.fakes import FakeClock, MemoryStore, WordEmbedder, refusing

HOURS = 3_600.0
TITLE, ASKED = "github rest rate limits", "what are the github rest rate limits"
URL = "https://docs.github.com/rest"


class Broken(WordEmbedder):
    """An embedder whose model is missing until it is `repaired`."""

    repaired = False

    def embed(self, texts: Any) -> np.ndarray:
        """See `Embedder.embed`."""
        if not self.repaired:
            raise EmbeddingError("the model is missing; reinstall research-harness")
        return super().embed(texts)


def test_the_life_of_a_document(knowledge: Knowledge, clock: FakeClock) -> None:
    """Miss, written, found by URL and by meaning, too old, refreshed, expired, refreshed again."""
    assert knowledge.lookup(ASKED, URL).as_dict() == {
        "hit": False, "document": None, "stale_exists": False, "stale_id": None, "found": None, "similarity": None,
    }  # fmt: skip
    written = knowledge.write(TITLE, "5,000 an hour.", source_url=URL, confidence=0.9, ttl_hours=48)
    assert (written.outcome, written.version) == ("created", 1)
    assert knowledge.lookup("anything", URL).found == "url"
    hit = knowledge.lookup(ASKED)
    assert (hit.hit, hit.found, hit.document) == (True, "meaning", written.document)
    clock.advance(25 * HOURS)
    too_old = knowledge.lookup(ASKED, max_age_hours=24)
    assert (too_old.hit, too_old.document, too_old.stale_exists, too_old.stale_id) == (False, None, True, written.id)
    assert knowledge.lookup(ASKED, max_age_hours=26).hit
    knowledge.write(id=written.id)
    assert knowledge.lookup(ASKED, max_age_hours=24).hit
    clock.advance(48 * HOURS)
    for expired in (knowledge.lookup(ASKED), knowledge.lookup("anything", URL)):
        assert (expired.hit, expired.stale_id) == (False, written.id)
    knowledge.write(id=written.id, content="15,000 an hour.")
    again = knowledge.lookup(ASKED)
    assert again.document is not None
    assert (again.document.content, again.document.version, again.stale_exists) == ("15,000 an hour.", 3, False)


@pytest.mark.parametrize(
    "url", ["HTTPS://Docs.GitHub.com:443/rest/", "https://docs.github.com/rest?utm_source=x#limits", f"  {URL}\n"]
)
def test_every_spelling_of_a_url_finds_its_document(knowledge: Knowledge, url: str) -> None:
    """Case of the host, default port, fragment, tracking and a trailing slash do not distinguish URLs."""
    written = knowledge.write(TITLE, "5,000 an hour.", source_url=URL)
    assert knowledge.lookup("anything", url).document == written.document


def test_a_url_is_found_without_a_model(store: Store) -> None:
    """The document of the URL answers even if embedding fails."""
    knowledge = Knowledge(store, Broken())
    knowledge.write(TITLE, "5,000 an hour.", source_url=URL)
    assert knowledge.lookup("anything", URL).hit


def test_the_age_limit_is_inclusive_and_expiry_is_not(knowledge: Knowledge, clock: FakeClock) -> None:
    """At exactly the allowed age a document answers; at exactly its expiry it does not."""
    knowledge.write(TITLE, "5,000 an hour.", ttl_hours=2)
    clock.advance(HOURS)
    assert knowledge.lookup(ASKED, max_age_hours=1).hit
    clock.advance(HOURS)
    assert knowledge.lookup(ASKED).stale_exists


def test_another_document_answers_if_the_one_of_the_url_is_stale(knowledge: Knowledge, clock: FakeClock) -> None:
    """The hit names the document to refresh: that of the URL before others."""
    knowledge.write(f"{TITLE} list", "Old.", ttl_hours=1)
    stale = knowledge.write("something else", "Old.", source_url=URL, ttl_hours=1)
    clock.advance(HOURS)
    fresh = knowledge.write(TITLE, "New.")
    found = knowledge.lookup(ASKED, URL)
    assert (found.hit, found.document, found.stale_exists, found.stale_id) == (True, fresh.document, True, stale.id)


def test_the_most_similar_stale_document_is_named(knowledge: Knowledge, clock: FakeClock) -> None:
    """If no URL is given."""
    knowledge.write("github rest rate limits for apps", "Old.", ttl_hours=1)
    nearest = knowledge.write(TITLE, "Old.", ttl_hours=1)
    clock.advance(HOURS)
    assert knowledge.lookup(ASKED).stale_id == nearest.id


def test_low_confidence_is_neither_hit_nor_stale(knowledge: Knowledge, clock: FakeClock) -> None:
    """Expired or not; at exactly the required confidence a document answers."""
    knowledge.write(TITLE, "5,000 an hour?", source_url=URL, confidence=0.4, ttl_hours=1)
    assert knowledge.lookup(ASKED, min_confidence=0.4).hit
    for _ in range(2):
        for url in (None, URL):
            found = knowledge.lookup(ASKED, url)
            assert (found.hit, found.stale_exists) == (False, False)
        clock.advance(HOURS)


def test_every_tag_is_needed(knowledge: Knowledge) -> None:
    """All requested tags, in any case, by URL and by meaning."""
    knowledge.write(TITLE, "5,000 an hour.", source_url=URL, tags=["API", "limits"])
    for url in (None, URL):
        assert knowledge.lookup(ASKED, url, tags=["api"]).hit
        assert knowledge.lookup(ASKED, url, tags=["Limits", "API"]).hit
        assert not knowledge.lookup(ASKED, url, tags=["api", "quotas"]).hit


def test_the_highest_confidence_answers_then_the_nearest(knowledge: Knowledge) -> None:
    """Confidence comes before similarity."""
    near = knowledge.write(TITLE, "Near.", confidence=0.6)
    far = knowledge.write(f"{TITLE} overview", "Far.", confidence=0.6)
    assert knowledge.lookup(ASKED).document == near.document
    far = knowledge.write(id=far.id, confidence=0.7)
    assert knowledge.lookup(ASKED).document == far.document


def test_only_the_nearest_candidates_are_compared(knowledge: Knowledge) -> None:
    """With a limit of one, the nearest document decides, whatever the confidence of others."""
    near = knowledge.write(TITLE, "Near.", confidence=0.6)
    sure = knowledge.write(f"{TITLE} overview", "Far.", confidence=0.9)
    assert knowledge.lookup(ASKED, limit=1).document == near.document
    assert knowledge.lookup(ASKED, limit=2).document == sure.document


def test_a_document_below_the_floor_does_not_answer(store: Store, embedder: WordEmbedder, clock: FakeClock) -> None:
    """At 1.0, only the identical title passes."""
    Knowledge(store, embedder, clock=clock).write(f"{TITLE} overview", "5,000 an hour.")
    assert Knowledge(store, embedder, clock=clock, floor=0.5).lookup(TITLE).hit
    assert not Knowledge(store, embedder, clock=clock, floor=0.99).lookup(TITLE).hit


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("python 3.12 release date", "python 3.11 release date"),
        ("population of france in 2023", "population of france in 2024"),
        ("how to enable ipv6 on linux", "how to disable ipv6 on linux"),
        ("redis eviction policies", "memcached eviction policies"),
        ("migrating from mysql to postgresql", "migrating from postgresql to mysql"),
    ],
)
def test_look_alikes_never_answer(title: str, query: str) -> None:
    """Another version, year, opposite, name or direction is another question, however similar."""
    knowledge = Knowledge(MemoryStore(), WordEmbedder(), floor=0.0)
    knowledge.write(title, "The answer.", confidence=1.0)
    assert knowledge.lookup(title).hit
    found = knowledge.lookup(query, min_confidence=0.0)
    assert (found.hit, found.stale_exists) == (False, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_age_hours": bad} for bad in (0, -1, nan, inf, -inf, True, "1", 10**400)
    ] + [{"limit": bad} for bad in (0, -1, 1.5, nan, True, 101, 10**400)]
    + [{"min_confidence": bad} for bad in (-0.01, 1.01, nan, inf, True, "1", None, 10**400)]
    + [{"query": bad} for bad in ("", " \n", "a\0b", "\ud800", 7, "x" * 10_001)]
    + [{"source_url": bad} for bad in ("ftp://a.org", "a.org", "https://", "http://a b.org/", "http://[", "x" * 10_001,
                                       "https://me:secret@a.org/", "file:///etc/passwd", "https://a.org/\0", 7)]
    + [{"tags": bad} for bad in ("api", [7], [""], ["x" * 51], ["a\0"], [f"t{n}" for n in range(21)], {"a": 1})],
    ids=lambda wrong: f"{next(iter(wrong))}={next(iter(wrong.values()))!r:.25}".encode("ascii", "replace").decode(),
)  # fmt: skip
def test_unusable_arguments_are_reported(wrong: dict[str, Any]) -> None:
    """Numbers out of range, NaN and infinity, and unusable texts are the caller's error, in one line."""
    with pytest.raises(InvalidInput) as raised:
        Knowledge(MemoryStore(), WordEmbedder()).lookup(**{"query": ASKED, **wrong})
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


def test_a_failing_model_is_not_a_miss(store: Store) -> None:
    """A lookup by meaning that fails has its own error code."""
    with pytest.raises(SearchBackendError, match="model is missing") as raised:
        Knowledge(store, Broken()).lookup(ASKED)
    assert raised.value.code == "search_backend_error"


def test_a_failing_vector_search_is_not_a_miss(embedder: WordEmbedder) -> None:
    """It is the same error."""
    deaf = refusing(StoreError("the disk is full"), "nearest.search")
    with pytest.raises(SearchBackendError, match="disk is full"):
        Knowledge(deaf, embedder).lookup(ASKED)


def test_a_document_without_a_vector_gets_one(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """It is stored without a model, with a warning, and found by meaning once there is a model."""
    embedder = Broken()
    knowledge = Knowledge(store, embedder)
    written = knowledge.write(TITLE, "5,000 an hour.")
    assert "only its URL finds it" in caplog.text
    embedder.repaired = True
    assert knowledge.lookup(ASKED).document == written.document


def test_damaged_documents_are_skipped(knowledge: Knowledge, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """A damaged row is a warning in lookups and lists, a typed error by id, and can be deleted."""
    damaged = knowledge.write(TITLE, "Damaged.", source_url=URL)
    sound = knowledge.write(f"{TITLE} overview", "Sound.")
    (row,) = [row for row in store.listings.scan(KNOWLEDGE, "default") if row.key == damaged.id]
    for payload in (b"{", b"[]", b'{"id": 1}', row.payload.replace(b'"expires_at":17', b'"expires_at":1e99,"x":')):
        store.rows.put(KNOWLEDGE, "default", type(row)(**{name: getattr(row, name) for name in row.__struct_fields__}
                                                  | {"payload": payload}))  # fmt: skip
        assert knowledge.lookup(ASKED, URL).document == sound.document
        assert knowledge.list() == [sound.document]
        assert "damaged" in caplog.text
        for use in (knowledge.get, lambda found: knowledge.write(id=found)):
            with pytest.raises(StoreCorrupt):
                use(damaged.id)
    assert knowledge.write(TITLE, "Another.", source_url=URL).outcome == "duplicate"
    assert knowledge.delete(damaged.id)


def test_a_document_is_shown_with_iso_times(knowledge: Knowledge) -> None:
    """Times are ISO 8601 in UTC, and empty fields are null."""
    written = knowledge.write(TITLE, "5,000 an hour.", ttl_hours=1)
    document = knowledge.get(written.id)
    assert isinstance(document, KnowledgeDocument)
    told = document.as_dict()
    assert (told["created_at"], told["expires_at"]) == ("2023-11-14T22:13:20Z", "2023-11-14T23:13:20Z")
    assert (told["agent"], told["source_url"], told["tags"], told["confidence"]) == (None, None, (), 0.5)


@pytest.mark.parametrize("unknown", ["", "0" * 32, "no such id", "../..", "x" * 1_000, "\0", "\ud800"])
def test_an_unknown_id_is_a_value(unknown: str) -> None:
    """No document, no history, nothing deleted."""
    knowledge = Knowledge(MemoryStore(), WordEmbedder())
    assert knowledge.get(unknown) is None
    assert knowledge.history(unknown) == []
    assert not knowledge.delete(unknown)


def test_lists_begin_with_the_last_update(knowledge: Knowledge, clock: FakeClock) -> None:
    """Newest first, expired or not; by tags and agent, at most `limit`."""
    first = knowledge.write("one", "1", tags=["A", "b"], agent="Scout", ttl_hours=1)
    clock.advance(HOURS)
    second = knowledge.write("two", "2", tags=["a"])
    assert [each.title for each in knowledge.list()] == ["two", "one"]
    clock.advance(1)
    knowledge.write(id=first.id)
    assert [each.title for each in knowledge.list()] == ["one", "two"]
    assert [each.id for each in knowledge.list(1)] == [first.id]
    assert [each.id for each in knowledge.list(tags=["a", "B"])] == [first.id]
    assert [each.id for each in knowledge.list(agent="scout")] == [first.id]
    assert [each.id for each in knowledge.list(tags=["A"])] == [first.id, second.id]
    with pytest.raises(InvalidInput):
        knowledge.list(0)


def test_deleting_removes_the_history(knowledge: Knowledge, store: Store) -> None:
    """Nothing of a deleted document remains or is found."""
    written = knowledge.write(TITLE, "1", source_url=URL)
    other = knowledge.write("another thing", "1")
    for each in (written, other):
        knowledge.write(id=each.id, content="2")
    assert knowledge.delete(written.id)
    assert not knowledge.delete(written.id)
    assert not knowledge.lookup(ASKED, URL).hit
    assert [row.own[0] for row in store.listings.scan(KNOWLEDGE_HISTORY, "default")] == [other.id]
    assert knowledge.write(TITLE, "1", source_url=URL).outcome == "created"
