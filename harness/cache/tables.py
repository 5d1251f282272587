"""The names of the tables that the cache keeps."""

SEARCHES = "search_cache"
RESEARCH = "research_cache"
UNANSWERED = "unanswered_searches"
"""Searches without results, and those that failed a moment ago: a kind of entry of their own, never results."""
RUNS = "research_runs"
PAGES = "web_pages"
COMPLETIONS = "completions"
EVIDENCE = "research_evidence"
"""What was computed here from answers: made again where it is missing, so no run is answered with it."""
QUERIES = "agent_queries"
CHUNKS = "agent_chunks"
"""What agents keep in a `VectorCache`: solved questions, and documents in slices."""
TOOLS = "tool_cache"
"""What the tools of agents brought."""
KNOWLEDGE = "knowledge"
KNOWLEDGE_HISTORY = "knowledge_history"
"""Documents that were looked up and kept, and what they were before; no cache: nothing clears or sweeps them here."""
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
