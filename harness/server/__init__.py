"""Servers: web pages, JSON API, search for other tools, MCP tools."""
