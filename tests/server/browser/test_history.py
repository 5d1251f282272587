"""The history page: list, live search, filters, paging, going back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import QUESTION, Furnished
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

ENTRIES = ".past > li"
KINDS = ".past .tag.search, .past .tag.research, .past .tag.knowledge"


def searched(page: Page, text: str) -> None:
    """Type into the search, and wait for the results."""
    page.get_by_role("searchbox", name="Search the history").fill(text)
    expect(page).to_have_url(re.compile("q=" + text.replace(" ", r"\+")))
    expect(page.locator("#past")).to_have_attribute("aria-busy", "false")


def test_everything_is_listed_with_its_kind_and_age(visit: Visitor) -> None:
    """Searches, researches and documents in one list, newest first."""
    page = visit("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    kinds = page.locator(KINDS).all_inner_texts()
    assert {"search", "research", "knowledge"} <= set(kinds)
    times = [each.get_attribute("datetime") or "" for each in page.locator(".past time").all()]
    assert times == sorted(times, reverse=True)
    expect(page.locator(".past .tag.warn").filter(has_text="expired").first).to_be_visible()


def test_it_searches_while_typing(visit: Visitor) -> None:
    """List and URL change without a reload; the number of results is announced."""
    page = visit("/")
    page.evaluate("window.same = true")
    searched(page, "stale while revalidate")
    expect(page.locator(".what").first).to_have_text("stale while revalidate")
    expect(page.locator("meter").first).to_be_visible()
    expect(page.locator("#found-count")).to_have_text(re.compile(r"\d+ .*found"))
    assert page.evaluate("window.same") is True


def test_the_last_typed_text_wins(visit: Visitor) -> None:
    """Late responses to earlier texts are ignored."""
    page = visit("/")
    page.get_by_role("searchbox", name="Search the history").press_sequentially("strong and weak entity tags", delay=12)
    expect(page).to_have_url(re.compile("entity"))
    expect(page.locator(".what").first).to_have_text("strong and weak entity tags")


def test_filters_apply_at_once(visit: Visitor) -> None:
    """Without another click."""
    page = visit("/")
    page.get_by_text("Knowledge", exact=True).last.click()
    expect(page).to_have_url(re.compile("source=knowledge"))
    assert set(page.locator(KINDS).all_inner_texts()) == {"knowledge"}
    page.get_by_label("Since").select_option("7d")
    expect(page).to_have_url(re.compile("since=7d"))
    expect(page.locator(ENTRIES)).to_have_count(1)


def test_no_matches_are_reported(visit: Visitor) -> None:
    """Not an empty page."""
    page = visit("/")
    page.get_by_text("Knowledge", exact=True).last.click()
    searched(page, "zebra crossing paint")
    expect(page.locator(".empty")).to_contain_text("No matches with these filters.")


def test_the_back_button_returns_to_the_search(visit: Visitor, furnished: Furnished) -> None:
    """After opening a report from it."""
    page = visit("/")
    searched(page, "reuse a stored response")
    page.get_by_role("link", name=QUESTION).first.click()
    expect(page).to_have_url(re.compile(f"/runs/{furnished.run}"))
    page.go_back()
    expect(page.get_by_role("searchbox", name="Search the history")).to_have_value("reuse a stored response")
    expect(page.get_by_role("link", name=QUESTION).first).to_be_visible()


def test_an_invalid_time_is_reported_on_the_page(visit: Visitor) -> None:
    """The page stays, with the error."""
    visit.forgive("400")
    page = visit("/?since=never")
    expect(page.get_by_role("alert")).to_contain_text("since is a date")
    expect(page.get_by_role("searchbox", name="Search the history")).to_be_visible()


def test_a_search_is_shown_completely(visit: Visitor) -> None:
    """Its results, their origin, and a link to its explanation."""
    page = visit("/?source=search")
    page.get_by_role("link", name="vary request fields").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("vary request fields")
    expect(page.get_by_role("heading", name=re.compile(r"\d results"))).to_be_visible()
    expect(page.locator("dl.about")).to_contain_text("corpus")
    page.get_by_role("link", name="Explain").click()
    expect(page.locator(".verdict")).to_contain_text("This search is cached")


def test_a_research_unfolds_its_searches(visit: Visitor) -> None:
    """With their results, and how they were answered."""
    page = visit("/?source=research")
    page.get_by_text("2 searches", exact=True).click()
    expect(page.locator(".under[open] li")).to_have_text(
        [re.compile("8 results of searxng, live"), re.compile("cache")]
    )


def test_what_was_not_found_can_be_listed(visit: Visitor) -> None:
    """Without a reload."""
    page = visit("/")
    page.get_by_label("Result").select_option("no")
    expect(page).to_have_url(re.compile("found=no"))
    expect(page.locator(ENTRIES)).to_have_count(1)
    expect(page.locator(".past .tag.warn")).to_have_text("no report")


def test_nothing_found_offers_to_research_it(visit: Visitor) -> None:
    """The form has the words of the search, and the focus."""
    page = visit("/")
    searched(page, "zebra crossing paint")
    page.get_by_role("link", name="Research it").click()
    expect(page.get_by_label("Research a question")).to_have_value("zebra crossing paint")
    expect(page.get_by_label("Research a question")).to_be_focused()


def test_an_entry_is_deleted_from_the_list(visit: Visitor, own: Site) -> None:
    """After a search while typing, too, whose list is new; the question to confirm comes first."""
    visit.forgive("dialog: Delete this search")
    page = visit("/", site=own)
    searched(page, "strong and weak entity tags")
    button = page.get_by_role("button", name="Delete strong and weak entity tags")
    button.click()
    expect(page.get_by_role("link", name="strong and weak entity tags").first).to_be_visible()
    page.evaluate("window.confirm = () => true")
    button.click()
    expect(page.get_by_role("link", name="strong and weak entity tags")).to_have_count(0)
