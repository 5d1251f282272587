"""Tokens."""

# ruff: noqa: F401, F403, I001 - the very tests; the store comes last, instead of theirs
from tests.test_identity import *
from tests.storage.postgres.services.conftest import store
