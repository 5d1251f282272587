"""Opposites: words, function words and parts of words that reverse a question."""

from collections.abc import Iterable
from itertools import product

from harness.core.equivalence.reading import Word, form

MIN_SHARED = 3
"""Least number of letters that two words share besides their opposite parts."""
MAX_COMPARED = 2_500
"""With more pairs of changed words than this, opposites are not searched."""

OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in """
    enable/disable include/exclude best/worst before/after over/under buy/sell increase/decrease increase/reduce
    increase/lower raise/lower start/stop begin/end open/close install/uninstall install/remove lock/unlock add/remove
    add/delete create/delete create/destroy encode/decode encrypt/decrypt compress/decompress import/export
    upload/download upgrade/downgrade up/down left/right top/bottom high/low higher/lower highest/lowest maximum/minimum
    max/min large/small larger/smaller largest/smallest big/small biggest/smallest long/short longer/shorter
    longest/shortest fast/slow faster/slower fastest/slowest hot/cold warm/cool old/new older/newer oldest/newest
    old/young oldest/youngest more/less most/least many/few early/late first/last inside/outside indoor/outdoor
    internal/external input/output male/female man/woman boy/girl husband/wife father/mother son/daughter
    brother/sister boyfriend/girlfriend king/queen men/women actor/actress uncle/aunt true/false yes/no right/wrong
    correct/wrong love/hate like/dislike win/lose gain/lose pass/fail accept/reject accept/refuse allow/deny
    allow/forbid allow/prevent connect/disconnect attach/detach push/pull send/receive lend/borrow give/take rent/buy
    rent/own hire/fire import/export employer/employee teacher/student landlord/tenant buyer/seller doctor/patient
    public/private legal/illegal safe/dangerous easy/hard easy/difficult rich/poor strong/weak thick/thin wide/narrow
    light/dark light/heavy wet/dry full/empty alive/dead present/absent summer/winter spring/autumn spring/fall
    day/night morning/evening north/south east/west northern/southern eastern/western positive/negative pro/con
    advantage/disadvantage benefit/drawback strength/weakness asset/liability profit/loss credit/debit debit/credit
    synchronous/asynchronous sync/async static/dynamic mutable/immutable client/server frontend/backend
    horizontal/vertical ascending/descending minor/major cause/cure cause/prevent cause/effect birth/death
    born/die marry/divorce arrive/depart arrival/departure entrance/exit enter/exit expand/shrink grow/shrink
    attack/defend hire/quit remember/forget freeze/thaw freeze/melt fill/drain accelerate/brake
    physical/mental offline/online permanent/temporary single/double single/married domestic/international
    used/new import/exported ancient/modern optimist/pessimist optimistic/pessimistic majority/minority offense/defense
    success/failure succeed/fail better/worse good/bad good/evil happy/sad lossless/lossy read/write
    on/off bullish/bearish conscious/subconscious conscious/unconscious popular/unpopular overweight/underweight
    maximize/minimize easiest/hardest possible/impossible cheap/expensive pros/cons pre/post wireless/wired inner/outer
    login/logout immigration/emigration half/quarter half/third once/twice double/triple single/triple plus/minus
    older/younger next/last next/past next/previous next/this last/this
    gain/reduce gain/cut hide/show hide/unhide rise/fall wake/sleep laugh/cry build/demolish wear/remove
    rose/fell risen/fallen approve/ban worsen/improve help/harm cheaper/dearer cheap/dear
    """.split()
)
NEGATING_PREFIXES = ("un", "non", "dis", "in", "im", "ir", "il", "anti", "mis", "de", "counter", "a")

_OPPOSITE_FORMS = frozenset(frozenset(map(form, pair)) for pair in OPPOSITES) - {
    frozenset((form(word),)) for pair in OPPOSITES for word in pair
}
_BEGINNINGS = (
    ("hyper", "hypo"), ("pre", "post"), ("intra", "inter"), ("in", "out"), ("over", "under"), ("maxim", "minim"),
    ("macro", "micro"), ("up", "down"), ("pro", "anti"), ("mono", "poly"), ("sub", "super"),
)  # fmt: skip
_FUNCTIONS = tuple(
    tuple(pair.split("/"))
    for pair in """
    on/off in/out into/out to/out up/down many/few over/under above/under above/below over/below before/after
    with/without for/against
    """.split()
)


def opposites_among(a: Iterable[Word], b: Iterable[Word]) -> tuple[str, str] | None:
    """Return a word of `a` and its opposite in `b`, as written, if any."""
    return next(((one.plain, two.plain) for one, two in product(a, b) if opposite(one, two)), None)


def opposite(a: Word, b: Word) -> bool:
    """Return whether two words are opposites."""
    if frozenset((a.plain, b.plain)) in OPPOSITES or frozenset((a.form, b.form)) in _OPPOSITE_FORMS:
        return True
    return any(_negates(one, two) or _parts_oppose(one, two) for one, two in ((a.plain, b.plain), (b.plain, a.plain)))


def opposite_functions(a: set[str], b: set[str]) -> tuple[str, str] | None:
    """Return a function word only in `a` and its opposite only in `b`, if any."""
    pairs = ((one, two) for pair in _FUNCTIONS for one, two in (pair, pair[::-1]))
    return next(((one, two) for one, two in pairs if one in a - b and two in b - a), None)


def _negates(one: str, two: str) -> bool:
    return len(two) >= MIN_SHARED and any(one == prefix + two for prefix in NEGATING_PREFIXES)


def _parts_oppose(one: str, two: str) -> bool:
    for first, second in _BEGINNINGS:
        shared = one.removeprefix(first)
        if len(one) > len(shared) >= MIN_SHARED and second + shared == two:
            return True
    shared = one.removesuffix("ful")
    return len(one) > len(shared) >= MIN_SHARED and f"{shared}less" == two
