"""Pages with only a keyboard, without scripts, and without motion."""

import pytest
from playwright.sync_api import expect

from tests.server.browser.conftest import Visitor
from tests.server.browser.sample_data import QUESTION, STOPPED, Furnished
from tests.server.browser.sites import Site

pytestmark = pytest.mark.full

FOCUSED = """() => {
  const here = document.activeElement;
  const look = getComputedStyle(here.matches('.choices input') ? here.closest('label') : here);
  const box = here.getBoundingClientRect();
  return {
    name: here.id || here.className || here.textContent.trim().slice(0, 40) || here.tagName,
    body: here === document.body,
    outlined: look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2,
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}"""
CONTROLS = "a[href], button, input:not([type=hidden], [hidden]), select, summary, [tabindex='0']"


def test_the_keyboard_reaches_every_control(visit: Visitor, site: Site, furnished: Furnished) -> None:
    """One tab stop per control, each outlined and visible."""
    page = visit("/")
    for name in ("nothing", "written", "explain", "experiments", "document"):
        page.goto(site.address + furnished.pages[name])
        radios = page.locator("input[type=radio]").evaluate_all("all => new Set(all.map(each => each.name)).size")
        shown = page.locator(CONTROLS).filter(visible=True).count()
        wanted = shown - page.locator("input[type=radio]").count() + radios  # a group of radio buttons is one stop
        stops = 0
        while stops <= 200:
            page.keyboard.press("Tab")
            here = page.evaluate(FOCUSED)
            if here["body"]:
                break
            stops += 1
            assert here["outlined"], (name, here)
            assert here["inside"], (name, here)
        assert stops >= wanted, name


def test_one_can_skip_to_the_content(visit: Visitor, site: Site) -> None:
    """The first tab stop is a link past the navigation."""
    page = visit("/knowledge")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Tag")).to_be_focused()


def test_arrow_keys_change_the_choices(visit: Visitor) -> None:
    """The kinds in the history are radio buttons."""
    page = visit("/")
    page.get_by_role("radio", name="All").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Searches", exact=True)).to_be_checked()
    expect(page.locator(".past .tag.research")).to_have_count(0)


def test_without_a_script_the_pages_and_forms_work(visit: Visitor, site: Site, furnished: Furnished) -> None:
    """Content, searching, explaining, comparing, passages; without buttons that need a script."""
    page = visit("/", java_script_enabled=False)
    page.get_by_role("searchbox", name="Search the history").fill("reuse a stored response")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("link", name=QUESTION).first.click()
    expect(page.locator("#panel")).to_be_hidden()
    page.locator(".sentence").first.click()
    expect(page.locator("#passage-0 mark")).to_be_visible()
    expect(page.get_by_role("button", name="Delete")).to_be_hidden()
    page.goto(f"{site.address}/cache")
    page.get_by_label("How would this search be answered?").fill("vary request fields")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".verdict")).to_be_visible()
    page.goto(f"{site.address}/experiments")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two evaluations side by side")
    page.goto(f"{site.address}/runs/{furnished.stopped}")
    expect(page.get_by_role("heading", level=1)).to_have_text(STOPPED)
    expect(page.get_by_role("button", name="Resume")).to_be_hidden()


def test_reduced_motion_is_respected(visit: Visitor, furnished: Furnished) -> None:
    """No transition and no animation."""
    moving = "all => all.filter(e => parseFloat(getComputedStyle(e).transitionDuration) > 0).length"
    page = visit(f"/runs/{furnished.run}", reduced_motion="reduce")
    assert page.locator("*").evaluate_all(moving) == 0
    assert page.evaluate("document.getAnimations().length") == 0
