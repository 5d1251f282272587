"""Public shapes, each declared once: the JSON of the API, of the MCP tools, and of `--json` on the command line."""
