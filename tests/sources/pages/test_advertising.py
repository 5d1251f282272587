"""Advertisements of a page: what counts as one, how often, and how long it takes."""

import time

import pytest

from harness.sources.pages.advertising import MAX_ADS, ads_for_text, advertisements
from harness.sources.pages.extraction import _tree as tree
from harness.sources.pages.extraction import extract
from tests.sources.pages.documents import SENTENCE, page


@pytest.mark.parametrize(
    ("html", "ads"),
    [
        ('<iframe src="https://ads.example.com/1"></iframe>', 1),
        ('<iframe src="//tpc.googlesyndication.com/safeframe"></iframe>', 1),
        ('<img src="/adserver/banner.gif">', 1),
        ('<script src="//ads.example.com/show.js"></script><script src="//ads.example.com/show.js"></script>', 1),
        ('<ins class="adsbygoogle"></ins><div id="div-ad-top"></div><p class="AD_300x250">x</p>', 3),
        ('<div class="ad-slot"><div class="ad-frame"><iframe src="//ad.example.com/"></iframe></div></div>', 1),
        ('<a rel="sponsored nofollow" href="https://shop.example/1">Buy</a>', 1),
        ("<amp-ad></amp-ad>", 1),
        ('<a href="https://example.org/loads/1">read</a>', 0),
        ('<a rel="nofollow" href="https://threads.example.org/adserver-howto">read</a>', 0),
        ('<div class="add-header download shadow">x</div><p id="heads">x</p><i class="ada">x</i>', 0),
        ('<body class="no-ads"><main id="ad"><p>x</p></main></body>', 0),
        ('<iframe src="https://video.example.org/embed/1"></iframe>', 0),
    ],
)
def test_what_is_made_for_advertising_counts(html: str, ads: int) -> None:
    """Once for what is within another; words that only contain the letters do not count."""
    assert advertisements(tree(f"<html><body><p>x</p>{html}</body></html>")) == ads


@pytest.mark.parametrize(("found", "characters", "ads"), [(12, 300, 12), (12, 5_000, 12), (12, 50_000, 1), (0, 0, 0)])
def test_a_long_text_may_have_more(found: int, characters: int, ads: int) -> None:
    """The number is for 5,000 characters; a shorter text has all."""
    assert ads_for_text(found, characters) == ads


def test_a_page_is_stored_with_its_advertisements() -> None:
    """Only pages of HTML have any."""
    html = page(*['<span class="ad">Buy this</span>'] * 7)
    assert extract(html.encode(), "text/html").ads == 7
    assert extract(html.encode(), "text/plain").ads == 0


@pytest.mark.parametrize(
    "one",
    [
        '<iframe src="https://ads.example.com/x"></iframe>',
        f'<div class="{"a-" * 500}">x</div>',
        '<div class="ad">',
        '<script src="//ads.example.com/1"></script>',
    ],
)
def test_two_megabytes_of_frames_take_bounded_time(one: str) -> None:
    """Advertisements, names without end, deep nesting: counted within a second or two, and no more than the limit."""
    parsed = tree(f"<html><body><p>{SENTENCE * 5}</p>{one * (2_000_000 // len(one))}</body></html>")
    began = time.monotonic()
    assert advertisements(parsed) in {0, 1, MAX_ADS}
    assert time.monotonic() - began < 5
