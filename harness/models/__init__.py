"""Adapters for models: `local` (onnxruntime) and `remote` (OpenAI-compatible endpoints)."""
