"""The knowledge pages: list, a document with its versions, deletion."""

import re

import pytest
from playwright.sync_api import expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import Furnished
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

TITLE = "HTTP caching in one page"


def test_documents_are_listed_fresh_and_stale(visit: Visitor) -> None:
    """Last updated first."""
    page = visit("/knowledge")
    expect(page.locator(".what")).to_have_text([TITLE, "Which caches guess a lifetime"])
    expect(page.locator(".past > li").first.locator(".tag").first).to_have_text("fresh")
    expect(page.locator(".past > li").last.locator(".tag")).to_have_text("stale")


def test_a_tag_filters_the_list(visit: Visitor) -> None:
    """The filter is shown, with a link to remove it."""
    page = visit("/knowledge")
    page.get_by_role("link", name="caching", exact=True).click()
    expect(page).to_have_url(re.compile("tag=caching"))
    expect(page.get_by_label("Tag")).to_have_value("caching")
    expect(page.locator(".past > li")).to_have_count(1)
    page.get_by_label("Written by").fill("eve")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".empty")).to_have_text("No matches.")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".past > li")).to_have_count(2)


def test_a_document_shows_its_earlier_versions(visit: Visitor, furnished: Furnished) -> None:
    """With its text and its source."""
    page = visit(f"/knowledge/{furnished.document}")
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
    expect(page.get_by_text("version 3")).to_be_visible()
    expect(page.get_by_role("link", name="https://example.org/caching")).to_be_visible()
    page.get_by_text("Version 2, ").click()
    expect(page.get_by_text("else the server is asked.")).to_be_visible()
    expect(page.get_by_text("Version 1, ")).to_be_visible()


def test_a_stale_document_says_since_when(visit: Visitor, furnished: Furnished) -> None:
    """It is still shown."""
    page = visit(f"/knowledge/{furnished.stale}")
    expect(page.locator(".tag.warn")).to_have_text("stale since 58 d ago")
    expect(page.locator(".prose")).to_contain_text("a tenth of the time")


def test_a_document_is_deleted_after_confirmation(visit: Visitor, own: Site, furnished: Furnished) -> None:
    """With its versions; the list no longer has it."""
    page = visit(f"/knowledge/{furnished.document}", site=own)
    page.evaluate("window.confirm = () => true")
    page.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/knowledge$"))
    expect(page.locator(".past > li")).to_have_count(1)
