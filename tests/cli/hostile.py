"""A database with hostile text that an agent stored for the terminals of its readers."""

import time

from harness import settings
from harness.app import App
from harness.cache import ResearchContext
from harness.chat import Exchange
from harness.core.audits import Audit

CLIPBOARD = "\x1b]52;c;ZWNobyBvd25lZA==\x07"
LINK = "\x1b]8;;https://evil.example/\x1b\\a link\x1b]8;;\x1b\\"
HOSTILE = (
    f"retries {CLIPBOARD}\x1b[2J\x1b[31;5m\x9b5n\x9d0;owned\x9c\x7f\x08 \u202egpj.exe\u2066\u2069 [bold red]text[/] "
    f"[link=https://evil.example/]here[/link] {LINK} \rof a client"
)
"""A clipboard write, a screen wipe, C1 controls, overrides of direction, a link, markup, a return to the margin."""

ACTING = "\x07\x08\x0b\x0c\r\x7f\x9b\x9c\x9d\u202e\u2066\u2069"
"""Single characters of it that act on a terminal; a pipe must not have an escape character either."""

RUN = "20261122-101500-1a2b3c"
URL = "https://example.org/retries"


def run_record() -> dict[str, object]:
    """Return the record of a run whose every text is hostile."""
    citation = {
        "section": HOSTILE, "paragraph": 0, "sentence": HOSTILE, "quotation": HOSTILE, "number": 1, "url": URL,
        "similarity": 0.9, "verified": True,
    }  # fmt: skip
    source = {"number": 1, "title": HOSTILE, "url": f"{URL}?{HOSTILE}"}
    return {
        "question": HOSTILE,
        "engines": [{"name": f"corpus:{HOSTILE}"}],
        "state": "finished",
        "uses": [],
        "report": {"title": HOSTILE, "citations": [citation], "sources": [source], "remark": HOSTILE},
        "sources": [source],
    }


def fill() -> dict[str, str]:
    """Write hostile text through every service that keeps text; return the ids of rows by their kind."""
    with App(settings.load({}).settings) as app:
        cache, now = app.cache, time.time()
        result = {"title": HOSTILE, "href": f"{URL}?{HOSTILE}", "body": HOSTILE}
        for engine in ("ddgs", f"engine {HOSTILE}"):
            cache.searches.put(HOSTILE, [result], engine=engine)
        cache.researches.put(HOSTILE, "general", ResearchContext(HOSTILE, [], []))
        cache.runs.put(RUN, HOSTILE, f"corpus:{HOSTILE}", run_record())
        cache.tools.put("job_search", HOSTILE, [HOSTILE], created_by=HOSTILE)
        document = app.knowledge.write(HOSTILE, HOSTILE, tags=["t"], agent=HOSTILE, source_url=URL)
        said = Exchange(
            id="0" * 31 + "1", thread_id="0" * 31 + "2", session_id="0" * 31 + "3", user_message=HOSTILE,
            assistant_message=HOSTILE, timestamp="2026-11-22T10:00:00+00:00",
        )  # fmt: skip
        app.chat_memory.writer.remember(said)
        token = app.databases.tokens.create("default", "ada", "reader", name=HOSTILE)
        found = Audit.of(HOSTILE, f"{HOSTILE} again", overlap=0.0, similarity=0.9, probability=None, now=now)
        app.databases.store.put_audit("default", found)
        cache.usage.flush()
        return {"document": document.id or "", "exchange": said.id, "thread": said.thread_id, "token": token.info.id}
