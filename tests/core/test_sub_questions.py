"""Parts of a compound question: each a question by itself, and no other question split."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.sub_questions import MOST, as_asked, as_question, follow_up, sub_questions

PROPERTY = settings(deadline=None, max_examples=60)
SECONDS = 10.0
"""Far more than is needed, and far less than time that grows with the square of the text."""


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is the capital of France and what is the capital of Germany?",
            ("What is the capital of France?", "What is the capital of Germany?"),
        ),
        ("What is alpha decay? Why does beta decay occur?", ("What is alpha decay?", "Why does beta decay occur?")),
        ("Why do cats purr; how do dogs bark?", ("Why do cats purr?", "How do dogs bark?")),
        ("Why do cats purr, and how do dogs bark", ("Why do cats purr?", "How do dogs bark?")),
        ("why do cats purr but how do dogs bark?!", ("Why do cats purr?", "How do dogs bark?")),
        ("WHY DO CATS PURR AND HOW DO DOGS BARK?", ("WHY DO CATS PURR?", "HOW DO DOGS BARK?")),
        (
            "When did World War I start and when did World War II end?",
            ("When did World War I start?", "When did World War II end?"),
        ),
        ("How tall is Everest and how tall is K2?", ("How tall is Everest?", "How tall is K2?")),
        ("How long and how wide is the Rhine?", ("How long is the Rhine?", "How wide is the Rhine?")),
    ],
)
def test_complete_parts_are_kept_as_they_are(question: str, parts: tuple[str, ...]) -> None:
    """Joined by "and" or "but", a comma, a semicolon or a question mark; each ends with one."""
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("What is Rust, and how does it differ from Go?", "How does it differ from Go (Rust)?"),
        ("Who was Marie Curie and what did she discover?", "What did she discover (Marie Curie)?"),
        ("What is photosynthesis? Why is it important?", "Why is it important (photosynthesis)?"),
        ("What is Rust and can I use it on Windows?", "Can I use it on Windows (Rust)?"),
        ("How tall is Mount Everest, and who first climbed it?", "Who first climbed it (Mount Everest)?"),
        ("how do i install numpy and how do i use it", "How do i use it (install numpy)?"),
        (
            "What are the side effects of ibuprofen, and how long do they last?",
            "How long do they last (side effects of ibuprofen)?",
        ),
    ],
)
def test_a_part_without_its_subject_names_that_of_the_first(question: str, last: str) -> None:
    """For a pronoun, or a part of less than two content words; in brackets, which its heading leaves out."""
    first, found = sub_questions(question)
    assert found.casefold() == last.casefold()
    assert as_asked(found, question) == f"{found[: found.rindex(' (')]}?"
    assert as_asked(first, question) == first


@pytest.mark.parametrize(
    ("question", "words", "asked"),
    [
        ("molar mass of Freon-12", "what is its density?", "What is its density (Freon-12)?"),
        ("What is the population of Greenland in 2020?", "and its area?", "Its area (Greenland in 2020)?"),
        ("What is the length of the Halden Bridge?", "its height?", "Its height (Halden Bridge)?"),
        ("What is the population of Greenland?", "and in 2021?", "In 2021 (population of Greenland)?"),
        ("What is the molar mass of Freon-12?", "how is it measured?", "How is it measured (molar mass of Freon-12)?"),
        ("What is the capital of Peru?", "what is its population?", "What is its population (capital of Peru)?"),
    ],
)
def test_what_has_a_measure_has_the_next_one(question: str, words: str, asked: str) -> None:
    """Only "its" and "their" are about the thing that is measured; other pronouns may mean the measure."""
    assert follow_up(question, words) == asked


def test_only_brackets_that_were_added_are_left_out() -> None:
    """Brackets of the question stay, and those of any other text."""
    asked = "What is Mercury (the planet), and how hot is it?"
    assert sub_questions(asked) == ("What is Mercury (the planet)?", "How hot is it (Mercury (the planet))?")
    assert [as_asked(each, asked) for each in sub_questions(asked)] == [
        "What is Mercury (the planet)?",
        "How hot is it?",
    ]
    for other in ("Key points", "How hot (in °C)?", "", "?", " (Mercury)?"):
        assert as_asked(other, asked) == other


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("height of Mount Fuji 2020", "What is the height of Mount Fuji?"),
        ("albums by Sosa 2000-2009", "What is the albums by Sosa?"),
        ("the albums by Sosa between 2000 and 2009", "What is the albums by Sosa?"),
        ("Blade Runner 2049 director", "What is the Blade Runner 2049 director?"),
        ("explain how rainbows form", "explain how rainbows form"),
        ("population of penguins as of end of 2018.", "What is the population of penguins?"),
        ("How high is Mount Fuji in 2020", "How high is Mount Fuji in 2020"),
        ("Mount Fuji, is it high in 2020?", "Mount Fuji, is it high in 2020?"),
        ("", "What is the ?"),
    ],
)
def test_a_search_query_as_a_question(query: str, question: str) -> None:
    """Without its years; a question stays as it is."""
    assert as_question(query) == question
    assert as_question(question) == question


def test_three_parts_each_name_the_subject() -> None:
    """The subject is that of the first part for each later one."""
    assert sub_questions("What is TCP, how does it work and why is it used?") == (
        "What is TCP?",
        "How does it work (TCP)?",
        "Why is it used (TCP)?",
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a mutex and a semaphore?",
        "What is the distance between Berlin and Paris?",
        "How do plants grow and reproduce?",
        "Is coffee or tea healthier?",
        "What happens when a client retries and the server is down?",
        "Which is better when you are hungry and the shop is closed?",
        "Is it true that Einstein failed maths and that he was bad at school?",
        "How tall is Everest and K2?",
        "Where and when was Napoleon born?",
        "How and why do volcanoes erupt?",
        "What is love? Baby don't hurt me",
        "What is it",
        "population of Paris and Lyon",
        "",
        " ?!., and ",
    ],
)
def test_a_single_question_has_no_parts(question: str) -> None:
    """Things that are compared, conditions, two question words for one verb, keywords."""
    assert sub_questions(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote War and Peace?",
        "What are Johnson and Johnson's products?",
        "Who starred in Pride and Prejudice?",
        "What is the capital of Bosnia and Herzegovina?",
        "What is AT&T?",
        "When did The Who and The Kinks tour?",
    ],
)
def test_names_with_and_stay_whole(question: str) -> None:
    """The word in a name joins no questions."""
    assert sub_questions(question) == ()


def test_names_with_and_stay_whole_in_a_compound_question() -> None:
    """Only the "and" before the second question parts it."""
    parts = sub_questions("Who wrote War and Peace and when was it published?")
    assert parts[0] == "Who wrote War and Peace?"
    assert len(parts) == 2
    assert sub_questions("When was Ernst and Young founded and who founded it?")[0] == (
        "When was Ernst and Young founded?"
    )


@pytest.mark.parametrize(
    "question",
    [
        "Explain what TCP is and how it works.",
        "Tell me what Rust is and how it manages memory.",
        "Do you know what time it is and where the station is?",
        "I want to know what TCP is, and how it differs from UDP",
        "How can I see which process uses a port and what it does?",
        "It depends on what you want and how you want it",
        'What does "who are you and what do you want" mean?',
        "If I miss a pill, what should I do and when should I take it?",
    ],
)
def test_indirect_questions_are_not_split(question: str) -> None:
    """They belong to a verb such as "explain", which their parts would lose."""
    assert sub_questions(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "Was ist Photosynthese und wie funktioniert sie?",
        "¿Qué es la fotosíntesis y cómo funciona?",
        "Qu'est-ce que la photosynthèse et comment fonctionne-t-elle ?",
        "Wat is een mutex en hoe werkt het?",
        "什么是光合作用,它是如何工作的?",
        "ما هو التمثيل الضوئي وكيف يعمل؟",
    ],
)
def test_other_languages_are_not_split(question: str) -> None:
    """The rules are English; nothing else is cut by them."""
    assert sub_questions(question) == ()


@pytest.mark.parametrize(("count", "parted"), [(1, False), (2, True), (MOST, True), (MOST + 1, False)])
def test_more_than_the_most_parts_are_left_together(count: int, parted: bool) -> None:
    """A long list of questions is one question."""
    names = ("red apples", "green pears", "blue plums", "black cherries", "white grapes")
    parts = sub_questions(", ".join(f"what are {name}" for name in names[:count]))
    assert parts == (tuple(f"What are {name}?" for name in names[:count]) if parted else ())


@pytest.mark.parametrize(
    "question",
    [
        "I have a dog. What should it eat and how often?",
        "Find the population of Paris. What is the population of Lyon?",
        "Compare Python and Ruby: what are the differences and which is faster?",
        "What is Rust? It is a language",
        "What is it and how does it work?",
        "How is the weather and?",
    ],
)
def test_every_part_must_ask_and_the_first_must_say_about_what(question: str) -> None:
    """A statement before or after a question, or a first part of pronouns alone, leaves it whole."""
    assert sub_questions(question) == ()


def test_white_space_and_signs_at_the_ends_of_parts_do_not_count() -> None:
    """Line breaks, several question marks and spaces are one boundary."""
    parts = ("Why do cats purr?", "How do dogs bark?")
    assert sub_questions("  Why do cats\npurr ?  \n\t And how do dogs   bark ?! ") == parts
    assert sub_questions("Why do cats purr???  How do dogs bark???") == parts


PIECES = st.lists(
    st.sampled_from(
        [
            "what is",
            "how does it",
            " and ",
            "?",
            ", ",
            "when",
            "who",
            "Rust",
            "it",
            "a",
            "explain",
            "\ud800",
            "\x00",
            "é",
        ]
    ),
    max_size=20,
).map(" ".join)


@PROPERTY
@given(question=st.text() | PIECES)
def test_no_text_raises_and_parts_are_whole_questions(question: str) -> None:
    """None, or two to the most, each on one line with a question mark at its end and no empty brackets."""
    parts = sub_questions(question)
    assert len(parts) != 1
    assert len(parts) <= MOST
    assert all(part.endswith("?") and part == " ".join(part.split()) and "()" not in part for part in parts)
    assert all(len(part) > 1 and not part[0].islower() for part in parts if part[0].isascii())


@PROPERTY
@given(question=PIECES)
def test_parts_have_only_words_of_the_question(question: str) -> None:
    """Nothing is made up."""
    words = question.casefold().replace("?", " ").replace(",", " ").split()
    said = " ".join(sub_questions(question)).casefold()
    assert set("".join(char if char not in "(),?" else " " for char in said).split()) <= set(words)


@pytest.mark.parametrize(
    "piece",
    [
        "what is it and ",
        "and ",
        "? what ",
        "Aa ",
        "it ",
        ", and what ",
        "explain ",
        "what. ",
        "\x00\ud800 ",
        "(",
        "’s ",
    ],
)
def test_the_longest_question_takes_a_bounded_time(piece: str) -> None:
    """However many boundaries, names or verbs it has."""
    began = time.perf_counter()
    sub_questions(f"What is {piece * (MAX_QUERY_CHARS // len(piece))}, x and what is it?")
    assert time.perf_counter() - began < SECONDS
