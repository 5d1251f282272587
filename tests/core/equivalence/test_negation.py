"""Negation and polarity: not, without, un-, include and exclude, best and worst, on and off."""

import pytest

from harness.core.equivalence.guards import negation
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = negation


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("can dogs eat grapes", "can't dogs eat grapes"),
        ("why can I sleep", "why can't I sleep"),
        ("i can breathe", "i cannot breathe"),
        ("foods you should eat", "foods you should not eat"),
        ("foods you should eat", "foods you should never eat"),
        ("people who don't vote", "people who vote"),
        ("vaccines don't cause autism", "vaccines cause autism"),
        ("reasons not to buy a tesla", "reasons to buy a tesla"),
        ("should I buy it or not", "should I not buy it"),
        ("coffee with sugar", "coffee without sugar"),
        ("vegan recipes without nuts", "vegan recipes with nuts"),
        ("vegan recipes without nuts", "vegan recipes"),
        ("no sugar diet", "sugar diet"),
        ("dont look up", "look up"),
        ("cant install numpy", "can install numpy"),
        ("is there life on mars", "is there no life on mars"),
        ("vegetarian restaurants", "non-vegetarian restaurants"),
        ("non fiction books", "fiction books"),
        ("nobody knows", "everybody knows"),
        ("hardly any evidence", "evidence"),
    ],
)
def test_a_negation_on_one_side_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("is weed legal in texas", "is weed illegal in texas"),
        ("regular verbs", "irregular verbs"),
        ("nonfiction books", "fiction books"),
        ("unpaid internships", "paid internships"),
        ("how to follow someone", "how to unfollow someone"),
        ("unsubscribe newsletter", "subscribe newsletter"),
        ("symmetric encryption", "asymmetric encryption"),
        ("agree with the treaty", "disagree with the treaty"),
        ("advantages of solar", "disadvantages of solar"),
        ("deserialize json", "serialize json"),
        ("clockwise rotation", "counterclockwise rotation"),
    ],
)
def test_a_negating_prefix_negates(a: str, b: str) -> None:
    """Un-, in-, il-, ir-, im-, dis-, non-, de-, a- and counter-."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("include files in git", "exclude files in git"),
        ("what to do before surgery", "what to do after surgery"),
        ("over 18 games", "under 18 games"),
        ("hot water benefits", "cold water benefits"),
        ("import csv", "export csv"),
        ("enable dark mode", "disable dark mode"),
        ("unlock screen", "lock screen"),
        ("how to gain weight", "how to lose weight"),
        ("increase blood pressure", "lower blood pressure"),
        ("high blood pressure", "low blood pressure"),
        ("buy a house", "sell a house"),
        ("why do people love cats", "why do people hate cats"),
        ("is python faster than java", "is python slower than java"),
        ("largest city", "smallest city"),
        ("encrypt file", "decrypt file"),
        ("left join", "right join"),
        ("indoor plants", "outdoor plants"),
        ("show hidden files", "hide hidden files"),
        ("public schools", "private schools"),
    ],
)
def test_opposites_are_different_questions(a: str, b: str) -> None:
    """A word and its opposite, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("best phones", "worst phones"),
        ("start a service linux", "stop a service linux"),
        ("possible outcomes", "impossible outcomes"),
        ("majority rule", "minority rule"),
        ("stocks going up", "stocks going down"),
        (
            "what is the most effective diet for a runner who trains five days a week and lives in a cold city",
            "what is the least effective diet for a runner who trains five days a week and lives in a cold city",
        ),
        (
            "is it possible to grow tomato plants indoors during winter without expensive grow lights or heaters",
            "is it impossible to grow tomato plants indoors during winter without expensive grow lights or heaters",
        ),
        (
            "what is the easiest way to remove old wallpaper from plaster walls without damaging the paint",
            "what is the hardest way to remove old wallpaper from plaster walls without damaging the paint",
        ),
        (
            "how can i start taking blood pressure medication safely while breastfeeding my newborn baby",
            "how can i stop taking blood pressure medication safely while breastfeeding my newborn baby",
        ),
        (
            "should i use more salt in the dough when i bake bread with whole wheat flour at home",
            "should i use less salt in the dough when i bake bread with whole wheat flour at home",
        ),
    ],
)
def test_a_general_word_still_has_an_opposite(a: str, b: str) -> None:
    """Best, start, possible, more and up may be omitted, but not replaced by worst, stop, impossible, less, down."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("turn on wifi", "turn off wifi"),
        ("turn on location services iphone", "turn off location services iphone"),
        ("how to turn location services on", "how to turn location services off"),
        ("log in to gmail", "log out of gmail"),
        ("login page", "logout page"),
        ("sign in to gmail", "sign out of gmail"),
        ("hotel check in time", "hotel check out time"),
        ("how to opt in to marketing emails", "how to opt out of marketing emails"),
        ("zoom in", "zoom out"),
        ("how to get a cat into a carrier", "how to get a cat out of a carrier"),
        ("few people vote", "many people vote"),
        ("exits above sea level", "exits below sea level"),
        ("train tickets into london", "train tickets out of london"),
        ("arguments for gun control", "arguments against gun control"),
    ],
)
def test_function_words_have_opposites_too(a: str, b: str) -> None:
    """On and off, in and out, few and many, above and below have no content but reverse the question."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("cheap phones", "expensive phones"),
        ("pros of remote work", "cons of remote work"),
        ("harmful bacteria", "harmless bacteria"),
        ("careful drivers", "careless drivers"),
        ("wireless headphones", "wired headphones"),
        ("maximize profit", "minimize profit"),
        ("pre-war buildings", "post-war buildings"),
        ("prewar germany", "postwar germany"),
        ("hyperthyroidism treatment", "hypothyroidism treatment"),
        ("what are the symptoms of hyperglycemia in adults", "what are the symptoms of hypoglycemia in adults"),
        ("inpatient care", "outpatient care"),
        ("is intrastate travel allowed in california", "is interstate travel allowed in california"),
        ("inner join", "outer join"),
        ("immigration to canada", "emigration to canada"),
        ("sugar free cookies", "sugar cookies"),
        ("everything except meat", "everything meat"),
        ("unable to install numpy", "able to install numpy"),
    ],
)
def test_parts_of_words_have_polarity(a: str, b: str) -> None:
    """-ful and -less, pre- and post-, hyper- and hypo-, in- and out-, -free."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("foods with sugar but without salt", "foods with salt but without sugar"),
        ("recipes without eggs but with milk", "recipes without milk but with eggs"),
        ("can I eat meat but not fish", "can I eat fish but not meat"),
        ("phones with headphone jack and no notch", "phones with notch and no headphone jack"),
        ("is it bad that I don't like dogs but like cats", "is it bad that I like dogs but don't like cats"),
        ("why do cats not like water but dogs do", "why do cats like water but dogs do not"),
    ],
)
def test_negations_must_negate_the_same_words(a: str, b: str) -> None:
    """The same number of negations is not enough: they must negate the same words."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("high protein low carb meals", "low protein high carb meals"),
        ("cold weather hot drink", "hot weather cold drink"),
        ("symptoms of low iron and high calcium", "symptoms of high iron and low calcium"),
        (
            "what does it mean if my tsh is high and my t4 is low",
            "what does it mean if my tsh is low and my t4 is high",
        ),
        ("is it better to buy stocks and sell bonds", "is it better to sell stocks and buy bonds"),
        ("rh negative mother rh positive baby", "rh positive mother rh negative baby"),
    ],
)
def test_two_opposites_that_change_places_are_another_question(a: str, b: str) -> None:
    """High iron and low calcium is not low iron and high calcium."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("why can't penguins fly", "why cannot penguins fly"),
        ("why cant penguins fly", "why can't penguins fly"),
        ("why don't cats swim", "why do not cats swim"),
        ("why isn't pluto a planet", "why is pluto not a planet"),
        ("why won't my car start", "why will my car not start"),
        ("is coffee healthy or not", "is coffee healthy"),
        ("coffee w/o sugar", "coffee without sugar"),
        ("non-vegetarian restaurants", "non vegetarian restaurants"),
    ],
)
def test_another_form_of_a_negation_is_the_same_negation(a: str, b: str) -> None:
    """Contracted, written out or short; and "or not" negates nothing."""
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("inside the sun", "the sun inside"),
        ("union of sets", "set unions"),
        ("best phones", "top phones"),
        ("import csv", "import json"),
    ],
)
def test_words_that_negate_nothing_are_ignored(a: str, b: str) -> None:
    """Words that only begin like a negation, and words that are not opposites."""
    assert_silent(GUARD, a, b)
