"""Adapters of the `Embedder` port: texts to vectors."""
