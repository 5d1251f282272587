"""With access tokens: logging in and out, what each role is shown, and each tenant's own pages."""

import re
from collections.abc import Iterator

import msgspec
import pytest
from playwright.sync_api import Page, expect

from harness.app import App
from harness.cache.tables import SEARCHES
from harness.settings import Settings
from tests.server.browser.conftest import Visitor
from tests.server.browser.furnished import NOTES, raw_entry
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

CROWD = 45
"""Searches of the tenant `crowd`: three pages of the history."""
ROLES = ("reader", "writer", "admin")


class Guarded(msgspec.Struct):
    """A server that wants tokens: of the tenant `crowd` one for each role, and one of a tenant without anything."""

    site: Site
    tokens: dict[str, str]
    document: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Such a server, over notes."""
    folder = tmp_path_factory.mktemp("guarded")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / f"{name}.md").write_text(text)
    with App(Settings(data_dir=folder / "data", corpus_meaning=False)) as app:
        tokens = {role: app.tokens.create("crowd", f"the-{role}", role).text for role in ROLES}
        tokens["empty"] = app.tokens.create("empty", "nobody", "admin").text
        for number in range(CROWD):
            payload = msgspec.json.encode([{"title": "T", "href": "https://example.org/", "body": f"Number {number}."}])
            row = raw_entry(f"{number:064x}", f"search number {number}", payload, (10, "ddgs", "{}"), age=60 + number)
            app.database_store.rows.put(SEARCHES, "crowd", row)
        with app.serving(app.tokens.verify(tokens["admin"])) as theirs:
            document = theirs.knowledge.write("A document", "Its text.").id
    with Site(folder / "data", "--engine", f"corpus:{notes}") as started:
        yield Guarded(started, tokens, document)


def enter(visit: Visitor, guarded: Guarded, who: str, path: str = "/") -> Page:
    """Log in, and open a page."""
    page = visit("/login", site=guarded.site)
    page.get_by_label("Access token").fill(guarded.tokens[who])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    if path != "/":
        page.goto(guarded.site.address + path)
    return page


def test_who_has_no_token_is_asked_for_one(visit: Visitor, guarded: Guarded) -> None:
    """Every page leads to the log-in, which shows nothing of what is behind it."""
    page = visit(f"/knowledge/{guarded.document}", site=guarded.site)
    expect(page).to_have_url(re.compile("/login$"))
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_label("Access token")).to_have_attribute("type", "password")


def test_a_wrong_token_is_refused(visit: Visitor, guarded: Guarded) -> None:
    """It says so, and lets one try again."""
    visit.forgive("401")
    page = visit("/login", site=guarded.site)
    page.get_by_label("Access token").fill("hrn_wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("token")
    expect(page.get_by_label("Access token")).to_be_visible()


def test_logging_in_and_out(visit: Visitor, guarded: Guarded) -> None:
    """The page says who one is; no script can read the token; after the log-out nothing is shown."""
    page = enter(visit, guarded, "admin")
    expect(page.locator(".who")).to_contain_text("the-admin of crowd, admin")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/login$"))
    page.goto(f"{guarded.site.address}/cache")
    expect(page).to_have_url(re.compile("/login$"))


def test_each_role_is_shown_what_it_may_do(visit: Visitor, guarded: Guarded) -> None:
    """A reader sees no button that would write; only an admin sees one that deletes."""
    entry = f"/entries/search/{0:064x}"
    for who, buttons in (
        ("reader", {"/": ["Search"], entry: [], f"/knowledge/{guarded.document}": [], "/cache": ["Show", "Explain"]}),
        ("writer", {"/": ["Research", "Search"], entry: ["Ask anew"], f"/knowledge/{guarded.document}": []}),
        ("admin", {entry: ["Ask anew", "Delete"], "/cache": ["Show", "Explain", "Delete what has expired"]}),
    ):
        page = enter(visit, guarded, who)
        for path, expected in buttons.items():
            page.goto(guarded.site.address + path)
            shown = [each.inner_text() for each in page.locator("main").get_by_role("button").all()]
            assert shown == expected, (who, path)


def test_experiments_are_the_machine_s_own(visit: Visitor, guarded: Guarded) -> None:
    """A token is for one tenant; its holder is not led there, and told so who goes all the same."""
    visit.forgive("403")
    page = enter(visit, guarded, "admin")
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["History", "Cache", "Knowledge"])
    page.goto(f"{guarded.site.address}/experiments")
    expect(page.get_by_role("alert")).to_be_visible()


def test_a_token_that_is_revoked_ends_the_visit(visit: Visitor, guarded: Guarded) -> None:
    """Who goes on typing is asked for a token, and not shown the log-in page as a list."""
    settings = Settings(data_dir=guarded.site.data_dir)
    with App(settings) as app:
        made = app.tokens.create("crowd", "leaving", "reader")
        guarded.tokens["leaving"] = made.text
        page = enter(visit, guarded, "leaving")
        app.tokens.revoke(made.info.id)
    page.get_by_role("searchbox", name="Search the past").fill("anything")
    expect(page).to_have_url(re.compile("/login$"))


def test_a_tenant_without_anything_sees_friendly_pages(visit: Visitor, guarded: Guarded) -> None:
    """Where nothing is yet, a page says what would be there; of others' nothing shows."""
    page = enter(visit, guarded, "empty")
    expect(page.locator(".empty")).to_contain_text("Nothing yet. Research a question")
    page.goto(f"{guarded.site.address}/knowledge")
    expect(page.locator(".empty")).to_contain_text("Nothing is known yet")
    page.goto(f"{guarded.site.address}/cache")
    expect(page.locator(".empty")).to_contain_text("Nothing was asked yet")
    page.goto(f"{guarded.site.address}/cache?q=anything#explain")
    expect(page.locator(".verdict .tag")).to_have_text("miss")


def test_leafing_through_the_history(visit: Visitor, guarded: Guarded) -> None:
    """Twenty to a page, to the last one and back, and the same in what was searched for."""
    page = enter(visit, guarded, "writer", "/?source=search")
    expect(page.locator(".past > li")).to_have_count(20)
    expect(page.get_by_role("link", name="Back")).to_have_count(0)
    page.get_by_role("link", name="More").click()
    expect(page.locator(".what").first).to_have_text("search number 20")
    page.get_by_role("link", name="More").click()
    expect(page.locator(".past > li")).to_have_count(CROWD - 40)
    expect(page.get_by_role("link", name="More")).to_have_count(0)
    page.get_by_role("link", name="Back").click()
    expect(page.locator(".what").first).to_have_text("search number 20")
    page.goto(f"{guarded.site.address}/?q=search+number&source=search")
    first = page.locator(".what").all_inner_texts()
    page.get_by_role("link", name="More").click()
    expect(page).to_have_url(re.compile("offset=20"))
    assert not set(first) & set(page.locator(".what").all_inner_texts())
