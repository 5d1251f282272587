"""Finding what is remembered."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.memory.conftest import clock, embedder, journal, memory, remembering
from tests.memory.test_finding import *
from tests.storage.postgres.services.conftest import store
