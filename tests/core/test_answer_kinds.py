"""Numbers, times, versions, orders and names that questions ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.answer_kinds import lacks_kind
from harness.core.openings import ASIDE, opening_factor


@pytest.mark.parametrize(
    ("question", "having", "lacking"),
    [
        ("How long is the Halden Bridge?", "It is 812 metres long.", "It is a long road bridge."),
        ("How many moons has Mars?", "Mars has two moons.", "Mars has moons."),
        ("how often should a chain be oiled", "Oil it once a month.", "Oil it with care."),
        ("how many days are there in a year?", "There are 365 days.", "There are days and nights."),
        ("How many people work there?", "A staff of 1600 people works there.", "A staff works there since 2004."),
        ("How many people lived there in 2020?", "4,100 people lived there in 2020.", "Many lived there in 2020."),
        ("average height of women in Fiji", "It is 158 cm.", "It was measured in June 2019."),
        ("pressure at the bottom of the sea", "It is 1,071 bar.", "The sea is deep there."),
        ("What is the density of honey?", "It is 1.42 kg per litre.", "Honey is dense."),
        ("Seattle 2020 census land area", "It has 83.9 square miles.", "It is on a bay."),
        ("numpy release date", "It came out in December.", "It has 12 new functions."),
        ("When did the bridge open?", "It opened in June.", "It opened after two years."),
        ("In which year was it founded?", "It was founded in 1987.", "It was founded by 12 engineers."),
        ("How long may a literal be?", "There is no limit for its length.", "It may be long."),
        ("how many arches has it", "It has seventy arches.", "It has arches."),
        ("How old is Ada Weber?", "Ada Weber was born in May 1965.", "Ada Weber is an engineer."),
        ("death rate of measles", "About 2 in 1,000 die of it.", "Measles is a disease."),
        ("distance from Bern to Basel", "Basel is 69 km away.", "Basel is on the Rhine."),
        ("Bern population July 2023", "Bern has 134,000 inhabitants.", "Bern is on the Aare."),
        ("Who designed the Halden Bridge?", "It was designed by Ingrid Solberg.", "The engineer of the Halden Bridge."),
        ("Which Python versions does Kestrel support?", "It supports Python 3.11.", "It supports new ones."),
        ("what version of Java does it need", "Java 17 or newer.", "A new Java."),
        ("What is the latest version of Java?", "The latest one is Java 23.", "The latest one is fast."),
        ("what is the minimum node version", "It needs 18.", "It needs a new one."),
        ("In which order are defaults evaluated?", "They are read from left to right.", "They are values."),
        ("In which order is it searched?", "The search continues with the class.", "The class has names."),
        ("in what order should I read them", "Begin with the first one.", "Read them all."),
        ("who wrote faust", "Johann Goethe wrote it.", "Faust is a play."),
    ],
)
def test_a_sentence_has_the_kind_of_answer_or_lacks_it(question: str, having: str, lacking: str) -> None:
    """Words of the question itself are no answer."""
    assert not lacks_kind(having, question)
    assert lacks_kind(lacking, question)


@pytest.mark.parametrize(
    "question",
    [
        "When does the finally clause run?",
        "What should people who have asthma avoid?",
        "How does a generator return?",
        "What is a list?",
        "Why does the number of threads matter?",
        "What limits the size of a file?",
        "What is power of attorney?",
        "What is density in physics?",
        "how to lose weight",
        "effect of temperature on enzymes",
        "restaurant areas in San Francisco",
        "best area to live in Bern",
        "WHO report on measles",
        "What is the difference between the two versions?",
        "What is version control?",
        "Which version control system is the best one?",
        "What is the best version of the song?",
        "What is the male version of Miss?",
        "get the length of a list in Python",
        "",
    ],
)
def test_other_questions_ask_for_no_kind(question: str) -> None:
    """Among them those for a condition, and those with a clause about persons."""
    assert not lacks_kind("It runs before the function returns.", question)


def test_a_sentence_without_it_seldom_opens_an_answer() -> None:
    """Unlike one that has it."""
    question = "When did the Halden Bridge open?"
    assert opening_factor("The Halden Bridge opened in 1987.", question) == 1.0
    assert opening_factor("The Halden Bridge opened with a race.", question) == ASIDE


@given(st.sampled_from(["Who ", "How many ", "When did "]), st.text(max_size=60))
def test_the_words_of_the_question_are_no_answer(asks: str, rest: str) -> None:
    """Whatever they are."""
    assert lacks_kind(asks + rest, asks + rest)
    assert lacks_kind("", asks + rest)
