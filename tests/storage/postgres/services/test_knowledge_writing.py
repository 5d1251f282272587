"""Knowledge writing."""

# ruff: noqa: F401, F403 - the very tests; the store comes last, instead of theirs
from tests.knowledge.conftest import knowledge
from tests.knowledge.test_knowledge_writing import *
from tests.storage.postgres.services.conftest import store
