"""The pages of settings and findings."""

import re

import pytest
from playwright.sync_api import expect

from tests.server.browser.conftest import Visitor

pytestmark = pytest.mark.full


def test_a_setting_is_found(visit: Visitor) -> None:
    """The footer leads there; words of its description find it; what was changed says by what."""
    page = visit("/cache")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.get_by_label("Find").fill("folder of all DATA harness.db")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".settings > div")).to_have_count(1)
    expect(page.locator(".settings > .changed .tag")).to_have_text("environment HARNESS_DATA_DIR")
    page.get_by_role("link", name="Show all").click()
    page.get_by_role("link", name="Vector store").click()
    expect(page.get_by_role("heading", name="Vector store")).to_be_in_viewport()


def test_the_findings_can_be_checked_again(visit: Visitor) -> None:
    """Each has its state, name and text."""
    page = visit("/doctor")
    expect(page.locator(".verdict")).to_contain_text(re.compile("works"))
    expect(page.locator(".findings > li", has_text="database")).to_contain_text("entries in")
    found = page.locator(".findings > li").count()
    page.get_by_role("link", name="Check again").click()
    expect(page.locator(".findings > li")).to_have_count(found)
