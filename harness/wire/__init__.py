"""The wire beneath the adapters: HTTP that ends in time, and what every OpenAI-compatible endpoint has in common."""
