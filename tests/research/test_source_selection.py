"""Selection of sources: primary ones first, copies and listed sites left out, documents of a corpus as they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from harness_evals.tasks import load_tasks
from msgspec import convert, json, structs

from harness.app import App
from harness.cache import Cache
from harness.cli.snapshot_commands import _lines_of_run as lines_of_run
from harness.core.freshness import DAY
from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.core.source_quality import MANY_ADS
from harness.errors import InvalidInput, SiteLeftOut
from harness.research.gathering import Gathered, GatheredSource, SourceNote
from harness.research.result import Research
from harness.research.source_selection import SourceSelection
from harness.settings import GatheringSettings, RecordedRun, Settings
from harness.settings.mode import Mode
from harness.sources.corpus.engine import PythonDocs, open_corpus
from harness.storage.snapshots import write_snapshot
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.research.test_loop import Steps, result, text
from tests.research.test_run import Library, Scripted, change_services, researcher, silent

QUESTION = "How does exponential backoff limit retries?"
NOW = 1_795_000_000.0
"""In 2026."""
PRIMARY, FARM = "https://docs.example.org/backoff", "https://newbedev.com/backoff"
BLOG, OTHER = "https://blog.example.net/1", "https://www.example.com/2"
ARTICLE = (
    "The client waits after every failed call and doubles the pause each time, so that a server that is down is not "
    "asked again by everybody at once, and it stops completely when the limit of attempts is reached."
)


@pytest.fixture
def cache() -> Cache:
    """Return an empty cache."""
    return Cache(MemoryStore(), clock=FakeClock(NOW))


def page(url: str, similarity: float, direction: int, more: str = ARTICLE, **about: Any) -> dict[str, Any]:
    """Return a result with a vector and an article."""
    return {**result(similarity, direction, href=url, **about), "body": f"{text(similarity, direction)}\n\n{more}"}


def ask(
    cache: Cache,
    results: Sequence[Mapping[str, Any]],
    embedder: Any,
    *,
    reader: Library | None = None,
    pages: int = 3,
    engine: Any = None,
    question: str = QUESTION,
    **gathering: Any,
) -> Research:
    """Research with an engine that has these results, in one round."""
    leader = researcher(
        cache, engine or Scripted(lambda query: results), embedder, reader=reader, pages=pages, rounds=1
    )
    leader.gathering = structs.replace(leader.gathering, **gathering)
    change_services(leader, planner=Steps(["a"]))
    return leader.run(question)


def urls(found: Research) -> list[str]:
    """Return the URLs of the sources, in order."""
    return [source.url for source in found.gathered.sources]


def notes(found: Research) -> dict[str, str]:
    """Return the notes by URL."""
    return {each.url: each.note for each in found.gathered.notes}


# --- copies


def test_a_copy_of_a_primary_source_is_left_out(cache: Cache, embedder: Any) -> None:
    """Though it was found first: it is neither read nor a source, and the note names the original."""
    library = Library({PRIMARY: f"{text(0.9, 1)}\n\n{ARTICLE}", FARM: "never read"})
    found = ask(cache, [page(FARM, 0.9, 1), page(PRIMARY, 0.9, 1)], embedder, reader=library)
    assert library.asked == [PRIMARY]
    assert urls(found) == [PRIMARY]
    assert notes(found) == {PRIMARY: "documentation: up", FARM: f"copy of {PRIMARY}: left out"}
    assert found.report is not None
    assert [source.url for source in found.report.sources] == [PRIMARY]


def test_of_equal_copies_the_first_stays(cache: Cache, embedder: Any) -> None:
    """Two unknown pages with one text."""
    found = ask(cache, [page(BLOG, 0.9, 1), page(OTHER, 0.9, 1)], embedder)
    assert urls(found) == [BLOG]


def test_without_the_setting_copies_stay_in_their_order(cache: Cache, embedder: Any) -> None:
    """Without notes and weights."""
    found = ask(cache, [page(FARM, 0.9, 1), page(PRIMARY, 0.9, 1)], embedder, source_quality=False)
    assert urls(found) == [FARM, PRIMARY]
    assert found.gathered.notes == ()
    assert {source.weight for source in found.gathered.sources} == {0.0}


def test_if_the_original_cannot_be_read_the_copy_is(cache: Cache, embedder: Any) -> None:
    """In a later round, if it is found again; its page says more, so that both stay."""
    longer = f"{text(0.9, 1)}\n\n{ARTICLE}\n\n{text(0.8, 2)} {' '.join(ARTICLE.split()[::-1])}"
    library = Library({FARM: longer})
    results = [page(FARM, 0.9, 1), page(PRIMARY, 0.9, 1)]
    leader = researcher(cache, Scripted(lambda query: results), embedder, reader=library, rounds=2, novel=0.0)
    change_services(leader, planner=Steps(["a"], ["b"]))
    found = leader.run(QUESTION)
    assert library.asked == [PRIMARY, FARM]
    assert sorted(urls(found)) == sorted([PRIMARY, FARM])


def test_an_original_has_the_numbers_of_the_question(cache: Cache, embedder: Any) -> None:
    """The page about the version that is asked for is no copy of the one about another version."""
    versions = [f"https://docs.example.org/{version}/backoff" for version in ("3.11", "3.12")]
    results = [page(url, 0.9, 1) for url in versions]
    assert urls(ask(cache, results, embedder)) == versions[:1]
    asked = ask(cache, results, embedder, question="How does backoff work in version 3.12?")
    assert versions[1] in urls(asked)


# --- order


def test_primary_sources_come_first_among_equals(cache: Cache, embedder: Any) -> None:
    """With the setting, not without: in the order of sources, of pages to read, and of excerpts."""
    results = [page(BLOG, 0.8, 1, ""), page(PRIMARY, 0.79, 2, "")]
    library = Library({PRIMARY: text(0.79, 3), BLOG: text(0.8, 4)})
    found = ask(cache, results, embedder, reader=library, pages=1)
    assert urls(found) == [PRIMARY, BLOG]
    assert library.asked == [PRIMARY]
    assert found.evidence[0].source.url == PRIMARY
    plain = ask(cache, results, embedder, reader=library, pages=1, source_quality=False)
    assert urls(plain) == [BLOG, PRIMARY]
    assert library.asked == [PRIMARY, BLOG]
    assert plain.evidence[0].source.url == BLOG


def test_quality_lifts_nothing_above_what_answers_better(cache: Cache, embedder: Any) -> None:
    """The best weight and the worst differ by a tenth: an excerpt that is clearly nearer stays first."""
    best = {"doi": "10.1000/abc", "site": "Journal", "date": "2026"}
    question = "What is the latest limit of retries?"
    found = ask(cache, [page(FARM, 0.9, 1, ""), page(PRIMARY, 0.5, 2, "", **best)], embedder, question=question)
    assert {source.url: source.weight for source in found.gathered.sources} == {FARM: -0.05, PRIMARY: 0.05}
    assert found.evidence[0].source.url == FARM


def test_an_old_page_goes_down_where_the_question_is_about_the_present(cache: Cache, embedder: Any) -> None:
    """The date is that of the result; the reasons are one phrase."""
    results = [page(BLOG, 0.8, 1, "", date="2019-05"), page(OTHER, 0.8, 2, "", date="2026", site="Example")]
    found = ask(cache, results, embedder, question="What is the latest limit of retries?")
    assert urls(found) == [OTHER, BLOG]
    assert notes(found) == {OTHER: "date 2026: up; site named: up", BLOG: "date 2019: down"}
    undated = ask(cache, results, embedder, question=QUESTION)
    assert urls(undated) == [BLOG, OTHER]
    assert notes(undated) == {OTHER: "site named: up"}


# --- lists of sites


def test_listed_sites_are_left_out_before_pages_are_read(cache: Cache, embedder: Any) -> None:
    """A host with all below it; a host that looks alike is another one."""
    skipped = ["https://example.com/1", "https://docs.example.com/2", "https://EXAMPLE.com:8443/3"]
    kept = ["https://evil-example.com/4", "https://example.com.example.net/5"]
    results = [page(url, 0.9 - place / 50, place + 1, "") for place, url in enumerate([*skipped, *kept])]
    library = Library()
    found = ask(cache, results, embedder, reader=library, pages=5, skip_sites=("*.example.com",))
    assert urls(found) == kept
    assert sorted(library.asked) == sorted(kept)
    assert found.gathered.left_out == {"skip_sites": 3}
    assert [note for note in notes(found).values() if note == "skip_sites: left out"] == ["skip_sites: left out"] * 3


def test_only_listed_sites_are_used(cache: Cache, embedder: Any) -> None:
    """Several in one entry, too; a list of what to skip takes from them."""
    results = [page(url, 0.9, place + 1, "") for place, url in enumerate([BLOG, PRIMARY, OTHER])]
    found = ask(cache, results, embedder, only_sites=("example.org,example.com",), skip_sites=("www.example.com",))
    assert urls(found) == [PRIMARY]
    assert notes(found) == {
        PRIMARY: "documentation: up", BLOG: "only_sites: left out", OTHER: "skip_sites: left out"
    }  # fmt: skip


def test_if_nothing_is_left_the_lists_are_counted(cache: Cache, embedder: Any) -> None:
    """No report, no page read, and how many results each list left out."""
    library = Library()
    results = [page(BLOG, 0.9, 1, ""), page(OTHER, 0.9, 2, "")]
    found = ask(cache, results, embedder, reader=library, only_sites=("python.org",))
    assert found.report is None
    assert found.gathered.sources == ()
    assert library.asked == []
    assert found.gathered.left_out == {"only_sites": 2}


class Redirecting(Library):
    """A reader that every page leads elsewhere."""

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `Library.read`."""
        return structs.replace(super().read(url), url=FARM)


class Refusing(Library):
    """A reader that does not follow redirects to sites that are left out, which every page is."""

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `Library.read`."""
        raise SiteLeftOut(f"{url}: it redirects to a site that {sites.left_out_by(FARM)} leaves out")


@pytest.mark.parametrize("reader", [Redirecting, Refusing])
def test_the_text_of_a_redirect_to_a_listed_site_is_not_used(
    cache: Cache, embedder: Any, reader: type[Library]
) -> None:
    """The excerpt of the search stays, and the page, cached before or not read now, is recorded as not used."""
    library = reader({BLOG: f"{text(0.95, 7)} Not to be used."})
    found = ask(cache, [page(BLOG, 0.8, 1)], embedder, reader=library, skip_sites=("newbedev.com",))
    (source,) = found.gathered.sources
    assert (source.url, source.read, len(source.texts)) == (BLOG, False, 1)
    assert [page.error for page in found.gathered.pages] == ["skip_sites: it leads to a site that this list leaves out"]
    assert notes(found)[BLOG] == "skip_sites: page not used, it leads to another site"


def test_the_full_text_on_a_listed_site_is_not_read(cache: Cache, embedder: Any) -> None:
    """The page of the result is read instead."""
    library = Library({BLOG: text(0.95, 7), FARM: "never read"})
    ask(cache, [page(BLOG, 0.8, 1, full_text=FARM)], embedder, reader=library, skip_sites=("newbedev.com",))
    assert library.asked == [BLOG]


@pytest.mark.parametrize("name", ["only_sites", "skip_sites"])
def test_an_entry_that_is_no_host_is_refused_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    """The error names the list."""
    with App(Settings(data_dir=tmp_path, **{name: ("https://example.com/",)})) as app:
        vars(app.sources)["engines"] = lambda *_, **__: (Scripted(lambda query: []),)
        with pytest.raises(InvalidInput, match=f"in {name} is not a host; write it as example.com"):
            app.researcher()


def test_the_settings_make_other_researches(cache: Cache, embedder: Any) -> None:
    """None is answered by one with other settings; and off, as in older runs, they are not in the fingerprint."""
    leader = researcher(cache, Scripted(lambda query: []), embedder)
    changes: list[dict[str, Any]] = [
        {"source_quality": False}, {}, {"only_sites": ("a.org",)}, {"skip_sites": ("a.org",)}
    ]  # fmt: skip
    seen = set()
    for change in changes:
        leader.gathering = GatheringSettings(**change)
        seen.add(leader._fingerprint())
    assert len(seen) == len(changes)


class FullOfAds(Library):
    """A reader of pages full of advertisements."""

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `Library.read`."""
        return structs.replace(super().read(url), ads=MANY_ADS)


def test_a_page_full_of_advertisements_goes_down(cache: Cache, embedder: Any) -> None:
    """With a note; a document of the user's own that names the same URL does not."""
    reader = FullOfAds({BLOG: text(0.95, 7), OTHER: text(0.95, 8)})
    found = ask(cache, [page(BLOG, 0.9, 1, ""), page(OTHER, 0.9, 2, "")], embedder, reader=reader, pages=1)
    assert notes(found) == {BLOG: "many advertisements: down"}
    assert urls(found) == [OTHER, BLOG]
    local = Corpus(lambda query: [page(BLOG, 0.9, 1, ""), page("file:///a.html", 0.9, 2, "")])
    found = ask(Cache(MemoryStore()), [], embedder, engine=local, reader=reader, pages=1)
    assert found.gathered.notes == ()
    assert {each.weight for each in found.gathered.sources} == {0.0}


# --- documents of a corpus


class Corpus(Scripted):
    """An engine over local documents, some of which name a URL."""

    name = "corpus"


def test_documents_of_a_corpus_are_neither_left_out_nor_weighed(cache: Cache, embedder: Any) -> None:
    """Even if they have the URL of a listed site, or one text."""
    results = [page(FARM, 0.9, 1), page("file:///notes/1.md", 0.9, 1), page(PRIMARY, 0.9, 1)]
    found = ask(
        cache, [], embedder, engine=Corpus(lambda query: results), skip_sites=("newbedev.com",), only_sites=("a.org",)
    )
    assert urls(found) == [FARM, "file:///notes/1.md", PRIMARY]
    assert found.gathered.notes == ()


def test_the_evaluation_tasks_about_the_language_reference_are_not_affected() -> None:
    """Its documents have one weight, and none is a copy, for any question: their order cannot change."""
    tasks = [task for task in load_tasks() if task.engine == "corpus:python-docs"]
    assert len(tasks) >= 26
    sources = [
        GatheredSource(document.href, document.title, (document.text,) * 2) for document in PythonDocs().read("topics")
    ]
    assert len({source.url.partition(":")[0] for source in sources}) == 1
    for task in tasks:
        chosen, found = SourceSelection(task.question, GatheringSettings(), 2026).selected(sources)
        assert json.encode(chosen) == json.encode(sources)
        assert found == []


@pytest.mark.parametrize("question", ["How does the with statement handle exceptions?", "What is the latest value?"])
def test_a_research_of_the_language_reference_does_not_depend_on_the_setting(tmp_path: Path, question: str) -> None:
    """The same sources, in the same order, byte for byte, and the same report."""
    corpus, found = open_corpus("python-docs", tmp_path, silent), []
    for on in (True, False):
        cache = Cache(MemoryStore(), clock=FakeClock(NOW))
        found.append(ask(cache, [], WordEmbedder(), engine=corpus, question=question, source_quality=on))
    assert json.encode(found[0].gathered) == json.encode(found[1].gathered)
    assert found[0].report == found[1].report
    assert found[0].gathered.sources


# --- records


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Open apps on one database whose engine finds a farm, its original and a listed site."""
    apps: list[App] = []
    answer = f"Exponential backoff does limit retries to few every minute. {ARTICLE}"
    results = [page(FARM, 0.9, 1, answer), page(PRIMARY, 0.9, 1, answer, date="2026-03"), page(OTHER, 0.9, 2, "")]

    def open_app(mode: Mode = Mode(at=NOW), **changes: Any) -> App:  # noqa: B008 - immutable
        settings = Settings(data_dir=tmp_path, read_pages=0, max_rounds=1, reading=False, reuse="off", **changes)
        app = App(settings, mode)
        app.models.__dict__["embedder"] = WordEmbedder()
        if mode.replay is None:
            vars(app.sources)["engines"] = lambda *_, **__: (Scripted(lambda query: results),)
        apps.append(app)
        return app

    yield open_app
    for app in apps:
        app.close()


@pytest.mark.parametrize("question", [QUESTION, "How does exponential backoff limit retries now?"])
def test_a_replay_gives_the_same_bytes(opened: Callable[..., App], tmp_path: Path, question: str) -> None:
    """With the settings of the run, whatever the present ones and the year are: sources, notes, report."""
    app = opened(skip_sites=("example.com",))
    found = app.researcher().run(question)
    assert found.report is not None
    assert urls(found) == [PRIMARY]
    assert ("date 2026: up" in notes(found)[PRIMARY]) is (question != QUESTION)
    file = tmp_path / "run.snapshot"
    record = app.cache.runs.get(found.id)
    write_snapshot(file, lines_of_run(app.cache, record), run=convert(record, RecordedRun))
    later = Mode(replay=file, at=NOW + 5 * 366 * DAY)
    again = opened(later, source_quality=False).researcher().run(question)
    assert (again.gathered.sources, again.gathered.notes) == (found.gathered.sources, found.gathered.notes)
    assert again.report == found.report
    assert again.report.markdown().encode() == found.report.markdown().encode()


def test_the_record_and_the_json_have_the_notes(opened: Callable[..., App]) -> None:
    """Notes of the research and notes of its record are the same."""
    from harness.research.run_view import past_run
    from harness.research.saved_report import saved_research

    app = opened(skip_sites=("example.com",))
    found = app.researcher().run(QUESTION)
    expected = [
        {"url": PRIMARY, "note": "documentation: up"},
        {"url": FARM, "note": f"copy of {PRIMARY}: left out"},
        {"url": OTHER, "note": "skip_sites: left out"},
    ]
    assert list(saved_research(found).as_dict()["source_notes"]) == expected
    assert list(past_run(app.cache, found.id).as_dict()["source_notes"]) == expected


def test_a_record_of_an_older_version_has_no_quality() -> None:
    """Its replay weighs nothing."""
    assert convert(
        {
            "question": QUESTION, "sections": None, "engines": [{"name": "web", "options": {}}], "embedder": "e",
            "reader": "r", "research_cache": None, "model": None, "epoch": "",
        },
        RecordedRun,
    ).source_quality is False  # fmt: skip


def test_notes_that_only_look_like_a_list_are_not_counted() -> None:
    """A note about a page is no result that was left out."""
    made = [
        SourceNote("a", "skip_sites: page not used, it leads to another site"),
        SourceNote("b", "copy of c: left out"),
    ]
    assert Gathered((), (), "no evidence", notes=tuple(made)).left_out == {}
