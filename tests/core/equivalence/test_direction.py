"""Direction and roles: from A to B, A better than B, who does it to whom."""

import pytest

from harness.core.equivalence.guards import direction
from tests.core.equivalence.assertions import assert_objects, assert_refused, assert_served, assert_silent

GUARD = direction


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("flights from Paris to London", "flights from London to Paris"),
        ("convert usd to eur", "convert eur to usd"),
        ("usd to eur", "eur to usd"),
        ("convert km to miles", "convert miles to km"),
        ("translate english into spanish", "translate spanish into english"),
        ("migrate from mysql to postgres", "migrate from postgres to mysql"),
        ("json to csv python", "csv to json python"),
        ("copy files from server to laptop", "copy files from laptop to server"),
        ("flights to London", "flights from London"),
        ("can cats get covid from humans", "can humans get covid from cats"),
        ("is python better than java", "is java better than python"),
        ("python better than java", "java better than python"),
        ("is the moon bigger than the sun", "is the sun bigger than the moon"),
        ("why are men taller than women", "why are women taller than men"),
        ("why did Germany invade Poland", "why did Poland invade Germany"),
        ("did Russia attack Ukraine", "did Ukraine attack Russia"),
        ("does stress cause insomnia", "does insomnia cause stress"),
        ("does the sun orbit the earth", "does the earth orbit the sun"),
        ("what do lions eat", "what eats lions"),
        ("are all squares rectangles", "are all rectangles squares"),
    ],
)
def test_the_other_direction_is_another_question(a: str, b: str) -> None:
    """The guard itself rejects it, at any similarity."""
    assert_objects(GUARD, a, b)
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("dog bites man", "man bites dog"),
        ("dogs chase cats", "cats chase dogs"),
        ("english to french translation", "french to english translation"),
        ("binary to decimal", "decimal to binary"),
        ("letter to my landlord", "letter from my landlord"),
        ("lend money to friend", "borrow money from friend"),
        ("multiply matrix by vector", "multiply vector by matrix"),
        ("honey instead of sugar", "sugar instead of honey"),
        ("why use postgres instead of mysql", "why use mysql instead of postgres"),
        ("debt to income", "income to debt"),
        ("Clinton beat Trump", "Trump beat Clinton"),
        ("how does exercise affect sleep", "how does sleep affect exercise"),
        ("can a muslim man marry a christian woman", "can a christian man marry a muslim woman"),
        ("convert 40 f to c", "convert 40 c to f"),
        ("how many miles is 10 km", "how many km is 10 miles"),
        ("how many ounces in a pound", "how many pounds in an ounce"),
        ("divide a by b", "divide b by a"),
        ("how to merge branch a into branch b", "how to merge branch b into branch a"),
        ("how to convert mp3 and wav to flac", "how to convert flac to mp3 and wav"),
        ("how to tell if someone blocked you", "how to tell if you blocked someone"),
        ("include tests exclude docs", "include docs exclude tests"),
    ],
)
def test_a_direction_in_any_form_is_refused(a: str, b: str) -> None:
    """Verbs and units with a from and a to, whichever guard rejects them."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("effect of sleep on mood", "effect of mood on sleep"),
        ("impact of social media on mental health", "impact of mental health on social media"),
        ("replace tabs with spaces", "replace spaces with tabs"),
        ("replace butter with oil", "replace oil with butter"),
        ("substitute honey for sugar", "substitute sugar for honey"),
        ("git merge main into feature", "git merge feature into main"),
        ("parent of child process", "child of parent process"),
        ("friend of my sister", "sister of my friend"),
        ("react over vue reasons", "vue over react reasons"),
    ],
)
def test_prepositions_give_roles(a: str, b: str) -> None:
    """Of, on, with, for, by, into and over: the words before and after one have different roles."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("why did Germany invade Poland and France", "why did Poland invade Germany and France"),
        ("did the dog bite the man or not", "did the man bite the dog or not"),
        ("why is the sky blue and the sun yellow", "why is the sun blue and the sky yellow"),
        ("how to remove ads and keep history", "how to keep ads and remove history"),
        ("should I rent in paris and buy in london", "should I buy in paris and rent in london"),
    ],
)
def test_an_and_elsewhere_excuses_no_change_of_places(a: str, b: str) -> None:
    """Only words joined by "and" or "or" may swap, not others in the query."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("why did germany really want to invade poland in 1939", "why did poland invade germany in 1939"),
        ("does high cholesterol cause diabetes", "does diabetes cause high cholesterol"),
        ("red wine with white fish", "white wine with red fish"),
        ("what is the impact of too much screen time on sleep", "what is the impact of sleep on too much screen time"),
    ],
)
def test_roles_follow_from_order_not_position(a: str, b: str) -> None:
    """An extra word, or a role of two words, shifts the others but hides no change of roles."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("who killed hamilton", "who did hamilton kill"),
        ("who sued microsoft", "who did microsoft sue"),
        ("companies acquired by google", "companies that acquired google"),
        ("companies that bought google", "companies that google bought"),
        ("does she love him", "does he love her"),
        ("can my landlord sue me", "can i sue my landlord"),
    ],
)
def test_who_does_it_to_whom_counts(a: str, b: str) -> None:
    """Subject and object, active and passive, pronouns and names."""
    assert_refused(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("python sort list", "sort list python"),
        ("berlin weather", "weather berlin"),
        ("vegan pancake recipe", "pancake recipe vegan"),
        ("install docker ubuntu", "ubuntu install docker"),
        ("population of france", "france population"),
        ("weather in berlin", "berlin weather"),
        ("error 404 nginx", "nginx error 404"),
        ("cheap hotels rome", "rome cheap hotels"),
        ("climate change effects agriculture", "agriculture climate change effects"),
        ("books about stoicism", "stoicism books"),
        ("sqlite fts5 ranking bm25", "bm25 ranking sqlite fts5"),
        ("difference between tcp and udp", "difference between udp and tcp"),
        ("cats vs dogs", "dogs vs cats"),
    ],
)
def test_keywords_may_change_their_order(a: str, b: str) -> None:
    """In a list of keywords, and among words joined by "and", order means nothing."""
    assert_served(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("flights from paris to london", "flights from paris to rome"),
        ("apps for education", "education apps"),
        ("why did germany invade poland", "why did germany attack poland"),
        ("a", "b"),
    ],
)
def test_words_that_keep_their_roles_are_ignored(a: str, b: str) -> None:
    """Other words in the same roles are left to other guards."""
    assert_silent(GUARD, a, b)
