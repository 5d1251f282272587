"""Versions: compared part by part, so that 3.1 is not 3.10."""

import pytest

from harness.core.equivalence.guards import versions
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = versions


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("python 3.1 release notes", "python 3.10 release notes"),
        ("python 3.11 features", "python 3.12 features"),
        ("django 4.2.1", "django 4.2.10"),
        ("node.js v18.1", "node.js v18.2"),
        ("ubuntu 22.04", "ubuntu 20.04"),
        ("ubuntu 22.04", "ubuntu 22.10"),
        ("usb 2.0 speed", "usb 3.0 speed"),
        ("http 1.1 headers", "http 1.2 headers"),
        ("tls 1.2", "tls 1.3"),
        ("section 3.4 summary", "section 3.5 summary"),
        ("ping 192.168.1.1", "ping 192.168.1.10"),
        ("GPT-3.5 pricing", "GPT-4.5 pricing"),
        ("upgrade from 3.9 to 3.11", "upgrade from 3.9 to 3.12"),
    ],
)
def test_another_version_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("python 2 vs 3", "python 2 vs 4"),
        ("python 3", "python 3.1"),
        ("python 3", "python"),
        ("angular v1", "angular v2"),
        ("node 18 lts", "node 20 lts"),
        ("GPT-4 context length", "GPT-4o context length"),
        ("GPT-4 pricing", "GPT-4 Turbo pricing"),
        ("Windows 10 update", "Windows 11 update"),
        ("windows 8 download", "windows 8.1 download"),
        ("java 8 streams", "java 11 streams"),
        ("c++11 features", "c++17 features"),
        ("iphone 14 pro", "iphone 14"),
        ("iphone 14 pro", "iphone 14 pro max"),
        ("http/1.1", "http/2"),
        ("es5 modules", "es6 modules"),
        ("release v2.0.0-beta", "release v2.0.0"),
        ("release v2.0.0-rc1", "release v2.0.0-rc2"),
        ("pandas 1.x migration", "pandas 2.x migration"),
        ("llama 3 70b", "llama 3 8b"),
        ("RTX 3080", "RTX 3080 Ti"),
        ("RTX 3080", "RTX 3090"),
        ("m1 macbook", "m2 macbook"),
        ("upgrade from python 3.9 to 3.11", "upgrade from python 3.11 to 3.9"),
    ],
)
def test_a_version_in_any_form_is_refused(a: str, b: str) -> None:
    """Whole numbers, letters and names of releases, whichever guard rejects them."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("python 3.10 release", "Python 3.10 Release"),
        ("python3 tutorial", "python 3 tutorial"),
        ("gpt-4 pricing", "gpt 4 pricing"),
        ("gpt-4 pricing", "gpt4 pricing"),
        ("utf-8 encoding", "utf8 encoding"),
        ("python 3.10 release", "python v3.10 release"),
        ("python 3.10 release", "python version 3.10 release"),
        ("what is new in python 3.12?", "what's new in python 3.12"),
    ],
)
def test_the_same_version_in_another_form_is_served(a: str, b: str) -> None:
    """Hyphens, spaces, capitals, a v or the word version do not matter."""
    assert_served(a, b)


@pytest.mark.parametrize(("a", "b"), [("run 1.5 miles", "run 2.5 miles"), ("python 3", "python 4"), ("a", "b")])
def test_numbers_that_are_not_versions_are_ignored(a: str, b: str) -> None:
    """Decimals with a unit and whole numbers are quantities, which the guard for numbers compares."""
    assert_silent(GUARD, a, b)
