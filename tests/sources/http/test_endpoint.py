"""The words of an endpoint; how addresses and keys are checked is tested with those who take them."""

import pytest

from harness.models.remote.endpoint import checked_address, checked_key, words_of


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "no\nmodel"}, "no model"),
        ({"detail": "no model"}, "no model"),
        ("<html><h1>Bad</h1>gateway</html>", "Bad gateway"),
        ({}, "{}"),
        (None, "no message"),
        ("<br>", "no message"),
        ("\x1b[31mred", "[31mred"),
    ],
)
def test_an_error_is_one_plain_line(body: object, words: str) -> None:
    """Whatever shape an endpoint gives it."""
    assert words_of(body, None) == words


def test_the_words_are_bounded() -> None:
    """An endpoint does not fill the screen."""
    assert len(words_of("word " * 100_000, None)) <= 200


@pytest.mark.parametrize("key", ["sk-0123", "sk-<a>-0123"])
def test_the_words_do_not_hold_the_key(key: str) -> None:
    """Not even a part of one that looks like markup."""
    assert words_of({"message": f"bad {key}!"}, key) == "bad [key]!"


def test_white_space_around_address_and_key_does_not_count() -> None:
    """Settings are pasted; an empty key is none."""
    assert checked_address(" https://host:1/v1/ ") == "https://host:1/v1"
    assert checked_key(" sk-0123\n", "tests", "KEY") == "sk-0123"
    assert checked_key(" ", "tests", "KEY") is None
