"""HTTP with one deadline for a whole request, shared by search engines, pages and endpoints."""
