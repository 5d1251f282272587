"""The whole decision: any two strings, in both orders, in bounded time, with its reasons."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.abbreviations import Meanings
from harness.core.equivalence import GUARDS, LEAST_REQUIRED, SHIPPED, Rule, decide, examine, rule_for
from harness.core.equivalence.reading import MAX_CHARS
from harness.errors import InvalidInput
from harness.models.local.tokenizer import vocabulary
from tests.core.equivalence.assertions import RULE, SAME, TRAP, assert_refused, judge, why

PROPERTY = settings(deadline=None)

WORDS = st.sampled_from(
    """
    the of to from than and or not never without before after over under in on off what who when how many much long
    is was did does can I you me best worst top good python java Paris London Tokyo Kyoto C C++ C# dog cats man bites
    flights convert usd eur include exclude football foot ball footballgame game tutorial tutorail tutorials colour
    color one two 2 3 3.10 3.1 10k 15% $5 5€ 3pm am 2nd th 1990s 2020 may May march june monday today latest ago next
    last year for kids women UK US U.S. site:x.org "new york" -snake please thanks hi e commerce ecommerce ? . ! … ½
    x² İ ß ﬁ 中 😀 😢 -5 != ==
    """.split()
)
QUERIES = st.lists(WORDS, max_size=12).map(" ".join)
TEXTS = st.text(st.characters(), max_size=200)  # every code point, lone surrogates too
ANYTHING = st.one_of(QUERIES, TEXTS, st.tuples(QUERIES, TEXTS).map("".join))
ATM = [("ATM", "automated teller machine"), ("ATM", "asynchronous transfer mode")]
MEANINGS = Meanings([("RAG", "retrieval-augmented generation"), ("API", "application programming interface"), *ATM])


# --- every string


@PROPERTY
@given(a=ANYTHING, b=ANYTHING, similarity=st.floats())
@example(a="\ud800", b="\udfff", similarity=math.nan)
@example(a="", b="\x00", similarity=math.inf)
@example(a="x" * MAX_CHARS, b="x" * (MAX_CHARS + 1), similarity=1.0)
@example(a="\ufdfa" * MAX_CHARS, b="\ufdfa", similarity=1.0)  # one character that NFKC writes as eighteen
def test_any_two_strings_are_decided(a: str, b: str, similarity: float) -> None:
    """Never an exception; a score that fits the outcome; a reason for every veto."""
    decision = judge(a, b, similarity, MEANINGS)
    assert decision.accepted == (decision.score >= RULE.threshold)
    assert 0.0 <= decision.similarity <= 1.0
    assert all(verdict.reason for verdict in decision.objections)
    assert not (decision.accepted and decision.objections)


@PROPERTY
@given(a=ANYTHING, b=ANYTHING)
@example(a="is python better than java", b="is java better than python")
@example(a="flights from Paris to London", b="flights from London to Paris")
@example(a="football game", b="foot ball footballgame")
@example(a="what do lions eat", b="what eats lions")
def test_the_order_of_the_two_never_matters(a: str, b: str) -> None:
    """Outcome, score, requirement and reasons are the same in both orders."""
    assert judge(a, b, TRAP, MEANINGS) == judge(b, a, TRAP, MEANINGS)


@PROPERTY
@given(QUERIES.flatmap(lambda query: st.tuples(st.just(query), st.permutations(query.split()).map(" ".join))))
def test_the_order_of_the_two_never_matters_where_words_change_places(pair: tuple[str, str]) -> None:
    """Nor if both have the same words."""
    a, b = pair
    assert judge(a, b, TRAP, MEANINGS) == judge(b, a, TRAP, MEANINGS)


def test_the_order_of_the_two_never_matters_in_long_texts() -> None:
    """Nor if only the beginning of the word order is compared."""
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}q" for i in range(70)]
    a, b = " ".join(words), " ".join([words[60], *words[:60], *words[61:]])
    assert judge(a, b, TRAP) == judge(b, a, TRAP)


@PROPERTY
@given(text=ANYTHING)
@example(text="\ud800")
@example(text="a" * (MAX_CHARS + 1))
@example(text="ATM fees")
@example(text="not never \x00 -5 ½")
def test_every_string_is_accepted_for_itself(text: str) -> None:
    """At any similarity and under any rule: a question has its own answer."""
    assert decide(text, text, 0.0, rule=Rule(1.0, 0.0, "the strictest"), known=vocabulary(), meanings=MEANINGS).accepted


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("北京天气", " 北京天气 "),
        ("погода в москве", "Погода в Москве"),
        ("Wetter in Köln", "wetter  in köln"),
        ("😀 😀", "😀  😀"),
        ("?!", " ?! "),
        ("123", "123\n"),
        ("", "  "),
    ],
)
def test_what_differs_in_spaces_and_capitals_only_is_the_same(a: str, b: str) -> None:
    """In every language, and without any words."""
    assert judge(a, b, 0.0).accepted


# --- long and hostile texts

TALE = "what should a tourist know about the history of ancient rome and greece before going there "
END = [("paris", "london"), ("in 2019", "in 2020"), ("with dogs", "without dogs"), ("dog bites man", "man bites dog")]


@pytest.mark.parametrize(("a", "b"), END)
@pytest.mark.parametrize("times", [20, 40, 100])
def test_the_end_of_a_long_text_counts(a: str, b: str, times: int) -> None:
    """A part that is not read may differ, even if an embedding, which reads less, sees no difference."""
    assert_refused(TALE * times + a, TALE * times + b)


def test_texts_too_long_to_read_are_served_only_for_themselves() -> None:
    """Beyond the limit only identical texts are equal."""
    text = "a" * (MAX_CHARS + 1)
    assert judge(text, text, 0.0).accepted
    assert not judge(text, text + "a", 1.0).accepted


HOSTILE = {
    "spaces": " " * MAX_CHARS,
    "letters": "a" * MAX_CHARS,
    "digits": "1" * MAX_CHARS,
    "points": "." * MAX_CHARS,
    "marks": "!?" * (MAX_CHARS // 2),
    "quotes": '"' * MAX_CHARS,
    "opened-quotes": "“ab" * (MAX_CHARS // 3),
    "apostrophes": "a'" * (MAX_CHARS // 2),
    "hyphens": "a-" * (MAX_CHARS // 2),
    "please": "please " * (MAX_CHARS // 7),
    "can-you": "can you " * (MAX_CHARS // 8),
    "thanks": "thank you very much " * (MAX_CHARS // 20),
    "wondering": "i am just wondering " * (MAX_CHARS // 20),
    "what-is": "what is the best way to " * (MAX_CHARS // 24),
    "which-is": "which is" + " " * (MAX_CHARS - 8),
    "numbers": "1 " * (MAX_CHARS // 2),
    "versions": "1." * (MAX_CHARS // 2),
    "thousands": "1,000," * (MAX_CHARS // 6),
    "number-words": "one hundred " * (MAX_CHARS // 12),
    "millions": "1 million " * (MAX_CHARS // 10),
    "operators": "site:" * (MAX_CHARS // 5),
    "countries": "U.S." * (MAX_CHARS // 4),
    "initials": "a." * (MAX_CHARS // 2 - 1) + "ab",
    "dotted": "ab." * (MAX_CHARS // 3),
    "ligatures": "\ufdfa" * MAX_CHARS,
    "combining": "a" + "\u0301" * (MAX_CHARS - 1),
    "surrogates": "\ud800" * MAX_CHARS,
    "emojis": "😀" * MAX_CHARS,
    "ideographs": "中 " * (MAX_CHARS // 2),
    "words": " ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}x{i // 676}" for i in range(1_400)),
    "names": " ".join(f"W{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}x" for i in range(1_900)),
    "opposites": "include exclude best worst " * (MAX_CHARS // 27),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("other", ["backwards", "shifted"])
def test_hostile_texts_are_decided(text: str, other: str) -> None:
    """No pattern and no comparison explodes at the limit; benchmarks measure the time."""
    text = text[:MAX_CHARS]
    against = text[::-1] if other == "backwards" else text[1:] + "z"
    decision = judge(text, against, TRAP)
    assert decision.accepted == (decision.score >= RULE.threshold)


# --- the decision's parts


def test_every_guard_gives_its_verdict() -> None:
    """All reasons are returned, not only the first."""
    decision = judge("convert 10 usd to eur", "do not convert 20 eur to usd", TRAP)
    assert [verdict.guard for verdict in decision.verdicts] == list(GUARDS)
    assert {"numbers", "negation"} <= {verdict.guard for verdict in decision.objections}
    assert decision.score == -math.inf
    assert not decision.accepted


def test_a_veto_holds_at_any_similarity_and_under_any_rule() -> None:
    """No threshold allows a wrong answer."""
    assert not decide("python 3.1", "python 3.10", 1.0, rule=Rule(-9.0, 1.0, "the laxest")).accepted


def test_the_score_is_the_similarity_beyond_the_required_one() -> None:
    """Without a veto the two add up; a score of exactly the threshold is accepted."""
    required = judge("dog breeds list", "list of dog breeds", 1.0).required
    decision = judge("dog breeds list", "list of dog breeds", required)
    assert decision.score == 0.0
    assert decision.accepted
    assert not judge("dog breeds list", "list of dog breeds", required - 0.001).accepted


@pytest.mark.parametrize(("similarity", "taken"), [(-1.0, 0.0), (2.0, 1.0), (math.inf, 1.0), (math.nan, 0.0)])
def test_a_similarity_out_of_range_is_clipped(similarity: float, taken: float) -> None:
    """An invalid similarity counts for nothing."""
    assert judge("dog breeds list", "list of dog breeds", similarity).similarity == taken


@PROPERTY
@given(a=QUERIES, b=QUERIES)
def test_no_two_different_questions_need_less_than_the_least(a: str, b: str) -> None:
    """Below `LEAST_REQUIRED` only the same text is served; the cache need not search there."""
    decision = judge(a, b, TRAP)
    assert decision.required >= LEAST_REQUIRED or " ".join(a.lower().split()) == " ".join(b.lower().split())


def test_a_stricter_rule_accepts_no_more() -> None:
    """A smaller share of wrong answers has a higher threshold; a share below all is an error."""
    assert rule_for(0.005).threshold > rule_for(0.01).threshold > rule_for(0.05).threshold
    assert rule_for(0.007) == rule_for(0.005)
    assert rule_for(0.01) == SHIPPED
    with pytest.raises(InvalidInput, match="max_wrong"):
        rule_for(0.0001)


# --- abbreviations


def test_an_abbreviation_and_its_meaning_are_the_same() -> None:
    """Known abbreviations are expanded on both sides."""
    decision = judge("RAG evaluation", "retrieval-augmented generation evaluation", SAME, MEANINGS)
    assert decision.accepted, why(decision)
    assert not judge("RAG evaluation", "retrieval-augmented generation evaluation", SAME).accepted


def test_another_abbreviation_is_another_name() -> None:
    """Known or not, an abbreviation on one side has no counterpart."""
    assert not judge("RAG evaluation", "API evaluation", TRAP, MEANINGS).accepted
    assert not judge("the RAG evaluation", "the LLM evaluation", TRAP, MEANINGS).accepted


def test_an_ambiguous_abbreviation_is_served_only_for_itself() -> None:
    """If two meanings fit, none is guessed."""
    decision = judge("ATM fees", "fees of an ATM", TRAP, MEANINGS)
    assert [verdict.guard for verdict in decision.objections] == ["abbreviations"]
    assert judge("ATM fees", "atm  fees", 0.0, MEANINGS).accepted


def test_an_abbreviation_the_query_decides_is_not_ambiguous() -> None:
    """A word of one meaning next to it decides."""
    decision = judge("ATM machine fees", "automated teller machine fees", SAME, MEANINGS)
    assert "abbreviations" not in {verdict.guard for verdict in decision.objections}


# --- what the verifier reads


@pytest.mark.parametrize(
    ("a", "b", "read"),
    [
        ("hypertension treatment", "High blood pressure treatment", {"hypertension treatment"}),
        ("deduplicate rows", "remove duplicate rows", {"deduplicate rows"}),
        ("high blood pressure treatment", "treatment of high blood pressure", None),
        ("latest news about rome", "history of rome", None),
        ("how to install pyhton", "how to install python", {"how to install python"}),
    ],
)
def test_the_verifier_reads_one_word_for_one_thing(a: str, b: str, read: set[str] | None) -> None:
    """Typing errors and phrases become the other side's word; nothing changes where the other side has none."""
    examined = examine(a, b, 0.9, known=vocabulary())
    assert {text.lower() for text in (examined.a, examined.b)} == (read or {a, b})
