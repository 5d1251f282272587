"""Text of feeds, friendly and hostile ones."""

import time

import pytest

from harness.errors import PageError
from harness.sources.pages.extraction import extract
from harness.sources.pages.feeds import MAX_ENTRIES, MAX_ENTRY_CHARS, feed_text

ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title type="html">A &lt;b&gt;feed&lt;/b&gt;</title><subtitle>All of it.</subtitle>
<entry><title>One</title><link rel="self" href="https://e.org/self"/><link href="https://e.org/one"/>
<updated>2026-02-03T00:00:00Z</updated><published>2026-01-02T00:00:00Z</published><summary>Short.</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">
<p>First <i>part</i>.</p><script>x()</script><p>Second.</p>
</div></content></entry></feed>"""
RSS = """<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News &amp; more</title>
<link>https://e.org/</link><item><title>Two</title><link>https://e.org/two</link>
<pubDate>Mon, 05 Jan 2026 10:00:00 +0100</pubDate><description>Short.</description>
<content:encoded><![CDATA[<p>Long &amp; <b>bold</b>.</p>tail<svg><text>no</text></svg>]]></content:encoded></item>
<item><description>&lt;p&gt;Only this&lt;/p&gt;</description>
<link>javascript:alert(1)</link><pubDate>soon</pubDate></item>
</channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Old</title></channel>
<item><title>Three</title><link>https://e.org/three</link><dc:date>2026-01-02</dc:date></item></rdf:RDF>"""


@pytest.mark.parametrize(
    ("feed", "title", "text"),
    [
        (ATOM, "A feed", "All of it.\n\n## One\n\n2026-01-02, https://e.org/one\n\nFirst part.\n\nSecond."),
        (RSS, "News & more",
         "## Two\n\n2026-01-05, https://e.org/two\n\nLong & bold.\n\ntail\n\nOnly this"),
        (RDF, "Old", "## Three\n\n2026-01-02, https://e.org/three"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("declared", ["application/atom+xml", "text/xml; charset=utf-8", "application/xml"])
def test_entries_have_title_date_link_and_text(feed: str, title: str, text: str, declared: str) -> None:
    """Atom, RSS 2.0 and RSS 1.0; markup goes, the longer text counts, what is not a link or date is left out."""
    found = extract(feed.encode(), declared)
    assert (found.title, found.text, found.media_type) == (title, text, declared.partition(";")[0])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "broken XML"),
        (b"<rss><channel>", "broken XML"),
        (b"not xml", "broken XML"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a feed"),
        (b"<html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", "not a feed"),
        (b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><title>&b;</title></channel></rss>',
         "entity declarations"),
        (b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><title>&a;</title></channel></rss>',
         "entity declarations"),
        (b"<rss><channel/></rss>", "no text"),
    ],
)  # fmt: skip
def test_what_is_not_a_safe_feed_is_an_error(body: bytes, why: str) -> None:
    """Nothing is expanded or loaded, and no markup is passed off as text."""
    with pytest.raises(PageError, match=why):
        extract(body, "application/rss+xml")


def test_a_huge_feed_is_bounded() -> None:
    """The first entries, each with the beginning of its text, within seconds."""
    entry = "<item><title>One</title><description>" + "word " * 10_000 + "</description></item>"
    feed = f"<rss><channel>{entry * 2}{'<item><title>x</title></item>' * 50_000}</channel></rss>"
    began = time.process_time()
    _, text = feed_text(feed.encode())
    assert time.process_time() - began < 10
    assert text.count("## ") == MAX_ENTRIES
    assert 2 * MAX_ENTRY_CHARS - 10 <= len(text) < 2 * MAX_ENTRY_CHARS + 20 * MAX_ENTRIES


def test_control_characters_in_a_feed_are_dropped() -> None:
    """As on every page."""
    feed = "<rss><channel><title>a\u202eb</title><item><title>c\u200ed</title></item></channel></rss>"
    found = extract(feed.encode(), "application/rss+xml")
    assert (found.title, found.text) == ("ab", "## cd")
