"""Errors on pages, and recovery without a reload."""

import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full


def mortal(folder: Path) -> Site:
    """Return a server of an empty folder, which may be stopped, or lose its database."""
    (folder / "notes").mkdir()
    (folder / "notes" / "one.md").write_text("# One\n\nA note.\n")
    (folder / "served").mkdir()
    return Site(folder / "served", "--engine", f"corpus:{folder / 'notes'}")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing", 404, "page not found"),
        ("/runs/20200101-000000-000000", 404, "no such run"),
        ("/entries/search/nothing", 404, "there is no search"),
        ("/knowledge/nothing", 404, "there is no such document"),
        ("/experiments/loops/nothing", 404, "no experiment loop"),
        ("/?offset=-1", 400, "offset"),
        ("/runs/nothing", 400, "id"),
    ],
)
def test_a_wrong_url_has_an_error_page(visit: Visitor, path: str, status: int, words: str) -> None:
    """With the reason, in the usual layout, and a link back."""
    visit.forgive(f"status of {status}")
    page = visit(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found" if status == 404 else "Error")
    expect(page.get_by_role("alert")).to_contain_text(words)
    page.get_by_role("link", name="Go to the history").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")


def test_an_empty_question_is_not_researched(visit: Visitor) -> None:
    """The browser refuses it; the server refuses white space."""
    visit.forgive("status of 400")
    page = visit("/")
    page.get_by_role("button", name="Research").click()
    assert page.url.endswith("/")
    page.get_by_label("Research a question").fill("   ")
    page.get_by_role("button", name="Research").click()
    expect(page.get_by_role("alert")).to_contain_text("enter a question")


def test_a_stopped_server_is_reported(visit: Visitor, tmp_path: Path) -> None:
    """The page stays, reports it, and works again when the server is back."""
    visit.forgive("ERR_")
    with mortal(tmp_path) as site:
        page = visit("/", site=site)
        site.tell(signal.SIGKILL)
        site.wait()
        search = page.get_by_role("searchbox", name="Search the history")
        search.fill("anything")
        expect(page.locator("#said")).to_contain_text("The search failed")
        expect(page.locator("#past")).to_have_attribute("aria-busy", "false")
        site.start()
        search.fill("anything else")
        expect(page).to_have_url(re.compile("anything"))
        expect(page.locator("#said")).to_be_hidden()


def test_an_invalid_database_is_reported(visit: Visitor, tmp_path: Path) -> None:
    """Not as an empty history, and not as a bug."""
    visit.forgive("status of 50")
    site = mortal(tmp_path)
    (site.data_dir / "harness.db").mkdir()  # where the file should be
    with site:
        page = visit("/", site=site)
        expect(page.get_by_role("alert")).to_contain_text("harness.db")
        expect(page.locator(".past")).to_have_count(0)
        page.close()
