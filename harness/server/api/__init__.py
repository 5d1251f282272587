"""JSON API for the pages and for programs."""
