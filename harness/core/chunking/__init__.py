"""Cutting documents into slices that can be searched, scored and quoted.

`passages.py` cuts at headings, for readers; `tokens.py` by what an embedder reads; `documents.py` by characters, and
drops none. `boundaries.py` knows where a sentence, a word or a character may end.
"""

from harness.core.chunking.boundaries import Chunk
from harness.core.chunking.documents import STRATEGIES, Chunked, Chunking, document_chunks
from harness.core.chunking.passages import PASSAGE_CHARS, Passage, passages
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
    "passages",
    "token_chunks",
]
