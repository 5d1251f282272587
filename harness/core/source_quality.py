"""Quality of a source: primary sources weigh more; copies, outdated pages and those full of advertisements less."""

import re

from msgspec import Struct

from harness.core.freshness import is_volatile
from harness.core.required_terms import required_terms
from harness.core.sites import WEB, host_of, is_within
from harness.core.source_kind import source_kind

MOST = 0.05
"""Highest weight, and as a negative one the lowest."""

PRIMARY, SITE, IN_TIME = 0.03, 0.01, 0.01
FARM, OUTDATED, ADVERTISING = -0.05, -0.02, -0.02

MANY_ADS = 10
"""Advertisements for each 5,000 characters of text (see `Page.ads`) from which on they count: one every 80 words."""

_PRIMARY_KINDS = frozenset(("paper", "official", "documentation", "encyclopaedia"))

_FARMS = frozenset(
    """bleepcoder.com copyprogramming.com ehow.com exchangetuts.com giters.com gitmemory.com issueexplorer.com
    itecnote.com newbedev.com pretagteam.com programmersought.com solveforum.com stackoom.com wikimili.com""".split()
)
"""Hosts that only republish: questions of Stack Overflow, issues of GitHub, articles of Wikipedia, how-tos made for
advertisements. Lists of search filters name them as well (uBlacklist, uBlock-Origin-dev-filter).
"""

_BRANDS = re.compile("stackoverflow|github|wikipedia")
_OWNED = frozenset(
    """github.blog github.com github.community github.dev github.io github-wiki-see.page githubassets.com
    githubcopilot.com githubnext.com githubstatus.com githubuniverse.com githubusercontent.com stackoverflow.blog
    stackoverflow.co stackoverflow.com stackoverflow.email wikipedia.de wikipedia.org""".split()
)
"""Hosts that have such a name by right."""
_SECOND_LEVEL = frozenset("ac co com edu gov net or org".split())
"""Labels that stand before that of a country, as in example.co.uk."""
_LAST_YEAR = re.compile(r"(?:(?:19|20)[0-9]{2}-|a year after )?((?:19|20)[0-9]{2})")
"""A year, the last one of a span, or the one after which it begins, as required terms have them."""
_DATE = re.compile(r"([0-9]{4})(?:-|$)")


class Quality(Struct, frozen=True):
    """Weight of a source (-0.05 to 0.05), and the reasons, a phrase each: "paper: up".

    The weight is added to relevance, which is 0 to 1: two sources never move by more than a tenth of that scale against
    each other, so that quality decides only between sources that are about as relevant.
    """

    weight: float = 0.0
    reasons: tuple[str, ...] = ()


NEUTRAL = Quality()


def least_year(question: str, year: int) -> int:
    """Return the first year from which a page may date for a question: the last one (`year` is the present one) where
    it asks about the present, the latest year that it names, or 0: any. Never raises.
    """
    if is_volatile(question, year):
        return year - 1
    ends = (_LAST_YEAR.fullmatch(term) for term in required_terms(question))
    return max((int(end[1]) for end in ends if end), default=0)


def quality(
    url: str, *, doi: str = "", date: str = "", site: str = "", ads: int = 0, since: int = 0, year: int
) -> Quality:
    """Return the quality of a source of the web; other sources (documents of a corpus) are neutral. Never raises.

    `date` (YYYY, YYYY-MM or YYYY-MM-DD) counts only if pages should date from `since` or later (0: any); a date after
    the present `year` is not believed. `site` is the name of its journal or site, `ads` the number of advertisements
    for each 5,000 characters.
    """
    if not url.startswith(WEB):
        return NEUTRAL
    kind = source_kind(url, doi)
    found = _DATE.match(date)
    published = int(found[1]) if found and since and int(found[1]) <= year else 0
    is_farm = _is_farm(host_of(url))
    signs = (
        (FARM, "copies of other sites", is_farm),
        (PRIMARY, kind, kind in _PRIMARY_KINDS and not is_farm),
        (IN_TIME, f"date {published}", published >= max(since, 1)),
        (OUTDATED, f"date {published}", 0 < published < since),
        (SITE, "site named", bool(site.strip())),
        (ADVERTISING, "many advertisements", ads >= MANY_ADS),
    )
    held = [(weight, f"{sign}: {'up' if weight > 0 else 'down'}") for weight, sign, holds in signs if holds]
    weight = round(sum(weight for weight, _ in held), 4)
    return Quality(max(-MOST, min(MOST, weight)), tuple(reason for _, reason in held))


def _is_farm(host: str) -> bool:
    """Return whether a host republishes other sites: a known one, or one with the name of such a site that is not
    its own. Only the registered part of the name counts: github.example.org may be a server of that organisation.
    """
    if is_within(host, _FARMS):
        return True
    labels = host.split(".")
    place = -3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL else -2
    registered = labels[place] if len(labels) > 1 else ""
    return bool(_BRANDS.search(registered)) and not is_within(host, _OWNED)
