# A module of one file cannot say that it is typed (PEP 561); these stubs say it for search_cache.py.
from harness.cached_search import *  # noqa: F403

def main() -> None: ...
