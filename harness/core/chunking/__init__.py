"""Chunking of documents into slices for search, scoring and quotation.

`passages.py` splits at headings, for readers; `tokens.py` by the embedder's tokens; `document_chunks.py` by characters,
without loss. `boundaries.py` finds where sentences, words and characters end.
"""

from harness.core.chunking.boundaries import Chunk
from harness.core.chunking.document_chunks import STRATEGIES, Chunked, Chunking, document_chunks
from harness.core.chunking.passages import PASSAGE_CHARS, Passage, embedded_text, heading_of, in_context, passages
from harness.core.chunking.tokens import CHARS_A_TOKEN, token_chunks

__all__ = [
    "CHARS_A_TOKEN",
    "PASSAGE_CHARS",
    "STRATEGIES",
    "Chunk",
    "Chunked",
    "Chunking",
    "Passage",
    "document_chunks",
    "embedded_text",
    "heading_of",
    "in_context",
    "passages",
    "token_chunks",
]
