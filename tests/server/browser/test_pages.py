"""Every page in every look: nothing that keeps people out, nothing that spills over, and a picture of it.

The pictures are written where HARNESS_SCREENSHOTS says, for people to look at; else into the folder of the test.
"""

import os
from pathlib import Path

import pytest
from msgspec import Struct
from playwright.sync_api import expect

from tests.server.browser.access import overflow, serious
from tests.server.browser.conftest import PHONE, WIDE, ZOOMED, Visitor
from tests.server.browser.sample_data import Furnished
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

FOLDER = os.environ.get("HARNESS_SCREENSHOTS")  # read here: tests run without variables of the harness


class Look(Struct, frozen=True):
    """Look of a page. `rules` are the rules of axe to check, `None` for all: markup needs to be checked in only one
    look.
    """

    size: tuple[int, int]
    dark: bool = False
    rules: tuple[str, ...] | None = None


LOOKS = {
    "wide": Look(WIDE),
    "dark": Look(WIDE, dark=True, rules=("color-contrast",)),
    "phone": Look(PHONE, rules=("target-size", "scrollable-region-focusable")),
    "zoomed": Look(ZOOMED, rules=()),
}


@pytest.mark.parametrize("name", LOOKS)
def test_every_page_is_accessible(visit: Visitor, site: Site, furnished: Furnished, tmp_path: Path, name: str) -> None:
    """Axe finds nothing serious with everything unfolded and a passage open; wide tables scroll."""
    folder, look = Path(FOLDER or tmp_path), LOOKS[name]
    folder.mkdir(parents=True, exist_ok=True)
    visit.forgive("status of 404")
    page = visit("/login", size=look.size, dark=look.dark)
    found: dict[str, list[str]] = {}
    for what, path in furnished.pages.items():
        page.goto(site.address + path)
        page.evaluate("document.querySelectorAll('img').forEach(each => (each.loading = 'eager'))")
        for chart in page.locator(".chart img").all():
            expect(chart).to_have_js_property("complete", value=True)
        if page.locator(".sentence").count():
            page.locator(".sentence").first.focus()
        if look.size != ZOOMED:
            page.screenshot(path=folder / f"{what}-{name}.png", full_page=FOLDER is not None)
        page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        problems = [] if look.rules == () else serious(page, look.rules)
        if (wider := overflow(page)) > 0:
            problems.append(f"{wider} pixels beyond the edge")
        if problems:
            found[what] = problems
    assert found == {}
