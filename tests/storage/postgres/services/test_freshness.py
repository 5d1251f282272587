"""Freshness of answers."""

# ruff: noqa: F401, F403, F821 - the very tests; the store comes last, instead of theirs
from tests.cache.test_freshness import *
from tests.storage.postgres.services.conftest import store

# these reach into the file of a SQLite store
del test_results_are_not_lost_without_a_lock
