"""The errors of the harness: one tree, one stable code each, drawn as it is."""

import inspect
import re

import pytest

from harness import errors
from harness.errors import HarnessError

CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass) if found.__module__ == errors.__name__]

STABLE = {
    "HarnessError": "harness_error",
    "InvalidInput": "invalid_input",
    "StoreError": "store_error",
    "MigrationError": "migration_error",
    "StoreCorrupt": "store_corrupt",
    "StoreBusy": "store_busy",
    "EmbeddingError": "embedding_error",
    "VerifierError": "verifier_error",
    "SearchError": "search_error",
    "RateLimited": "rate_limited",
    "EngineUnavailable": "engine_unavailable",
    "SearchBackendError": "search_backend_error",
    "IndexUnavailable": "index_unavailable",
    "PageError": "page_error",
    "AddressRefused": "address_refused",
    "SiteLeftOut": "site_left_out",
    "ModelError": "model_error",
    "ModelUnavailable": "model_unavailable",
    "ModelRefused": "model_refused",
    "OfflineMiss": "offline_miss",
    "AccessDenied": "access_denied",
    "TooManyRequests": "too_many_requests",
}
"""Codes that programs may have compared: an entry is never changed or removed."""

DRAWN = re.compile(r"^    (?P<stem>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?P<code>[a-z_]+)(?: |$)", re.MULTILINE)


def drawn() -> dict[str, tuple[str | None, str]]:
    """Return the tree in the module's docstring: each name with its parent's name and its code."""
    tree: dict[str, tuple[str | None, str]] = {}
    above: list[str] = []
    for match in DRAWN.finditer(inspect.getdoc(errors) or ""):
        depth = len(match["stem"]) // 4
        above[depth:] = [match["name"]]
        tree[match["name"]] = (above[depth - 1] if depth else None, match["code"])
    return tree


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    """Every class is where it is drawn, with its code, and none is missing or invented."""
    real = {
        found.__name__: (found.__base__.__name__ if found is not HarnessError else None, found.code)
        for found in CLASSES
    }
    assert drawn() == real


def test_codes_are_distinct() -> None:
    """A code names one kind of error."""
    codes = [found.code for found in CLASSES]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", STABLE)
def test_codes_are_stable(name: str) -> None:
    """A program that compares a code today can compare it tomorrow."""
    assert getattr(errors, name).code == STABLE[name]


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_every_error_has_its_own_code_and_docstring(found: type[HarnessError]) -> None:
    """No class borrows its parent's code, and each says what it means."""
    assert "code" in vars(found)
    assert found.__doc__


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_catching_the_root_catches_every_error(found: type[HarnessError]) -> None:
    """One `except HarnessError` is enough, and the message is kept."""
    with pytest.raises(HarnessError, match=r"^what happened; what to do$"):
        raise found("what happened; what to do")
