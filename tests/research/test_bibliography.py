"""Cited sources as BibTeX and CSL-JSON."""

import json
from typing import Any

import bibtexparser  # type: ignore[import-untyped]
import pytest
from bibtexparser.bparser import BibTexParser  # type: ignore[import-untyped]
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.text import clean, one_line
from harness.research.bibliography import as_bibtex, as_csl, link_of, names_of
from harness.research.report import CitedSource, Report

pytestmark = pytest.mark.filterwarnings("ignore::Warning:bibtexparser", "ignore::Warning:pyparsing")

PROPERTY = settings(deadline=None)
PAPER = CitedSource(
    1,
    "Notes on the engine",
    "https://doi.org/10.1000/1",
    authors="Ada Lovelace, Alan Turing, Grace Hopper and others",
    site="Memoirs",
    date="1843-09-01",
    doi="10.1000/1",
)
NOW = 1_763_000_000.0
HOSTILE = (
    'x}, url = {https://evil.example}, author={E} }\n\n@article{evil, title={Evil}}\n@comment{ \\input{x} " % # $ ^ ~'
)
SPECIAL = {
    r"\textbackslash{}": "\\",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    **{f"\\{char}": char for char in "#$%&_"},
}


def parsed(*sources: CitedSource, now: float = 0.0) -> list[dict[str, str]]:
    """Return the entries of the sources' BibTeX, as a parser reads them."""
    text = as_bibtex(Report("t", (), sources), now)
    database = bibtexparser.loads(text, BibTexParser(ignore_nonstandard_types=False, interpolate_strings=False))
    entries: list[dict[str, str]] = database.entries
    assert [entry["ID"] for entry in entries] == [item["id"] for item in as_csl(Report("t", (), sources))]
    return entries


def plain(text: str) -> str:
    """Return the characters that TeX shows for escaped text."""
    for escape, char in SPECIAL.items():
        text = text.replace(escape, f"\0{ord(char)}\0")
    return "".join(chr(int(part)) if place % 2 else part for place, part in enumerate(text.split("\0")))


def test_a_paper_is_an_article() -> None:
    """Every known field is there, and authors are separated by `and`."""
    assert parsed(PAPER, now=NOW) == [
        {
            "ENTRYTYPE": "article",
            "ID": "lovelace1843notes",
            "title": "Notes on the engine",
            "author": "Ada Lovelace and Alan Turing and Grace Hopper and others",
            "journal": "Memoirs",
            "date": "1843-09-01",
            "year": "1843",
            "doi": "10.1000/1",
            "url": "https://doi.org/10.1000/1",
            "urldate": "2025-11-13",
        }
    ]


def test_anything_else_is_online() -> None:
    """A page has a site, and no fields for what is not known."""
    (entry,) = parsed(CitedSource(1, "Bread", "https://example.org/a", site="Example"))
    assert entry == {
        "ENTRYTYPE": "online",
        "ID": "bread",
        "title": "Bread",
        "organization": "Example",
        "url": "https://example.org/a",
    }


def test_the_day_of_reading_is_that_of_the_source() -> None:
    """Not that of the report: it may have been read for an earlier question, or come from the cache."""
    for how in ({"fetched_at": 1_700_000_000.0}, {"read_on": "2023-11-14"}):
        (entry,) = parsed(CitedSource(1, "Bread", "https://example.org/a", **how), now=NOW)
        assert entry["urldate"] == "2023-11-14"


def test_keys_are_unique() -> None:
    """Equal keys are numbered, also where a number meets a title."""
    titles = ["Über Brot", "Uber-Brot", "Uber", "uber-2", "uber", "你好", "", ""]
    keys = [entry["ID"] for entry in parsed(*(CitedSource(1, title, "https://x.org/") for title in titles))]
    assert keys == ["uber", "uberbrot", "uber-2", "uber2", "uber-3", "source", "source-2", "source-3"]


@pytest.mark.parametrize(
    ("authors", "key"),
    [
        ("Ada Lovelace, Alan Turing", "lovelace1843notes"),
        ("Lovelace, Ada, Turing, Alan", "lovelace1843notes"),
        ("Lovelace AK, Turing A", "lovelace1843notes"),
        ("Guido van Rossum", "vanrossum1843notes"),
        ("Jürgen Groß", "gross1843notes"),
        ("王小明", "1843notes"),
        (" and others", "1843notes"),
        ("", "1843notes"),
    ],
)
def test_a_key_has_author_year_and_title(authors: str, key: str) -> None:
    """It is in lower-case ASCII, whatever the form of the names."""
    (entry,) = parsed(CitedSource(1, "Notes", "https://x.org/", authors=authors, date="1843"))
    assert entry["ID"] == key


@pytest.mark.parametrize(
    ("authors", "written"),
    [
        ("Lovelace, Ada, van Rossum, Guido and others", "Lovelace, Ada and van Rossum, Guido and others"),
        ("Smith JA, Doe B", "Smith, JA and Doe, B"),
        ("王小明, 李雷", "王小明 and 李雷"),
        ("Jane Doe, Centers for Control and Prevention", "Jane Doe and {Centers for Control and Prevention}"),
        ("A B, Doe,Jane", "A B and {Doe,Jane}"),
        ("A B, others", "A B and {others}"),
        ("And, Rew", "{And}, Rew"),
        ("octocat", "octocat"),
        ("J & J", r"J \& J"),
    ],
)
def test_names_stay_apart(authors: str, written: str) -> None:
    """A name that has what separates names is in braces."""
    (entry,) = parsed(CitedSource(1, "T", "https://x.org/", authors=authors))
    assert entry["author"] == written


def test_names_of_csl_have_parts() -> None:
    """Family and given names are apart; an organization is literal; more authors are named so."""
    source = CitedSource(1, "T", "https://x.org/", authors="Ludwig van Beethoven, Bank of Japan, Plato and others")
    assert as_csl(Report("t", (), (source,)))[0]["author"] == [
        {"family": "van Beethoven", "given": "Ludwig"},
        {"literal": "Bank of Japan"},
        {"literal": "Plato"},
        {"literal": "others"},
    ]


def test_csl_of_a_paper() -> None:
    """Types, dates and names are those of CSL-JSON."""
    (item,) = as_csl(Report("t", (), (PAPER,)), NOW)
    assert (item["type"], item["container-title"], item["DOI"]) == ("article-journal", "Memoirs", "10.1000/1")
    assert item["issued"] == {"date-parts": [[1843, 9, 1]]}
    assert item["accessed"] == {"date-parts": [[2025, 11, 13]]}
    page, file = as_csl(Report("t", (), (CitedSource(1, "A", "https://x.org/"), CitedSource(2, "B", "file:///b"))))
    assert (page["type"], file["type"], file["note"]) == ("webpage", "document", "file:///b")


@pytest.mark.parametrize(
    ("date", "known"),
    [
        ("2024", "2024"),
        ("2024-02", "2024-02"),
        ("2024-02-30T10:00", "2024-02-30"),
        ("2024-13", "2024"),
        ("20245", ""),
        ("２０２４", ""),
        ("}, x = {1", ""),
        ("", ""),
    ],
)
def test_only_dates_are_dates(date: str, known: str) -> None:
    """Anything but a date is left out, and a date has its year."""
    (entry,) = parsed(CitedSource(1, "T", "https://x.org/", date=date))
    assert (entry.get("date", ""), entry.get("year", "")) == (known, known[:4])


def test_hostile_text_makes_no_field_and_no_entry() -> None:
    """Title, authors, site, DOI and URL are text, whatever they say."""
    source = CitedSource(
        1, HOSTILE, f"https://x.org/{HOSTILE}", authors=HOSTILE, site=HOSTILE, date=HOSTILE, doi=HOSTILE
    )
    (entry,) = parsed(source)
    assert set(entry) == {"ENTRYTYPE", "ID", "title", "author", "journal", "doi", "url"}
    assert plain(entry["title"]) == one_line(HOSTILE)
    assert entry["url"].startswith("https://x.org/x%7D,%20url%20=%20%7B")


@PROPERTY
@given(text=st.text(), number=st.integers(1, 3))
@example(text="{", number=2)
@example(text="a \\", number=1)
@example(text="@string{a={b}}", number=1)
@example(text="\udcff\x00\u2028\ufffe", number=1)
def test_any_title_is_read_back(text: str, number: int) -> None:
    """A parser finds one entry for each source, with its title and nothing else of it."""
    source = CitedSource(1, f"a{text}z", "https://x.org/", site=f"a{text}z")
    entries = parsed(*[source] * number)
    assert len(entries) == number
    wanted = clean(one_line(source.title), 1_000)
    assert {plain(entry["title"]) for entry in entries} == {wanted}
    assert {plain(entry["organization"]) for entry in entries} == {wanted}
    assert {item["title"] for item in as_csl(Report("t", (), (source,)))} == {wanted}


@PROPERTY
@given(authors=st.text(st.sampled_from("aB ,.{}\\é李-&") | st.characters(), max_size=40))
def test_any_authors_keep_the_entry_whole(authors: str) -> None:
    """Names never end the field, and CSL-JSON stays JSON."""
    source = CitedSource(1, "T", "https://x.org/", authors=authors)
    (entry,) = parsed(source)
    assert entry.get("author", "").count("{") == entry.get("author", "").count("}")
    assert set(entry) - {"author"} == {"ENTRYTYPE", "ID", "title", "url"}
    items: Any = json.loads(json.dumps(as_csl(Report("t", (), (source,)))))
    assert all(name.get("family") or name["literal"] for name in items[0].get("author", []))
    assert all(name.family for name in names_of(authors))


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://x.org/a b?q={é}#f", "https://x.org/a%20b?q=%7B%C3%A9%7D#f"),
        ("https://x.org/100%25?a=1&b=2", "https://x.org/100%25?a=1&b=2"),
        ("https://bücher.de:8080/", "https://xn--bcher-kva.de:8080/"),
        ("https://[bad/", ""),
        ("https://x.org:port/", ""),
        ("https://", ""),
        ("javascript:alert(1)", ""),
        (" https://x.org/", ""),
        ("file:///etc/passwd", ""),
        ("", ""),
    ],
)
def test_links_are_addresses_of_the_web(url: str, link: str) -> None:
    """They are in ASCII; anything else is no link."""
    assert link_of(url) == link


def test_a_source_outside_the_web_has_a_note() -> None:
    """Its address is text, and it has no day of reading."""
    (entry,) = parsed(CitedSource(1, "", "pydoc:print_x"), now=NOW)
    assert entry == {"ENTRYTYPE": "online", "ID": "source", "title": r"pydoc:print\_x", "note": r"pydoc:print\_x"}


def test_a_report_without_sources_is_empty() -> None:
    """Neither form has an entry."""
    assert (as_bibtex(Report("t", (), ())), as_csl(Report("t", (), ()))) == ("", [])
