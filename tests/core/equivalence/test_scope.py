"""Scope: search operators, quoted phrases, audiences and places."""

import pytest

from harness.core.equivalence.guards import scope
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = scope


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("site:github.com vector db", "site:gitlab.com vector db"),
        ("site:github.com vector db", "vector db"),
        ("vector db filetype:pdf", "vector db filetype:doc"),
        ("vector db filetype:pdf", "vector db"),
        ("intitle:cat videos", "intitle:dog videos"),
        ("inurl:login forms", "inurl:admin forms"),
        ("after:2020-01-01 covid", "before:2020-01-01 covid"),
        ("after:2020-01-01 covid", "after:2021-01-01 covid"),
        ("lang:en news", "lang:de news"),
        ('"exact phrase" search', "exact phrase search"),
        ('"new york" pizza', '"new jersey" pizza'),
        ("“new york” pizza", "new york pizza"),
        ("books for kids", "books for adults"),
        ("shoes for men", "shoes for women"),
        ("dosage for toddlers", "dosage for adults"),
        ("python for beginners", "python for experts"),
    ],
)
def test_another_scope_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("minimum wage in the UK", "minimum wage in the US"),
        ("minimum wage in the US", "minimum wage"),
        ("minimum wage in the us", "minimum wage"),
        ("books for children", "books"),
        ("python for beginners", "python"),
        ("men's shoes", "women's shoes"),
        ("symptoms in men", "symptoms in women"),
        ("games for boys", "games for girls"),
        ("restaurants near me", "restaurants"),
        ("food for dogs", "food for cats"),
        ("open source crm", "closed source crm"),
        ("online courses", "offline courses"),
        ("used cars", "new cars"),
    ],
)
def test_a_scope_in_any_form_is_refused(a: str, b: str) -> None:
    """Places, audiences and kinds, whichever guard rejects them."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("-site:github.com vector db", "site:github.com vector db"),
        ("jaguar -car speed", "jaguar car speed"),
        ("python -snake", "python snake"),
        ("jaguar NOT car", "jaguar car"),
    ],
)
def test_an_excluding_sign_is_an_operator(a: str, b: str) -> None:
    """A minus before a word or an operator, and NOT in capitals, exclude it."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ('"best of you"', '"best of me"'),
        ('lyrics "i will follow you"', 'lyrics "i will follow him"'),
        ('"running shoes" sale', '"run shoe" sale'),
        ('"to be or not to be"', "to be or not to be"),
        ('"the who" tour', '"who" tour'),
    ],
)
def test_a_quoted_phrase_is_matched_exactly(a: str, b: str) -> None:
    """Inside quotation marks every word counts, in its exact form."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("SITE:github.com vector db", "site:GitHub.com vector db"),
        ("vector db site:github.com", "site:github.com vector db"),
        ('"New York" pizza', '"new york" pizza'),
        ("“new york” pizza", '"new york" pizza'),
        ("books for kids", "books for children"),
    ],
)
def test_the_same_scope_in_another_form_is_served(a: str, b: str) -> None:
    """Capitals, kinds of quotation marks, an operator's position and synonyms of an audience do not matter."""
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("books for kids", "toys for kids"),
        ("python: sort a list", "python sort a list"),
        ("5' tall", "6' tall"),
    ],
)
def test_signs_without_a_scope_are_ignored(a: str, b: str) -> None:
    """A colon after a word, and a single quotation mark, are not operators."""
    assert_silent(GUARD, a, b)
