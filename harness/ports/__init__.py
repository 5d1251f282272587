"""Ports: what services need from outside, one file per port. Adapters implement them."""

from harness.ports.admin import Admin
from harness.ports.audits import Audits
from harness.ports.embedder import CrossLanguageEmbedder, Embedder, Vectors
from harness.ports.language_detector import LanguageDetector
from harness.ports.language_model import Completion, LanguageModel, Message
from harness.ports.listings import NOTHING, Listings
from harness.ports.locks import Locks
from harness.ports.nearest import Nearest
from harness.ports.page_reader import PageReader
from harness.ports.progress import Progress, Stopped, silent
from harness.ports.reader import Reader
from harness.ports.rows import Rows
from harness.ports.search_engine import EngineChain, SearchEngine, SearchResult, alternatives_of, single_engines
from harness.ports.store import STORE_PARTS, Store
from harness.ports.usage import Usage
from harness.ports.verifier import Verifier

__all__ = [
    "NOTHING",
    "STORE_PARTS",
    "Admin",
    "Audits",
    "Completion",
    "CrossLanguageEmbedder",
    "Embedder",
    "EngineChain",
    "LanguageDetector",
    "LanguageModel",
    "Listings",
    "Locks",
    "Message",
    "Nearest",
    "PageReader",
    "Progress",
    "Reader",
    "Rows",
    "SearchEngine",
    "SearchResult",
    "Stopped",
    "Store",
    "Usage",
    "Vectors",
    "Verifier",
    "alternatives_of",
    "silent",
    "single_engines",
]
