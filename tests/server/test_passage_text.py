"""Passages as HTML: paragraphs and Markdown as they were read, the quotation marked, and nothing that acts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.server.pages.passage_text import is_markdown, marked_passage, passage_html

NOTE = """# Fresh *enough*

A cache may **reuse a
stored** response `max-age` without [asking](https://e.org/a?b=1&c="x).

- one thing
- another
"""
TAGS = re.compile(r"<[^>]*>")
ALLOWED = re.compile(
    r"</?(?:p|strong|em|s|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|code|pre|br|mark|a)>"
    r'|<a href="https?://[^"<>]*" rel="noreferrer noopener nofollow">'
)


def marked(html: str) -> str:
    """Return the marked text, without the elements in it."""
    return TAGS.sub("", "".join(re.findall(r"<mark>(.*?)</mark>", html, re.DOTALL)))


def test_markdown_is_shown_as_meant() -> None:
    """Headings, emphasis, code, lists and links of a Markdown file; a heading is no heading of the page."""
    html = passage_html(NOTE, "file:///notes/a.md")
    assert "<p><strong>Fresh <em>enough</em></strong></p>" in html
    assert "<code>max-age</code>" in html
    assert "<ul><li>one thing</li><li>another</li></ul>" in html
    assert '<a href="https://e.org/a?b=1&amp;c=%22x" rel="noreferrer noopener nofollow">asking</a>' in html


def test_other_texts_keep_their_signs() -> None:
    """`__init__` and `*args` of a page are not emphasis; headings that extraction wrote are shown as such."""
    html = passage_html("## Classes\n\nCall __init__ with *args and *more*.", "https://e.org/page")
    assert html == "<p><strong>Classes</strong></p><p>Call __init__ with *args and *more*.</p>"


def test_a_quotation_is_marked_across_elements() -> None:
    """Each element has a mark in it; together they are the quotation."""
    quotation = "A cache may **reuse a stored** response `max-age` without"
    html = marked_passage(quotation, ["nothing", NOTE], "file:///a.md")
    assert " ".join(marked(html).split()) == "A cache may reuse a stored response max-age without"
    assert html.count("<mark>") == html.count("</mark>") == 5
    assert marked_passage("not in it", [NOTE], "file:///a.md") == ""


def test_a_quotation_that_begins_with_a_sign_is_marked() -> None:
    """The sign still makes the heading or the list."""
    assert "<p><strong><mark>Fresh </mark>" in marked_passage("# Fresh *enough* A cache", [NOTE], "a.md")
    assert "<li><mark>one thing</mark></li>" in marked_passage("- one thing", [NOTE], "a.md")


def test_a_quotation_that_markup_would_hide_is_shown_on_one_line() -> None:
    """Half of it in the target of a link."""
    html = marked_passage("asking](https://e.org/a", [NOTE], "a.md")
    assert "<mark>asking](https://e.org/a</mark>" in html


def test_lines_of_an_editor_are_joined_and_short_ones_stay() -> None:
    """A text that was wrapped at some width is not wrapped again at another; a list without Markdown stays a list."""
    wrapped = "A sentence that an editor wrapped at about seventy columns goes on\nin the next line."
    assert "<br>" not in passage_html(wrapped, "https://e.org/")
    assert passage_html("port | 80\nhost | here", "https://e.org/") == "<p>port | 80<br>host | here</p>"
    assert passage_html(f"{wrapped} {'x' * 60}\n- one", "https://e.org/").endswith("<br>- one</p>")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "![pixel](https://evil.example/track.png)",
        "[click](javascript:alert(1)) [click](data:text/html,x) [file](file:///etc/passwd) [here](/logout)",
        '[x](https://e.org/"onclick="alert(1))',
        "<https://e.org/><img src=x onerror=alert(1)>",
        "```html\n<script>alert(1)</script>\n```",
        "| <b>a</b> |\n|---|\n| <iframe> |",
        "[a]: javascript:alert(1)\n\n[a]",
    ],
)
def test_hostile_markdown_is_text(text: str) -> None:
    """No HTML, no image, no link to anything but the web."""
    for html in (passage_html(text, "a.md"), marked_passage(text, [text], "a.md")):
        assert all(ALLOWED.fullmatch(tag) for tag in TAGS.findall(html)), html


@given(st.text(alphabet="ab *_`[]()<>!#-|\n\\~1.:/\ue000\ue001\u202e&\"'", max_size=120), st.data())
def test_any_text_is_shown_safely(text: str, data: st.DataObject) -> None:
    """Elements are closed in order, only known ones occur, and a quotation is marked as a whole."""
    start = data.draw(st.integers(0, len(text)))
    quotation = text[start : data.draw(st.integers(start, len(text)))]
    for html in (passage_html(text, "a.md"), passage_html(text, "a"), marked_passage(quotation, [text], "a.md")):
        still_open = []
        for tag in TAGS.findall(html):
            assert ALLOWED.fullmatch(tag), html
            name = tag.strip("</>").split()[0]
            if tag.startswith("</"):
                assert still_open.pop() == name, html
            elif name != "br":
                still_open.append(name)
        assert not still_open
        assert not set(html) & set("\ue000\ue001\u202e")


def test_what_is_markdown() -> None:
    """Files by their name, and documents of agents."""
    markdown = ("file:///a/b.md", "https://e.org/README.MD?x=1#top", "knowledge:0a", "x.markdown")
    assert all(map(is_markdown, markdown))
    assert not any(map(is_markdown, ("https://e.org/md", "pydoc:types", "file:///a.rst", "http://[", "")))
