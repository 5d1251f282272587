"""With access tokens: login and logout, roles, and tenants."""

import re
from collections.abc import Iterator

import msgspec
import pytest
from playwright.sync_api import Page, expect

from harness.app import App
from harness.core.tables import SEARCHES
from harness.settings import Settings
from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import NOTES, raw_entry
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

CROWD = 45
"""Searches of the tenant `crowd`: three pages of the history."""
ROLES = ("reader", "writer", "admin")


class Guarded(msgspec.Struct):
    """A server with tokens: one for each role of the tenant `crowd`, and one of an empty tenant."""

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
        tokens = {role: app.databases.tokens.create("crowd", f"the-{role}", role).text for role in ROLES}
        tokens["empty"] = app.databases.tokens.create("empty", "eve", "admin").text
        for number in range(CROWD):
            payload = msgspec.json.encode([{"title": "T", "href": "https://example.org/", "body": f"Number {number}."}])
            row = raw_entry(f"{number:064x}", f"search number {number}", payload, (10, "ddgs", "{}"), age=60 + number)
            app.databases.store.rows.put(SEARCHES, "crowd", row)
        with app.serving(app.databases.tokens.verify(tokens["admin"])) as theirs:
            document = theirs.knowledge.write("A document", "Its text.").id
    with Site(folder / "data", "--engine", f"corpus:{notes}") as started:
        yield Guarded(started, tokens, document)


def enter(visit: Visitor, guarded: Guarded, who: str, path: str = "/") -> Page:
    """Log in, and open a page."""
    page = visit("/login", site=guarded.site)
    page.get_by_label("Access token").fill(guarded.tokens[who])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    page.wait_for_load_state()  # or the script that listens to keys may come after them
    if path != "/":
        page.goto(guarded.site.address + path)
    return page


def test_without_a_token_every_page_leads_to_the_login(visit: Visitor, guarded: Guarded) -> None:
    """Which shows none of the data."""
    page = visit(f"/knowledge/{guarded.document}", site=guarded.site)
    expect(page).to_have_url(re.compile("/login$"))
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_label("Access token")).to_have_attribute("type", "password")


def test_a_wrong_token_is_refused(visit: Visitor, guarded: Guarded) -> None:
    """With a message, and another try."""
    visit.forgive("401")
    page = visit("/login", site=guarded.site)
    page.get_by_label("Access token").fill("hrn_wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("token")
    expect(page.get_by_label("Access token")).to_be_visible()


def test_logging_in_and_out(visit: Visitor, guarded: Guarded) -> None:
    """The page shows the user; no script can read the token; after the logout no data is shown."""
    page = enter(visit, guarded, "admin")
    expect(page.locator(".who")).to_contain_text("the-admin of crowd, admin")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/login$"))
    page.goto(f"{guarded.site.address}/cache")
    expect(page).to_have_url(re.compile("/login$"))


def test_buttons_depend_on_the_role(visit: Visitor, guarded: Guarded) -> None:
    """A reader sees none that writes; only an admin sees one that deletes."""
    entry = f"/entries/search/{0:064x}"
    for who, buttons in (
        ("reader", {"/": ["Search"], entry: [], f"/knowledge/{guarded.document}": [], "/cache": ["Show", "Explain"]}),
        ("writer", {"/": ["Research", "Search"], entry: ["Search again"], f"/knowledge/{guarded.document}": []}),
        ("admin", {entry: ["Search again", "Delete"], "/cache": ["Show", "Explain"]}),
    ):
        page = enter(visit, guarded, who)
        for path, expected in buttons.items():
            page.goto(guarded.site.address + path)
            shown = [each.inner_text() for each in page.locator("main").get_by_role("button").all()]
            assert shown == expected, (who, path)


def test_experiments_are_for_the_local_user_only(visit: Visitor, guarded: Guarded) -> None:
    """With a token there is no link to them, and their pages are refused."""
    visit.forgive("403")
    page = enter(visit, guarded, "admin")
    links = page.get_by_role("navigation").get_by_role("link")
    expect(links).to_have_text(["History", "Library", "Cache", "Knowledge"])
    page.goto(f"{guarded.site.address}/experiments")
    expect(page.get_by_role("alert")).to_be_visible()


def test_a_revoked_token_leads_to_the_login(visit: Visitor, guarded: Guarded) -> None:
    """Typing then shows the login page, not a broken list."""
    settings = Settings(data_dir=guarded.site.data_dir)
    with App(settings) as app:
        made = app.databases.tokens.create("crowd", "leaving", "reader")
        guarded.tokens["leaving"] = made.text
        page = enter(visit, guarded, "leaving")
        app.databases.tokens.revoke(made.info.id)
    page.get_by_role("searchbox", name="Search the history").fill("anything")
    expect(page).to_have_url(re.compile("/login$"))


def test_an_empty_tenant_sees_helpful_pages(visit: Visitor, guarded: Guarded) -> None:
    """They say what to do, and show no data of others."""
    page = enter(visit, guarded, "empty")
    expect(page.locator(".empty")).to_contain_text("Start with a question that works offline")
    page.goto(f"{guarded.site.address}/knowledge")
    expect(page.locator(".empty")).to_contain_text("No documents yet")
    page.goto(f"{guarded.site.address}/cache")
    expect(page.locator(".empty")).to_contain_text("Nothing is cached yet")
    page.goto(f"{guarded.site.address}/cache?q=anything#explain")
    expect(page.locator(".verdict .tag")).to_have_text("miss")


def test_the_history_has_pages(visit: Visitor, guarded: Guarded) -> None:
    """Twenty items each, to the last one and back; also in a search."""
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
