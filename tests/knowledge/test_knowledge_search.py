"""Search of documents: by words of title and content, and by the meaning of the title."""

import pytest

from harness.errors import EmbeddingError, InvalidInput, SearchBackendError
from harness.knowledge import Knowledge
from tests.fakes import FakeClock, WordEmbedder


def ids(knowledge: Knowledge, query: str) -> list[str]:
    """Return the ids that a search finds."""
    return [key for key, _ in knowledge.search(query)]


def test_words_of_the_content_find_a_document(knowledge: Knowledge) -> None:
    """In any form, also where the title has none of them; its similarity is then not known."""
    rocket = knowledge.write("Minutes of Monday", "The launch codes, the rocket's and mine, were changed.").id
    knowledge.write("Weather in Oslo", "Rain.")
    assert knowledge.search("launch code") == [(rocket, None)]
    assert ids(knowledge, "changing the LAUNCH code") == [rocket]
    assert ids(knowledge, "rocket's code") == [rocket]


def test_most_words_are_needed(knowledge: Knowledge) -> None:
    """A document with half of them or fewer is about something else."""
    knowledge.write("Minutes of Monday", "The launch was moved.")
    assert ids(knowledge, "launch code") == []
    assert len(ids(knowledge, "launch moved rocket")) == 1
    assert ids(knowledge, "it was") == []


def test_words_come_before_similar_titles(knowledge: Knowledge) -> None:
    """Documents with the words in the title come first; a similar title follows, with its similarity."""
    content = knowledge.write("Minutes", "Retries of the gateway stop after five.").id
    similar = knowledge.write("Retries", "Three.").id
    title = knowledge.write("Gateway retries", "Four.").id
    found = knowledge.search("gateway retries")
    assert found[0][0] == title
    assert {key for key, _ in found} == {title, content, similar}
    similarities = dict(found)
    assert similarities[title] == 1.0
    assert 0 < (similarities[similar] or 0) < 1
    assert similarities[content] is None


def test_expired_documents_are_found(knowledge: Knowledge, clock: FakeClock) -> None:
    """By words and by meaning."""
    knowledge.write("Retries", "The launch code is old.", ttl_hours=1)
    clock.now += 7_200
    assert len(ids(knowledge, "retries")) == len(ids(knowledge, "launch code")) == 1


def test_words_of_a_script_without_spaces_are_found(knowledge: Knowledge) -> None:
    """As n-grams."""
    written = knowledge.write("Notes", "我们决定使用缓存来减少费用。").id
    assert written in ids(knowledge, "使用缓存")


def test_a_search_that_cannot_be_made_is_an_error(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no empty list."""
    with pytest.raises(InvalidInput):
        knowledge.search(" ")

    def fails(*_: object) -> None:
        raise EmbeddingError("the model is missing")

    monkeypatch.setattr(WordEmbedder, "embed", fails)
    with pytest.raises(SearchBackendError, match="the model is missing"):
        knowledge.search("retries")
