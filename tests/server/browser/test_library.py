"""The library page: search, sources, filters, deletion, and a page that is added."""

import re

import pytest
from playwright.sync_api import expect

from tests.server.browser.access import overflow, serious
from tests.server.browser.conftest import PHONE, Visitor
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full


def test_a_search_finds_passages(visit: Visitor) -> None:
    """With their source, kind and age; the title leads to the whole text."""
    page = visit("/library")
    page.get_by_label("Search the library").fill("stale responses")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page).to_have_url(re.compile("q=stale"))
    first = page.locator(".passages > li").first
    expect(first.locator(".meta")).to_contain_text("search result")
    expect(first.locator("time")).to_have_text(re.compile("^read .* ago$"))
    title = first.locator(".what bdi").first.inner_text()
    first.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/library/source"))
    expect(page.locator("main")).to_contain_text(title)


def test_filters_narrow_sources_and_search(visit: Visitor) -> None:
    """By kind and by site; both stay for a search."""
    page = visit("/library")
    everything = page.locator(".source").count()
    page.get_by_label("Kind").select_option("knowledge")
    page.get_by_label("Site").fill("example.org")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".source")).to_have_count(1)
    assert everything > 1
    page.get_by_label("Search the library").fill("fresh responses")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_label("Site")).to_have_value("example.org")
    kinds = page.locator(".passages .meta")
    expect(kinds.first).to_contain_text("knowledge")
    expect(page.locator(".passages .meta", has_text="search result")).to_have_count(0)
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".source")).to_have_count(everything)


def test_growth_is_a_chart_and_a_table(visit: Visitor) -> None:
    """By the day the passages were read."""
    page = visit("/library")
    chart = page.locator(".chart img")
    chart.scroll_into_view_if_needed()
    expect(chart).to_have_js_property("complete", value=True)
    assert chart.evaluate("each => each.naturalWidth") > 0
    page.get_by_text("As a table").click()
    expect(page.get_by_role("table", name="Passages by the day").get_by_role("row").nth(1)).to_be_visible()


def test_a_source_is_deleted_after_confirmation(visit: Visitor, own: Site) -> None:
    """Otherwise it stays."""
    visit.forgive("dialog: Delete this source")
    page = visit("/library?kind=snippet", site=own)
    before = page.locator(".source").count()
    page.get_by_role("button", name="Delete Variants").click()  # the visitor says no
    expect(page.locator(".source")).to_have_count(before)
    page.evaluate("window.confirm = () => true")
    page.get_by_role("button", name="Delete Variants").click()
    expect(page.get_by_role("button", name="Delete Variants")).to_have_count(0)


def test_a_page_of_this_machine_is_refused_beside_the_form(visit: Visitor, own: Site) -> None:
    """The form keeps the address."""
    visit.forgive("status of 4|status of 5")
    page = visit("/library", site=own)
    page.get_by_label("Read a page into the library").fill(f"{own.address}/cache")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Read a page into the library")).to_have_value(f"{own.address}/cache")


@pytest.mark.parametrize("path", ["/library", "/cache"])
@pytest.mark.parametrize("dark", [False, True])
def test_empty_pages_are_accessible_and_fit_a_phone(visit: Visitor, bare: Site, path: str, dark: bool) -> None:
    """They lead to the first research."""
    page = visit(path, site=bare, size=PHONE, dark=dark)
    expect(page.get_by_role("link", name="Start a research")).to_be_visible()
    assert (overflow(page), serious(page)) == (0, [])
