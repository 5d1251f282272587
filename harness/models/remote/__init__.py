"""Language and embedding models behind OpenAI-compatible endpoints."""
