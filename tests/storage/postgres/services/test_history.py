"""The history."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.research.test_history import *
from tests.storage.postgres.services.conftest import store
