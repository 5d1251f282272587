"""Servers: web pages, JSON API, search API for other tools, MCP tools."""
