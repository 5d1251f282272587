"""`/v1`: chat completions and embeddings in OpenAI's protocol, forwarded to the endpoint of the settings and cached."""
