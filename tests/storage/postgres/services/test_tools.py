"""The tool cache."""

# ruff: noqa: F401, F403, F821 - the very tests; the store comes last, instead of theirs
from tests.cache.test_tools import *
from tests.storage.postgres.services.conftest import store

# no such row can be put: the column is JSONB
del test_a_damaged_row_is_a_miss
