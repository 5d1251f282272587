"""What does not work is told on a page, by the page, and mended without it."""

import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full


def mortal(folder: Path) -> Site:
    """Return a server of nothing, which may be stopped, or has no database."""
    (folder / "notes").mkdir()
    (folder / "notes" / "one.md").write_text("# One\n\nA note.\n")
    (folder / "served").mkdir()
    return Site(folder / "served", "--engine", f"corpus:{folder / 'notes'}")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing", 404, "there is nothing here"),
        ("/runs/20200101-000000-000000", 404, "no such run"),
        ("/entries/search/nothing", 404, "there is no search"),
        ("/knowledge/nothing", 404, "there is no such document"),
        ("/experiments/loops/nothing", 404, "no loop of experiments"),
        ("/?offset=-1", 400, "offset"),
        ("/runs/nothing", 400, "id"),
    ],
)
def test_a_wrong_address_is_told_of(visit: Visitor, path: str, status: int, words: str) -> None:
    """With what is wrong, within the usual page, and the way back."""
    visit.forgive(f"status of {status}")
    page = visit(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found" if status == 404 else "That did not work")
    expect(page.get_by_role("alert")).to_contain_text(words)
    page.get_by_role("link", name="To the history").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")


def test_an_empty_question_is_not_researched(visit: Visitor) -> None:
    """The browser says so; white space gets as far as the server, which says so, too."""
    visit.forgive("status of 400")
    page = visit("/")
    page.get_by_role("button", name="Research").click()
    assert page.url.endswith("/")
    page.get_by_label("Research a question").fill("   ")
    page.get_by_role("button", name="Research").click()
    expect(page.get_by_role("alert")).to_contain_text("Write a question")


def test_a_server_that_is_gone_is_told_of(visit: Visitor, tmp_path: Path) -> None:
    """The page stays as it is, says that nobody answers, and works again when somebody does."""
    visit.forgive("ERR_")
    with mortal(tmp_path) as site:
        page = visit("/", site=site)
        site.tell(signal.SIGKILL)
        site.wait()
        search = page.get_by_role("searchbox", name="Search the past")
        search.fill("anything")
        expect(page.locator("#said")).to_contain_text("could not be searched for")
        expect(page.locator("#past")).to_have_attribute("aria-busy", "false")
        site.start()
        search.fill("anything else")
        expect(page).to_have_url(re.compile("anything"))
        expect(page.locator("#said")).to_be_hidden()


def test_a_database_that_is_none_is_told_of(visit: Visitor, tmp_path: Path) -> None:
    """Not as an empty history, and not as a bug."""
    visit.forgive("status of 50")
    site = mortal(tmp_path)
    (site.data_dir / "harness.db").mkdir()  # where the file should be
    with site:
        page = visit("/", site=site)
        expect(page.get_by_role("alert")).to_contain_text("harness.db")
        expect(page.locator(".past")).to_have_count(0)
        page.close()
