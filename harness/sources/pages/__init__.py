"""Adapters of the `PageReader` port, one file per foreign thing."""
