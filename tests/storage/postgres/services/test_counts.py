"""Counts of answers."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.cache.test_counts import *
from tests.storage.postgres.services.conftest import store
