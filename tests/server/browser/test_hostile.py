"""Stored texts are shown as text: no script runs, no link misleads, nothing overflows."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.server.browser.access import overflow
from tests.server.browser.conftest import PHONE, Visitor
from tests.server.browser.hostile import TEXTS, Harmful, harm
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

ADDRESSES = "all => all.map(each => [each.protocol, each.host])"


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Harmful:
    """A folder full of harmful texts."""
    return harm(tmp_path_factory.mktemp("harmful"))


@pytest.fixture(scope="module")
def beset(harmful: Harmful) -> Iterator[Site]:
    """The server of that folder."""
    with Site(harmful.data_dir, "--engine", "ddgs") as started:
        yield started


def harm_on(page: Page, address: str) -> list[str]:
    """Return the parts of a page that are not shown as text."""
    found = []
    for what, selector in {
        "an element": "main :is(script, iframe, img:not(.chart img), svg, style, base, object, form[action*=evil])",
        "a handler": ":is([onerror], [onload], [onfocus], [onclick], [style])",
    }.items():
        found += [f"{what}: {each}" for each in page.locator(selector).evaluate_all("a => a.map(e => e.outerHTML)")]
    for protocol, host in page.locator("a[href]").evaluate_all(ADDRESSES):
        mine = f"{protocol}//{host}" == address
        if not (mine or (protocol in {"http:", "https:"} and "evil" not in host)):
            found.append(f"a link: {protocol}{host}")
    if (wider := overflow(page)) > 0:
        found.append(f"{wider} pixels beyond the edge")
    return found


def test_every_page_shows_it_as_text(visit: Visitor, beset: Site, harmful: Harmful) -> None:
    """No script runs, no element is created, no link leads to a script, and it fits on a phone."""
    page = visit("/", site=beset, size=PHONE)
    found: dict[str, list[str]] = {}
    for path in harmful.pages:
        answer = page.goto(beset.address + path)
        assert answer is not None
        assert answer.status == 200, path
        if harm := harm_on(page, beset.address):
            found[path] = harm
    assert found == {}
    assert page.evaluate("window.harmed") is None


def test_typing_it_does_no_harm(visit: Visitor, beset: Site) -> None:
    """Nor searching for it while typing, nor explaining it."""
    page = visit("/", site=beset)
    for text in (TEXTS["script"], TEXTS["vector"]):
        page.get_by_role("searchbox", name="Search the history").fill(text)
        expect(page.locator("#found-count")).to_have_text(re.compile("found|No matches"), timeout=20_000)
        assert harm_on(page, beset.address) == []
    page.goto(f"{beset.address}/cache")
    page.get_by_label("How would this search be answered?").fill(TEXTS["vector"])
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".verdict")).to_be_visible()
    assert harm_on(page, beset.address) == []


def test_its_passages_do_no_harm(visit: Visitor, beset: Site) -> None:
    """The passages that the script copies into the panel are text as well."""
    for number in (0, 2):
        page = visit(f"/runs/20261122-101500-{number:06x}", site=beset)
        page.locator(".sentence").first.hover()
        expect(page.locator("#panel")).to_have_class("open")
        assert harm_on(page, beset.address) == []
        assert page.evaluate("window.harmed") is None


def test_right_to_left_text_does_not_affect_its_neighbours(visit: Visitor, beset: Site) -> None:
    """Text next to a direction override stays in place."""
    page = visit("/entries/search/s-backwards", site=beset)
    tag, time = page.locator(".tag.search").first.bounding_box(), page.locator("main time").first.bounding_box()
    assert tag is not None
    assert time is not None
    assert tag["x"] < time["x"]
    for each in page.locator("bdi").all_inner_texts():
        assert not set(each) & set("\u202e\u2067\u202d")


def test_templates_are_not_evaluated(visit: Visitor, beset: Site) -> None:
    """Braces stay braces."""
    page = visit("/entries/search/s-template", site=beset)
    expect(page.get_by_role("heading", level=1)).to_contain_text("{{ 7 * 7 }}")
    assert "49" not in page.get_by_role("heading", level=1).inner_text()
