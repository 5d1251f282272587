"""What conversations remember: exchanges and documents, found again by meaning and by words."""

from harness.chat.exchanges import DocumentChunk, Exchange, Match, Remembered, ThreadInfo, new_id
from harness.chat.memory import Added, Imported, Memory, MemoryStats

__all__ = [
    "Added",
    "DocumentChunk",
    "Exchange",
    "Imported",
    "Match",
    "Memory",
    "MemoryStats",
    "Remembered",
    "ThreadInfo",
    "new_id",
]
