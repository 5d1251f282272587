"""Keeping what was said."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.chat.conftest import journal, memory, remembering
from tests.chat.test_memory_writing import *
from tests.storage.postgres.services.conftest import store
