"""Pages, completions and derived values."""

# ruff: noqa: F401, F403, F821 - the very tests; the store comes last, instead of theirs
from tests.cache.test_computed import *
from tests.storage.postgres.services.conftest import store

# these reach into the file of a SQLite store
del test_an_unreadable_row_is_read_again_and_replaced, test_a_page_that_cannot_be_stored_is_returned
del test_a_failure_on_a_full_disk_is_still_that_failure, test_an_unreadable_completion_is_asked_again
