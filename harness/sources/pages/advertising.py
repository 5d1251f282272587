"""Signs of advertising in the HTML of a page: frames, scripts, places and links that are made for it.

The patterns are general: common names of classes, ids and servers. A sign that is missed, or one that means something
else, changes little: only a page with many of them weighs less (see `harness.core.source_quality`).
"""

import re
from itertools import islice
from typing import Any

MAX_ADS = 1_000
MAX_ELEMENTS = 50_000
"""Elements that are looked at, the first ones: a tenth of a second."""
MAX_VALUE_CHARS = 300
"""Characters of an attribute that are looked at."""
CHARS = 5_000
"""Characters of text, about 800 words, to which a number of advertisements is related."""

_NAMES = re.compile(
    r"(?<![^\s_-])(?:ads?|adsense|adsbygoogle|ad(?:slot|unit|box|banner|container|wrapper)s?"
    r"|advert(?:s|isements?|ising)?|sponsored)(?![^\s_\d-])"
)
"""Names in a class or id, between spaces, hyphens and underscores: `top-ad`, `ad_300x250`, `adsbygoogle`."""
_ADDRESS = re.compile(
    r"//(?:[\w-]+\.)*(?:ads?\d*|adserv\w*|adsystem|amazon-adsystem|adnxs|criteo|doubleclick|googleadservices"
    r"|googlesyndication|outbrain|pubmatic|taboola)\.|/(?:ads?|adserver|adframe)/"
)
"""Servers and folders of advertisements: `//ads.example.com/`, `/adframe/`."""
_ADDRESSES = {"iframe": "src", "frame": "src", "img": "src", "script": "src", "a": "href"}
_TAGS = frozenset(("amp-ad", "amp-embed"))
_WHOLE_PAGE = frozenset(("html", "head", "body", "main", "article"))
"""Elements whose names say something about the page, such as `no-ads`."""


def advertisements(tree: Any) -> int:
    """Return how many elements of a parsed page are made for advertising, at most `MAX_ADS`. One within another counts
    with it, and the same script counts once.
    """
    found, within, scripts = 0, set[Any](), set[str]()
    for element in islice(tree.iter("*"), MAX_ELEMENTS):
        if element.getparent() in within:
            within.add(element)
        elif _is_made_for_it(element):
            within.add(element)
            if element.tag == "script":
                scripts.add(_value(element, "src"))
            else:
                found += 1
            if found + len(scripts) == MAX_ADS:
                break
    return found + len(scripts)


def ads_for_text(found: int, characters: int) -> int:
    """Return the number of advertisements for each `CHARS` characters of text; of a shorter text, all."""
    return round(found * CHARS / max(CHARS, characters))


def _is_made_for_it(element: Any) -> bool:
    tag = element.tag
    if tag in _WHOLE_PAGE:
        return False
    if tag in _TAGS or any(_NAMES.search(_value(element, name)) for name in ("class", "id")):
        return True
    if tag == "a" and "sponsored" in _value(element, "rel").split():
        return True
    return tag in _ADDRESSES and bool(_ADDRESS.search(_value(element, _ADDRESSES[tag])))


def _value(element: Any, name: str) -> str:
    return str(element.get(name) or "")[:MAX_VALUE_CHARS].lower()
