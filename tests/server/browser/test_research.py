"""A research from the page, with a waiting search engine: progress and failures."""

import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.access import serious
from tests.server.browser.conftest import Visitor
from tests.server.browser.sites import Engine, Site

pytestmark = pytest.mark.full

RUN = re.compile(r"/runs/[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")
SEARCHING = re.compile(r"round 1: 0 of (\d)")
ABSENT = "The server does not respond"
LOST = "net::ERR_"


@pytest.fixture(scope="module")
def lab(slow_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with the waiting engine, and at least two rounds if there are follow-up queries."""
    gathering = {"max_results": 5, "read_pages": 0, "enough_score": 1, "min_novelty": 0, "max_rounds": 2}
    settings = {**gathering, "searches_per_minute": 60_000}
    payload = {f"HARNESS_{name.upper()}": str(value) for name, value in settings.items()}
    folder = tmp_path_factory.mktemp("lab") / "data"
    folder.mkdir()
    with Site(folder, "--engine", slow_engine.spec, settings=payload) as started:
        yield started


def begin(visit: Visitor, lab: Site, question: str) -> Page:
    """Ask a question on the first page; return the progress page once all searches of a round wait."""
    page = visit("/", site=lab)
    page.get_by_label("Research a question").fill(question)
    page.get_by_role("button", name="Research").click()
    expect(page).to_have_url(RUN)
    expect(page.get_by_role("heading", name="Running")).to_be_visible()
    expect(page.get_by_role("status").first).to_have_text(SEARCHING)
    return page


def test_rounds_arrive_and_then_the_report(visit: Visitor, lab: Site, engine: Engine) -> None:
    """Progress appears while it runs; no reload is needed."""
    page = begin(visit, lab, "When may a stored response be reused by a cache?")
    assert serious(page) == []
    searches = SEARCHING.search(page.get_by_role("status").first.inner_text())
    assert searches is not None
    engine.let(int(searches[1]))  # the next round waits, or the report would replace the rounds
    expect(page.locator("#rounds tr").first.get_by_role("rowheader")).to_have_text("1")
    expect(page.locator("#rounds bdi").first).to_contain_text("stored response")
    engine.let()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()
    expect(page.locator(".sentence").first).to_be_visible()
    expect(page.get_by_text("quotations verified")).to_be_visible()


def test_a_double_click_starts_one_research(visit: Visitor, lab: Site, engine: Engine) -> None:
    """Not two."""
    page = visit("/", site=lab)
    page.get_by_label("Research a question").fill("Which entity tags are strong?")
    page.get_by_role("button", name="Research").dblclick()
    expect(page).to_have_url(RUN)
    begun = visit("/", site=lab)
    expect(begun.get_by_role("region", name="Running").get_by_role("listitem")).to_have_count(1)
    engine.let()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()


def test_stop_and_resume(visit: Visitor, lab: Site, engine: Engine) -> None:
    """A stopped research can be resumed."""
    page = begin(visit, lab, "Which field of a request chooses a variant?")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status").first).to_have_text("Stopping at the next step …")
    engine.let(3)
    expect(page.locator(".tag.warn")).to_have_text("stopped")
    engine.let()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()


def test_it_continues_when_its_page_is_closed(visit: Visitor, lab: Site, engine: Engine) -> None:
    """The history lists it as running, then as finished."""
    question = "What does a shared cache never store?"
    begin(visit, lab, question).close()
    page = visit("/", site=lab)
    page.get_by_role("region", name="Running").get_by_role("link", name=question).click()
    expect(page.get_by_role("heading", name="Running")).to_be_visible()
    page.close()
    engine.let()
    found = visit("/?source=research", site=lab)
    expect(found.locator(".past").get_by_role("link", name=question)).to_be_visible()
    found.get_by_role("link", name=question).first.click()
    expect(found.get_by_role("heading", name="Sources")).to_be_visible()


def test_a_failed_research_says_why(visit: Visitor, lab: Site, engine: Engine) -> None:
    """A broken engine is named, and the research can be resumed."""
    engine.broken = True
    page = begin(visit, lab, "What is a weak validator?")
    engine.let()
    expect(page.get_by_role("alert")).to_have_text(re.compile("This research failed: .*(500|searxng)"))
    expect(page.get_by_role("heading", name="Running")).to_have_count(0)
    expect(page.locator(".tag.bad")).to_have_text("failed")
    engine.broken = False
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()


def test_without_a_script_it_reaches_its_report(visit: Visitor, lab: Site, engine: Engine) -> None:
    """The progress page reloads by itself."""
    page = visit("/", site=lab, java_script_enabled=False)
    page.get_by_label("Research a question").fill("What does a range request need?")
    page.get_by_role("button", name="Research").click()
    expect(page.get_by_role("heading", name="Running")).to_be_visible()
    engine.let()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible(timeout=12_000)
    page.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_page_waits_for_a_restarted_server(visit: Visitor, lab: Site, engine: Engine, how: signal.Signals) -> None:
    """It reports the lost server and returns with it: the research is stopped, not lost."""
    visit.forgive(LOST)
    visit.forgive("404")  # the new server runs no such research
    page = begin(visit, lab, f"When does a cache warn, and when not, after {how.name}?")
    lab.tell(how)
    expect(page.get_by_role("status").first).to_contain_text(ABSENT)
    engine.let()  # a hanging search delays the exit of the process by some seconds
    lab.wait()
    engine.hold()
    lab.start()
    expect(page.locator(".tag.warn")).to_have_text("stopped", timeout=15_000)
    engine.let()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()
