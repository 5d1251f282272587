"""The pages of experiments: list, loop, evaluation, comparison."""

import re
from typing import Any

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


def arrived(page: Page, heading: str) -> None:
    """Wait for the page with this heading, and for its script: a key pressed before would be lost."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    page.wait_for_load_state()


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
    tests = page.get_by_role("table", name="no experiment used").get_by_role("row")
    expect(tests.nth(1)).to_contain_text("not confirmed")
    expect(tests.nth(2)).to_contain_text("+0.041")


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


def test_one_clicks_from_an_evaluation_to_a_task(visit: Visitor, furnished: Furnished) -> None:
    """Sorted and filtered by links and a form; the arrow keys lead to the neighbours, except in a table."""
    page = visit(f"/experiments/evaluations/{furnished.evaluations[1]}")
    page.get_by_role("link", name="nugget vital").click()
    expect(page.get_by_role("columnheader", name="nugget vital")).to_have_attribute("aria-sort", "descending")
    page.get_by_label("Show").select_option("tasks below the mean")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("show=low"))  # or the list read next is that of the page before
    tasks = page.locator("tbody th a").all_text_contents()
    assert 1 < len(tasks) < 26
    page.get_by_role("link", name=tasks[0], exact=True).click()
    arrived(page, tasks[0])
    page.keyboard.press("ArrowRight")
    arrived(page, tasks[1])
    page.locator(".wide").first.focus()
    page.keyboard.press("ArrowLeft")
    page.locator("main").focus()
    arrived(page, tasks[1])
    page.keyboard.press("ArrowLeft")
    arrived(page, tasks[0])


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"size": (390, 740)}], ids=["light", "dark", "phone"])
def test_pages_of_tasks_fit_the_window(visit: Visitor, furnished: Furnished, look: dict[str, Any]) -> None:
    """A task, two runs side by side, an experiment: nothing is wider than the window."""
    first, second = furnished.evaluations
    for address in (
        f"/experiments/evaluations/{first}/tasks/t00",
        f"/experiments/compare/task?first={first}&second={second}&task=t00",
        f"/experiments/loops/{furnished.loop}/experiments/2",
    ):
        page = visit(address, **look)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
