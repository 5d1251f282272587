"""A data folder in which all texts from outside try to do harm."""

import time
from itertools import cycle
from pathlib import Path

import msgspec
from harness_evals import suite
from harness_evals.log import Entry as LogEntry
from harness_evals.log import LogWriter
from harness_evals.outcome import Outcome
from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.core.tables import KNOWLEDGE, RUNS, SEARCHES
from harness.settings import Settings
from harness.storage.opening import DATABASE
from harness.storage.sqlite.store import SqliteStore
from tests.evals.stand_ins import fact_tasks
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
    """Write an evaluation with harmful errors; return the pages that show it."""
    header = suite.begin(fact_tasks(), Settings(data_dir=data_dir), repeats=1, now=time.time())
    writer = LogWriter(data_dir / suite.FOLDER / f"{header.id}.jsonl")
    writer.write(header)
    for task, text in zip(fact_tasks(), TEXTS.values(), strict=False):
        writer.write(LogEntry(Outcome(task.id, 0, error=text[:5_000])))
    writer.close()
    return ["/experiments", f"/experiments/evaluations/{header.id}"]
