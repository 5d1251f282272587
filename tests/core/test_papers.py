"""Identity of papers: the same paper on two hosts shares an identity, two papers share none."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.keys import canonical_url
from harness.core.papers import LEAST_TITLE_WORDS, MAX_CHARS, identities

PROPERTY = settings(deadline=None, max_examples=60)
SECONDS = 10.0
"""Far more than is needed, and far less than time that grows with the square of the text."""

ARXIV, DOI = "https://arxiv.org/abs/1706.03762", "https://doi.org/10.1000/abc"
TITLE = "A study of the sleep of bees"
OTHER = "https://example.org/1"


def shared(one: tuple[str, ...], two: tuple[str, ...]) -> list[str]:
    """Return the identities that two sources (URL, title, DOI) have in common."""
    return sorted({*identities(*one)} & {*identities(*two)})


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/pdf/1706.03762",
        "https://arxiv.org/pdf/1706.03762v5.pdf",
        "https://arxiv.org/html/1706.03762v7",
        "http://www.arxiv.org/abs/1706.03762v1",
        "https://export.arxiv.org/abs/1706.03762",
        "https://ar5iv.labs.arxiv.org/html/1706.03762",
        "https://doi.org/10.48550/arXiv.1706.03762",
        "https://www.semanticscholar.org/arXiv:1706.03762",
        "https://ARXIV.org/abs/1706.03762?context=cs",
    ],
)
def test_a_paper_of_arxiv_has_its_number_everywhere(url: str) -> None:
    """Abstract, PDF, HTML, any version, mirrors, and the DOI that arXiv gives."""
    assert shared((ARXIV,), (url,)) == ["arxiv:1706.03762"]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("hep-th/9901001", "hep-th/9901001v2"),
        ("math.GT/0309136", "math.gt/0309136"),
        ("2401.00001", "2401.00001v12"),
        ("0704.0001", "0704.0001"),
    ],
)
def test_older_and_newer_numbers_of_arxiv_count(one: str, two: str) -> None:
    """With an archive, with four digits and with five, whatever their case and version."""
    assert shared((f"https://arxiv.org/abs/{one}",), (f"https://arxiv.org/pdf/{two}",)) == [f"arxiv:{one.lower()}"]


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("http://dx.doi.org/10.1000/abc", ""),
        ("https://DOI.org/10.1000/ABC", ""),
        ("https://doi.org/10.1000%2Fabc", ""),
        ("https://onlinelibrary.wiley.com/doi/10.1000/abc", ""),
        ("https://onlinelibrary.wiley.com/doi/full/10.1000/abc?cookieSet=1", ""),
        ("https://dl.acm.org/doi/pdf/10.1000/abc#page=2", ""),
        ("https://dl.acm.org/doi/abs/10.1000/abc", ""),
        (OTHER, "10.1000/abc"),
        (OTHER, "10.1000/ABC."),
        (OTHER, "doi:10.1000/abc"),
        (OTHER, "https://doi.org/10.1000/abc"),
    ],
)
def test_a_doi_is_the_same_in_every_form(url: str, doi: str) -> None:
    """In the address of the resolver or of a publisher, or as a search engine gives it."""
    assert shared((DOI,), (url, "", doi)) == ["doi:10.1000/abc"]


def test_a_doi_may_have_brackets_and_slashes() -> None:
    """They are part of it."""
    for doi in ("10.1016/S0140-6736(97)11096-0", "10.1093/a/b/c", "10.1002/x;y:z_1"):
        assert shared((f"https://doi.org/{doi}",), (OTHER, "", doi)) == [f"doi:{doi.lower()}"]


def test_the_number_of_arxiv_is_taken_from_a_doi() -> None:
    """A source elsewhere with the DOI of arXiv is the paper of arXiv."""
    assert shared((ARXIV,), (OTHER, "", "10.48550/arXiv.1706.03762")) == ["arxiv:1706.03762"]


@pytest.mark.parametrize(
    "two",
    [
        ("https://www.nature.com/articles/1", TITLE),
        ("https://www.nature.com/articles/1", f" {TITLE.upper()}. "),
        ("https://www.nature.com/articles/1", "A study – of the “sleep” of bees!"),
        (OTHER, TITLE, "10.1000/other"),
    ],
)
def test_the_title_of_a_paper_is_an_identity(two: tuple[str, ...]) -> None:
    """Whatever its case and signs, on a host of papers or with a DOI."""
    assert shared((ARXIV, TITLE), two) == [f"title:{TITLE.lower()}"]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((OTHER, TITLE), ("https://example.org/2", TITLE)),
        (("https://en.wikipedia.org/wiki/A", TITLE), ("https://en.wikipedia.org/wiki/B", TITLE)),
        ((ARXIV, TITLE), ("https://blog.example.org/1", TITLE)),
        ((ARXIV, "On sleep"), ("https://www.nature.com/1", "On sleep")),
        ((ARXIV, "A History of England, Volume 1"), ("https://www.jstor.org/1", "A History of England, Volume 2")),
        ((ARXIV, ""), ("https://www.nature.com/1", "")),
        ((ARXIV, "蜜蜂睡眠的研究"), ("https://www.nature.com/1", "蜜蜂睡眠的研究")),
    ],
)
def test_other_pages_with_one_title_stay_apart(one: tuple[str, ...], two: tuple[str, ...]) -> None:
    """Pages that are no papers, short titles, other volumes, no title."""
    assert shared(one, two) == []


def test_a_title_counts_from_the_least_number_of_words() -> None:
    """Exactly that many are enough."""
    long, short = "w " * LEAST_TITLE_WORDS, "w " * (LEAST_TITLE_WORDS - 1)
    assert shared((ARXIV, long), (DOI, long)) == [f"title:{long.strip()}"]
    assert shared((ARXIV, short), (DOI, short)) == []


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("https://doi.org/10.1000/abc", "https://doi.org/10.1000/abcd"),
        ("https://doi.org/10.1000/abc", "https://doi.org/10.1001/abc"),
        ("https://doi.org/10.1371/journal.pone.0000001", "https://doi.org/10.1371/journal.pone.0000001.g001"),
        ("https://arxiv.org/abs/1706.0376", "https://arxiv.org/abs/1706.03762"),
        ("https://arxiv.org/abs/hep-th/9901001", "https://arxiv.org/abs/hep-ph/9901001"),
        ("https://dl.acm.org/doi/10.1145/1", "https://dl.acm.org/doi/10.1145/2?ref=10.1145/1"),
        ("https://arxiv.org/list/cs.AI/recent", "https://arxiv.org/list/cs.CL/recent"),
        ("https://www.nature.com/articles/1", "https://www.nature.com/articles/2"),
        ("file:///papers/a.pdf", "file:///papers/b.pdf"),
        ("https://example.org/a", "https://example.org/A"),
    ],
)
def test_two_papers_share_nothing(one: str, two: str) -> None:
    """However alike their addresses are."""
    assert shared((one,), (two,)) == []


def test_two_spellings_of_an_address_share_it() -> None:
    """Tracking parameters, a trailing slash and the case of the host do not count."""
    assert shared(("https://example.org/a",), ("HTTPS://Example.org:443/a/?utm_source=x#y",)) == [
        "https://example.org/a"
    ]


def test_an_address_is_always_an_identity() -> None:
    """The last of them, each once."""
    found = identities(ARXIV, TITLE, "10.48550/arXiv.1706.03762")
    assert found == ("arxiv:1706.03762", f"title:{TITLE.lower()}", ARXIV)
    assert identities(OTHER) == (OTHER,)


@PROPERTY
@given(url=st.text() | st.text().map("https://doi.org/10.1000/{}".format), title=st.text(), doi=st.text())
def test_no_text_raises(url: str, title: str, doi: str) -> None:
    """There is at least one identity, none twice, and a source has them with itself in common."""
    found = identities(url, title, doi)
    assert found[-1] == canonical_url(url)
    assert len(set(found)) == len(found) >= 1
    assert found == identities(url, title, doi)


@PROPERTY
@given(
    one=st.from_regex(r"10\.[0-9]{4}/[a-z0-9]{1,8}", fullmatch=True),
    two=st.from_regex(r"10\.[0-9]{4}/[a-z0-9]{1,8}", fullmatch=True),
)
def test_two_dois_are_two_papers(one: str, two: str) -> None:
    """They share an identity if they are the same, and only then."""
    common = shared((f"https://doi.org/{one}",), (f"https://www.tandfonline.com/doi/full/{two}",))
    assert common == ([f"doi:{one}"] if one == two else [])


@pytest.mark.parametrize(
    "text",
    ["a", "%25", "arxiv.", "/doi/abs/10.1234/", "https://doi.org/", "a-", "arxiv:a", "[", "\ud800", "w "],
)
def test_a_text_of_any_length_takes_a_bounded_time(text: str) -> None:
    """However often it almost has a number or a DOI; identities are bounded, too."""
    long = text * 200_000
    began = time.perf_counter()
    found = identities(long, long, long)
    assert time.perf_counter() - began < SECONDS
    assert all(len(each) <= 10 * MAX_CHARS for each in found)
