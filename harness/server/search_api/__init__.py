"""Search for other tools, compatible with SearXNG and Tavily."""
