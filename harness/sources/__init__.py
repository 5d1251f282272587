"""Adapters for what is searched and read: search engines, local corpora, web pages."""
