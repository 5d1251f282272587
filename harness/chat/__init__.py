"""Memory of conversations: exchanges and documents, searched by meaning and by words."""

from harness.chat.conversation_memory import Added, Imported, Memory, MemoryStats
from harness.chat.exchanges import DocumentChunk, Exchange, MemoryMatch, Remembered, ThreadInfo, new_id

__all__ = [
    "Added",
    "DocumentChunk",
    "Exchange",
    "Imported",
    "Memory",
    "MemoryMatch",
    "MemoryStats",
    "Remembered",
    "ThreadInfo",
    "new_id",
]
