"""Sources that disagree: other figures and dates for the question, and statements that contradict each other."""

import time
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.disagreement import MOST, Said, disagreements, outvoted

PROPERTY = settings(deadline=None, max_examples=40)
SECONDS = 20.0
"""Far more than is needed, and far less than time that grows with the square of the text."""

EVEREST, NILE = "How tall is Mount Everest?", "How long is the Nile?"
MOON = "How far away is the Moon?"
MOONS, PARIS = "How many moons does Jupiter have?", "What is the population of Paris?"


def found(question: str, *texts: str, titles: tuple[str, ...] = ()) -> list[tuple[int, ...]]:
    """Return the disagreements of statements, each of another source."""
    named = titles or ("",) * len(texts)
    pairs = zip(texts, named, strict=True)
    return disagreements(
        question, [Said(text, f"https://example.org/{n}", title) for n, (text, title) in enumerate(pairs)]
    )


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        (EVEREST, "Mount Everest is 8,848 m tall.", "Mount Everest is 8,840 metres high."),
        (EVEREST, "Mount Everest is 8848.86 m tall.", "Everest rises 8,848.13 m above the sea."),
        (MOONS, "Jupiter has 95 moons.", "Jupiter has 79 known moons."),
        (MOONS, "Jupiter has ninety-five moons.", "Jupiter has seventy-nine moons."),
        (NILE, "The Nile is 6,650 km long.", "The Nile is about 6,853 kilometres long."),
        (NILE, "The Nile is 6,650 km long.", "The Nile has a length of 6,853 km and a delta of 240 km."),
        (PARIS, "Paris has 2.1 million inhabitants.", "The population of Paris is 2,345,906."),
        ("How many moons orbit Jupiter?", "Jupiter has 95 moons.", "There are 79 moons around Jupiter."),
        (
            "What percentage of the students were women in 2020?",
            "In 2020, 62 percent of the students were men and 38 percent were women.",
            "In 2020, 41 percent of the students were women.",
        ),
        ("How old is the universe?", "The universe is 13.8 billion years old.", "The universe is 26.7 billion years."),
        (
            "What share of the Earth is water?",
            "Water covers 71% of the Earth.",
            "Water covers 75 percent of the Earth.",
        ),
        ("How much does it cost?", "It costs $12.", "It costs 15 dollars."),
        ("What is the minimum age?", "The minimum age is 18.", "The minimum age is 21."),
    ],
)
def test_other_figures_for_what_is_asked_disagree(question: str, one: str, two: str) -> None:
    """In digits and in words, with and without a unit, in either order."""
    assert found(question, one, two) == [(0, 1)]
    assert found(question, two, one) == [(0, 1)]


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        (EVEREST, "Mount Everest is 8,849 m tall.", "Mount Everest is 8849 metres high."),
        (EVEREST, "Mount Everest is 8848.86 m tall.", "Mount Everest is 8,849 m tall."),
        (PARIS, "Paris has 2.1 million inhabitants.", "The population of Paris is 2,103,778."),
        (MOONS, "Jupiter has 95 moons.", "Jupiter has ninety-five moons."),
        (NILE, "The Nile is 6,650 km long.", "The Nile is 6.65 thousand km long."),
        ("How far is the Moon?", "The Moon is 384,400 km away.", "The Moon is about 384,000 km away."),
        ("How old is the Earth?", "The Earth is 4.54 billion years old.", "The Earth is 4,540 million years old."),
        ("What is the accuracy?", "The accuracy is 95%.", "The accuracy is 95.0 percent."),
    ],
)
def test_the_same_figure_agrees_in_another_form_or_rounded(question: str, one: str, two: str) -> None:
    """Words, separators, multiples and fewer places are no disagreement, in either order."""
    assert found(question, one, two) == found(question, two, one) == []


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        (NILE, "The Nile is 6,650 km long.", "The Nile is about 4,130 miles long."),
        ("How tall is he?", "He is 1.85 m tall.", "He is 185 cm tall."),
        ("What is the temperature?", "The temperature is 100 °C.", "The temperature is 120 °F."),
        ("How much does it cost?", "It costs 12 dollars.", "It costs 9 euros."),
        ("How long is the film?", "The film is 120 minutes long.", "The film is 2 hours long."),
        ("What is the speed of light?", "The speed of light is 299,792,458 m/s.", "The speed is about 300,000 km/s."),
    ],
)
def test_figures_with_other_units_are_not_compared(question: str, one: str, two: str) -> None:
    """A length in miles does not contradict one in kilometres."""
    assert found(question, one, two) == []


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        (PARIS, "Paris had 2.1 million inhabitants in 2020.", "Paris had 2.3 million inhabitants in 2010."),
        (
            "What was the population of Paris in 2020?",
            "In 2020 Paris had 2.1 million inhabitants.",
            "In 2010 Paris had 2.3 million inhabitants.",
        ),
        (
            "What was the population of Paris in 2020?",
            "In 2020 Paris had 2.1 million inhabitants.",
            "Paris has 2.3 million inhabitants.",
        ),
    ],
)
def test_figures_of_other_years_are_not_compared(question: str, one: str, two: str) -> None:
    """A town may have grown; a question with a year is about that year alone."""
    assert found(question, one, two) == []


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        ("When was the tower built?", "The tower was built in 1889.", "The tower was built in 1887."),
        ("When was Shakespeare born?", "Shakespeare was born in April 1564.", "Shakespeare was born in 1563."),
        ("In which year did Columbus land?", "Columbus landed in 1492.", "In 1493 Columbus landed."),
    ],
)
def test_other_years_answer_a_question_of_time_differently(question: str, one: str, two: str) -> None:
    """Each statement has one year besides those of the question."""
    assert found(question, one, two) == [(0, 1)]


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        ("When was the tower built?", "The tower was built in 1889.", "The tower was built from 1887 to 1889."),
        ("When was it founded?", "It was founded in the 19th century.", "It was founded in 1889."),
        ("When was Python released?", "Python was released in 1991.", "Python 2.0 was released on a Monday."),
        ("When did the 1900 games begin?", "The 1900 games began in May.", "The 1900 games began in 1900."),
    ],
)
def test_a_statement_without_exactly_one_other_year_is_no_date(question: str, one: str, two: str) -> None:
    """A span, a century, a version or the year of the question are not another date."""
    assert found(question, one, two) == []


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        ("What is the size of it?", "The size of 1.2.3 is not known.", "The size of 1.2.4 is not known."),
        ("How many kinds are there?", "There are 3 red, 4 blue and 5 green kinds.", "There are 6 kinds."),
        ("How many of the 12 stars are big?", "Of the 12 stars many are big.", "As many as 15 stars are big."),
        ("How many bits are 2 bytes?", "There are 8 bits in one of the 2 bytes.", "2 bytes have some bits."),
        ("Why is the sky blue?", "The sky is blue in 9 of 10 cases.", "The sky is blue in 7 of 10 cases."),
        (MOONS, "Jupiter has 95 moons.", "Jupiter has 4 large moons."),
        (MOONS, "Jupiter has 95 moons.", "Jupiter has many moons."),
        ("How many layers has the model?", "The model has 12 layers.", "The model consists of 9 modules."),
        ("number of layers in the model", "The model has 12 layers.", "The model is one of 9 of its kind."),
        ("How many stars may a pattern have?", "A pattern[1] with stars is long.", "Stars are in a pattern [2]."),
        ("How many?", "", ""),
        ("", "There are 5.", "There are 6."),
    ],
)
def test_what_is_no_figure_for_the_question_is_not_compared(question: str, one: str, two: str) -> None:
    """Versions, lists, the question's own numbers, counts of another size, questions about something else."""
    assert found(question, one, two) == []


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        (MOON, "On average, the Moon is 384,400 km away.", "The shortest distance to the Moon is 363,300 km."),
        (MOON, "At perigee the Moon is 363,300 km away.", "At apogee the Moon is 405,500 km away."),
        ("How tall are people?", "The average man is 163 cm tall.", "The average woman is 150 cm tall."),
        ("How tall is the average woman?", "The average woman is 150 cm tall.", "The average person is 156 cm tall."),
        (
            "How far is Hanoi from Jakarta?",
            "Hanoi is 3,999 km from Jakarta by road.",
            "Hanoi is 3,015 km from Jakarta.",
        ),
    ],
)
def test_an_average_an_extreme_and_figures_of_other_people_are_not_compared(question: str, one: str, two: str) -> None:
    """Both can be true."""
    assert found(question, one, two) == found(question, two, one) == []


def test_figures_for_a_country_disagree_by_any_of_its_names() -> None:
    """Figures of a height disagree also where one statement has no year."""
    question = "average height of women in Philippines 2023"
    texts = (
        "In 2023, the average height of Philippines women is 154.14 cm.",
        "The average Filipino woman is 149.6cm ...",
        "The Philippines have an average height of 156.41 cm (man: 163.22 cm/woman: 149.7 cm).",
        "Filipinos are on average 163.2 cm (men) and 153.6 cm (women) tall.",
        "Filipinos are on average 163 cm tall, if they are men.",
    )
    assert found(question, *texts) == [(0, 1, 2)]


def test_a_count_is_no_length() -> None:
    """The question asks for metres: two joints and a team of four are neither."""
    one, two = "Kora Bridge is 812 m long, between its two joints.", "Ann drew Kora Bridge with a team of four."
    assert found("How long is Kora Bridge?", one, two) == []


def test_a_statement_about_another_subject_is_not_compared() -> None:
    """It must name what the question names, or follow from the title of its source."""
    held = "The population of Paris is 2.1 million."
    assert found(PARIS, held, "The population of Lyon is 1.8 million.") == []
    assert found(PARIS, held, "Lyon has 1.8 million inhabitants.", titles=("", "Lyon and Paris")) == []
    assert found(PARIS, held, "The population is 1.8 million.", titles=("", "Paris")) == [(0, 1)]
    assert found(PARIS, held, "The population is 1.8 million.", titles=("", "Lyon")) == []


def test_a_source_does_not_disagree_with_itself() -> None:
    """Neither by figures nor by words; another source with one of its figures does."""
    own = [Said("Jupiter has 95 moons.", "a"), Said("Jupiter has 79 moons.", "a")]
    assert disagreements(MOONS, own) == []
    assert disagreements("x", [Said("Coffee causes cancer.", "a"), Said("Coffee does not cause cancer.", "a")]) == []
    (group,) = disagreements(MOONS, [*own, Said("Jupiter has 95 moons.", "b")])
    assert {1, 2} <= set(group)


def test_one_statement_for_each_source_and_figure() -> None:
    """The first of two equal statements of a source is kept."""
    texts = ["Jupiter has 95 moons.", "So Jupiter has 95 moons.", "Jupiter has 79 moons."]
    said = [Said(text, source) for text, source in zip(texts, "aab", strict=True)]
    assert disagreements(MOONS, said) == [(0, 2)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Coffee causes cancer.", "Coffee does not cause cancer."),
        ("Pluto is a planet.", "Pluto isn't a planet."),
        ("Sugar makes children hyperactive.", "There is no evidence that sugar makes children hyperactive."),
        ("Aspirin increases the risk of bleeding.", "Aspirin reduces the risk of bleeding."),
        ("Rust is faster than Go in benchmarks.", "Go is faster than Rust in benchmarks."),
        ("Prices rose last year.", "Prices fell last year."),
        ("The library is thread-safe.", "The library is not thread-safe."),
    ],
)
def test_statements_that_contradict_each_other_disagree(one: str, two: str) -> None:
    """A negation, an opposite or a reversed comparison, in either order."""
    assert found("Is it so?", one, two) == found("Is it so?", two, one) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("It is safe for adults.", "It is not safe for children."),
        ("The drug is safe for healthy adults.", "The drug is not safe for pregnant women."),
        ("Users who log in can read files.", "Users who do not log in cannot read files."),
        ("Prices rose in 2019.", "Wages fell in 2020."),
        ("The red wire leads to the positive pole.", "The black wire leads to the negative pole."),
        ("In winter days are short in Norway.", "In summer days are long in Norway."),
        ("Cats sleep.", "Dogs bark."),
        ("Coffee causes cancer.", "Coffee causes cancer."),
        ("No.", "Yes."),
        ("", ""),
    ],
)
def test_statements_about_other_things_do_not_disagree(one: str, two: str) -> None:
    """Other groups, years or subjects are no contradiction."""
    assert found("Is it so?", one, two) == []


@pytest.mark.parametrize(
    "unsure",
    [
        "The drug might not be effective against severe pain.",
        "Is the drug not effective against severe pain?",
        "The drug is not effective against severe pain if taken late.",
    ],
)
def test_what_is_not_stated_contradicts_nothing(unsure: str) -> None:
    """A question, a condition or a supposition, in either order."""
    stated = "The drug is effective against severe pain."
    assert found("Is it so?", stated, unsure) == found("Is it so?", unsure, stated) == []
    assert found("Is it so?", stated, "The drug is not effective against severe pain.") == [(0, 1)]


def test_figures_come_first_and_no_statement_is_in_two_disagreements() -> None:
    """Then pairs of words, in order, each statement once."""
    texts = (
        "Coffee causes cancer.",
        "Jupiter has 95 moons.",
        "Coffee does not cause cancer.",
        "Jupiter has 79 moons.",
        "Coffee really does not cause cancer.",
    )
    assert found(MOONS, *texts) == [(1, 3), (0, 2)]
    both = "Jupiter {} have {} moons around it in total today."
    assert found(MOONS, both.format("does", 95), both.format("does not", 79)) == [(0, 1)]


def test_only_the_first_statements_are_compared() -> None:
    """The last of the limit is, one more is not."""
    others = ["Jupiter is a planet."] * (MOST - 2)
    assert found(MOONS, "Jupiter has 95 moons.", *others, "Jupiter has 79 moons.") == [(0, MOST - 1)]
    assert found(MOONS, "Jupiter has 95 moons.", *others, "Jupiter is big.", "Jupiter has 79 moons.") == []


@pytest.mark.parametrize(
    ("said", "few"),
    [
        ("a 79, b 95, c 95, d 95", "79"),
        ("a 95, b 79, c 95, d 95", "79"),
        ("a 79, b 95, c 95", ""),
        ("a 79, b 79, c 95, d 95, e 95", ""),
        ("a 79, b 95, b 95, b 95", ""),
        ("a 79, a 95, b 95, c 95", "79"),
        ("a 79, b 95, c 95.0, d 95", "79"),
        ("a 79, b 95, c 96, d 97", ""),
        ("a 9, b 95, c 95, d 95", ""),
        ("", ""),
    ],
)
def test_a_figure_that_few_sites_give_is_outvoted(said: str, few: str) -> None:
    """By at least two sites, those that give both aside; many pages of one site are one voice, and a figure of another
    size is of something else.
    """
    told = [each.split() for each in said.split(", ") if each]
    statements = [
        Said(f"Jupiter has {figure} moons.", f"https://{site}.org/{place}") for place, (site, figure) in enumerate(told)
    ]
    assert outvoted(MOONS, statements) == ({f"Jupiter has {few} moons."} if few else set())


def test_a_year_that_few_sites_give_is_outvoted() -> None:
    """A year is no rounded figure; and without sites, as in documents, none is."""
    said = [f"The Kora Bridge opened in {year}." for year in (1871, 1870, 1870, 1870)]
    at = [Said(text, f"https://{site}.org/") for text, site in zip(said, "abcd", strict=True)]
    assert outvoted("When did the Kora Bridge open?", at) == {said[0]}
    assert (
        outvoted("When did the Kora Bridge open?", [Said(text, f"corpus:{n}") for n, text in enumerate(said)]) == set()
    )


NUMBERS = st.from_regex(r"(-?[0-9]{1,40}[.,]?[0-9]{0,40} ?(m|km|%|million|\$|years|)[.,; ]?){1,6}", fullmatch=True)
STATEMENTS = st.lists(
    st.builds(Said, st.text() | NUMBERS | NUMBERS.map("There are {} moons.".format), st.sampled_from("abc"), st.text()),
    max_size=8,
)


@pytest.mark.slow
@PROPERTY
@given(question=st.text() | st.sampled_from([MOONS, PARIS, "When was it?"]), said=STATEMENTS)
def test_no_text_raises_and_every_group_has_several_sources(question: str, said: list[Said]) -> None:
    """Groups are disjoint places in order, of at least two sources."""
    groups = disagreements(question, said)
    assert outvoted(question, said) <= {each.text for each in said}
    assert all(list(group) == sorted(set(group)) and len(group) > 1 for group in groups)
    assert all(set(one).isdisjoint(two) for one, two in combinations(groups, 2))
    assert all(len({said[place].source for place in group}) > 1 for group in groups)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("9" * 30, "8" * 30),
        ("9" * 1_500, "8" * 1_500),
        (f"0.{'1' * 400}", f"0.{'1' * 399}2"),
        (f"{'9' * 19} million", f"{'8' * 19} million"),
        ("٣", "٤"),
        ("5\x00", "6\ud800"),
    ],
)
def test_a_number_of_any_length_is_compared(one: str, two: str) -> None:
    """Also with more digits than decimal arithmetic has, other digits, and broken characters next to it."""
    assert found("How many are there?", f"There are {one} items.", f"There are {two} items.") == [(0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a " * 4_000,
        "1 2 3 " * 1_500,
        '"' * 10_000,
        "1," * 4_000,
        "A.B. " * 2_000,
        "no not never " * 1_000,
        " ".join(f"word{n}" for n in range(1_500)),
        "\x00\ud800\u202e " * 1_500,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_long_statements_take_a_bounded_time(text: str) -> None:
    """As many as are compared, all of them alike."""
    began = time.perf_counter()
    disagreements(f"How many Items? {text}", [Said(f"{text} {n}.", f"s{n}", text) for n in range(MOST + 1)])
    assert time.perf_counter() - began < SECONDS
