"""Choice of engines by the question: the same for the same question, only engines that exist, and for any text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import engine_choice
from harness.core.engine_choice import MAX_NAMED, WEB, chosen_engines
from harness.core.search_engines import AUTO, ENGINES, alternative_specs, engine_kind

QUESTIONS = {
    "medicine": "How often does CRISPR have off-target effects in patients?",
    "code": "Why does asyncio.gather hide an exception in Python?",
    "papers": "Is there empirical evidence for the quantum theory of gravity?",
    "news": "Who won the election yesterday?",
    "general": "Who built the lighthouse of Alexandria?",
}
"""A question about each subject."""
ANYTHING = st.text(st.characters(), max_size=400) | st.lists(
    st.sampled_from(
        ["vaccine", "python", "`", "\n", "\x1b[31m", "theory", "today", "a_b", "f()", "\ud800", "{0}", ", "]
    ),
    max_size=60,
).map(" ".join)


@pytest.mark.parametrize(("subject", "question"), QUESTIONS.items())
def test_the_subject_of_a_question_is_found(subject: str, question: str) -> None:
    """Medicine, code, papers, news, or nothing in particular."""
    assert chosen_engines(question, "ddgs").subject == subject


@pytest.mark.parametrize(
    ("question", "engines"),
    [
        (QUESTIONS["medicine"], ("pubmed", "europepmc", "ddgs")),
        (QUESTIONS["code"], ("stackexchange", "github", "ddgs")),
        (QUESTIONS["papers"], ("openalex", "arxiv", "ddgs")),
        (QUESTIONS["news"], ("ddgs",)),
        (QUESTIONS["general"], ("ddgs", "wikipedia")),
    ],
)
def test_each_subject_has_its_engines(question: str, engines: tuple[str, ...]) -> None:
    """The engines of the field come first, then always the web."""
    assert chosen_engines(question, "ddgs").specs == engines


@pytest.mark.parametrize("question", QUESTIONS.values())
def test_the_engine_of_the_web_is_the_given_one(question: str) -> None:
    """It is among the engines exactly once, whole, and its placeholder never is."""
    specs = chosen_engines(question, "ddgs,brave").specs
    assert specs.count("ddgs,brave") == 1
    assert WEB not in specs
    assert len(set(specs)) == len(specs)


@given(ANYTHING)
def test_only_engines_that_exist_are_chosen(question: str) -> None:
    """For any text there is at least one, and none of them is a choice itself."""
    specs = chosen_engines(question, "ddgs,brave").specs
    chosen = [name for spec in specs for name in alternative_specs(spec)]
    assert chosen
    assert {*chosen} <= {engine.name for engine in ENGINES} - {AUTO}


def test_the_engines_of_every_subject_exist() -> None:
    """Also of a subject that no question here is about."""
    assert {*engine_choice._SUBJECTS, "general"} == {*engine_choice._ENGINES}
    named = {spec for specs in engine_choice._ENGINES.values() for spec in specs} - {WEB}
    assert all(engine_kind(spec) is not None for spec in named)


@given(ANYTHING)
def test_the_choice_is_the_same_for_the_same_question(question: str) -> None:
    """Whatever was asked before, also in a process that has just begun."""
    first = chosen_engines(question, "ddgs")
    engine_choice._stems.cache_clear()
    chosen_engines(QUESTIONS["code"], "ddgs")
    assert chosen_engines(question, "ddgs") == first


@given(ANYTHING)
def test_the_reason_is_one_short_line(question: str) -> None:
    """Line breaks in the question do not break it, and a long question does not make it long."""
    reason = chosen_engines(question, "ddgs").reason
    assert len(reason.splitlines()) == 1
    assert len(reason) < 250


def test_the_reason_names_engines_subject_and_words() -> None:
    """Engines of which one answers are joined by "or"; at most three words are shown."""
    choice = chosen_engines("vaccine dose for a patient with cancer and diabetes", "ddgs,brave")
    assert choice.reason.startswith("engines: pubmed, europepmc, ddgs or brave; the question is about medicine (")
    assert len(choice.words) == MAX_NAMED
    assert choice.words[0] in choice.reason


@pytest.mark.parametrize("question", ["", "   ", "\0", "?!", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "Wie hoch ist der Turm?", QUESTIONS["general"]])
def test_a_question_about_nothing_special_says_so(question: str) -> None:
    """No word is shown, and the web and an encyclopedia are searched."""
    choice = chosen_engines(question, "ddgs")
    assert (choice.specs, choice.words) == (("ddgs", "wikipedia"), ())
    assert choice.reason.endswith("the question is about no special field")


@pytest.mark.parametrize("word", ["vaccine", "Vaccines", "VACCINE", "vaccine's", "(vaccines)"])
def test_other_forms_of_a_word_count(word: str) -> None:
    """Plurals, capital letters, a possessive, punctuation."""
    assert chosen_engines(f"Who made the first {word}?", "ddgs").subject == "medicine"


@pytest.mark.parametrize("word", ["vaccinology2", "pythonic_", "gitter", "newsagent", "drugstore"])
def test_a_longer_word_with_the_same_beginning_does_not_count(word: str) -> None:
    """It is another word."""
    assert word not in chosen_engines(f"Who wrote about {word}?", "ddgs").words


@pytest.mark.parametrize(
    "question",
    ["Why does TypeError appear here?", "What is `yield` for?", "When is close() needed?", "What is max_pool_size?"],
)
def test_code_in_a_question_is_seen(question: str) -> None:
    """The name of an error, backticks, a call, a name with underscores."""
    assert chosen_engines(question, "ddgs").subject == "code"


def test_the_subject_with_most_words_wins() -> None:
    """One word of another field does not decide, in either order."""
    for question in ("python docker patient", "patient python docker"):
        assert chosen_engines(question, "ddgs").subject == "code"
    assert chosen_engines("python for patients with cancer", "ddgs").subject == "medicine"


def test_a_repeated_word_counts_once() -> None:
    """A question is not about what it repeats most."""
    assert chosen_engines("python python python: the dose for a patient", "ddgs").subject == "medicine"


@pytest.mark.parametrize(
    "question",
    ["x " * 50_000, "a_" * 50_000, "`" * 100_001, "f(" * 50_000, "a." * 50_000, "'" * 100_000, "A" * 100_000 + "Error"],
    ids=["words", "underscores", "backticks", "calls", "points", "apostrophes", "one name"],
)
def test_a_very_long_question_takes_no_time(question: str) -> None:
    """A hundred thousand characters are answered within seconds, in a line that is short."""
    began = time.perf_counter()
    choice = chosen_engines(question, "ddgs")
    assert time.perf_counter() - began < 5
    assert len(choice.reason) < 250
