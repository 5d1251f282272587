"""Adapters of the `LanguageModel` port, one file per foreign thing."""
