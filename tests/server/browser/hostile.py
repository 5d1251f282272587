"""A data folder in which all texts from outside try to do harm."""

import time
from itertools import cycle
from pathlib import Path

import msgspec
from harness_evals import suite
from harness_evals.journal import FOLDER as LOOPS
from harness_evals.journal import Experiment, JournalWriter
from harness_evals.log import Entry as LogEntry
from harness_evals.log import LogWriter
from harness_evals.loop import begin
from harness_evals.outcome import Cited, Cost, Outcome, Round
from harness_evals.stages import keep, keep_task
from harness_evals.tasks import Task
from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.core.tables import KNOWLEDGE, RUNS, SEARCHES
from harness.research.gathering import Search
from harness.settings import Settings
from harness.storage.opening import DATABASE
from harness.storage.sqlite.store import SqliteStore
from tests.evals.stand_ins import SPACE, fact_tasks, options
from tests.server.browser.sample_data import raw_entry

TEXTS = {
    "script": "<script>window.harmed = 'script'; alert(1)</script>",
    "image": "<img src=x onerror=\"window.harmed = 'image'; alert(2)\">",
    "vector": '"><svg onload="window.harmed = \'vector\'; alert(3)">',
    "style": "</title></head><style>body { display: none }</style><base href='https://evil.example/'>",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    "backwards": "before \u202e\u2067 sdrawkcab \u202d after",
    "invisible": "zero\u200bwidth\u200d\u2060joined\ufeff and \x00 nothing \x1b[31m red",
    "entity": "&lt;script&gt;alert(4)&lt;/script&gt; &#106;avascript:alert(5)",
    "attribute": "' autofocus onfocus='alert(6)' x='",
    "comment": "--><!-- <iframe srcdoc='<script>alert(7)</script>'></iframe>",
    "word": "W" * 4_000,
    "title": "megabyte " * 120_000,
}
WHOLE = ("script", "vector", "style", "backwards", "template", "word", "title")
"""Texts with a separate page; the others appear in results, sentences and lists."""
ADDRESSES = (
    "javascript:alert(8)",
    " \tjava\nscript:alert(9)",
    "JaVaScRiPt:alert(10)",
    "data:text/html,<script>alert(11)</script>",
    "vbscript:alert(12)",
    "//evil.example/x",
    "file:///etc/passwd",
    'https://example.org/"><script>alert(13)</script>',
    "https://example.org/" + "a" * 3_000,
    "https://\u202egro.elpmaxe/",
)
REPLACED = "https://example.org/replaced"
"""An address that the knowledge accepts; it gives way to one that it would not."""


class Harmful(Struct, frozen=True):
    """The folder, and the pages that show its data."""

    data_dir: Path
    pages: tuple[str, ...]


def harm(folder: Path) -> Harmful:
    """Make such a folder. Rows are written directly to the database, as a foreign program or a snapshot might."""
    data_dir = folder / "data"
    with App(Settings(data_dir=data_dir, corpus_meaning=False)) as app:
        known = [
            app.knowledge.write(
                text[:400], text[:100_000], agent=text[:150], tags=[text[:40]], source_url=f"{REPLACED}/{number}"
            ).id
            for number, text in enumerate(each.replace("\0", "") for each in TEXTS.values())
        ]
    store = SqliteStore(data_dir / DATABASE)
    for row in list(store.listings.scan(KNOWLEDGE, "default")):
        harmful = row.payload.replace(REPLACED.encode(), ADDRESSES[0].encode())
        store.rows.put(KNOWLEDGE, "default", replace(row, payload=harmful))
    pages = ["/", "/?source=search", "/?source=research", "/?offset=20", "/knowledge", "/cache", "/library?q=script"]
    results = [
        {"title": text, "href": address, "body": text}
        for text, address in zip(TEXTS.values(), cycle(ADDRESSES), strict=False)
    ]
    for number, (name, text) in enumerate(TEXTS.items()):
        search = raw_entry(f"s-{name}", text, msgspec.json.encode(results), (10, text[:200], text[:200]))
        store.rows.put(SEARCHES, "default", search)
        run = f"20261122-101500-{number:06x}"
        store.rows.put(RUNS, "default", raw_entry(run, text, msgspec.json.encode(record_of(text)), (text[:200],)))
        pages += [f"/entries/search/s-{name}", f"/runs/{run}"] if name in WHOLE else []
    store.rows.put(KNOWLEDGE, "default", raw_entry("odd", TEXTS["script"], TEXTS["image"].encode(), ("", 1)))
    store.close()
    pages += [f"/knowledge/{known[list(TEXTS).index(name)]}" for name in WHOLE]
    return Harmful(data_dir, (*pages, *_experiments(data_dir)))


def record_of(text: str) -> dict[str, object]:
    """Return the record of a finished run in which every text is `text`, and every URL is harmful."""
    citations = [
        {
            "section": text[:20_000] if number < 2 else "Answer",
            "paragraph": number,
            "sentence": said[:20_000],
            "quotation": said[:20_000],
            "number": number + 1,
            "url": address,
            "similarity": 0.5,
            "verified": bool(number % 2),
        }
        for number, (said, address) in enumerate(zip((text, *TEXTS.values()), ADDRESSES, strict=False))
    ]
    sources = [{"number": n + 1, "title": text[:20_000], "url": address} for n, address in enumerate(ADDRESSES)]
    asked = [{"query": text[:20_000], "engine": text[:200], "answered_by": "live", "results": 3}]
    return {
        "question": text,
        "engines": [{"name": text[:200]}],
        "model": {"name": text[:200]},
        "state": "finished",
        "created_at": time.time(),
        "report": {
            "title": text[:20_000],
            "citations": citations,
            "sources": sources,
            "writer": text[:200],
            "remark": text[:20_000],
        },
        "rounds": [{"searches": asked, "pages": [], "novelty": 0.5, "score": 0.5}],
        "sources": sources,
        "stop_reason": "score met",
        "quoted": {address: [f"before {each['quotation']} after" for each in citations] for address in ADDRESSES},
        "answered": {text[:60]: 1},
        "cache_use": "miss",
    }


def _experiments(data_dir: Path) -> list[str]:
    """Write an evaluation with harmful errors, one with harmful reports and stages, and an experiment with harmful
    words; return the pages that show them.
    """
    asked = zip(fact_tasks(), cycle(TEXTS.values()), strict=False)
    tasks = [replace(task, question=text[:5_000].replace("\0", "")) for task, text in asked]
    failed, found = (suite.begin(tasks, Settings(data_dir=data_dir), repeats=1, now=time.time()) for _ in range(2))
    both = [replace(found, id=f"{found.id}{half}") for half in ("", "-2")]
    for header in (failed, *both):
        with LogWriter(data_dir / suite.FOLDER / f"{header.id}.jsonl") as writer:
            writer.write(header)
            for task, text in zip(tasks, TEXTS.values(), strict=False):
                outcome = Outcome(task.id, 0, error=text[:5_000])
                writer.write(LogEntry(outcome if header is failed else _run(data_dir, task, text, header.id)))
    begun = begin(tasks, Settings(), SPACE, options(), now=time.time())
    journal = JournalWriter(data_dir / LOOPS / begun.id)
    journal.write(begun)
    changes = {"prompts.answer": "\n".join(TEXTS.values())[:20_000]}
    said = TEXTS["script"]
    journal.write(
        Experiment(1, changes, "d", "inert", (said,), 1, 1.0, 1, idea=said, hypothesis=TEXTS["image"], commit=said[:40])
    )
    journal.close()
    pages = [f"/experiments/evaluations/{found.id}/tasks/{task.id}" for task in tasks[:4]]
    pages.append(f"/experiments/compare/task?first={both[0].id}&second={both[1].id}&task={tasks[0].id}")
    pages += [f"/experiments/loops/{begun.id}", f"/experiments/loops/{begun.id}/experiments/1"]
    return ["/experiments", f"/experiments/evaluations/{failed.id}", *pages]


def _run(data_dir: Path, task: Task, text: str, name: str) -> Outcome:
    """Return a run in which every text is `text`, and every URL is harmful; its report differs by the name."""
    keep_task(data_dir, task)
    citations = tuple(
        Cited(text[:200], f"Fact number {n} holds. {text[:5_000]}", text[:500], address, bool(n % 2), n)
        for n, address in enumerate(ADDRESSES)
    )
    searches = (Search(text[:2_000], text[:100], "failed", 0, text[:500]),)
    return Outcome(
        task.id,
        0,
        ADDRESSES,
        citations,
        Cost(1, 0, 1.0),
        keep(data_dir, {"report": f"{name} {text[:5_000]}"}),
        titles=tuple(text[:500] for _ in ADDRESSES),
        limits=(text[:500],),
        rounds=(Round(searches, 0, 1, 1, 0.5, 0.5),),
        stop_reason=text[:100],
        run=text[:100],
    )
