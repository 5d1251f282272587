"""`research_cache`."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.cache.test_agent import *
from tests.storage.postgres.services.conftest import store
