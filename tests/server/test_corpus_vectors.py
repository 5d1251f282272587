"""Search APIs on a corpus without vectors."""

from starlette.testclient import TestClient

from harness.settings import Settings


def test_searches_ranked_by_words_say_so(client: TestClient, settings: Settings) -> None:
    """In one more field, in both formats."""
    assert not settings.corpus_meaning
    searxng = client.get("/search", params={"q": "retries", "format": "json"}).json()
    tavily = client.post("/tavily/search", json={"query": "retries"}).json()
    assert searxng["ranked_by_words"] == tavily["ranked_by_words"] == ["corpus"]
