"""`/healthz`, `/readyz` and `/metrics`, read by Prometheus' client."""

from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from harness.app import App
from harness.server.metrics import Metrics
from harness.settings import Settings
from tests.research.test_reuse import Engine


def samples(client: TestClient, **headers: str) -> dict[tuple[str, ...], float]:
    """Return every sample of `/metrics` by its name and the values of its labels."""
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def test_answers_are_counted_by_kind(client: TestClient, engine: Engine) -> None:
    """A live call, then a hit."""
    for _ in range(2):
        assert client.get("/search", params={"q": "retries of the server", "format": "json"}).status_code == 200
    found = samples(client)
    assert found["harness_answers_total", "live"] == 1
    assert found["harness_answers_total", "exact"] == 1
    assert engine.asked == ["retries of the server"]


def test_requests_are_counted_by_route_and_status(client: TestClient) -> None:
    """The route is its template; a path that is not served has none."""
    client.get("/api/stats")
    client.get("/api/runs/20260101-000000-0000")
    client.get("/no/such/page")
    client.post("/mcp", content=b"{")
    client.get("/static/app.css")
    found = samples(client)
    assert found["harness_http_requests_total", "GET", "/api/stats", "200"] == 1
    assert found["harness_http_requests_total", "GET", "other", "404"] == 1
    assert found["harness_http_requests_total", "POST", "/mcp", "400"] == 1
    assert found["harness_http_requests_total", "GET", "/static/{path}", "200"] == 1
    assert not any("20260101" in part for name in found for part in name)
    assert found["harness_http_request_seconds_count", "/api/stats"] == 1


def test_no_text_of_a_user_is_in_the_metrics(client: TestClient, engine: Engine) -> None:
    """Neither the query nor the path."""
    client.get("/search", params={"q": "xylophone", "format": "json"})
    client.get("/xylophone")
    assert "xylophone" not in client.get("/metrics").text


def test_the_librarys_size_is_a_gauge(client: TestClient, engine: Engine) -> None:
    """It is 0 before anything was read."""
    assert samples(client)["harness_library_passages",] == 0
    assert samples(client)["harness_researches_running",] == 0


@pytest.mark.parametrize(
    ("tenant", "role", "status"),
    [("default", "admin", 200), ("default", "writer", 403), ("lab", "admin", 403)],
)
def test_metrics_of_all_tenants_are_for_the_operator(
    client: TestClient, token: Callable[..., str], tenant: str, role: str, status: int
) -> None:
    """A tenant does not learn how busy another one is."""
    headers = {"Authorization": f"Bearer {token(tenant, 'ada', role)}"}
    assert client.get("/metrics", headers=headers).status_code == status
    assert client.get("/metrics").status_code == 401


def test_it_is_ready_while_the_database_can_be_read(client: TestClient, token: Callable[..., str]) -> None:
    """Anyone may ask; the answer has no details."""
    token()
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_it_is_not_ready_without_a_database(settings: Settings, client: TestClient) -> None:
    """But up."""
    (settings.data_dir / "harness.db").mkdir(parents=True)
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "unavailable"})
    assert client.get("/healthz").status_code == 200


def test_it_is_not_ready_while_it_stops(client: TestClient, researches: "object") -> None:
    """A load balancer stops sending requests first."""
    researches.close()  # type: ignore[attr-defined]
    assert client.get("/readyz").status_code == 503


def test_counts_of_workers_are_added(tmp_path: Path) -> None:
    """Each process writes its own file; a gauge of a process that ended does not count."""
    import subprocess
    import sys

    script = (
        "from harness.server.metrics import Metrics\n"
        "metrics = Metrics()\n"
        "metrics.count_answers({'exact': 2, 'no results': 1})\n"
        "metrics.set_gauges(researches_running=1, requests_waiting=0, library_passages=0)\n"
        "print(metrics.text().decode())\n"
    )
    environment = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for times in (1, 2):
        ended = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
        )
        found = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(ended.stdout)
            for sample in family.samples
        }
        assert found["harness_answers_total", "exact"] == 2 * times
        assert found["harness_answers_total", "no_results"] == times
        assert found["harness_researches_running",] == 1


def test_model_calls_and_their_tokens_are_counted() -> None:
    """By outcome; a hit's tokens were saved."""
    metrics = Metrics()
    metrics.count_model_call("chat", "hit", 100, 20)
    metrics.count_model_call("chat", "hit", 1, 2)
    text = metrics.text().decode()
    assert 'harness_model_calls_total{kind="chat",outcome="hit"} 2.0' in text
    assert 'harness_model_tokens_total{direction="prompt",kind="chat",outcome="hit"} 101.0' in text


def test_counts_of_an_app_for_one_request_reach_the_metrics(app: App) -> None:
    """They are stored with the next ones, not by each request."""
    counted: list[dict[str, int]] = []
    app.tallies.on_answers = lambda each: counted.append(dict(each))
    with app.serving(app.identity, origin="agent") as mine:
        mine.cache.usage.count("exact", 3)
    app.tallies.flush()
    assert {"exact": 3} in counted
    assert app.cache.usage.total(["agent"]) == {"exact": 3}


@pytest.mark.slow
def test_invented_methods_make_no_series(client: TestClient) -> None:
    """Anyone can send them: memory must not grow."""
    for number in range(5):
        client.request(f"METHOD{number}", "/api/stats")
    found = [name for name in samples(client) if name[0] == "harness_http_requests_total"]
    assert {name[1] for name in found} <= {"GET", "other"}
