"""Read-only pages about the program: its settings and the findings of `harness doctor`."""

import time
from collections import Counter
from threading import Lock
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from harness.app import App
from harness.core.text import one_line
from harness.identity import Identity
from harness.server.health_checks import CheckResult, check_everything
from harness.server.pages.templates import page
from harness.server.route_dependencies import RequestApp
from harness.settings import Described, Loaded, default_config_path, setting_groups
from harness.settings.loading import setting_names, stays_here

router = APIRouter()

REMEMBERED_SECONDS = 60
"""Seconds for which findings are shown again before another request repeats the checks, which read every row."""

HIDDEN = "shown on the server's machine only"
OF_THE_MACHINE = ("disk", "database", "engine", "embedder", "languages")
"""Checks whose findings name folders or hosts."""


class Checked(NamedTuple):
    """Findings, the seconds that the checks took, and when they ended, by the monotonic clock."""

    results: list[CheckResult]
    seconds: float
    at: float


class RememberedChecks:
    """Last findings of each user, for `REMEMBERED_SECONDS`. One request at a time runs the checks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: dict[Identity, Checked] = {}

    def of(self, app: App) -> Checked:
        """Return the findings for the user of an app, at most `REMEMBERED_SECONDS` old."""
        with self._lock:
            began = time.monotonic()
            self._last = {user: each for user, each in self._last.items() if began - each.at < REMEMBERED_SECONDS}
            if app.identity not in self._last:
                results = check_everything(app)
                ended = time.monotonic()
                self._last[app.identity] = Checked(results, ended - began, ended)
            return self._last[app.identity]


@router.get("/settings")
def settings(request: Request, app: RequestApp, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show every setting with its value, default and origin; with a query, those whose name or description has it."""
    app.identity.require("admin")
    loaded = app.loaded or Loaded(app.settings, dict.fromkeys(setting_names(), ""), default_config_path())
    described = {each.name: _visible(each, app) for each in loaded.describe()}
    groups = [
        (heading, [described[name] for name in names if _matches(described[name], q)])
        for heading, (_, names) in setting_groups().items()
    ]
    return page(
        request,
        "settings.html",
        q=q,
        groups=[(heading, found) for heading, found in groups if found],
        total=len(described),
        changed=sum(each.value != each.default for each in described.values()),
        config_path=str(loaded.config_path) if app.identity.local else "",
    )


@router.get("/doctor")
def doctor(request: Request, app: RequestApp) -> Response:
    """Run every check of `harness doctor` and show its findings, or those of the last `REMEMBERED_SECONDS`."""
    app.identity.require("admin")
    remembered: RememberedChecks = request.app.state.checks
    checked = remembered.of(app)
    findings = [_without_places(each, app) for each in checked.results]
    return page(
        request,
        "doctor.html",
        findings=sorted(findings, key=lambda each: ("broken", "weak", "ok").index(each.state)),
        counts=Counter(each.state for each in findings),
        seconds=checked.seconds,
        age=time.monotonic() - checked.at,
        remembered_seconds=REMEMBERED_SECONDS,
    )


def _visible(setting: Described, app: App) -> Described:
    """Return a setting as the user may see it: a token's owner sees neither paths nor addresses of the machine."""
    if app.identity.local:
        return setting
    origin = setting.origin.partition(" ")[0]
    if stays_here(setting.name):
        return Described(setting.name, HIDDEN, origin, setting.help, "")
    return Described(setting.name, setting.value, origin, setting.help, setting.default)


def _without_places(finding: CheckResult, app: App) -> CheckResult:
    """Return a finding as the user may see it; see `_visible`. What to do is done on the server's machine anyway."""
    if app.identity.local or (finding.state == "ok" and finding.name not in OF_THE_MACHINE):
        return finding
    return finding._replace(told=HIDDEN)


def _matches(setting: Described, query: str) -> bool:
    words = one_line(query).lower().split()
    text = f"{setting.name} {setting.name.replace('_', ' ')} {setting.help} {setting.value}".lower()
    return all(word in text for word in words)
