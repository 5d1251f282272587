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
TABLES = (SEARCHES, RESEARCH)
"""What is also found by meaning."""
ANSWERS = (*TABLES, PAGES, COMPLETIONS)
"""Whatever a run may have been answered with."""
MADE = (EVIDENCE, QUERIES, CHUNKS)
"""What was made of answers, and goes with them."""
EVERY_TABLE = (*ANSWERS, *MADE, UNANSWERED, RUNS)
