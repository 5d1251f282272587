"""The kind of a source, by its address and DOI."""

import time
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.source_kind import source_kind

PROPERTY = settings(deadline=None, max_examples=60)
SECONDS = 10.0
"""Far more than is needed, and far less than time that grows with the square of the text."""
KINDS = set("paper encyclopaedia documentation official news forum code document page".split())


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://arxiv.org/abs/1706.03762", "paper"),
        ("https://export.arxiv.org/abs/1706.03762", "paper"),
        ("https://pubmed.ncbi.nlm.nih.gov/1/", "paper"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC1/", "paper"),
        ("https://www.nature.com/articles/1", "paper"),
        ("https://en.wikipedia.org/wiki/Bee", "encyclopaedia"),
        ("https://de.m.wikipedia.org/wiki/Biene", "encyclopaedia"),
        ("https://plato.stanford.edu/entries/bees/", "encyclopaedia"),
        ("https://stackoverflow.com/questions/1", "forum"),
        ("https://unix.stackexchange.com/q/1", "forum"),
        ("https://old.reddit.com/r/bees", "forum"),
        ("https://www.bbc.co.uk/news/1", "news"),
        ("https://edition.cnn.com/1", "news"),
        ("https://github.com/a/b", "code"),
        ("https://gist.github.com/a/1", "code"),
        ("https://docs.python.org/3/library/os.html", "documentation"),
        ("https://numpy.readthedocs.io/en/latest/", "documentation"),
        ("https://developer.mozilla.org/en-US/", "documentation"),
        ("https://example.org/docs/start", "documentation"),
        ("https://example.org/reference", "documentation"),
        ("https://www.usa.gov/bees", "official"),
        ("https://www.health.gov.au/bees", "official"),
        ("https://www.gov.uk/bees", "official"),
        ("https://ec.europa.eu/bees", "official"),
        ("https://www.who.int/bees", "official"),
        ("https://example.org/bees", "page"),
    ],
)
def test_the_kind_of_an_address(url: str, kind: str) -> None:
    """By its host, one above it, or its path."""
    assert source_kind(url) == kind


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///bees.pdf", "document"),
        ("bees.pdf", "document"),
        ("", "document"),
        ("ftp://arxiv.org/abs/1", "document"),
        ("javascript:alert(1)", "document"),
        ("pydoc:print", "documentation"),
    ],
)
def test_what_is_not_of_the_web_is_a_document(url: str, kind: str) -> None:
    """Except the documentation that comes with Python."""
    assert source_kind(url) == kind


@pytest.mark.parametrize("url", ["https://example.org/1", "https://github.com/a/b", "https://www.usa.gov/1"])
def test_a_doi_makes_a_paper(url: str) -> None:
    """On any host of the web."""
    assert source_kind(url, "10.1000/abc") == "paper"


def test_a_doi_does_not_make_a_paper_of_a_file() -> None:
    """A document stays one."""
    assert source_kind("file:///bees.pdf", "10.1000/abc") == "document"


@pytest.mark.parametrize(
    "url",
    [
        "https://notarxiv.org/abs/1",
        "https://arxiv.org.example.com/abs/1",
        "https://example.com/arxiv.org/abs/1",
        "https://example.com/?u=https://arxiv.org/abs/1",
        "https://arxiv.org@example.com/abs/1",
        "https://example.com#arxiv.org",
        "https://mygithub.com/a",
        "https://github.community-example.com/a",
        "https://wikipedia.org.example.com/wiki/A",
        "https://example.com/government.gov",
        "https://gov.example.com/",
        "https://notgov.uk/",
        "https://xwho.int.example.com/",
        "https://mydocs.example.org/",
        "https://com/",
        "https://org/",
    ],
)
def test_a_host_that_only_looks_alike_is_a_page(url: str) -> None:
    """Names in paths, queries, users and other domains do not count."""
    assert source_kind(url) == "page"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("HTTPS://WWW.NATURE.COM/1", "paper"),
        ("https://user:word@arxiv.org:443/abs/1", "paper"),
        ("http://arxiv.org:8080/abs/1", "paper"),
        ("https://example.org/DOCS/start", "documentation"),
        ("https://example.org/doctors/", "page"),
        ("https://example.org/apiary/", "page"),
        ("https://example.org/?page=/docs/", "page"),
        ("https://example.org/my-guides/", "page"),
        ("https://en.wikipedia.org/wiki/docs/", "encyclopaedia"),
    ],
)
def test_ports_case_and_parts_of_words(url: str, kind: str) -> None:
    """The host counts in any case and with a port, a part of a path only as a whole; the host comes first."""
    assert source_kind(url) == kind


@pytest.mark.parametrize("url", ["https://[", "https://[::1", "http://\u2100/", "https://e.org\u2100/", "https://]/"])
def test_a_broken_address_is_a_page(url: str) -> None:
    """Nothing is raised."""
    assert source_kind(url) == "page"


@PROPERTY
@given(
    url=st.text() | st.text().map("https://{}".format) | st.text().map("https://example.org/{}".format), doi=st.text()
)
def test_no_text_raises(url: str, doi: str) -> None:
    """Every address has one of the kinds."""
    assert source_kind(url, doi) in KINDS


@PROPERTY
@given(host=st.from_regex(r"[a-v]{1,8}(\.[a-z]{1,8}){1,3}", fullmatch=True))
def test_a_www_before_a_host_does_not_matter(host: str) -> None:
    """The kind is that of the host without it."""
    assert urlsplit(f"https://www.{host}/").hostname == f"www.{host}"
    assert source_kind(f"https://www.{host}/") == source_kind(f"https://{host}/")


@pytest.mark.parametrize("text", ["a", "a.", "/docs", "docs.", ".gov", "[", "@", "\ud800", "www."])
def test_an_address_of_any_length_takes_a_bounded_time(text: str) -> None:
    """As a host and as a path."""
    began = time.perf_counter()
    assert {source_kind(f"https://{text * 1_000}/"), source_kind(f"https://example.org/{text * 100_000}")} <= KINDS
    assert time.perf_counter() - began < SECONDS
