"""Papers in a gathering: one paper on several hosts is one source, with what its results say about it."""

from typing import Any

import pytest
from msgspec import structs

from harness.cache import Cache
from harness.core.pages import Page
from harness.errors import EngineUnavailable
from harness.research.gathering import GatheredSource
from harness.research.result import Research
from tests.fakes import FakeClock, MemoryStore
from tests.research.test_loop import ask, result, text
from tests.research.test_run import Library, Scripted

TITLE = "A study of the sleep of bees"
ARXIV, NATURE = "https://arxiv.org/abs/2001.00001", "https://www.nature.com/articles/1"
BLOG, FULL = "https://blog.example.org/1", "https://repository.example.org/1.pdf"


@pytest.fixture
def cache(clock: FakeClock) -> Cache:
    """Return an empty cache."""
    return Cache(MemoryStore(), clock=clock)


def sources(found: Research) -> list[tuple[str, int]]:
    """Return URL and number of texts of each source."""
    return [(source.url, len(source.texts)) for source in found.gathered.sources]


def only(found: Research) -> GatheredSource:
    """Return the one source."""
    (source,) = found.gathered.sources
    return source


def paper(n: int, href: str, **about: Any) -> dict[str, Any]:
    """Return a result about a paper, the best first."""
    return result(0.9 - n / 10, n, href=href, **about)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"href": BLOG, "doi": "10.1000/abc"}, {"href": NATURE, "doi": "10.1000/ABC"}),
        ({"href": "https://doi.org/10.1000/abc"}, {"href": BLOG, "doi": "10.1000/abc"}),
        ({"href": ARXIV}, {"href": "https://arxiv.org/pdf/2001.00001v3"}),
        ({"href": ARXIV}, {"href": "https://doi.org/10.48550/arXiv.2001.00001"}),
        ({"href": ARXIV, "title": TITLE}, {"href": NATURE, "title": f"{TITLE.upper()}."}),
        ({"href": BLOG, "doi": "10.1000/abc", "title": TITLE}, {"href": NATURE, "title": TITLE}),
    ],
)
def test_a_paper_on_two_hosts_is_one_source(cache: Cache, embedder: Any, one: Any, two: Any) -> None:
    """By DOI, by the number of arXiv, or by title: under the first address, with both texts."""
    found = ask(cache, {"a": [paper(1, **one), paper(2, **two)]}, embedder)
    assert sources(found) == [(one["href"], 2)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"href": BLOG, "doi": "10.1000/abc"}, {"href": NATURE, "doi": "10.1000/abcd"}),
        ({"href": ARXIV}, {"href": "https://arxiv.org/abs/2001.00002"}),
        ({"href": ARXIV, "title": TITLE}, {"href": BLOG, "title": TITLE}),
        ({"href": ARXIV, "title": "On sleep"}, {"href": NATURE, "title": "On sleep"}),
        ({"href": ARXIV, "title": ""}, {"href": NATURE, "title": ""}),
        ({"href": BLOG, "title": TITLE}, {"href": f"{BLOG}0", "title": TITLE}),
    ],
)
def test_two_papers_are_two_sources(cache: Cache, embedder: Any, one: Any, two: Any) -> None:
    """Other DOIs or numbers, short titles, and pages that are no papers."""
    found = ask(cache, {"a": [paper(1, **one), paper(2, **two)]}, embedder)
    assert sources(found) == [(one["href"], 1), (two["href"], 1)]


def test_a_paper_is_one_source_for_several_engines_and_rounds(cache: Cache, embedder: Any) -> None:
    """Each host adds its text once."""
    one = Scripted(lambda query: [paper(1, ARXIV, title=TITLE)])
    two = Scripted({"a": [paper(2, NATURE, title=TITLE)], "b": [paper(3, f"{ARXIV}v2")]}.get)
    two.name = "other"
    found = ask(cache, {}, embedder, ["a"], ["b"], engine=[one, two], novel=0.0)
    assert sources(found) == [(ARXIV, 3)]


def test_the_same_text_on_two_hosts_is_kept_once(cache: Cache, embedder: Any) -> None:
    """An abstract is the same everywhere."""
    same = [{**paper(1, ARXIV, title=TITLE)}, {**paper(1, NATURE, title=TITLE)}]
    assert sources(ask(cache, {"a": same}, embedder)) == [(ARXIV, 1)]


def test_a_third_host_joins_two_that_are_one(cache: Cache, embedder: Any) -> None:
    """It shares the DOI with one and the title with the other."""
    found = ask(
        cache,
        {
            "a": [
                paper(1, ARXIV, title=TITLE),
                paper(2, BLOG, title=TITLE, doi="10.1000/abc"),
                paper(3, NATURE, doi="10.1000/abc"),
            ]
        },
        embedder,
    )
    assert sources(found) == [(ARXIV, 3)]


def test_what_results_say_about_a_source_is_kept(cache: Cache, embedder: Any) -> None:
    """Authors, site, date and DOI, on one line each; what is not said is empty."""
    about = {"authors": "A. Bee,\nB. Bee", "site": " Journal of  Sleep", "date": "2020-05", "doi": "10.1000/abc"}
    found = ask(cache, {"a": [paper(1, NATURE, **about), paper(2, BLOG)]}, embedder)
    first, second = found.gathered.sources
    assert (first.authors, first.site, first.date, first.doi) == (
        "A. Bee, B. Bee",
        "Journal of Sleep",
        "2020-05",
        "10.1000/abc",
    )
    assert (second.authors, second.site, second.date, second.doi) == ("", "", "", "")
    assert found.report is not None
    assert [source.date for source in found.report.sources if source.url == NATURE] == ["2020-05"]


def test_a_later_result_adds_only_what_is_not_known(cache: Cache, embedder: Any) -> None:
    """The first result with an author, a date and so on is believed."""
    found = ask(
        cache,
        {
            "a": [paper(1, ARXIV, date="2020"), paper(2, f"{ARXIV}v2", date="2021", site="arXiv", authors="")],
            "b": [paper(3, ARXIV, authors="A. Bee", site="Other", doi="10.1000/abc")],
        },
        embedder,
        ["a"],
        ["b"],
        novel=0.0,
    )
    source = only(found)
    assert (source.date, source.site, source.authors, source.doi) == ("2020", "arXiv", "A. Bee", "10.1000/abc")


@pytest.mark.parametrize(
    "about", [{"doi": None, "date": None, "authors": None}, {"title": None}, {"doi": "", "full_text": ""}]
)
def test_fields_without_a_value_say_nothing(cache: Cache, embedder: Any, about: Any) -> None:
    """They are empty, and the source is there."""
    source = only(ask(cache, {"a": [paper(1, BLOG, **about)]}, embedder))
    assert (source.doi, source.date, source.authors, source.full_text, source.title) == ("", "", "", "", BLOG)


def test_the_full_text_is_read_instead_of_the_page(cache: Cache, embedder: Any) -> None:
    """Its text belongs to the source, whose address stays."""
    library = Library({FULL: text(0.95, 7), NATURE: text(0.1, 8)})
    found = ask(cache, {"a": [paper(1, NATURE, full_text=FULL)]}, embedder, reader=library)
    assert library.asked == [FULL]
    assert sources(found) == [(NATURE, 2)]
    assert only(found).read
    assert only(found).texts[-1] == text(0.95, 7)
    assert [page.url for page in found.gathered.pages] == [FULL]


def test_the_full_text_that_another_host_knows_is_read(cache: Cache, embedder: Any) -> None:
    """Once for the paper, not for each host."""
    library = Library({FULL: text(0.95, 7)})
    results = [paper(1, NATURE, doi="10.1000/abc"), paper(2, BLOG, doi="10.1000/abc", full_text=FULL)]
    found = ask(cache, {"a": results}, embedder, reader=library)
    assert library.asked == [FULL]
    assert sources(found) == [(NATURE, 3)]


def test_without_a_full_text_the_page_is_read_once(cache: Cache, embedder: Any) -> None:
    """Under the first address; the other hosts of the paper are not read, in any round."""
    library = Library({ARXIV: text(0.95, 7), NATURE: text(0.95, 8)})
    results = [paper(1, ARXIV, title=TITLE), paper(2, NATURE, title=TITLE)]
    found = ask(cache, {"a": results, "b": results}, embedder, ["a"], ["b"], reader=library, novel=0.0)
    assert library.asked == [ARXIV]
    assert sources(found) == [(ARXIV, 3)]


class Described(Library):
    """A reader whose pages say something about themselves."""

    def read(self, url: str, held: Page | None = None) -> Page:
        """See `Library.read`."""
        return structs.replace(super().read(url), date="2019", authors="P. Bee", site="Page site", doi="10.1000/page")


def test_a_page_adds_what_no_result_said(cache: Cache, embedder: Any) -> None:
    """Details of a result stay; both are in the description of the cited source."""
    found = ask(cache, {"a": [paper(1, BLOG, date="2020")]}, embedder, reader=Described({BLOG: text(0.95, 7)}))
    source = only(found)
    assert (source.date, source.authors, source.site, source.doi) == ("2020", "P. Bee", "Page site", "10.1000/page")
    assert found.report is not None
    assert [each.described_in("") for each in found.report.sources] == [
        "P. Bee, Page site, 2020, paper, read on 2023-11-14"
    ]


@pytest.mark.parametrize("pages", [{}, {BLOG: ""}])
def test_a_source_that_could_not_be_read_is_not_marked_as_read(cache: Cache, embedder: Any, pages: Any) -> None:
    """No page, or a page without text: the report says that it was seen as an excerpt."""
    found = ask(cache, {"a": [paper(1, BLOG)]}, embedder, reader=Library(pages))
    assert not only(found).read
    assert found.report is not None
    assert any("seen only as an excerpt" in limit for limit in found.report.limits)


def test_sources_beyond_the_pages_that_are_read_are_not_marked(cache: Cache, embedder: Any) -> None:
    """The best is read, the other is not."""
    library = Library({NATURE: text(0.95, 7), BLOG: text(0.95, 8)})
    found = ask(cache, {"a": [paper(1, NATURE), paper(2, BLOG)]}, embedder, reader=library, pages=1)
    assert {source.url: source.read for source in found.gathered.sources} == {NATURE: True, BLOG: False}


def test_a_paper_is_quoted_under_one_number(cache: Cache, embedder: Any) -> None:
    """Its texts of several hosts are one source of the report."""
    found = ask(cache, {"a": [paper(1, ARXIV, title=TITLE), paper(2, NATURE, title=TITLE)]}, embedder)
    assert found.report is not None
    assert [source.url for source in found.report.sources] == [ARXIV]
    assert {citation.number for citation in found.report.citations} == {1}
    assert all(citation.verified for citation in found.report.citations)


def test_the_same_question_again_joins_the_same_papers(cache: Cache, embedder: Any) -> None:
    """The cache gives the same sources, in the same order, without a search."""
    results = [paper(1, ARXIV, title=TITLE), paper(2, NATURE, title=TITLE, date="2020"), paper(3, BLOG, full_text=FULL)]
    library = Library({FULL: text(0.95, 7), ARXIV: text(0.9, 8)})
    first, second = (ask(cache, {"a": results}, embedder, reader=library) for _ in range(2))
    assert second.gathered.sources == first.gathered.sources
    assert second.live_calls == 0


def test_an_engine_that_fails_does_not_part_a_paper(cache: Cache, embedder: Any) -> None:
    """The others' results are still one source."""
    bad = Scripted(lambda query: EngineUnavailable("down"))
    good = Scripted(lambda query: [paper(1, ARXIV, title=TITLE), paper(2, NATURE, title=TITLE)])
    bad.name = "bad"
    assert sources(ask(cache, {}, embedder, ["a"], engine=[bad, good])) == [(ARXIV, 2)]
