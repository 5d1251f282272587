"""Let a failing assertion of the contract show its values, as one in a test module does."""

import pytest

pytest.register_assert_rewrite("tests.storage.contract")
