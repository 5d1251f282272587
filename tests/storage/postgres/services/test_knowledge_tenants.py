"""Knowledge of separate tenants."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.knowledge.conftest import knowledge
from tests.knowledge.test_tenants import *
from tests.storage.postgres.services.conftest import store
