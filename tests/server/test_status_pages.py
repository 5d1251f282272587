"""Pages of the settings and of doctor's findings: read-only, for the local user and administrators."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.identity import Identity
from harness.server.health_checks import CheckResult
from harness.server.pages import status_routes
from harness.settings import load, setting_names
from harness.settings.loading import note_of, stays_here
from tests.server.test_pages import shown

SECRET = "sk-do-not-show-this"  # noqa: S105 - of no service


@pytest.fixture
def loaded(app: App, tmp_path: Path) -> Iterator[App]:
    """An app whose settings come from a file, the environment and a flag."""
    config = tmp_path / "config.yaml"
    config.write_text("max_rounds: 4\nengine: [ddgs]\n")
    environment = {"HARNESS_TTL": "2h", "HARNESS_TOKEN": SECRET}
    flags = {"max_results": 7, "data_dir": tmp_path / "data"}
    app.loaded = load(flags, config=config, environment=environment)
    yield app
    app.loaded = None


def test_every_setting_is_shown_with_value_origin_and_description(client: TestClient, loaded: App) -> None:
    """Settings that differ name their default and what set them."""
    page = shown(client, "/settings")
    codes = [each for each in setting_names() if each in page.text]
    assert codes == list(setting_names())
    for description in ("max_rounds", "max_results"):
        assert str(note_of(description, "description")) in page.text
    assert "environment HARNESS_TTL" in page.text
    assert "flag --max-results" in page.text
    assert str(loaded.loaded.config_path if loaded.loaded else "") in page.text


def test_secrets_are_never_shown(client: TestClient, loaded: App) -> None:
    """Neither to the local user nor by a search for them."""
    secrets = [name for name in setting_names() if note_of(name, "secret")]
    assert secrets
    assert loaded.loaded is not None
    assert SECRET in str(loaded.loaded.settings)
    for address in ("/settings", f"/settings?q={SECRET}", "/settings?q=token"):
        text = client.get(address, headers={"Accept": "text/html"}).text
        assert SECRET not in text.replace(f'value="{SECRET}"', "")
    assert "set (hidden)" in shown(client, "/settings").text


def test_a_search_finds_names_descriptions_and_values(client: TestClient, loaded: App) -> None:
    """In any case, with spaces for underscores; without a match there is a way back."""
    for query in ("MAX rounds", "max_rounds"):
        assert "max_rounds" in shown(client, f"/settings?q={query}").text
    assert "data_dir" not in shown(client, "/settings?q=max_rounds").text
    page = shown(client, "/settings?q=zebra")
    assert "No setting has these words" in page.text
    assert "/settings" in page.links()


@pytest.mark.parametrize("address", ["/settings", pytest.param("/doctor", marks=pytest.mark.slow)])
def test_only_administrators_see_them(client: TestClient, token: Callable[..., str], address: str) -> None:
    """Others get a page that says so; and no link."""
    for role, status in (("reader", 403), ("writer", 403), ("admin", 200)):
        headers = {"Authorization": f"Bearer {token('lab', role, role)}", "Accept": "text/html"}
        answer = client.get(address, headers=headers)
        assert answer.status_code == status, role
        links = client.get("/cache", headers=headers).text
        assert (f'href="{address}"' in links) == (role == "admin")


def test_an_administrator_with_a_token_sees_nothing_of_the_machine(
    client: TestClient, loaded: App, token: Callable[..., str], tmp_path: Path
) -> None:
    """No folder, no path, no host near it: the server may belong to another user else."""
    headers = {"Authorization": f"Bearer {token('lab', 'ada', 'admin')}", "Accept": "text/html"}
    for address in ("/settings", "/doctor"):
        text = client.get(address, headers=headers).text
        assert str(tmp_path) not in text
        assert SECRET not in text
    text = client.get("/settings", headers=headers).text
    hidden = [name for name in setting_names() if stays_here(name)]
    assert {"data_dir", "store", "engine"} <= set(hidden)
    assert text.count("machine only") == len(hidden)
    assert "HARNESS_TTL" not in text


@pytest.mark.slow
def test_the_findings_are_those_of_the_command(client: TestClient, app: App) -> None:
    """The same names, states and texts; broken parts first."""
    from harness.server.health_checks import check_everything

    findings = check_everything(app)
    page = shown(client, "/doctor")
    for each in findings:
        assert each.name in page.text
        assert " ".join(each.told.split()) in " ".join(page.text.split())
    assert {each.name for each in findings} >= {"python", "settings", "disk", "database", "embedder", "access"}


def test_findings_are_remembered_for_a_minute(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks read every row: a repeated request shows the last findings, and how old they are."""
    asked = []

    def check(app: App) -> list[CheckResult]:
        asked.append(app.identity.tenant)
        return [CheckResult("python", "ok", f"check {len(asked)}")]

    monkeypatch.setattr(status_routes, "check_everything", check)
    now = float(int(time.monotonic()))  # whole seconds, so that sums are exact
    monkeypatch.setattr(status_routes.time, "monotonic", lambda: now)
    first = shown(client, "/doctor")
    assert "check 1" in first.text
    assert "Checked" not in first.text
    now += 59
    again = shown(client, "/doctor")
    assert "check 1" in again.text
    assert "Checked 59 s ago" in again.text
    now += 1
    assert "check 2" in shown(client, "/doctor").text
    assert len(asked) == 2


def test_findings_are_those_of_one_user(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """They name the token; and two requests at once check once."""
    asked = []

    def check(app: App) -> list[CheckResult]:
        time.sleep(0.05)
        asked.append(app.identity.user)
        return [CheckResult("access", "ok", app.identity.user)]

    monkeypatch.setattr(status_routes, "check_everything", check)
    remembered = status_routes.RememberedChecks()
    users = [app.serving(Identity("lab", name, "admin", name)) for name in ("ada", "bob", "ada", "bob")]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(remembered.of, users))
    assert [each.results[0].told for each in found] == ["ada", "bob", "ada", "bob"]
    assert sorted(asked) == ["ada", "bob"]


@pytest.mark.slow
def test_a_broken_part_is_first(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page names the number of failed checks."""
    monkeypatch.setattr("harness.server.health_checks.LOW_DISK", 2**62)
    page = shown(client, "/doctor")
    assert "1 check failed" in page.text
    assert page.text.index("disk") < page.text.index("python")
