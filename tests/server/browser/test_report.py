"""The report page: passages by pointer, keyboard and touch; sources, rounds, print."""

import io
import re

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.server.browser.conftest import PHONE, Visitor
from tests.server.browser.sample_data import WRITTEN, Furnished

pytestmark = pytest.mark.full

HINT = "Point at a sentence"


def shown(page: Page) -> str:
    """Return the marked text of the panel."""
    return page.locator("#panel mark").inner_text()


def test_pointing_at_a_sentence_shows_its_passage(visit: Visitor, furnished: Furnished) -> None:
    """With the quotation marked in it; moving to the panel does not change it."""
    page = visit(f"/runs/{furnished.run}")
    expect(page.locator("#panel")).to_contain_text(HINT)
    sentence = page.locator(".sentence").first
    sentence.hover()
    expect(page.locator("#panel mark")).to_have_text(sentence.inner_text())
    expect(page.locator("#panel .tag.good")).to_have_text("verified")
    expect(page.locator("#panel .from")).to_have_text("Freshness")
    page.locator("#panel").hover()
    assert shown(page) == sentence.inner_text()


def test_a_click_pins_a_passage_and_escape_closes_it(visit: Visitor, furnished: Furnished) -> None:
    """So that one can reach its link across other sentences."""
    page = visit(f"/runs/{furnished.run}")
    sentence = page.locator(".sentence").first
    sentence.click()
    expect(page.locator("#panel mark")).to_have_text(sentence.inner_text())
    page.locator(".sentence").nth(4).hover()
    page.wait_for_timeout(150)
    assert shown(page) == sentence.inner_text()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_contain_text(HINT)
    assert page.url.endswith(furnished.run)


def test_the_keyboard_goes_from_sentence_to_sentence(visit: Visitor, furnished: Furnished) -> None:
    """Focus shows the passage, like pointing."""
    page = visit(f"/runs/{furnished.run}")
    sentences = page.locator(".sentence")
    sentences.first.focus()
    expect(page.locator("#panel mark")).to_have_text(sentences.first.inner_text())
    for _ in range(2):  # the link to its source comes first
        page.keyboard.press("Tab")
    expect(sentences.nth(1)).to_be_focused()
    expect(page.locator("#panel mark")).to_have_text(sentences.nth(1).inner_text())


def test_a_tap_opens_the_passage_over_the_text(visit: Visitor, furnished: Furnished) -> None:
    """On a phone the panel is a sheet that does not hide the sentence, and can be closed."""
    page = visit(f"/runs/{furnished.run}", size=PHONE, has_touch=True, is_mobile=True)
    panel, sentence = page.locator("#panel"), page.locator(".sentence").nth(6)
    expect(panel).to_be_hidden()
    sentence.tap()
    expect(panel).to_be_visible()
    expect(page.locator("#panel mark")).to_have_text(sentence.inner_text())
    below, above = panel.bounding_box(), sentence.bounding_box()
    assert below is not None
    assert above is not None
    assert above["y"] >= 0
    assert above["y"] + above["height"] <= below["y"]
    page.get_by_role("button", name="Close").tap()
    expect(panel).to_be_hidden()


def test_an_unverified_quotation_is_marked(visit: Visitor, furnished: Furnished) -> None:
    """For eyes and screen readers, and the panel says why."""
    page = visit(f"/runs/{furnished.written}")
    expect(page.get_by_text("3 of 4 quotations verified")).to_be_visible()
    expect(page.locator(".sentence.unverified")).to_have_count(2)
    sentence = page.get_by_role("link", name="Every proxy stores both")
    assert "wavy" in sentence.evaluate("each => getComputedStyle(each).textDecorationStyle")
    assert "not verified" in sentence.evaluate("each => each.nextSibling.textContent")
    sentence.hover()
    expect(page.locator("#panel .tag.bad")).to_have_text("not verified")
    expect(page.locator("#panel .failure")).to_have_text("The stored source does not contain these words.")
    page.get_by_role("link", name="Nothing was found on caches").hover()
    expect(page.locator("#panel .failure")).to_have_text("This sentence has no quotation.")


def test_a_number_leads_to_its_source(visit: Visitor, furnished: Furnished) -> None:
    """Sources have the numbers of the report; uncited ones are not listed."""
    page = visit(f"/runs/{furnished.written}")
    page.get_by_role("link", name="source 2").click()
    expect(page).to_have_url(re.compile("#source-2$"))
    expect(page.locator("#source-2")).to_contain_text("Freshness")
    expect(page.locator("#source-2 a").first).to_have_attribute("href", "https://example.org/freshness")
    expect(page.locator("#source-2 a").first).to_have_attribute("rel", re.compile("noreferrer"))
    expect(page.locator(".sources li")).to_have_count(2)


@pytest.mark.parametrize("dark", [False, True])
def test_rounds_are_drawn_and_listed(visit: Visitor, furnished: Furnished, *, dark: bool) -> None:
    """The chart is loaded, in the colours of the page; the table has its numbers."""
    page = visit(f"/runs/{furnished.written}", dark=dark)
    chart = page.locator(".chart img")
    chart.scroll_into_view_if_needed()
    expect(chart).to_have_js_property("complete", value=True)
    assert chart.evaluate("each => each.naturalWidth") > 0
    assert f"dark={int(dark)}" in chart.evaluate("each => each.currentSrc")
    expect(page.get_by_role("row", name=re.compile("^2 .*0.21 0.62$"))).to_be_visible()


def test_all_passages_can_be_read(visit: Visitor, furnished: Furnished) -> None:
    """On the page itself, behind a summary."""
    page = visit(f"/runs/{furnished.written}")
    page.get_by_text("All passages").click()
    expect(page.locator("#passages mark").first).to_be_visible()
    expect(page.locator(".passage")).to_have_count(5)


def test_a_printed_report_is_readable(visit: Visitor, furnished: Furnished) -> None:
    """Question, sentences and sources in black on white, without buttons."""
    page = visit(f"/runs/{furnished.written}", dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.locator("#panel")).to_be_hidden()
    text = " ".join(" ".join(each.extract_text() for each in PdfReader(io.BytesIO(page.pdf())).pages).split())
    for words in (WRITTEN, "Every proxy stores both all the same.", "https://example.org/freshness", "Novelty"):
        assert words in text
    for words in ("Delete", "Point at", "Experiments", "Close"):
        assert words not in text
    page.close()  # or the next test would get the print view


def test_a_stopped_research_can_be_resumed(visit: Visitor, furnished: Furnished) -> None:
    """The page says how far it got, and has a button to resume."""
    page = visit(f"/runs/{furnished.stopped}")
    expect(page.locator(".tag.warn")).to_have_text("stopped")
    expect(page.get_by_text("stopped while gathering")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_contents_stand_beside_the_text_and_fold_on_a_phone(visit: Visitor, furnished: Furnished) -> None:
    """On a desktop they stay in view and mark the section that is read; on a phone a summary opens them."""
    page = visit(f"/runs/{furnished.run}")
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Key points").click()
    expect(page).to_have_url(re.compile("#section-2$"))
    expect(page.get_by_role("heading", name="Key points")).to_be_in_viewport()
    page.get_by_role("heading", name="How it was found").scroll_into_view_if_needed()
    expect(contents).to_be_in_viewport()
    expect(contents.locator("[aria-current]")).to_have_count(1)
    page.close()
    page = visit(f"/runs/{furnished.run}", size=PHONE)
    expect(page.get_by_role("navigation", name="Contents")).to_be_hidden()
    page.get_by_text("Contents", exact=True).click()
    expect(page.get_by_role("link", name="Key points")).to_be_visible()


def test_a_report_is_copied_as_markdown(visit: Visitor, furnished: Furnished) -> None:
    """To the clipboard, without the header of a file."""
    page = visit(f"/runs/{furnished.run}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator("#said")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# When may a cache reuse")
    assert "## Sources" in copied


def test_a_report_is_downloaded(visit: Visitor, furnished: Furnished) -> None:
    """A menu offers them; a click elsewhere closes it."""
    page = visit(f"/runs/{furnished.run}")
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="BibTeX").click()
    assert download.value.suggested_filename == f"report-{furnished.run}.bib"
    assert "@" in download.value.path().read_text()
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_role("link", name="BibTeX")).to_be_hidden()


def test_a_source_without_the_web_has_a_page(visit: Visitor, furnished: Furnished) -> None:
    """A file of a corpus leads to its passages here."""
    page = visit(f"/runs/{furnished.run}")
    page.locator("#source-1 a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Freshness")
    expect(page.locator(".read").first).to_contain_text("A cache may reuse a stored response")


def test_a_follow_up_keeps_its_text_if_it_cannot_start(visit: Visitor, furnished: Furnished) -> None:
    """This run has no settings to repeat; the field says so, and has the focus."""
    visit.forgive("status of 400")
    page = visit(f"/runs/{furnished.written}")
    page.get_by_label("Ask a follow-up question").fill("May a browser store it?")
    page.get_by_role("button", name="Ask", exact=True).click()
    field = page.get_by_label("Ask a follow-up question")
    expect(field).to_have_value("May a browser store it?")
    expect(field).to_have_accessible_description(re.compile("older version"))
    expect(field).to_be_focused()
