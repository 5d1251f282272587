"""Ports: what services need from outside, one file per port. Adapters implement them."""

from harness.ports.embedder import Embedder, Vectors
from harness.ports.language_model import Completion, LanguageModel, Message
from harness.ports.page_reader import PageReader
from harness.ports.progress import Progress, Stopped
from harness.ports.search_engine import SearchEngine, SearchResult
from harness.ports.store import NOTHING, Store
from harness.ports.verifier import Verifier

__all__ = [
    "NOTHING",
    "Completion",
    "Embedder",
    "LanguageModel",
    "Message",
    "PageReader",
    "Progress",
    "SearchEngine",
    "SearchResult",
    "Stopped",
    "Store",
    "Vectors",
    "Verifier",
]
