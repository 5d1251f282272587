"""Page numbers of a text that was made of pages: where each page begins, in the text and in parts of it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from harness.core.citations import folded

PageNumber: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000)]
PageStarts: TypeAlias = tuple[tuple[Annotated[int, Meta(ge=0, le=2**31)], PageNumber], ...]
"""Places in a text (in characters) and the page (from 1) that begins there, in order; empty if it has no pages. Page 0
begins where a part without pages follows one with pages.
"""

MAX_STARTS = 2_000
"""Pages of one stored text that are believed: no reader reads more."""

_place = itemgetter(0)


def checked_starts(value: object) -> PageStarts:
    """Return stored places of pages; nothing if they are missing, damaged or more than `MAX_STARTS`. Never raises."""
    try:
        starts = msgspec.convert(value if isinstance(value, (list, tuple)) else (), PageStarts)
    except msgspec.ValidationError:
        return ()
    return starts if len(starts) <= MAX_STARTS else ()


def page_of(quotation: str, text: str, starts: PageStarts) -> int:
    """Return the page on which a quotation begins in a text (compared as `is_quoted_in` does); 0 if it is not in the
    text, or the text has no pages.
    """
    wanted = _bare(quotation) if starts else ""
    at = _bare(text).find(wanted) if wanted else -1
    return 0 if at < 0 else _page_at(at, _counted(text, starts))


def starts_in(parts: Iterable[str], text: str, starts: PageStarts) -> Iterator[PageStarts]:
    """Yield where pages begin in each of the parts of a text, which have its characters in its order, except white
    space and text left out between them. A part that is not in the text has no pages.
    """
    whole, counted, at = _bare(text) if starts else "", _counted(text, starts), 0
    for part in parts:
        bare = _bare(part) if starts else ""
        begin = whole.find(bare, at) if bare else -1
        if begin < 0:
            yield ()
            continue
        at = begin + len(bare)
        first = _page_at(begin, counted)
        among = slice(bisect_right(counted, begin, key=_place), bisect_left(counted, at, key=_place))
        inside = [(count - begin, page) for count, page in counted[among]]
        yield ((0, first),) * bool(first) + tuple(_placed(part, inside))


def joined_starts(parts: Sequence[str], starts: Iterable[PageStarts], *, between: int) -> PageStarts:
    """Return where pages begin in the parts joined, with `between` characters between each two. A part without pages
    has none there, either.
    """
    begins = accumulate((len(part) + between for part in parts), initial=0)
    found: list[tuple[int, int]] = []
    for begin, each in zip(begins, starts, strict=False):
        paged = each or ((0, 0),) * bool(found)
        found += [(begin + at, page) for at, page in paged if not found or found[-1][1] != page]
    return tuple(found)


def shifted_starts(starts: PageStarts, by: int) -> PageStarts:
    """Return where pages begin in a text that has `by` more characters before it."""
    return tuple((at + by, page) for at, page in starts)


def _page_at(count: int, counted: Sequence[tuple[int, int]]) -> int:
    place = bisect_right(counted, count, key=_place)
    return counted[place - 1][1] if place else 0


def _counted(text: str, starts: PageStarts) -> list[tuple[int, int]]:
    """Return the starts counted in characters without white space."""
    edges = [0, *(at for at, _ in starts)]
    counts = accumulate(len(_bare(text[one:other])) for one, other in pairwise(edges))
    return [(count, page) for count, (_, page) in zip(counts, starts, strict=True)]


def _placed(part: str, inside: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    places = [at for at, char in enumerate(part) if not char.isspace()] if inside else []
    yield from ((places[count], page) for count, page in inside if count < len(places))


def _bare(text: str) -> str:
    return "".join(folded(text).split())
