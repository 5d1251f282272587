"""Sentences that say what earlier ones of a report have said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.redundancy import adds_nothing, restates_figure, share_said


@pytest.mark.parametrize(
    ("question", "earlier", "sentence"),
    [
        ("sons of Hreidmar", "Hreidmar had the sons Regin and Fafnir.", "He was the father of Fafnir and Regin."),
        ("who chaired the committee", "It was chaired by Ada Weber in Bern.", "In Bern they elected Ada Weber."),
        ("When did the bridge open?", "It opened on 4 June 1987.", "Since June 1987 cars have crossed it."),
        ("number of layers in BERT", "BERT has twelve layers.", "There are 12 layers in BERT."),
    ],
)
def test_a_sentence_without_new_names_and_figures_adds_nothing(question: str, earlier: str, sentence: str) -> None:
    """Whatever their order and form; a further name makes a difference, and so does another earlier sentence."""
    assert adds_nothing(sentence, question, earlier)
    assert not adds_nothing(f"{sentence[:-1]} with the help of Otto Brun.", question, earlier)
    assert not adds_nothing(sentence, question, "Nothing is known about that.")


def test_a_sentence_without_details_is_repeated_in_most_of_its_words() -> None:
    """If nothing in them contradicts."""
    earlier = "When a return statement leaves the try suite, the finally clause is executed on the way out."
    assert adds_nothing("On the way out, the finally clause is executed.", "When does it run?", earlier)
    assert not adds_nothing("On the way out, the finally clause is not executed.", "When does it run?", earlier)


@pytest.mark.parametrize(
    ("question", "earlier", "sentence"),
    [
        ("How do I make tea?", "Boil the water for 5 minutes.", "Steep the leaves for 5 minutes."),
        ("What is a patina?", "A patina is a thin layer.", "A patina protects the metal below it."),
        ("Where do arguments go?", "Parameters before a slash are by place.", "Parameters after a slash are by place."),
        ("bridges of Halden", "The Halden Bridge is long.", "The Halden Bridge is closed to lorries."),
    ],
)
def test_details_alone_decide_and_not_where_they_say_little(question: str, earlier: str, sentence: str) -> None:
    """The same figure of something else is no repeat, nor is a sentence without names, or with those of the question,
    that says something else.
    """
    assert not adds_nothing(sentence, question, earlier)


@pytest.mark.parametrize(
    ("question", "answer", "same", "other"),
    [
        ("How long is the bridge?", "It is 812 metres long.", "A bridge of 812 m with 2 towers.", "It has 2 towers."),
        ("How long is the bridge?", "With 2 towers it is 812 m long.", "It is 812 m long.", "It has 2 towers, too."),
        ("How many towers has it?", "It has two towers.", "2 towers hold its 40 cables.", "It has 40 cables."),
        ("2023 report page count", "It has almost 8,000 pages.", "700 people wrote 8000 pages.", "It has 700 pages."),
        ("When was it signed?", "It was signed on July 5, 1811.", "The 5th of July 1811.", "From 1795 to 1811."),
        ("When was it signed?", "It was signed in July 1811.", "In 1811 they signed it.", "On 5 July 1811."),
    ],
)
def test_the_figure_of_an_answer_is_restated(question: str, answer: str, same: str, other: str) -> None:
    """Other numbers may be with it; a date that says more, or has another year, is another one."""
    assert restates_figure(same, question, [answer])
    assert not restates_figure(other, question, [answer])
    assert not restates_figure(same, "Why was it built?", [answer])


def test_a_telling_figure_of_any_earlier_sentence_is_restated() -> None:
    """One with a unit, or of more than two digits, rounded, too; the first one opens the answer."""
    question, earlier = "How long is the bridge?", ["It is 812 metres long.", "It is 798 m long, with 14 arches."]
    assert restates_figure("Length 798 m, opened in 1987.", question, earlier)
    assert not restates_figure("It has 14 lamps.", question, earlier)
    assert restates_figure("It is 798.2 m long.", question, earlier)
    assert not restates_figure("It is 799 m long.", question, earlier)
    assert not restates_figure("It is 798 km away.", question, ["It is 812 m long.", "Its length is 798 m."])
    assert restates_figure("About 56,000 live there.", "How many live there?", ["56,367 people live there."])
    assert restates_figure("Release 3.4.1 is out.", "number of the release", ["It is 4.", "It is 3.4.1 now."])
    assert restates_figure("It has 14 arches.", "How many arches has it?", ["It has 14 arches."])


def test_versions_are_restated_if_earlier_sentences_have_them_all() -> None:
    """Version 3.1 is not 3.10, and other numbers may be with them."""
    question, earlier = "Which Python versions does Kestrel 3.2 support?", ["Python 3.11 and 3.12.", "Not Python 3.10."]
    assert restates_figure("Kestrel 3.2 brings HTTP/3 and drops Python 3.10.", question, earlier)
    assert restates_figure("Python 3.11 is supported.", question, earlier)
    assert not restates_figure("Python 3.1 and 3.11 are.", question, earlier)
    assert not restates_figure("Python 3.10 is not supported.", question, earlier[:1])
    assert not restates_figure("Kestrel 3.2 is new.", question, earlier)
    assert restates_figure("It needs Java 17.", "Which Java version does it need?", ["Java 17 or newer."])


def test_a_figure_of_the_question_is_no_answer() -> None:
    """All answers to a question about 2020 have that number."""
    answer, sentence = "In 2020, 4,100 people in 13 towns worked there.", "Of the 13 towns, Bern has 90 people in 2020."
    assert not restates_figure(sentence, "How many people in the 13 towns worked there in 2020?", [answer])
    assert restates_figure(sentence, "How many people worked there in 2020?", [answer])


def test_the_most_similar_earlier_text_counts() -> None:
    """By the share of the text's own words, however long the other one is."""
    assert share_said({"a", "b", "c", "d"}, [{"a"}, {"a", "b", "c", "x", "y", "z"}]) == 0.75
    assert share_said({"a"}, []) == 0
    assert share_said(set(), [{"a"}]) == 0


def test_what_contradicts_an_earlier_sentence_is_no_repeat() -> None:
    """Whatever details they share; and other languages have other negations."""
    assert adds_nothing("Regin was his son.", "Who was Hreidmar?", "One son of his was Regin.")
    assert not adds_nothing("Regin was not his son.", "Who was Hreidmar?", "One son of his was Regin.")
    assert not adds_nothing("Regin war nicht sein Sohn, sondern ein Zwerg.", "Wer war er?", "Regin war sein Sohn.")
    assert not restates_figure("It is not 812 m long.", "How long is the bridge?", ["It is 812 m long."])


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared(sentence: str, question: str, earlier: str) -> None:
    """Nothing fails, and nothing is a repeat of an empty text."""
    adds_nothing(sentence, question, earlier)
    restates_figure(sentence, question, earlier)
    assert not adds_nothing(sentence, question, "")
    assert not restates_figure(sentence, question, [])
