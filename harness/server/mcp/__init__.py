"""The harness as a server of the Model Context Protocol: the services as tools for agents, over stdio and HTTP."""
