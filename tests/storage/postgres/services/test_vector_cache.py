"""An agent's vector cache."""

# ruff: noqa: F401, F403, I001 - the very tests; the store comes last, instead of theirs
from tests.test_vector_cache import *
from tests.storage.postgres.services.conftest import store
