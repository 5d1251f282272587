"""Every rewording: its changes, the texts that it leaves alone, and properties of all of them."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.generator import Generator
from training.rewordings import REWORDINGS, SMALL, SMALLEST, Composed
from training.rewordings.shape import article

BY_SMALL = tuple(generator for generator in SMALL if generator.name in {"articles", "keyword order", "plurals"})
BY_NAME = {generator.name: generator for generator in (*SMALL, *REWORDINGS)}
SEEDS = 60
TEXTS = (
    "How do I install numpy on Windows?",
    "What is the difference between a virus and a bacterium?",
    "What are the symptoms of diabetes?",
    "I'm 24 years old and have had a headache for 3 days. What should I do?",
    "coronavirus symptoms",
    "In 1990 , Smith moved to the United States .",
    "Who wrote Emma?",
    "Why don't we organise a meeting in the city centre?",
)


def variants(name: str, text: str) -> set[str]:
    """Return all variants of `text` by one generator over many seeds."""
    found = (BY_NAME[name].vary(text, Random(seed)) for seed in range(SEEDS))
    return {variant for variant in found if variant is not None}


def test_every_class_is_there_once_by_its_name() -> None:
    """Fifteen classes, each with its own name; and three more of small changes."""
    assert {generator.name for generator in SMALL} - {generator.name for generator in REWORDINGS} == {
        "articles",
        "keyword order",
        "plurals",
    }
    assert {generator.name for generator in REWORDINGS} == {
        "politeness",
        "case",
        "punctuation",
        "typing errors",
        "contractions",
        "spelling",
        "number words",
        "word order",
        "genitive",
        "voice",
        "question templates",
        "dropped words",
        "abbreviations",
        "synonyms",
        "frames",
    }
    assert len(REWORDINGS) == 15
    assert set(SMALLEST) < set(SMALL)


@pytest.mark.parametrize(
    "generator", [*REWORDINGS, *BY_SMALL, Composed(REWORDINGS, 2, 4)], ids=lambda generator: generator.name
)
class TestEveryGenerator:
    """Promises of the protocol."""

    def test_same_seed_same_variant(self, generator: Generator) -> None:
        """All chance comes from the generator of chance that is passed."""
        for text in TEXTS:
            for seed in range(10):
                assert generator.vary(text, Random(seed)) == generator.vary(text, Random(seed))

    def test_never_the_text_itself(self, generator: Generator) -> None:
        """A variant differs from its text."""
        for text in TEXTS:
            for seed in range(SEEDS):
                assert generator.vary(text, Random(seed)) != text

    @given(text=st.text(max_size=80), seed=st.integers(0, 9))
    @settings(deadline=None)
    def test_never_raises_on_any_text(self, generator: Generator, text: str, seed: int) -> None:
        """For any text there is a variant or none."""
        varied = generator.vary(text, Random(seed))
        assert varied is None or varied != text

    @given(
        pieces=st.lists(
            st.sampled_from(
                "what is are how do i can the a of in to and or vs between difference if when 2 50%"
                " $5 1,000 3rd km not don't "
                "I'm it's US United States movie buy best way France France's who wrote by was Emma"
                ' ? . , " - please hi thanks '
                "1990 In cost does mean symptoms define for my you why people".split()
            ),
            max_size=14,
        ),
        seed=st.integers(0, 9),
    )
    @settings(deadline=None)
    def test_never_raises_on_jumbled_questions(self, generator: Generator, pieces: list[str], seed: int) -> None:
        """The words that its rules look for, in any order, do no harm."""
        text = " ".join(pieces)
        varied = generator.vary(text, Random(seed))
        assert varied is None or varied != text


@pytest.mark.parametrize(
    ("name", "text", "variant"),
    [
        ("politeness", "What causes rust?", "Can you tell me what causes rust?"),
        ("politeness", "How do I fix a bike?", "I would like to know how to fix a bike."),
        ("politeness", "Why do I sneeze?", "Please tell me why I sneeze?"),
        ("politeness", "Please tell me how to swim.", "How to swim."),
        ("politeness", "Hello doctor, is it normal to sneeze?", "Is it normal to sneeze?"),
        ("politeness", "Is it normal to sneeze? Thanks in advance.", "Is it normal to sneeze?"),
        ("case", "How do I learn Python?", "how do i learn python?"),
        ("case", "How do I learn Python?", "HOW DO I LEARN PYTHON?"),
        ("case", "how do plants grow in spring", "How Do Plants Grow in Spring"),
        ("case", "What is Python?", "what is Python?"),
        ("punctuation", "What is Python?", "What is Python"),
        ("punctuation", "What is Python", "What is Python?"),
        ("punctuation", 'Who wrote "Emma"?', "Who wrote Emma?"),
        ("punctuation", "If I run, do I tire?", "If I run do I tire?"),
        ("punctuation", "what is a long-term loan", "what is a long term loan"),
        ("punctuation", "He ran , then he slept .", "He ran, then he slept."),
        ("contractions", "What is love?", "What's love?"),
        ("contractions", "What's love about?", "What is love about?"),
        ("contractions", "I do not eat meat", "I don't eat meat"),
        ("contractions", "I don't eat meat", "I do not eat meat"),
        ("contractions", "I am happy", "I'm happy"),
        ("contractions", "I have been ill", "I've been ill"),
        ("contractions", "I don't eat meat", "I dont eat meat"),
        ("spelling", "what colour is it", "what color is it"),
        ("spelling", "how to organize a party", "how to organise a party"),
        ("spelling", "is my website slow", "is my web site slow"),
        ("spelling", "send an e-mail", "send an email"),
        ("number words", "I have 2 dogs", "I have two dogs"),
        ("number words", "three years ago", "3 years ago"),
        ("number words", "my 1st day", "my first day"),
        ("number words", "a 50% chance", "a 50 percent chance"),
        ("number words", "earn 5000 rupees", "earn 5,000 rupees"),
        ("number words", "how to earn $5", "how to earn 5 dollars"),
        ("number words", "how to earn 5 dollars", "how to earn $5"),
        ("number words", "run 5 km a day", "run 5 kilometers a day"),
        ("articles", "what is the boiling point of water", "what is boiling point of water"),
        ("articles", "a guide to the garden", "guide to garden"),
        ("keyword order", "github rest api rate limits", "rate limits github rest api"),
        ("keyword order", "exponential backoff retries", "retries exponential backoff"),
        ("plurals", "firewall rule", "firewall rules"),
        ("plurals", "best cities", "best city"),
        ("word order", "In 1990 , Smith moved to Paris .", "Smith moved to Paris in 1990 ."),
        ("word order", "Smith moved to Paris in 1990.", "In 1990, Smith moved to Paris."),
        ("word order", "If I eat salt, will I be ill?", "Will I be ill if I eat salt?"),
        ("word order", "Why do my legs hurt when I run?", "When I run, why do my legs hurt?"),
        ("word order", "the difference between a cat and a dog?", "the difference between a dog and a cat?"),
        ("word order", "python vs java", "java vs python"),
        ("word order", "python list sort", "list sort python"),
        ("word order", "Which is better, tea or coffee?", "Which is better, coffee or tea?"),
        ("word order", "the price of tea and milk", "the price of milk and tea"),
        ("genitive", "What is the capital of France?", "What is France's capital?"),
        ("genitive", "What is France's capital?", "What is the capital of France?"),
        ("genitive", "symptoms of measles", "measles symptoms"),
        ("genitive", "rate limits of the github api", "github api rate limits"),
        ("voice", "Who wrote Emma?", "Who was Emma written by?"),
        ("voice", "who was the telephone invented by", "who invented the telephone"),
        ("voice", "Emma was written by Jane Austen .", "Jane Austen wrote Emma ."),
        ("voice", "Jane Austen wrote Emma .", "Emma was written by Jane Austen ."),
        ("voice", "How do I remove rust from a knife?", "How can rust be removed from a knife?"),
        ("voice", "Can stress cause hair loss?", "Can hair loss be caused by stress?"),
        ("question templates", "How do I learn to swim?", "What is the best way to learn to swim?"),
        ("question templates", "What is the best way to learn to swim?", "How can I learn to swim?"),
        ("question templates", "What does entropy mean?", "What is the meaning of entropy?"),
        ("question templates", "define entropy", "what is the definition of entropy"),
        ("question templates", "How much does a horse cost?", "What is the price of a horse?"),
        ("question templates", "What are the symptoms of measles?", "What are the signs of measles?"),
        ("question templates", "How is tea different from coffee?", "What is the difference between tea and coffee?"),
        ("question templates", "Which are the best films about war?", "What are some good films about war?"),
        ("question templates", "how to learn to swim", "how do i learn to swim"),
        ("dropped words", "How do I install numpy on Windows?", "install numpy windows"),
        ("dropped words", "What is the capital of France?", "capital of france"),
        ("dropped words", "Where can I buy fresh fish?", "where to buy fresh fish"),
        ("dropped words", "Is garlic good for cats?", "garlic good for cats"),
        ("abbreviations", "jobs in the United States", "jobs in the US"),
        ("abbreviations", "What is the use of AI?", "What is the use of artificial intelligence?"),
        ("abbreviations", "the best app for maps", "the best application for maps"),
        ("abbreviations", "How do I learn JavaScript?", "How do I learn JS?"),
        ("abbreviations", "jobs in the united states", "jobs in the usa"),
        ("synonyms", "Where can I buy a horse?", "Where can I purchase a horse?"),
        ("synonyms", "which movies are sad", "which films are sad"),
        ("synonyms", "How do I get rid of ants?", "How do I eliminate ants?"),
        ("synonyms", "he was buying a horse", "he was purchasing a horse"),
        ("frames", "How do I learn to swim?", "Does anyone know how to learn to swim?"),
        ("frames", "Does anyone know how to swim?", "How to swim?"),
        ("frames", "What causes rust?", "Quick question: what causes rust?"),
        ("frames", "polio outbreaks", "information about polio outbreaks"),
    ],
)  # fmt: skip
def test_a_rewording_that_is_made(name: str, text: str, variant: str) -> None:
    """Each class makes what it is for, for some seed."""
    found = {made for seed in range(600) if (made := BY_NAME[name].vary(text, Random(seed)))}
    assert variant in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("politeness", "He moved to Paris in 1990 ."),
        ("politeness", "polio outbreaks"),
        ("case", "How do I move to the US?"),
        ("case", "is AIDS curable"),
        ("typing errors", "is it ok to go to LA"),
        ("typing errors", "Sqyxwv Abdcxz 123456"),
        ("contractions", "Who knows what it is?"),
        ("contractions", "It's been a long day"),
        ("contractions", "Who has what I have?"),
        ("spelling", "Where is Fleetwood Center?"),
        ("spelling", 'Is "colour" correct?'),
        ("spelling", "What is the difference between color and colour?"),
        ("number words", "type 2 diabetes"),
        ("number words", "Windows 7 download"),
        ("number words", "iPhone 6s or iPhone 7"),
        ("number words", "Who was king in 1812?"),
        ("articles", "Who plays a Dane in The Bridge?"),
        ("articles", "a few of us earn 5000 a month"),
        ("keyword order", "python to java converter"),
        ("keyword order", "how is rice cooked"),
        ("keyword order", "dark mode"),
        ("keyword order", "iphone 14 battery life"),
        ("plurals", "latest news"),
        ("plurals", "replace broken window"),
        ("plurals", "Who has a cat"),
        ("word order", "Who beat whom in the final?"),
        ("word order", "flights from London to Paris"),
        ("word order", "batman vs superman"),
        ("word order", "research and development"),
        ("word order", "What is the difference between fixed and floating calipers?"),
        ("word order", "How do I know if I am ill?"),
        ("genitive", "What is the colour of the sky?"),
        ("genitive", "the real owner of Google and Apple"),
        ("voice", "Who wrote the letters to Emma about Paris?"),
        ("voice", "The brothers were killed."),
        ("voice", "Can you explain how to swim?"),
        ("question templates", "How do I not cry?"),
        ("question templates", "What is it?"),
        ("question templates", "He moved to Paris in 1990 ."),
        ("dropped words", "Why do cats not like him?"),
        ("dropped words", "He moved to Paris in 1990 ."),
        ("dropped words", "Is Java better than Python?"),
        ("abbreviations", "Can you tell us who it is?"),
        ("abbreviations", "Who is paying for it?"),
        ("abbreviations", "What is the full form of AI?"),
        ("abbreviations", "What is the full form of USA?"),
        ("synonyms", "What is the difference between a movie and a film?"),
        ("synonyms", "Where is the Movie Park?"),
        ("synonyms", "What does purchase mean?"),
        ("frames", "He moved to Paris in 1990 ."),
    ],
)
def test_a_text_that_is_left_alone(name: str, text: str) -> None:
    """A class does not apply where it would, or might, change the question."""
    assert variants(name, text) == set()


def test_slips_spare_first_letters_numbers_and_short_words() -> None:
    """Only longer words slip, after their first letter."""
    text = "Which is the 100000 best hospital for surgery?"
    for variant in variants("typing errors", text):
        for before, after in zip(text.split(), variant.split(), strict=True):
            assert before[0] == after[0]
            assert before == after or len(before) >= 5
            assert before == after or not before.isdigit()


def test_slips_never_make_another_common_word() -> None:
    """`trail` never becomes `trial`, nor a word that could as well have been meant so."""
    from harness.models.local.tokenizer import vocabulary

    for text in ("trail", "angel", "quiet", "march", "hypertension", "prostate", "breath", "county"):
        assert not variants("typing errors", text) & vocabulary()


def test_a_question_of_you_gets_no_form_of_i() -> None:
    """`your` beside `I` would ask for something else."""
    for variant in variants("question templates", "How do you wash your hair?"):
        assert " I " not in f" {variant} "


def test_the_article_sounds_right_after_an_exchange() -> None:
    """`a movie` becomes `a film`, `a car` becomes `an automobile`."""
    assert "Where can I park an automobile?" in variants("synonyms", "Where can I park a car?")


@pytest.mark.parametrize(
    ("word", "expected"),
    [("hour", "an"), ("house", "a"), ("university", "a"), ("umbrella", "an"), ("MRI", "an"), ("US", "a"), ("one", "a")],
)
def test_articles(word: str, expected: str) -> None:
    """The article follows the sound, not the letter."""
    assert article(word) == expected


@pytest.mark.parametrize("text", ["how are winners selected", "I quit smoking last year", "the reports to deliver"])
def test_a_verb_of_unsure_tense_stays(text: str) -> None:
    """`selected` may be `chose` or `chosen`, `quit` may be `stop` or `stopped`."""
    assert variants("synonyms", text) == set()


def test_inflections_follow() -> None:
    """The synonym has the form of the word that it replaces."""
    assert variants("synonyms", "she bought a horse") == {"she purchased a horse"}
    assert variants("synonyms", "the best screenshots") == {"the best screen captures"}


def test_long_patient_questions_are_reworded_too() -> None:
    """More than one sentence is no hindrance where only words, signs or courtesies change."""
    text = "I'm 24 years old and have had a headache for 3 days. I do not smoke. What should I do?"
    for name in ("politeness", "case", "punctuation", "typing errors", "contractions", "number words", "frames"):
        assert variants(name, text), name
    for name in ("word order", "voice", "question templates", "dropped words"):
        assert not variants(name, text), name


def test_templates_have_many_families() -> None:
    """At least forty families of at least three forms each."""
    from training.rewordings.templates import _families

    assert sum(len(family) >= 3 for family in _families()) >= 40


def test_spelling_has_many_pairs() -> None:
    """At least 150 British spellings have their American ones."""
    from training.rewordings.spelling import _table

    assert len(_table()) >= 2 * 150


def test_synonyms_have_many_groups() -> None:
    """At least 300 groups of words and phrases."""
    from training.rewordings.synonym_lists import NOUNS, PHRASES, VERBS

    lines = f"{VERBS}{NOUNS}{PHRASES}".splitlines()
    assert sum("=" in line or ">" in line for line in lines) >= 300


def test_abbreviations_are_many() -> None:
    """At least 120 short forms with their long forms."""
    from training.rewordings.abbreviations import _NAMES, _WORDS

    assert sum("=" in line or ">" in line for line in f"{_NAMES}{_WORDS}".splitlines()) >= 120


class TestComposed:
    """Several rewordings one after another."""

    def test_applies_at_least_as_many_as_wanted_or_none(self) -> None:
        """Two generators of which one never applies are not enough for two."""
        composed = Composed([BY_NAME["spelling"], BY_NAME["voice"]], 2, 2)
        assert composed.vary("what colour is it", Random(1)) is None
        assert Composed([BY_NAME["spelling"]], 1, 1).vary("what colour is it", Random(1)) == "what color is it"

    def test_changes_more_than_one_thing(self) -> None:
        """A spelling and a contraction both change."""
        composed = Composed([BY_NAME["spelling"], BY_NAME["contractions"]], 2, 2)
        assert composed.vary("what is the colour of it", Random(1)) in {
            "what's the color of it",
            "whats the color of it",
        }

    @pytest.mark.parametrize(("least", "most"), [(0, 1), (3, 2)])
    def test_bounds_that_make_no_sense_are_refused(self, least: int, most: int) -> None:
        """At least one, and no more wanted than allowed."""
        with pytest.raises(ValueError, match="1 <= least <= most"):
            Composed(REWORDINGS, least, most)
