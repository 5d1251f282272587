"""Years, versions, numbers and names that an answer must be about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.required_terms import (
    MAX_TERMS,
    all_numbers,
    lacking,
    lacking_names,
    lacking_things,
    lacking_words,
    named_things,
    required_names,
    required_terms,
    rival_terms,
)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("population of France in 2023", ("2023",)),
        ("python 3.12 release date", ("3.12",)),
        ("what changed in v1.2.3 and 2.0?", ("1.2.3", "2.0")),
        ("what is port 5432 used for, 5432?", ("5432",)),
        ("limits with 1,000 users", ("1,000",)),
        ("from 2019,2020 to 80,443", ("2019,2020", "80,443")),
        (" ".join(map(str, range(100, 150))), tuple(map(str, range(100, 108)))),
        ("9" * 40, ()),
        ("the 3 kinds of top 10 tips", ()),
        ("who wrote it in the 1990s", ()),
        ("albums by Sosa 2000-2009", ("2000-2009",)),
        ("growth from 2001 to 2010, and in 2015", ("2001-2010", "2015")),
        ("what happened between 1914 and 1918?", ("1914-1918",)),
        ("winners in 2019 and 2020", ("2019", "2020")),
        ("where was it found before 2020?", ("a year before 2020",)),
        ("secretaries prior to April 2019", ("a year before 2020",)),
        ("Before the end of 2018 they met", ("a year before 2019",)),
        ("Before the start of 2018 they met", ("a year before 2018",)),
        ("ministers after May 1, 1977", ("a year after 1976",)),
        ("it broke after 2000 hours", ("2000",)),
        ("recipients after 1977", ("a year after 1977",)),
        ("", ()),
    ],
)
def test_terms_of_a_question(question: str, terms: tuple[str, ...]) -> None:
    """Small counts are wording; each term is named once."""
    assert required_terms(question) == terms


@pytest.mark.parametrize(
    ("term", "text", "held"),
    [
        ("3.12", "Python 3.12.1 is out.", True), ("3.12", "in version 3.12.", True), ("3.1", "Python 3.12", False),
        ("3.12", "Python 13.12", False), ("404", "code 4045", False), ("1,000", "1000 users", True),
        ("1000", "1,000 users", True), ("2023", "from 2022 to 2024", False), ("2023", "(2023)", True),
        ("2000-2009", "out in 2005", True), ("2000-2009", "from 1999 to 2010", False), ("2000-2009", "long ago", False),
        ("a year before 2020", "seen in 2017", True), ("a year before 2020", "in February 2020", False),
        ("a year before 2020", "Before 2020 it was rare.", True), ("a year before 2020", "off Florida", False),
        ("a year after 1977", "in 1977", False), ("a year after 1977", "since 1976", False),
        ("a year after 1977", "in 1980", True),
        ("a year after 1977", "Peter Tiboris", False),
        ("12", "3.12", False), ("2019", "2019,2020", True), ("443", "80,443", False), ("443", "ports 80, 443", True),
        ("11", "Heaven Sent is the eleventh episode.", True),
        ("12", "All TWELVE jurors agreed.", True),
        ("21", "the twenty-first season", True),
        ("20", "the twenty-first season", False),
        ("11", "eleventhousand", False),
    ],
)  # fmt: skip
def test_a_text_with_and_without_a_term(term: str, text: str, held: bool) -> None:
    """A part of another number is not the term."""
    assert lacking((term,), text) == (() if held else (term,))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was the population of France in 2023?", ("France",)),
        ("Did New York or Boston win?", ("New York", "Boston")),
        ("Who was the king of Iran in April 1977?", ("Iran",)),
        ("When did Theresa May resign?", ("Theresa May",)),
        ("What is Tolstoy's longest novel?", ("Tolstoy",)),
        ("how do I install a package from PyPI", ("PyPI",)),
        ("Tolstoy wrote it", ()),
        ("Who Wrote War And Peace", ()),
        ("WHO WROTE IT", ()),
        ("", ()),
    ],
)
def test_names_of_a_question(question: str, names: tuple[str, ...]) -> None:
    """The first word, a title and a shout tell nothing about names."""
    assert required_names(question) == names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Philippines", "The average Filipino woman is small."),
        ("Philippines", "Filipinos are small."),
        ("Netherlands", "Dutch men are tall."),
        ("New Zealand", "New laws in Zealand."),
    ],
)
def test_a_nationality_names_its_country(name: str, text: str) -> None:
    """In either number; it is not the name of another country."""
    assert lacking_names([name, "Fiji"], text) == lacking_words([name, "Fiji"], text) == ("Fiji",)


def test_a_text_with_one_word_of_a_name_has_the_name() -> None:
    """People are called by their last name; a part of a longer word is not one."""
    assert lacking_names(("Leo Tolstoy", "France", "Rust"), "tolstoy's rusty pen") == ("France", "Rust")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_can_be_compared(question: str, text: str) -> None:
    """Only required terms are lacking, and never those of the text."""
    terms = required_terms(question)
    assert set(lacking(terms, text)) <= set(terms)
    assert lacking(terms, question) == ()
    names = required_names(question)
    assert set(lacking_names(names, text)) <= set(names)
    assert lacking_names(names, question) == ()


@pytest.mark.parametrize(
    ("question", "text", "rivals"),
    [
        ("connections in the pool of version 3.12", "of version 3.11 ten; of version 3.12 two", ("version 3.11",)),
        ("What changed in Python 3.12?", "Python 3.11 is older.", ("python 3.11",)),
        ("What changed in Python 3.12?", "Python 3.12.1 fixes it; python 3.12 has it.", ()),
        ("population of Norway in 2020", "In 2020 it was 5.3, in 2024 5.5 million.", ("2024",)),
        ("population of Norway in 2020", "5.3 million in 2020", ()),
        ("population of Norway", "In 2020 it was 5.3, in 2024 5.5 million.", ()),
        ("albums by Sosa 2000-2009", "One came out in 2005, one in 2011.", ("2011",)),
        ("Who won in 1966?", "In 1966, 20 teams came from 4 continents.", ()),
        ("HTTP/3 transport", "HTTP/2 uses TCP", ("http 2",)),
        ("error 404", "", ()),
    ],
)
def test_rivals_of_what_is_asked(question: str, text: str, rivals: tuple[str, ...]) -> None:
    """Another number after the same word, another year than the one of the question; a release is no rival."""
    assert rival_terms(question, text) == rivals


def test_every_number_and_every_word_of_a_name() -> None:
    """Small numbers count, too, and one word of a name is not the name."""
    assert all_numbers("Python 3.12, HTTP/3 and v2 in 2020, 3.12") == ("3.12", "3", "2", "2020")
    names = ("New York", "GitLab CI")
    assert lacking_words(names, "A new runner of GitLab in York") == ("GitLab CI",)
    assert lacking_words((), "") == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_rivals_of_any_text(question: str, text: str) -> None:
    """Few, short ones, and none of a text with itself alone."""
    found = rival_terms(question, text)
    assert len(found) <= MAX_TERMS
    assert isinstance(all_numbers(question), tuple)


BRIDGES = ("Halden Bridge: facts\nThe Halden Bridge carries the road.", "A ferry served the crossing until 1987.")


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("When will the Halden tunnel under the Varn estuary open?", ("Halden tunnel",)),
        ("When will the Halden Tunnel open?", ("Halden Tunnel",)),
        ("How long are the Halden tunnels?", ("Halden tunnels",)),
        ("How long is the Halden bridge?", ()),
        ("How long are the Halden Bridges?", ()),
        ("When did the Halden ferry stop?", ()),
        ("How long is the longest tunnel of Halden?", ()),
        ("What is the difference between the Halden Bridge and a tunnel?", ()),
        ("Who made the Halden software?", ()),
        ("Which Halden project is the largest?", ()),
        ("How high is Mount Varn?", ()),
        ("Is the Oslo tunnel open?", ()),
        ("", ()),
    ],
)
def test_a_thing_that_no_text_is_about(question: str, lacks: tuple[str, ...]) -> None:
    """A name with a kind that no text has, where the texts have the name with another kind; general kinds and other
    names do not count.
    """
    assert lacking_things(named_things(question), BRIDGES) == lacks


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How fast is the Orlin automobile?", "The Orlin Cargo is a car of 1999."),
        ("Who wrote the Python language?", "Python Software Foundation."),
        ("How many colours has the Norvik flag?", "The Norvik Library hoists the flags of Norvik."),
        ("Who made the Orlin movie?", "The Orlin Film Studio was founded in 1920."),
    ],
)
def test_synonyms_plurals_and_general_kinds_are_met(question: str, text: str) -> None:
    """A text about a car has an automobile."""
    assert lacking_things(named_things(question), (text,)) == ()
