"""Documentation: written pages, and generators of the reference, which mkdocs runs when it builds the site."""
