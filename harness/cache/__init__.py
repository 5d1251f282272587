"""The cache: exact, then by meaning, then compute once. What every cached thing goes through."""

from harness.cache.agent import ToolReply, research_cache
from harness.cache.agent_turns import Seen, request_scope
from harness.cache.json_form import MAX_PAYLOAD_BYTES
from harness.cache.lookup import Answer
from harness.cache.maintenance import KINDS, Explanation
from harness.cache.policy import Policy
from harness.cache.researches import ResearchContext
from harness.cache.results import MAX_RESULTS, checked_max_results
from harness.cache.searches import DEFAULT_MAX_RESULTS, Results, SearchFunction
from harness.cache.semantic import Semantics
from harness.cache.service import Cache
from harness.cache.tables import ANSWERS, EVIDENCE, RESEARCH, RUNS, SEARCHES, TABLES, TOOLS, UNANSWERED
from harness.cache.tools import ToolEntry
from harness.cache.usage import Use

__all__ = [
    "ANSWERS",
    "DEFAULT_MAX_RESULTS",
    "EVIDENCE",
    "KINDS",
    "MAX_PAYLOAD_BYTES",
    "MAX_RESULTS",
    "RESEARCH",
    "RUNS",
    "SEARCHES",
    "TABLES",
    "TOOLS",
    "UNANSWERED",
    "Answer",
    "Cache",
    "Explanation",
    "Policy",
    "ResearchContext",
    "Results",
    "SearchFunction",
    "Seen",
    "Semantics",
    "ToolEntry",
    "ToolReply",
    "Use",
    "checked_max_results",
    "request_scope",
    "research_cache",
]
