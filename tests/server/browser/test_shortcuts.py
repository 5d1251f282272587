"""Keyboard shortcuts: what they do, that they keep out of typing, and that they can be turned off."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import Furnished

pytestmark = pytest.mark.full

FOCUSED = "document.activeElement.textContent"


def entries(page: Page) -> list[str]:
    """Return the titles of the list."""
    return page.locator(".past .what a").all_inner_texts()


def test_j_and_k_move_in_the_list(visit: Visitor) -> None:
    """Keys move from the first entry on; Enter opens one, and at the ends they stay."""
    page = visit("/")
    titles = entries(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == titles[1]
    for _ in range(3):
        page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == titles[0]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[0])


def test_a_slash_leads_to_the_search_and_n_to_a_new_research(visit: Visitor, furnished: Furnished) -> None:
    """Every page has them; typed words are text."""
    page = visit(f"/runs/{furnished.run}")
    page.keyboard.press("n")
    expect(page.get_by_label("Research a question")).to_be_focused()
    page.keyboard.type("n/j?k")
    expect(page.get_by_label("Research a question")).to_have_value("n/j?k")
    page.goto(page.url.replace("#question", "knowledge"))
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the history")).to_be_focused()
    page.keyboard.type("?j")
    expect(page.get_by_role("searchbox", name="Search the history")).to_have_value("?j")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_question_mark_shows_them_and_escape_hides_them(visit: Visitor) -> None:
    """So does the button at the end of each page."""
    page = visit("/cache")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("n")
    assert re.search("/cache$", page.url), "no shortcut works behind the list"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_contain_text("New research")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_single_keys_can_be_turned_off(visit: Visitor) -> None:
    """For people who are about their browser; the choice stays."""
    page = visit("/")
    page.keyboard.press("?")
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    for key in ("?", "j", "n"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement === document.body")
    page.evaluate("localStorage.clear()")  # windows are reused


def test_keys_with_a_modifier_belong_to_the_browser(visit: Visitor) -> None:
    """Control and J opens its downloads."""
    page = visit("/")
    page.keyboard.press("Control+j")
    assert page.evaluate("document.activeElement === document.body")
