"""The cache page: figures, days, explanations, deletion; and the page of an entry."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import SEARCHES, counted_days
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full


def explained(visit: Visitor, query: str) -> Page:
    """Explain a search."""
    page = visit("/cache")
    page.get_by_label("How would this search be answered?").fill(query)
    page.get_by_role("button", name="Explain").click()
    expect(page).to_have_url(re.compile("#explain$"))
    return page


def test_figures_and_days_are_shown(visit: Visitor) -> None:
    """Saved calls as cards, as a chart and as its table."""
    page = visit("/cache")
    expect(page.locator(".card").first).to_have_text(re.compile(r"^\s*\d+ live calls saved$"))
    chart = page.locator(".chart img").first
    chart.scroll_into_view_if_needed()
    expect(chart).to_have_js_property("complete", value=True)
    assert chart.evaluate("each => each.naturalWidth") > 0
    page.get_by_text("As a table").click()
    rows = page.get_by_role("table", name="Lookups of each day").get_by_role("row")
    expect(rows).to_have_count(1 + counted_days())


def test_a_range_can_be_chosen(visit: Visitor) -> None:
    """Seven days have fewer answers than ninety; the choice stays in the form."""
    page = visit("/cache")
    saved = []
    for words in ("the last 7 days", "the last 90 days"):
        page.get_by_label("Show", exact=False).first.select_option(words)
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(re.compile(rf"days={words.split()[2]}&"))
        expect(page.locator("#days option:checked")).to_have_text(words)
        saved.append(int(page.locator(".card strong").first.inner_text().replace(",", "")))
    assert 0 < saved[0] < saved[1]


def test_reused_searches_lead_to_their_results(visit: Visitor) -> None:
    """The most reused first, with the calls that it saved."""
    page = visit("/cache")
    first = page.locator(".ranked > li").first
    expect(first).to_contain_text(SEARCHES[0])
    expect(first).to_contain_text("saved")
    first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SEARCHES[0])


def test_calls_of_engines_are_in_a_table(visit: Visitor) -> None:
    """With the share from the cache, and why the others were live."""
    page = visit("/cache")
    row = page.get_by_role("table", name="Calls saved and made").get_by_role("row", name="corpus")
    expect(row).to_contain_text("%")
    expect(page.locator("dl.reasons")).to_contain_text("new, or deleted after it expired")


def test_an_empty_cache_leads_to_the_first_research(visit: Visitor, bare: Site) -> None:
    """And has neither a chart nor a table."""
    page = visit("/cache", site=bare)
    expect(page.locator("table, .chart, .card")).to_have_count(0)
    page.get_by_role("link", name="Start a research").click()
    expect(page.get_by_label("Research a question")).to_be_visible()


def test_a_cached_search_is_a_hit(visit: Visitor) -> None:
    """With the same words."""
    expect(explained(visit, "vary request fields").locator(".verdict")).to_contain_text("This search is cached")


def test_a_search_with_the_same_meaning_is_a_semantic_hit(visit: Visitor) -> None:
    """The page names the search that answers."""
    page = explained(visit, "vary fields request")
    expect(page.locator(".verdict")).to_contain_text("vary request fields")
    expect(page.locator(".verdict")).to_contain_text("which has the same meaning")


def test_refused_candidates_show_their_guards(visit: Visitor) -> None:
    """Another year is another search."""
    page = explained(visit, "freshness lifetime 2025")
    expect(page.locator(".verdict")).to_contain_text("This would be a live search")
    row = page.get_by_role("row", name="freshness lifetime 2023")
    expect(row).to_contain_text("refused")
    expect(row).to_contain_text("dates 2023 / 2025")
    expect(row).to_contain_text(re.compile(r"\d of \d guards passed"))


def test_a_new_search_is_a_miss(visit: Visitor) -> None:
    """There is no similar one."""
    page = explained(visit, "zebra crossing paint")
    expect(page.locator(".verdict .tag")).to_have_text("miss")


def test_expired_entries_are_deleted(visit: Visitor, own: Site) -> None:
    """With one button; the page shows the remaining ones."""
    page = visit("/cache", site=own)
    expired = page.get_by_role("row", name="search cache").get_by_role("cell").nth(1)
    expect(expired).to_have_text("1")
    page.get_by_role("button", name="Delete expired entries").click()
    expect(expired).to_have_text("0")
    expect(page.get_by_role("button", name="Delete expired entries")).to_have_count(0)


def test_an_entry_is_refreshed(visit: Visitor, own: Site) -> None:
    """New results replace the old ones."""
    page = visit("/?source=search", site=own)
    page.get_by_role("link", name="shared cache private directive").click()
    expect(page.get_by_text("stored 2 h ago")).to_be_visible()
    page.get_by_role("button", name="Search again").click()
    expect(page.get_by_text("stored just now")).to_be_visible()


def test_an_entry_is_deleted_after_confirmation(visit: Visitor, own: Site) -> None:
    """Otherwise it stays."""
    visit.forgive("dialog: Delete this entry")
    page = visit("/?source=search", site=own)
    page.get_by_role("link", name="freshness lifetime 2024").click()
    page.get_by_role("button", name="Delete").click()  # the visitor says no
    expect(page.get_by_role("heading", level=1)).to_have_text("freshness lifetime 2024")
    page.evaluate("window.confirm = () => true")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    expect(page.get_by_role("link", name="freshness lifetime 2024")).to_have_count(0)
