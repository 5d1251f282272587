"""Adapters of the `Store` port, one per database."""
