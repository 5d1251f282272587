"""Adapters for search engines, local corpora and web pages."""
