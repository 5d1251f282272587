"""Long reworded questions: single words weigh less, the embedding more; decisive differences still reject."""

import pytest

from harness.core.equivalence import examine
from harness.core.equivalence.comparison import compare
from harness.core.equivalence.decision import NO_WORDS, requirement
from harness.core.equivalence.reading import read
from tests.core.equivalence.assertions import assert_refused, assert_served

PLAIN = "Does a cracked heat exchanger in a gas furnace have to be replaced, or can it be welded?"
TOLD = (
    "The technician found that the heat exchanger of our gas furnace is cracked. I would like to avoid a new one. "
    "Can welding repair it or does it have to be replaced?"
)


def reworded(a: str, b: str) -> bool:
    """Return whether the pair counts as a rewording."""
    return compare(read(a), read(b), NO_WORDS).reworded


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (PLAIN, TOLD),
        (
            "I planted tomatoes last month and their lower leaves turn yellow. What am I doing wrong?",
            "What is the reason why the lower leaves of the tomatoes that I planted turn yellow?",
        ),
        (
            "My cat has stopped eating dry food since we moved. Is that normal?",
            "We moved to another house and ever since the cat refuses its dry food, is this normal behaviour?",
        ),
    ],
)
def test_a_reworded_question_is_served(a: str, b: str) -> None:
    """Extra words of the story, and their order, do not count if the embeddings agree."""
    assert reworded(a, b)
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (PLAIN, PLAIN.replace("gas", "oil")),
        (TOLD, TOLD.replace("welding", "glue")),
        ("short and told anew", "told anew but short?"),
    ],
)
def test_a_variation_in_one_point_is_not_a_rewording(a: str, b: str) -> None:
    """Two texts that share nearly all words, in order, are compared word for word; so are short ones."""
    assert not reworded(a, b)


@pytest.mark.parametrize(
    "other",
    [
        TOLD.replace("gas", "three-year-old gas"),
        TOLD.replace("cracked", "not cracked"),
        TOLD.replace("of our gas furnace", "of our Viessmann gas furnace"),
        TOLD.replace("Can welding", "In 2019 they said: can welding"),
        TOLD.replace("gas furnace", '"gas furnace"'),
    ],
)
def test_numbers_negations_names_dates_and_scope_still_reject(other: str) -> None:
    """Decisive parts must be on both sides, in any wording, without a verifier."""
    assert reworded(PLAIN, other)
    assert_refused(PLAIN, other)


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("I cut my hand a week ago and it has not healed, although I kept it clean. What should I do?",
         "A cut in my hand refuses to close since last week in spite of all cleaning. What can be done?", "negation"),
        ("My throat has been sore for more than a week and tea with honey did little. Doctor or not?",
         "Is it time for a doctor when tea did little for a sore throat that has lasted over a week?", "direction"),
        ("I spilled red wine on a white wool carpet yesterday, how do I get the stain out?",
         "Yesterday some red wine was spilled on our white carpet made of wool. What removes the stain?", "dates"),
        ("Since last night my rabbit has not eaten and sits in a corner. Can this wait for the vet?",
         "Our rabbit stopped eating yesterday and hides in the corner: must it see the vet at once?", "dates"),
        ("Our toddler has a fever of 103 that went up to 103.7. When is it time for a doctor?",
         "From what fever on should a doctor see a toddler? It has been about 103 the whole day.", "versions"),
        ("What may I do about a new tattoo (22 y) that is hot, with a red streak up the leg, see a doctor?",
         "I am 22 and my new tattoo is hot and has a red streak going up my leg. Doctor or not?", "names"),
        ("System Data takes up 180 GB of my disk. How do I make it smaller without losing anything?",
         "How can I bring down what is called System Data? It is at 180, my files are perhaps 30.", "numbers"),
    ],
)  # fmt: skip
def test_different_wording_objects_but_does_not_veto(a: str, b: str, guard: str) -> None:
    """A verifier that reads both may decide otherwise; in a short question, it is a veto."""
    assert reworded(a, b)
    (verdict,) = (verdict for verdict in examine(a, b, 0.9).verdicts if verdict.guard == guard)
    assert not verdict.passed
    assert not verdict.veto


@pytest.mark.parametrize(
    ("a", "b", "guard"),
    [
        ("How long does it take to drive the 200 miles to my mother's in rush hour with two stops?",
         "With two breaks and a lot of traffic, when will I be there if my mother lives 300 miles away?", "numbers"),
        ("We have moved to Lyon with two small dogs and look for a vet who is open late. Any idea?",
         "Which vet in Geneva opens in the evening? We came here with our little dogs not long ago.", "names"),
        ("I have taken 5 mg of it every morning for two weeks and feel dizzy. Should I take less?",
         "Would a smaller dose be better? It makes me dizzy, at 5 g a morning, and has for two weeks.", "numbers"),
        ("Is a deficiency of vitamin D why I am so tired all the time, although I sleep nine hours?",
         "I sleep for nine hours and still I am tired: could it be that I lack vitamin C in my food?", "names"),
        ("My laptop with macOS 13.2 no longer finds the printer in the office. What can I do about it?",
         "What is to be done when a printer at work cannot be found any more since macOS 14.1 is on it?", "versions"),
        ("What is on in the museums of this town tomorrow, when we come with two children and it rains?",
         "We come to town with two children today, and it rains. What is on in the museums here?", "dates"),
    ],
)  # fmt: skip
def test_another_number_name_or_time_is_a_veto_in_any_wording(a: str, b: str, guard: str) -> None:
    """No verifier is asked."""
    assert reworded(a, b)
    assert guard in [verdict.guard for verdict in examine(a, b, 0.95).verdicts if verdict.veto and not verdict.passed]


def test_the_longer_the_story_the_lower_the_requirement() -> None:
    """But never below the least requirement."""
    longer = f"{TOLD} It is the one in the cellar, and the house gets cold, so any advice on what to do is welcome."
    needs = [requirement(compare(read(PLAIN), read(text), NO_WORDS)) for text in (TOLD, longer)]
    assert 0.95 > needs[0] >= needs[1] == pytest.approx(0.86)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("My lip swelled up last night after I had eaten shrimps. Could this be an allergy?",
         "Is it an allergy when a lip swells up after one has eaten shrimps, as it was with me?"),
        ("For three weeks now my knee clicks when I climb stairs. Should I see somebody about it?",
         "Should I have it looked at that my knee has been clicking on the stairs for three weeks?"),
    ],
)  # fmt: skip
def test_times_of_the_askers_story_do_not_count(a: str, b: str) -> None:
    """Times of the story do not count as times of the question, if only one side has them."""
    assert reworded(a, b)
    assert_served(a, b)
