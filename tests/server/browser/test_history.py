"""The page of the history: listing, searching as one types, choosing, leafing, going back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import QUESTION, Furnished

pytestmark = pytest.mark.full

ENTRIES = ".past > li"
KINDS = ".past .tag.search, .past .tag.research, .past .tag.knowledge"


def searched(page: Page, text: str) -> None:
    """Type into the search, and wait for what comes of it."""
    page.get_by_role("searchbox", name="Search the past").fill(text)
    expect(page).to_have_url(re.compile("q=" + text.replace(" ", r"\+")))
    expect(page.locator("#past")).to_have_attribute("aria-busy", "false")


def test_everything_is_listed_with_its_kind_and_age(visit: Visitor) -> None:
    """Searches, researches and knowledge stand together, the newest first."""
    page = visit("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    kinds = page.locator(KINDS).all_inner_texts()
    assert {"search", "research", "knowledge"} <= set(kinds)
    times = [each.get_attribute("datetime") or "" for each in page.locator(".past time").all()]
    assert times == sorted(times, reverse=True)
    expect(page.locator(".past .tag.warn").first).to_have_text("expired")


def test_it_searches_as_one_types(visit: Visitor) -> None:
    """The list and the address change without the page being loaded anew; what was found is announced."""
    page = visit("/")
    page.evaluate("window.same = true")
    searched(page, "stale while revalidate")
    expect(page.locator(".what").first).to_have_text("stale while revalidate")
    expect(page.locator("meter").first).to_be_visible()
    expect(page.locator("#found")).to_have_text(re.compile(r"\d+ .*found"))
    assert page.evaluate("window.same") is True


def test_what_was_typed_last_is_what_is_shown(visit: Visitor) -> None:
    """Answers to what was typed before it do not come in its place."""
    page = visit("/")
    page.get_by_role("searchbox", name="Search the past").press_sequentially("strong and weak entity tags", delay=12)
    expect(page).to_have_url(re.compile("entity"))
    expect(page.locator(".what").first).to_have_text("strong and weak entity tags")


def test_kinds_and_times_are_chosen_at_once(visit: Visitor) -> None:
    """A choice needs no further click."""
    page = visit("/")
    page.get_by_text("Knowledge", exact=True).last.click()
    expect(page).to_have_url(re.compile("source=knowledge"))
    assert set(page.locator(KINDS).all_inner_texts()) == {"knowledge"}
    page.get_by_label("Since").select_option("7d")
    expect(page).to_have_url(re.compile("since=7d"))
    expect(page.locator(ENTRIES)).to_have_count(1)


def test_nothing_found_is_said(visit: Visitor) -> None:
    """What nothing speaks of is no empty page."""
    page = visit("/")
    page.get_by_text("Knowledge", exact=True).last.click()
    searched(page, "zebra crossing paint")
    expect(page.locator(".empty")).to_have_text("Nothing of the past speaks of that within these bounds.")


def test_the_back_button_comes_back_to_the_search(visit: Visitor, furnished: Furnished) -> None:
    """Who opens a report from the middle of a search returns to it."""
    page = visit("/")
    searched(page, "reuse a stored response")
    page.get_by_role("link", name=QUESTION).first.click()
    expect(page).to_have_url(re.compile(f"/runs/{furnished.run}"))
    page.go_back()
    expect(page.get_by_role("searchbox", name="Search the past")).to_have_value("reuse a stored response")
    expect(page.get_by_role("link", name=QUESTION).first).to_be_visible()


def test_an_unusable_time_is_told_of_where_it_was_asked(visit: Visitor) -> None:
    """The page stays, with what is wrong."""
    visit.forgive("400")
    page = visit("/?since=never")
    expect(page.get_by_role("alert")).to_contain_text("since is a date")
    expect(page.get_by_role("searchbox", name="Search the past")).to_be_visible()


def test_a_search_is_shown_whole_and_can_be_explained(visit: Visitor) -> None:
    """Its results, where they come from, and the way to what the cache would say."""
    page = visit("/?source=search")
    page.get_by_role("link", name="vary request fields").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("vary request fields")
    expect(page.get_by_role("heading", name=re.compile(r"\d results"))).to_be_visible()
    expect(page.locator("dl.about")).to_contain_text("corpus")
    page.get_by_role("link", name="Explain").click()
    expect(page.locator(".verdict")).to_contain_text("This very search is cached")
