"""Runs and queries of evaluations do not stand among those of users and agents."""

from starlette.testclient import TestClient

from harness.app import App
from harness.settings import Settings
from harness.settings.mode import Mode

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}


def test_runs_and_suggestions_are_of_users_and_agents(client: TestClient, settings: Settings) -> None:
    """`origin` chooses others."""
    for origin, run in (("user", "20261122-101500-aaaaaa"), ("evaluation", "20261122-101502-cccccc")):
        with App(settings, Mode(origin=origin)) as app:  # type: ignore[arg-type]
            record = {"question": origin, "engines": [{"name": "ddgs"}], "uses": [], "state": "stopped"}
            app.cache.runs.put(run, origin, "ddgs", record)
            app.cache.searches.answer(f"bread of the {origin}", lambda *_: [RESULT])
    listed = {
        choice: {each["question"] for each in client.get("/api/runs", params={"origin": choice}).json()["items"]}
        for choice in ("own", "evaluation", "all")
    }
    assert listed == {"own": {"user"}, "evaluation": {"evaluation"}, "all": {"user", "evaluation"}}
    assert {each["question"] for each in client.get("/api/runs").json()["items"]} == {"user"}
    suggested = client.get("/autocompleter", params={"q": "bread"}, headers={"X-Requested-With": "XMLHttpRequest"})
    assert suggested.json() == ["bread of the user"]
