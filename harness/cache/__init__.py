"""Cache of searches, researches, pages, completions and tool results: exact, then by meaning, then computed once."""

from harness.cache.agent import ToolReply, research_cache
from harness.cache.explanation import Explanation
from harness.cache.json_form import MAX_PAYLOAD_BYTES
from harness.cache.lookup import Answer
from harness.cache.maintenance import KINDS
from harness.cache.policy import Policy
from harness.cache.request_scope import Seen, request_scope
from harness.cache.researches import ResearchContext
from harness.cache.search_results import MAX_RESULTS
from harness.cache.searches import Results
from harness.cache.semantic import Semantics
from harness.cache.service import Cache
from harness.cache.usage import Use

__all__ = [
    "KINDS",
    "MAX_PAYLOAD_BYTES",
    "MAX_RESULTS",
    "Answer",
    "Cache",
    "Explanation",
    "Policy",
    "ResearchContext",
    "Results",
    "Seen",
    "Semantics",
    "ToolReply",
    "Use",
    "request_scope",
    "research_cache",
]
