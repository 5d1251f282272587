"""The web application: the past of one's research on pages, the same as JSON, and search for other tools."""
