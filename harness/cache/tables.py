"""Names of the tables of the cache."""

SEARCHES = "search_cache"
RESEARCH = "research_cache"
UNANSWERED = "unanswered_searches"
"""Searches without results, and recent failures: never stored as results."""
RUNS = "research_runs"
PAGES = "web_pages"
COMPLETIONS = "completions"
EVIDENCE = "research_evidence"
"""Values computed here from answers. A missing one is computed again, so it is not an answer of a run."""
QUERIES = "agent_queries"
CHUNKS = "agent_chunks"
"""Solved questions and document chunks of agents, in a `VectorCache`."""
TOOLS = "tool_cache"
"""Results of agents' tools."""
KNOWLEDGE = "knowledge"
KNOWLEDGE_HISTORY = "knowledge_history"
"""Documents and their earlier versions. They are not cache entries: nothing clears or sweeps them here."""
TABLES = (SEARCHES, RESEARCH)
"""Tables whose rows all answer by meaning, too. (Of `TOOLS`, only queries in words do.)"""
ANSWERS = (*TABLES, PAGES, COMPLETIONS, TOOLS)
"""Tables that answer instead of a live call."""
MADE = (EVIDENCE, QUERIES, CHUNKS)
"""Tables computed from answers, and deleted with them."""
EVERY_TABLE = (*ANSWERS, *MADE, UNANSWERED, RUNS)
"""All tables of the cache."""
BY_ORIGIN = (SEARCHES, RESEARCH, RUNS)
"""Tables whose rows have an origin."""
MOVED = (*EVERY_TABLE, KNOWLEDGE, KNOWLEDGE_HISTORY)
"""Tables that an export contains: all except access tokens."""
