"""Contrasts: every variant asks for another answer than the text it was made of, or there is none."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.contrasts import CONTRASTS, Names
from training.contrasts.edit import asking

BY_NAME = {contrast.name: contrast for contrast in CONTRASTS}
COUNTRIES = ("India", "China", "Brazil", "Kenya")
LANGUAGES = ("Java", "Python", "Kotlin")
TEXTS = [
    *(f"What is the capital of {name}?" for name in COUNTRIES),
    *(f"How do people live in {name} today?" for name in COUNTRIES),
    *(f"Which universities in {name} are good?" for name in COUNTRIES),
    *(f"What do people in {name} eat?" for name in COUNTRIES),
    *(f"Why is {name} so large?" for name in COUNTRIES),
    *(f"Can I travel to {name} without a visa?" for name in COUNTRIES),
    *(f"How do I find work in {name} after college?" for name in COUNTRIES),
    *(f"How do I learn {name} quickly?" for name in LANGUAGES),
    *(f"Is it hard to program in {name} for a year?" for name in LANGUAGES),
    *(f"What is a list in {name} code?" for name in LANGUAGES),
    *(f"How are strings sorted in {name} code?" for name in LANGUAGES),
    *(f"Where can I download {name} for free?" for name in LANGUAGES),
    *(f"Is the {name} compiler slow?" for name in LANGUAGES),
    *(f"How do I write a {name} program?" for name in LANGUAGES),
]


def variants(name: str, text: str, times: int = 40) -> set[str]:
    """Return the variants that a contrast makes of a text, over many states of chance."""
    return {found for seed in range(times) if (found := BY_NAME[name].vary(text, Random(seed))) is not None}


@pytest.fixture(scope="module")
def names() -> Names:
    """Names learned from a small world of countries and programming languages."""
    return Names(TEXTS)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("numbers", "What happens after the 1st week?", "What happens after the 2nd week?"),
        ("numbers", "Is it normal to sleep once a day?", "Is it normal to sleep twice a day?"),
        ("units", "Is 5 mg of it safe?", "Is 5 ml of it safe?"),
        ("units", "Can I run 10 km daily", "Can I run 10 miles daily"),
        ("units", "How many pills may I take a day, twice a week?", "How many pills may I take a day, twice a month?"),
        ("dates", "Who won in 1998?", "Who won in 1999?"),
        ("dates", "What music was liked in the 1980s?", "What music was liked in the 1970s?"),
        ("dates", "Should I eat before running?", "Should I eat after running?"),
        ("dates", "What happened last week?", "What happened next week?"),
        ("dates", "weather tomorrow", "weather today"),
        ("versions", "How do I install Windows 10?", "How do I install Windows 11?"),
        ("versions", "what is new in python 3.11", "what is new in python 3.12"),
        ("versions", "Is type 2 diabetes curable?", "Is type 1 diabetes curable?"),
        ("negation", "Why is the sky blue?", "Why isn't the sky blue?"),
        ("negation", "Why can't I sleep?", "Why can I sleep?"),
        ("negation", "What can I eat with braces?", "What can't I eat with braces?"),
        ("negation", "Can I travel without a passport?", "Can I travel with a passport?"),
        ("negation", "Is it safe to swim?", "Is it unsafe to swim?"),
        ("negation", "How to lose weight", "How not to lose weight"),
        ("negation", "He was born in Rome .", "He was not born in Rome ."),
        ("opposites", "How do I enable cookies?", "How do I disable cookies?"),
        ("opposites", "Who is buying houses?", "Who is selling houses?"),
        ("opposites", "What are the advantages of tea?", "What are the disadvantages of tea?"),
        ("opposites", "treatment of acute pain", "treatment of chronic pain"),
        ("comparatives", "What is the best phone?", "What is the worst phone?"),
        ("comparatives", "laptops under 500 dollars", "laptops over 500 dollars"),
        ("comparatives", "Why is gold more expensive than iron?", "Why is gold less expensive than iron?"),
        ("comparatives", "Do I need at least 3 eggs?", "Do I need at most 3 eggs?"),
        ("direction", "flights from Paris to Rome", "flights from Rome to Paris"),
        ("direction", "How do I convert a PDF to Word?", "How do I convert Word to a PDF?"),
        ("direction", "english to french dictionary", "french to english dictionary"),
        ("direction", "sugar import from cuba", "sugar export to cuba"),
        ("scope", "Where can I watch films for free?", "Where can I watch films?"),
        ("scope", "How do I learn physics at home?", "How do I learn physics at school?"),
        ("scope", "What are the top 10 films?", "What are the top 5 films?"),
        ("scope", "How do I learn physics?", "How do I learn physics online?"),
        ("aspect", "What are the symptoms of flu?", "What are the causes of flu?"),
        ("aspect", "india population", "india climate"),
        ("asking", "When did the war begin?", "Why did the war begin?"),
        ("asking", "What causes headaches?", "What prevents headaches?"),
        ("asking", "Who invented the radio?", "When was the radio invented?"),
        ("audience", "books for beginners", "books for experts"),
        ("audience", "Is fever in children dangerous?", "Is fever in adults dangerous?"),
        ("roles", "Why did Germany invade Poland?", "Why did Poland invade Germany?"),
        ("roles", "Why do dogs chase cats?", "Why do cats chase dogs?"),
        ("roles", "In 1990 he left Rome and in 1995 she saw him .", "In 1995 he left Rome and in 1990 she saw him ."),
        ("roles", "The eastern bank rises above the western bank .", "The western bank rises above the eastern bank ."),
    ],
)
def test_a_contrast_changes_what_is_asked(name: str, text: str, expected: str) -> None:
    """Each class makes the change that it is named for, in fluent English."""
    assert expected in variants(name, text, 200)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numbers", "How do I install Windows 10?"),
        ("numbers", "Why is everyone talking about 9/11?"),
        ("numbers", "What is the difference between the two?"),
        ("numbers", "i want 2 know"),
        ("numbers", "Who won in 1998?"),
        ("units", "How many kilometres is it?"),
        ("units", "Is a 3 year old too young?"),
        ("dates", "Why should I look after my teeth?"),
        ("dates", "How long does it last?"),
        ("dates", "What may happen?"),
        ("versions", "Can I go 10 days without food?"),
        ("versions", "What is Python?"),
        ("negation", "Is it a fish?"),
        ("negation", "Isn't it a fish?"),
        ("negation", "Why not?"),
        ("negation", "How do I deal with my anger?"),
        ("opposites", "Should I buy or sell gold?"),
        ("opposites", "How big is the sun?"),
        ("opposites", "Is North Korea poor or rich?"),
        ("comparatives", "Which is better, tea or coffee?"),
        ("comparatives", "I want to know more about it"),
        ("comparatives", "What is higher education?"),
        ("direction", "What is the distance from Paris to Rome?"),
        ("direction", "How far is it from Paris to Rome?"),
        ("direction", "How do I learn to swim from scratch to the end?"),
        ("direction", "What is the difference between Paris and Rome?"),
        ("direction", "What helps to keep her safe from danger?"),
        ("scope", "Why is the sky blue?"),
        ("aspect", "How do I gain weight?"),
        ("asking", "Is it a fish?"),
        ("audience", "Who plays Spider Man?"),
        ("roles", "Is Germany bigger than Poland or France?"),
        ("roles", "What is the difference between Germany and Poland?"),
        ("roles", "Did he visit Germany and Poland?"),
        ("roles", "Who married whom, Anna or Peter?"),
        ("roles", "He saw Berlin , Rome and Paris ."),
    ],
)
def test_nothing_is_changed_where_the_answer_would_stay(name: str, text: str) -> None:
    """A text in which the words mean something else, or their order nothing, has no variant."""
    assert variants(name, text) == set()


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda contrast: contrast.name)
def test_the_same_chance_gives_the_same_variant(contrast: object) -> None:
    """All chance comes from the given source."""
    text = "Why can't 12 dogs from the best 3 families in India eat more than 5 kg of cheap food before June 2015?"
    assert BY_NAME[contrast.name].vary(text, Random(3)) == BY_NAME[contrast.name].vary(text, Random(3))


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda contrast: contrast.name)
@given(text=st.text(max_size=300), seed=st.integers(0, 3))
def test_no_text_makes_a_contrast_fail(contrast: object, text: str, seed: int) -> None:
    """Whatever the text, a contrast raises nothing and never returns the text itself."""
    assert BY_NAME[contrast.name].vary(text, Random(seed)) != text


WORDS = st.sampled_from(
    """
    How do I why can't from to India Paris 12 5 mg 2015 v3.2 best worst more than a an the of and or for in buy cats
    . , python 3 windows 10 before last week not without safe who children price symptoms was French km $5 20th 1980s
    """.split()
)


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda contrast: contrast.name)
@given(words=st.lists(WORDS, max_size=25), seed=st.integers(0, 3))
def test_a_variant_differs_from_the_text_in_words(contrast: object, words: list[str], seed: int) -> None:
    """A variant is never the text with other capitals or spaces, and never empty."""
    text = " ".join(words)
    found = BY_NAME[contrast.name].vary(text, Random(seed))
    assert found is None or (found.strip() and found.casefold().split() != text.casefold().split())


def test_a_long_text_is_left_alone() -> None:
    """Over the bound no contrast reads a text."""
    assert all(contrast.vary("Is 5 mg safe? " * 400, Random(0)) is None for contrast in CONTRASTS)


def test_a_text_with_a_question_asks_there_only() -> None:
    """Text before the question is not part of the question."""
    text = "I am 30 years old. Is it safe?"
    assert [text[start:end] for start, end in asking(text)] == ["Is it safe?"]


def test_a_long_account_without_a_question_asks_nothing() -> None:
    """In a personal story without a question, no word is known to matter."""
    assert asking("I have had a cough and my head hurts " + "and it goes on " * 10) == []


def test_the_article_fits_the_word_put_in() -> None:
    """`a` and `an` are corrected when the next word changes."""
    assert "What is an unrealistic plan?" in variants("negation", "What is a realistic plan?")


def test_the_written_case_is_kept() -> None:
    """A word at the front keeps its capital, a shouted one its capitals."""
    assert variants("comparatives", "Best phones") == {"Worst phones"}
    assert variants("comparatives", "BEST PHONES") == {"WORST PHONES"}


def test_years_and_counts_change_to_something_else_than_stands_there() -> None:
    """A number is never exchanged for one that the text has already."""
    assert not any(found.split().count("500") > 1 for found in variants("numbers", "Why ban 500 and 1000 notes?", 100))


def test_names_are_exchanged_for_names_of_their_type(names: Names) -> None:
    """A country is exchanged for a country, a language for a language."""
    found = {names.vary("Why is India so hot?", Random(seed)) for seed in range(30)}
    assert found
    assert found <= {f"Why is {name} so hot?" for name in COUNTRIES[1:]}
    assert names.vary("Is Java good?", Random(1)) in {"Is Python good?", "Is Kotlin good?"}


def test_a_name_in_small_letters_is_exchanged_in_small_letters(names: Names) -> None:
    """A query without capitals stays without."""
    assert names.vary("map of india", Random(0)) in {f"map of {name.lower()}" for name in COUNTRIES[1:]}


def test_every_place_of_a_name_is_exchanged(names: Names) -> None:
    """A name that stands twice becomes the same other name twice."""
    found = names.vary("Is India hot and is India wet?", Random(0))
    assert found is not None
    assert "India" not in found


def test_a_part_of_a_longer_name_is_left_alone(names: Names) -> None:
    """`India` in `India Gate` is no country."""
    assert names.vary("Who built the India Gate?", Random(0)) is None


def test_names_do_not_depend_on_the_order_of_texts(names: Names) -> None:
    """The same texts in any order give the same names."""
    assert Names(reversed(TEXTS)).similar == names.similar


def test_an_alias_is_no_other_name() -> None:
    """A name is never exchanged for its alias, its inflection or another spelling of it."""
    texts = [text.replace("China", "the USA").replace("Brazil", "America").replace("Kenya", "Indias") for text in TEXTS]
    similar = Names(texts).similar
    assert "america" not in similar.get("usa", ())
    assert "indias" not in similar.get("india", ())


def test_names_of_no_text_change_nothing() -> None:
    """Learned from nothing, nothing is exchanged."""
    assert Names([]).vary("Why is India so hot?", Random(0)) is None


@given(text=st.text(max_size=200))
def test_no_text_makes_names_fail(text: str) -> None:
    """Whatever the text, learning from it and varying it raises nothing."""
    assert Names([text, text + " a"]).vary(text, Random(0)) != text or not text
