"""Adapters of the `SearchEngine` port, one file per foreign thing."""
