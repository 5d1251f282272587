"""Bibliography of a report: its cited sources as BibTeX (for biblatex, too) and as CSL-JSON."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from harness.cache.usage import day_of
from harness.core.authors import OTHERS
from harness.core.sites import WEB
from harness.core.text import clean, one_line
from harness.research.report import CitedSource, Report

MAX_KEY_PART = 30
"""Characters of each of the three parts of a key."""

_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)", re.ASCII)
_SEPARATOR = re.compile(r"\b(?:and|others)\b|,", re.IGNORECASE | re.ASCII)
"""Signs that BibTeX reads as the end of a name, or of a part of it."""
_INITIALS = re.compile(r"[A-Z](?:[.-]?[A-Z]){0,2}\.?")
_PARTICLES = frozenset("al bin da das de del della den der di do dos du el ibn la le ter van von zu zur".split())
_CORPORATE = frozenset("& and for of the".split())
"""Words that a name of an organization has, and that of a person has not."""
_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # BibTeX counts the brace of \{, too
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{char: f"\\{char}" for char in "#$%&_"},
    }
)
_OF_URLS = "%:/?#[]@!$&'()*+,;=-._~"


class Name(NamedTuple):
    """Name of an author. `family` is the whole name if its parts are not known, as that of an organization."""

    family: str
    given: str = ""
    written: str = ""


def as_bibtex(report: Report, now: float = 0.0) -> str:
    """Return the cited sources as BibTeX: papers as @article, anything else as @online.

    `now` is when the report was made, in seconds since the epoch: sources of the web that were not read before were
    read then. 0: not known.
    """
    entries = []
    for key, source in _keyed(report.sources):
        kind = "article" if source.kind == "paper" else "online"
        fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(source, now).items() if value)
        entries.append(f"@{kind}{{{key},\n{fields}}}\n")
    return "\n".join(entries)


def as_csl(report: Report, now: float = 0.0) -> list[dict[str, Any]]:
    """Return the cited sources as items of CSL-JSON; `now` as in `as_bibtex`."""
    return [_item(key, source, now) for key, source in _keyed(report.sources)]


def link_of(url: str) -> str:
    """Return the address of a link as ASCII; empty if it is not an address of the web, or not a valid one."""
    plain = _plain(url)
    try:
        parts = urlsplit(plain)
        named = bool(parts.hostname) and (parts.port is None or parts.port >= 0)  # the port raises if it is not one
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode("ascii")
    except ValueError:
        return ""
    return quote(plain.replace(parts.netloc, host, 1), safe=_OF_URLS) if named and url.startswith(WEB) else ""


def names_of(authors: str) -> list[Name]:
    """Return the names in a line of authors.

    The line separates names by commas: "Ada Lovelace, Alan Turing and others". Pages also name authors as "Lovelace,
    Ada, Turing, Alan"; this is assumed if every other part is a family name alone.
    """
    parts = [part for part in _plain(authors).removesuffix(OTHERS.strip()).strip(" ,").split(", ") if part]
    families, given = parts[::2], parts[1::2]
    if len(families) == len(given) and all(_is_family(part) for part in families):
        return [Name(one, other, f"{one}, {other}") for one, other in zip(families, given, strict=True)]
    return list(map(_name, parts))


def _name(whole: str) -> Name:
    *first, last = whole.split(" ")
    if not first or _CORPORATE & set(whole.lower().split(" ")):
        return Name(whole, written=whole)
    if _INITIALS.fullmatch(last) and not _INITIALS.fullmatch(" ".join(first)):  # as PubMed writes names
        return Name(" ".join(first), last, f"{' '.join(first)}, {last}")
    while len(first) > 1 and first[-1].lower() in _PARTICLES:
        last = f"{first.pop()} {last}"
    return Name(last, " ".join(first), whole)


def _is_family(part: str) -> bool:
    *particles, last = part.split(" ")
    return last.lower() != last.upper() and all(word.lower() in _PARTICLES for word in particles)


def _keyed(sources: Sequence[CitedSource]) -> Iterator[tuple[str, CitedSource]]:
    """Yield each source with a key that no other has: author, year and first word of the title, numbered if equal."""
    used: set[str] = set()
    counts: Counter[str] = Counter()
    for source in sources:
        names = names_of(source.authors)
        words = (names[0].family if names else "", _date(source)[:4], *_plain(source.title).split(" ")[:1])
        wanted = key = "".join(map(_ascii, words)) or "source"
        while key in used:
            counts[wanted] += 1
            key = f"{wanted}-{counts[wanted] + 1}"
        used.add(key)
        yield key, source


def _ascii(text: str) -> str:
    """Return the letters and digits of ASCII in `text`, in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return re.sub(r"[^a-z0-9]", "", plain)[:MAX_KEY_PART]


def _fields(source: CitedSource, now: float) -> Mapping[str, str]:
    """Return the fields of an entry; DOI and URL are read literally, so they are encoded instead of escaped."""
    date, link = _date(source), link_of(source.url)
    names = [_written(name) for name in names_of(source.authors)]
    site = "journal" if source.kind == "paper" else "organization"
    return {
        "title": _escaped(source.title or source.url),
        "author": " and ".join(names) + OTHERS * (bool(names) and _has_others(source)),
        site: _escaped(source.site),
        "date": date,
        "year": date[:4],
        "doi": quote(_plain(source.doi), safe=_OF_URLS + "<>"),
        "url": link,
        "urldate": _read_on(source, now),
        "note": "" if link else _escaped(source.url),
    }


def _written(name: Name) -> str:
    """Return a name as BibTeX reads it; a part that has what separates names is in braces."""
    parts = [name.family] if not name.given else name.written.split(", ")
    return ", ".join(f"{{{_escaped(part)}}}" if _SEPARATOR.search(part) else _escaped(part) for part in parts)


def _item(key: str, source: CitedSource, now: float) -> dict[str, Any]:
    link = link_of(source.url)
    names = [
        {"family": name.family, "given": name.given} if name.given else {"literal": name.family}
        for name in names_of(source.authors)
    ]
    item = {
        "id": key,
        "type": "article-journal" if source.kind == "paper" else "webpage" if link else "document",
        "title": _plain(source.title or source.url),
        "author": names + [{"literal": "others"}] * (bool(names) and _has_others(source)),
        "container-title": _plain(source.site),
        "issued": _parts(_date(source)),
        "DOI": _plain(source.doi),
        "URL": link,
        "accessed": _parts(_read_on(source, now)),
        "note": "" if link else _plain(source.url),
    }
    return {name: value for name, value in item.items() if value}


def _has_others(source: CitedSource) -> bool:
    return _plain(source.authors).endswith(OTHERS)


def _date(source: CitedSource) -> str:
    found = _DATE.match(source.date)
    return found[0] if found else ""


def _read_on(source: CitedSource, now: float) -> str:
    """Return the day (UTC) on which a source of the web was read; empty if it is not known."""
    return (source.day or (day_of(now) if now else "")) if link_of(source.url) else ""


def _parts(date: str) -> dict[str, list[list[int]]]:
    return {"date-parts": [[int(part) for part in date.split("-")]]} if date else {}


def _escaped(text: str) -> str:
    return _plain(text).translate(_ESCAPED)


def _plain(text: str) -> str:
    return clean(one_line(text), len(text))
