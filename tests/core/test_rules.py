"""Rules as texts: their reading, their refusal, and that no text makes matching slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.rules import (
    MAX_PHRASES,
    MAX_TYPES,
    READ,
    RuleName,
    headings_in,
    stop_words_in,
    task_types_in,
    weights_in,
)
from harness.errors import InvalidInput

TYPES = "# A comment.\n\nlists: overview\n- how many*\n- which ?*s\n  -  the   latest \n\nother:  more  words\n"


def type_of(question: str, *phrases: str) -> str:
    """Return the type of a question: `a` if it has a phrase, otherwise `b`."""
    lines = "\n".join(f"- {phrase}" for phrase in phrases)
    return next(each.name for each in task_types_in(f"a: x\n{lines}\nb: y") if each.has(question))


def test_types_have_phrases_and_what_they_add() -> None:
    """In the order of the text, with single spaces; comments and empty lines say nothing."""
    found = [(each.name, each.added, each.phrases) for each in task_types_in(TYPES)]
    assert found == [("lists", "overview", ("how many*", "which ?*s", "the latest")), ("other", "more words", ())]


@pytest.mark.parametrize(
    ("phrase", "question", "is_found"),
    [
        ("how many", "So how many are there?", True),
        ("how many", "HOW MANY are there?", True),
        ("how many", "How manyfold is it?", False),
        ("how many*", "How manyfold is it?", True),
        ("how many", "Show many of them", False),
        ("how many", "How-many is that?", False),
        ("which ?*s", "Which tools are there?", True),
        ("which ?*s", "Which s is it?", False),
        ("which ?*s", "Which tool is it?", False),
        ("which *s", "Which s is it?", True),
        ("*ing", "Is baking hard?", True),
        ("*ing", "Is bakings a word?", False),
        ("c++", "Is C++ fast?", True),
        ("a.c", "abc", False),
        ("(a|b)", "a", False),
        ("[ab]", "a", False),
        ("été", "Un ÉTÉ à Paris", True),
    ],
)
def test_a_phrase_is_whole_words(phrase: str, question: str, *, is_found: bool) -> None:
    """`*` is any letters or none, `?` one letter; all else is itself, in any case."""
    assert (type_of(question, phrase) == "a") is is_found


@given(phrase=st.text(min_size=1, max_size=40), question=st.text(max_size=80))
def test_no_phrase_raises_when_it_is_matched(phrase: str, question: str) -> None:
    """It is refused as a text, or it works."""
    try:
        types = task_types_in(f"a: x\n- {phrase}\nb: y")
    except InvalidInput:
        return
    assert any(each.has(question) for each in types)


@pytest.mark.parametrize("phrase", ["*a b* *c d* e*", "a* a* a* a* a* a* a* a*!", "*x", f"{'?' * 40}*x", "*a-", "a*a"])
@pytest.mark.parametrize("unit", ["a ", "a", "aa-", "ab cd ", "- "])
@pytest.mark.slow
def test_matching_takes_time_in_proportion(phrase: str, unit: str) -> None:
    """For the longest question and the most phrases, milliseconds; a pattern that backtracks would take hours."""
    [first, _] = task_types_in(f"a: x\n{f'- {phrase}{chr(10)}' * MAX_PHRASES}b: y")
    begun = time.perf_counter()
    first.has((unit * 10_000)[:10_000])
    assert time.perf_counter() - begun < 10


def test_headings_that_differ_are_replaced() -> None:
    """The others stay; a heading may have a colon."""
    assert headings_in("Answer: In short: \nSources: Sources\nKey points:  Main   points") == {
        "Answer": "In short:",
        "Key points": "Main points",
    }
    assert headings_in("Limits: Sources\nSources: Limits") == {"Limits": "Sources", "Sources": "Limits"}


def test_stop_words_are_small_letters_between_spaces() -> None:
    """On any lines; none at all is possible."""
    assert stop_words_in("The a\n# of\nO’Clock don't") == {"the", "a", "o’clock", "don't"}
    assert stop_words_in("# None.") == frozenset()


def test_weights_are_numbers_by_name() -> None:
    """Named weights alone; counts are whole numbers."""
    assert weights_in("answer_share: .25\n# More.\nkey_points: 7") == {"answer_share": 0.25, "key_points": 7}


@pytest.mark.parametrize(
    ("rule", "text", "says"),
    [
        ("task_types", "# Nothing.", "has 0 types"),
        ("task_types", "a x", "line 1: 'a x' must be `name: value`"),
        ("task_types", "- x\na: y", "line 1: a phrase comes below"),
        ("task_types", "a: x\n- y", "the last type, a, is that of all other questions"),
        ("task_types", "a: x\nb: y", "a has no phrases"),
        ("task_types", "a: x\n- y\na: z", "line 3: 'a' must be a new name"),
        ("task_types", "a\u2028b: x", "line 1: 'a' must be `name"),
        ("task_types", "A b: x", "line 1: 'A b' must be a new name"),
        ("task_types", "a: ?", "line 1: what a query adds"),
        ("task_types", f"a: {'x' * 101}", "line 1: what a query adds"),
        ("task_types", "a: x\n- a*b*\nb: y", "line 2: a word has at most one *"),
        ("task_types", "a: x\n- **\nb: y", "line 2: a phrase has"),
        ("task_types", "a: x\n- *\nb: y", "line 2: a phrase has"),
        ("task_types", f"a: x\n- {'a ' * 9}\nb: y", "line 2: a phrase has"),
        ("task_types", f"a: x\n- {'a' * 101}\nb: y", "line 2: a phrase has"),
        ("task_types", "a: x\n" + "- y\n" * (MAX_PHRASES + 1) + "b: z", "201 phrases"),
        ("task_types", "\n".join(f"{chr(97 + n)}: x\n- y" for n in range(MAX_TYPES)) + "\nz: x", "11 types"),
        ("task_types", "a: x\x1b[2J", "control characters"),
        ("stop_words", "a \ud800", "control characters"),
        ("stop_words", "a\nof, the", "line 2: 'of,' is not a word"),
        ("stop_words", "a*", "line 1: 'a*' is not a word"),
        ("stop_words", " ".join(f"w{n}" for n in range(2_001)), "2,001 words"),
        ("headings", "Anwser: A", "line 1: there is no 'Anwser'; choose one of Answer, Key points"),
        ("headings", "Answer: A\nAnswer: B", "line 2: Answer occurs twice"),
        ("headings", "Answer:", "line 1: a heading has 1 to 100"),
        ("headings", f"Answer: {'x' * 101}", "line 1: a heading has 1 to 100"),
        ("headings", "Answer: limits", "Answer and Limits are the same"),
        ("headings", "Answer: A\nDetails: a", "Answer and Details are the same"),
        ("weights", "points: 1", "there is no 'points'; choose one of answer_share, key_points"),
        ("weights", "answer_share: 2", "answer_share must be a number from 0 to 1"),
        ("weights", "answer_share: nan", "answer_share must be a number from 0 to 1"),
        ("weights", "answer_share: much", "answer_share must be a number from 0 to 1"),
        ("weights", "key_points: 1.5", "key_points must be a whole number from 0 to 50"),
        ("weights", "answer_excerpts: 1e999", "answer_excerpts must be a whole number from 1 to 50"),
    ],
)
def test_an_unusable_text_is_refused(rule: RuleName, text: str, says: str) -> None:
    """In one short line that has the rule, its line, and what is allowed."""
    with pytest.raises(InvalidInput) as caught:
        READ[rule](text)
    message = str(caught.value)
    assert says in message
    assert message.startswith(rule)
    assert message.isprintable()
    assert len(message) < 300
