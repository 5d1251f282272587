"""Look-ups by meaning."""

# ruff: noqa: F401, F403, F821 - the very tests; the store comes last, instead of theirs
from tests.cache.test_semantic import *
from tests.storage.postgres.services.conftest import store

# these reach into the file of a SQLite store
del test_an_unfit_candidate_hides_no_good_one
