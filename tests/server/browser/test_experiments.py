"""The pages of experiments: list, loop, evaluation, comparison."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import Furnished

pytestmark = pytest.mark.full


def drawn(page: Page) -> int:
    """Scroll to every chart; return how many were loaded."""
    charts = page.locator(".chart img").all()
    for chart in charts:
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_js_property("complete", value=True)
    return sum(chart.evaluate("each => each.naturalWidth") > 0 for chart in charts)


def test_loops_and_evaluations_are_listed_and_drawn(visit: Visitor, furnished: Furnished) -> None:
    """With charts of the newest loop and of all evaluations, and their numbers."""
    page = visit("/experiments")
    assert drawn(page) == 2
    expect(page.get_by_role("link", name=furnished.loop)).to_be_visible()
    for name in furnished.evaluations:
        expect(page.get_by_role("link", name=name)).to_be_visible()


def test_a_loop_shows_every_experiment(visit: Visitor, furnished: Furnished) -> None:
    """Verdicts, numbers, reasons; and the kept settings."""
    page = visit("/experiments")
    page.get_by_role("link", name=furnished.loop).click()
    assert drawn(page) == 1
    rows = page.get_by_role("table", name="experiments").get_by_role("row")
    expect(rows).to_have_count(7)
    expect(rows.nth(5)).to_contain_text("crash")
    rows.nth(5).get_by_text("Why").click()
    expect(rows.nth(5)).to_contain_text("is it running?")
    expect(page.locator("pre")).to_contain_text("max_rounds: 3")


def test_an_evaluation_shows_every_task(visit: Visitor, furnished: Furnished) -> None:
    """A crashed task has its error."""
    page = visit(f"/experiments/evaluations/{furnished.evaluations[0]}")
    expect(page.get_by_role("row", name="t03")).to_contain_text("crashed")
    expect(page.locator(".failure").first).to_contain_text("is it running?")
    expect(page.get_by_role("row", name="Mean").first).to_contain_text(re.compile(r"0\.\d{3}"))


def test_two_evaluations_are_compared(visit: Visitor, furnished: Furnished) -> None:
    """Select two, press one button: difference, confidence, tasks, changed settings."""
    page = visit("/experiments")
    page.get_by_role("button", name="Compare").click()
    first, second = furnished.evaluations
    expect(page.get_by_role("heading", level=1)).to_have_text("Two evaluations side by side")
    assert f"first={first}" in page.url
    assert f"second={second}" in page.url
    expect(page.locator(".card").first).to_contain_text("+0.")
    assert drawn(page) == 1
    expect(page.get_by_role("row", name="max_rounds")).to_be_visible()
