"""The names of the tables that the cache keeps."""

from harness.core.tables import (
    CHUNKS,
    COMPLETIONS,
    EVIDENCE,
    KNOWLEDGE,
    KNOWLEDGE_HISTORY,
    PAGES,
    QUERIES,
    RESEARCH,
    RUNS,
    SEARCHES,
    TOOLS,
    UNANSWERED,
)

__all__ = [
    "ANSWERS",
    "BY_ORIGIN",
    "CHUNKS",
    "COMPLETIONS",
    "EVERY_TABLE",
    "EVIDENCE",
    "KNOWLEDGE",
    "KNOWLEDGE_HISTORY",
    "MADE",
    "MOVED",
    "PAGES",
    "QUERIES",
    "RESEARCH",
    "RUNS",
    "SEARCHES",
    "TABLES",
    "TOOLS",
    "UNANSWERED",
]

TABLES = (SEARCHES, RESEARCH)
"""What is also found by meaning, each row of it. (Of the tools' rows, those are that are in words.)"""
ANSWERS = (*TABLES, PAGES, COMPLETIONS, TOOLS)
"""Whatever answers in place of a call that leaves the machine."""
MADE = (EVIDENCE, QUERIES, CHUNKS)
"""What was made of answers, and goes with them."""
EVERY_TABLE = (*ANSWERS, *MADE, UNANSWERED, RUNS)
"""The cache, whole."""
BY_ORIGIN = (SEARCHES, RESEARCH, RUNS)
"""The tables of which it is noted who their rows were made for."""
MOVED = (*EVERY_TABLE, KNOWLEDGE, KNOWLEDGE_HISTORY)
"""What goes along when a cache moves: all but who has access to it."""
