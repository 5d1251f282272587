"""The names of the tables that the cache keeps."""

SEARCHES = "search_cache"
RESEARCH = "research_cache"
UNANSWERED = "unanswered_searches"
"""Searches without results, and those that failed a moment ago: a kind of entry of their own, never results."""
RUNS = "research_runs"
TABLES = (SEARCHES, RESEARCH)
EVERY_TABLE = (*TABLES, UNANSWERED, RUNS)
