"""Search engine over local text: documents, their index, words and vectors fused."""
