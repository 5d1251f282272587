"""A data folder with an example of everything that pages show: researches, searches, documents, counts by day."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.core.entries import Entry
from harness.core.freshness import DAY, HOUR
from harness.ports import Stopped
from harness.settings import Settings
from harness.settings.mode import Mode
from harness.storage.opening import DATABASE
from harness.storage.sqlite.store import SqliteStore
from tests.server.browser.sample_experiments import evaluate, experiment

QUESTION = "When may a cache reuse a stored response without asking the server?"
STOPPED = "How does a cache choose among several variants of a response?"
WRITTEN = "Who may store a response to a request that was authorised?"

NOTES = {
    "freshness": """# Freshness

A cache may reuse a stored response without asking the server while that response is fresh. A response is fresh as long
as its age is less than its freshness lifetime. The server gives the lifetime with the directive max-age, or with the
field Expires where there is no such directive.

Without either of them a cache may guess a lifetime, for example a tenth of the time since the last modification. Such a
guess must not be made where the response forbids storage. A cache should warn when a guessed lifetime exceeds a day.

## Age

The age of a stored response is the time since it was made or last validated at the server. Clocks differ, so a cache
counts the time that a response was resident and adds the delay of the request.
""",
    "validation": """# Validation

A stale response is not useless: the cache may ask the server whether it still holds. It sends the validator that it has
stored, an entity tag or the time of the last modification. The server answers 304 when nothing has changed, and the
stored response is fresh again.

An entity tag is strong where every byte is the same, and weak where only the meaning is. A range request needs a strong
one. A cache must not combine parts of responses whose tags differ.
""",
    "variants": """# Variants

The field Vary names the fields of a request that chose the response. A cache reuses a stored variant only when these
fields are the same in the new request. A Vary of a single star fits no request, so that the server is always asked.

Where several stored variants fit, a cache uses the most recent one. However, a cache should not keep too many variants
of one address, because every one of them takes room that others need.
""",
    "sharing": """# Shared caches

A shared cache must not store a response that is marked private. A response to a request with the field Authorization is
stored by a shared cache only if a directive such as public or s-maxage allows it. The cache of a browser serves one
user and may store both.

A shared cache limits what an error can spoil: it never stores a response to an unsafe method.
""",
    "staleness": """# Serving what is stale

With stale-while-revalidate a cache answers at once with a stale response and asks the server in the background. With
stale-if-error it answers with a stale response only when the server fails. Neither is allowed where the response
carries must-revalidate.
""",
}
SEARCHES = (
    "freshness lifetime of a stored response",
    "strong and weak entity tags",
    "vary request fields",
    "stale while revalidate",
    "shared cache private directive",
)
RIVALS = ("freshness lifetime 2023", "freshness lifetime 2024")


class Furnished(Struct, frozen=True):
    """Contents of the folder. `run` has a report of excerpts, `written` one of a model with an unverified quotation,
    `stopped` was stopped while gathering; `document` has three versions, `stale` is expired; `entry` is a cached
    search. There are an experiment `loop` and two evaluations.
    """

    data_dir: Path
    engine: str
    run: str
    written: str
    stopped: str
    document: str
    stale: str
    entry: str
    loop: str
    evaluations: tuple[str, str]

    @property
    def pages(self) -> dict[str, str]:
        """Return the path of every kind of page, by name."""
        first, second = self.evaluations
        return {
            "history": "/",
            "search": "/?q=stale+responses",
            "nothing": "/?q=zebra+crossing&source=knowledge",
            "nothing found": "/?found=no",
            "form": "/?question=Which+caches+warn%3F&engine=library",
            "report": f"/runs/{self.run}",
            "written": f"/runs/{self.written}",
            "stopped": f"/runs/{self.stopped}",
            "entry": f"/entries/search/{self.entry}",
            "library": "/library?q=stale+responses",
            "source": f"/library/source?url={quote((self.data_dir.parent / 'notes/freshness.md').as_uri())}",
            "sources": "/library",
            "no source": "/library?kind=page&host=zebra.example",
            "no passage": "/library?q=zebra",
            "cache": "/cache",
            "cache of a week": "/cache?days=7&origin=all",
            "explain": "/cache?q=freshness+lifetime+2025",
            "experiments": "/experiments",
            "loop": f"/experiments/loops/{self.loop}",
            "evaluation": f"/experiments/evaluations/{first}",
            "compare": f"/experiments/compare?first={first}&second={second}",
            "knowledge": "/knowledge",
            "document": f"/knowledge/{self.document}",
            "stale": f"/knowledge/{self.stale}",
            "settings": "/settings",
            "doctor": "/doctor",
            "missing": "/nothing",
            "login": "/login",
        }

    @property
    def settings(self) -> Settings:
        """Return the same settings for an app of this process."""
        return Settings(data_dir=self.data_dir, engine=(self.engine,), corpus_meaning=False)


def furnish(folder: Path) -> Furnished:
    """Make such a folder. It takes some seconds, mostly for loading the embedder."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    for name, text in NOTES.items():
        (notes / f"{name}.md").write_text(text)
    made = Furnished(folder / "data", f"corpus:{notes}", *[""] * 7, ("", ""))
    now = time.time()
    with App(made.settings, Mode(at=now - 3 * DAY)) as app:
        run = app.researcher().run(QUESTION).id
        document = _document(app)
    with App(made.settings, Mode(at=now - 60 * DAY)) as app:
        stale = app.knowledge.write(
            "Which caches guess a lifetime", "Most of them: a tenth of the time since the last change.", ttl_hours=48.0
        ).id
    with App(made.settings, Mode(at=now - 2 * HOUR)) as app:
        for query in (*SEARCHES, *RIVALS):
            app.search(query)
        app.search(SEARCHES[0])  # reused
        stopped = _stopped(app)
        written = _written(app)
        entry = app.history.page(source="search", limit=1).items[0].id
    with App(made.settings, Mode(at=now - 60 * DAY)) as app:
        app.search("how long ago a response was made")  # expired; the next write would sweep it
    _count(made, now)
    loop = experiment(made.data_dir, made.settings, now=now - 5 * HOUR)
    first = evaluate(made.data_dir, made.settings, now=now - 9 * DAY, broken="t03")
    changed = replace(made.settings, max_rounds=2)
    second = evaluate(made.data_dir, changed, now=now - DAY, gain=0.2)
    return replace(
        made,
        run=run,
        written=written,
        stopped=stopped,
        document=document,
        stale=stale,
        entry=entry,
        loop=loop,
        evaluations=(first, second),
    )


def _document(app: App) -> str:
    """Write a document with two earlier versions."""
    knowledge = app.knowledge
    found = knowledge.write(
        "HTTP caching in one page",
        "A response is fresh while its age is below its lifetime.",
        agent="ada",
        tags=["http", "caching"],
        confidence=0.6,
        source_url="https://example.org/caching",
    ).id
    knowledge.write(
        content="Fresh while age is below the lifetime; else the server is asked.", id=found, confidence=0.7
    )
    paragraphs = f"{NOTES['freshness']}\n{NOTES['validation']}".split("\n\n")
    text = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    knowledge.write(content=text, id=found, confidence=0.9, ttl_hours=24.0 * 30)
    return found


def _stopped(app: App) -> str:
    """Stop a research in its first round; return its id."""
    steps = 0

    def progress(what: str, done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        if steps > 3:
            raise Stopped

    with app.serving(app.identity, progress=progress) as mine:
        try:
            mine.researcher().run(STOPPED)
        except Stopped:
            return mine.cache.runs.all()[0].key
    raise AssertionError("it was not stopped")


def _written(app: App) -> str:
    """Store the record of a research with a model's report and one quotation that is in no source."""
    address, other = "https://example.org/sharing", "https://example.org/freshness"
    held = " ".join(NOTES["sharing"].split("\n\n")[1].split())
    quotations = [each + "." for each in held.rstrip(".").split(". ")]
    rows: tuple[tuple[str, int, str, str, int, str], ...] = (
        ("Answer", 1, "A private response stays out of a shared cache.", quotations[0], 1, address),
        ("Answer", 1, "An authorised one needs an explicit permission, such as s-maxage.", quotations[1], 1, address),
        ("Answer", 1, "Every proxy stores both all the same.", "Proxies store whatever they please.", 2, other),
        ("Limits", 2, "What a browser keeps concerns one user only.", quotations[2], 1, address),
        ("Limits", 2, "Nothing was found on caches of applications.", "", 0, ""),
    )
    names = ("section", "paragraph", "sentence", "quotation", "number", "url")
    citations: list[dict[str, Any]] = [
        {**dict(zip(names, row, strict=True)), "similarity": 0.71, "verified": row[3] in quotations} for row in rows
    ]
    sources = [
        {"number": 1, "title": "Shared caches", "url": address},
        {"number": 2, "title": "Freshness", "url": other},
        {"number": 0, "title": "Validation", "url": "https://example.org/validation"},
    ]
    searches = [{"query": WRITTEN, "engine": "searxng", "answered_by": "live", "results": 8}]
    again = [{"query": f"{WRITTEN} s-maxage", "engine": "searxng", "answered_by": "cache", "results": 5}]
    rounds = [
        {"searches": searches, "pages": [], "novelty": 0.93, "score": 0.44},
        {"searches": again, "pages": [], "novelty": 0.21, "score": 0.62},
    ]
    record = {
        "question": WRITTEN,
        "engines": [{"name": "searxng"}],
        "model": {"name": "a-small-model"},
        "state": "finished",
        "created_at": app.cache.now,
        "report": {"title": WRITTEN, "citations": citations, "sources": sources[:2], "writer": "a-small-model"},
        "rounds": rounds,
        "sources": sources,
        "stop_reason": "score met",
        "min_novelty": 0.1,
        "enough_score": 0.65,
        "quoted": {address: [held]},
        "live_calls": 1,
        "cache_hits": 1,
        "answered": {"live": 1, "exact": 1},
        "cache_use": "miss",
    }
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(app.cache.now))}-0a0a0a"
    app.cache.runs.put(name, WRITTEN, "searxng", record)
    return name


def _count(made: Furnished, now: float) -> None:
    """Count two weeks of searches, with a growing share from the cache."""
    store = SqliteStore(made.data_dir / DATABASE)
    for ago in range(14, 0, -1):
        day = _day(now - ago * DAY)
        hits = {"exact": 30 - ago, "semantic": 14 - ago, "stale": ago % 3, "no results": ago % 2}
        store.usage.add("default", day, {**hits, "live": 8 + ago, "failed": ago % 4})
    store.close()


def counted_days() -> int:
    """Return the days of the last month with counted searches: two weeks, and today except in its first hours."""
    now = time.time()
    return len({_day(now - age) for age in (*(ago * DAY for ago in range(1, 15)), 2 * HOUR)})


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def raw_entry(key: str, text: str, payload: bytes, own: tuple[Any, ...], *, age: float = 60.0) -> Entry:
    """Insert a row without any check, as a foreign program might; `age` is in seconds."""
    now = time.time()
    return Entry(key, text, payload, now - age, now + 30 * DAY, now - age, own)
