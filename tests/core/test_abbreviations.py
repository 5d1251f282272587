"""Abbreviations and meanings: found in a text, learned, expanded in a query."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.abbreviations import MAX_CANDIDATES, MAX_LONG, MAX_PAIRS, Meanings, find_abbreviations
from harness.core.keys import MAX_QUERY_CHARS

PROPERTY = settings(deadline=None)

PIECES = [
    "RAG",
    "LLMs",
    "retrieval",
    "-augmented",
    " generation",
    "(RAG)",
    " stands for ",
    " short for ",
    "the ",
    "of ",
]
SIGNS = ["\u0301", "\ud800", "\x00", "\u200b", *"ABab (),.-/&'\néßİﬁ中（）🦄19"]
HOSTILE = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES + SIGNS), max_size=60).map("".join))
ATM = [("ATM", "automated teller machine"), ("ATM", "asynchronous transfer mode")]
TAUGHT = [
    ("RAG", "retrieval-augmented generation"),
    ("LLM", "large language model"),
    ("API", "application programming interface"),
    ("TCP", "transmission control protocol"),
    ("AI", "artificial intelligence"),
    ("GA", "genetic algorithm"),
    ("IT", "information technology"),
    ("WHO", "world health organization"),
    ("US", "united states"),
    ("GDP", "gross domestic product"),
    ("BAT", "brown adipose tissue"),
    ("H2", "molecular hydrogen"),
    ("mRNA", "messenger rna"),
    *ATM,
]
KNOWN = Meanings(TAUGHT)


# --- find_abbreviations


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Retrieval-augmented generation (RAG) combines both.", ("RAG", "retrieval-augmented generation")),
        ("an application programming interface (API)", ("API", "application programming interface")),
        ("the heat shock protein 70 (HSP70)", ("HSP70", "heat shock protein 70")),
        ("translated from messenger RNA (mRNA)", ("mRNA", "messenger rna")),
        ("deoxyribonucleic acid (DNA)", ("DNA", "deoxyribonucleic acid")),
        ("generative pre-trained transformer (GPT)", ("GPT", "generative pre-trained transformer")),
        ("low-rank adaptation (LoRA)", ("LoRA", "low-rank adaptation")),
        ("a better user experience (UX)", ("UX", "user experience")),
        ("research & development (R&D)", ("R&D", "research & development")),
        ("cyclooxygenase 2 (COX-2)", ("COX-2", "cyclooxygenase 2")),
        ("the Internet of Things (IoT)", ("IoT", "internet of things")),
        ("to be determined (TBD)", ("TBD", "to be determined")),
        ("the U.S. Food and Drug Administration (FDA)", ("FDA", "food and drug administration")),
        ("the American Automobile Association (AAA)", ("AAA", "american automobile association")),
        ("environmental, social, and governance (ESG)", ("ESG", "environmental social and governance")),
        ("the logarithm of the density function (log-DF)", ("log-DF", "logarithm of the density function")),
    ],
)
def test_a_long_form_before_its_short_form_is_found(text: str, pair: tuple[str, str]) -> None:
    """`long form (SHORT)`: by initials, or by letters that every word of the long form contributes."""
    assert find_abbreviations(text) == [pair]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("RAG (retrieval-augmented generation)", ("RAG", "retrieval-augmented generation")),
        ("RAG (i.e., retrieval-augmented generation)", ("RAG", "retrieval-augmented generation")),
        ("RAG (short for retrieval-augmented generation)", ("RAG", "retrieval-augmented generation")),
        ("TB (tuberculosis)", ("TB", "tuberculosis")),
        ("the WHO (World Health Organization, Geneva)", ("WHO", "world health organization")),
        ("ESG (environmental, social, and governance)", ("ESG", "environmental social and governance")),
        ("APIs (application programming interfaces)", ("API", "application programming interface")),
    ],
)
def test_a_long_form_after_its_short_form_is_found(text: str, pair: tuple[str, str]) -> None:
    """`SHORT (long form)`, with or without introductory words."""
    assert find_abbreviations(text) == [pair]


@pytest.mark.parametrize(
    "text",
    [
        "RAG stands for retrieval-augmented generation and is used widely.",
        "RAG is short for Retrieval-Augmented Generation.",
        "RAG, an acronym for “retrieval-augmented generation”, helps.",
        "Ground the model in texts (retrieval-augmented generation, RAG).",
        "检索增强生成（Retrieval-Augmented Generation, RAG）是一种技术",
        "**Retrieval-augmented generation** (**RAG**)",
        'so-called "retrieval-augmented generation" ("RAG")',
        "retrieval\u2011augmented generation (RAG; Lewis et al., 2020)",
        "retrieval-augmented\n   generation (RAG)",
    ],
)
def test_other_forms_of_definition_are_read(text: str) -> None:
    """Spelled out, quoted, emphasised, cited, wrapped, in other brackets: the same definition."""
    assert find_abbreviations(text) == [("RAG", "retrieval-augmented generation")]


def test_function_words_need_not_be_spelled() -> None:
    """A long form may contain words that contribute no letter."""
    text = "FDA stands for the Food and Drug Administration of the United States"
    assert find_abbreviations(text) == [("FDA", "food and drug administration")]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("large language models (LLMs)", ("LLM", "large language model")),
        ("data access policies (DAPs)", ("DAP", "data access policy")),
        ("new television series (NTSs)", ("NTS", "new television series")),
        ("electronic mail boxes (EMBs)", ("EMB", "electronic mail box")),
        ("ground control switches (GCSs)", ("GCS", "ground control switch")),
        ("abstract base classes (ABCs)", ("ABC", "abstract base class")),
        ("random forest ashes (RFAs)", ("RFA", "random forest ash")),
        ("rare tree species (RTSs)", ("RTS", "rare tree species")),
        ("tall green grass (TGGs)", ("TGG", "tall green grass")),
        ("quick data analysis (QDAs)", ("QDA", "quick data analysis")),
        ("soft carbon nucleus (SCNs)", ("SCN", "soft carbon nucleus")),
    ],
)
def test_plurals_are_given_in_the_singular(text: str, pair: tuple[str, str]) -> None:
    """`LLMs` defines `LLM`; endings that only look like a plural stay."""
    assert find_abbreviations(text) == [pair]


@pytest.mark.parametrize(
    "text",
    [
        "first (a), second (2), then (b)",
        "as shown before (1999)",
        "a review (see Figure 2) of it",
        "in most cases (i.e. nearly all of them)",
        "independent variable (IV)",
        "intensive interaction (II)",
        "the RAG application generator (RAG)",
        "we met in the capital of France (Paris)",
        "methionine (Met)",
        "retrieval augmented generator systems (RAG)",
        "some text about nothing (RAG)",
        "RAG (Lewis et al., 2020)",
        "retrieval. Augmented generation (RAG)",
        "retrieval\n\naugmented generation (RAG)",
        "extensible markup language (XML)",
        "the heat shock protein (Hsp)",
        "store it in the my_value (MV)",
        "chain = RAG(retriever, augmenter, generator)",
        "the strength of (ST)",
        "so non-small (SM)",
        "in the matlab (IM)",
        "ARM (arm64)",
        "a b (A-B)",
        "the matrix of a (TMOAVL)",
        "RAG stands for something else altogether",
        "(RAG)",
        "()",
        "",
    ],
)
def test_texts_without_definitions_give_no_pairs(text: str) -> None:
    """List markers, years, references, names, code, and parentheses whose letters do not fit."""
    assert find_abbreviations(text) == []


@pytest.mark.parametrize(
    ("short", "found"), [("A", False), ("AB", True), ("ABCDEFGHIJ", True), ("ABCDEFGHIJK", False), ("ab", False)]
)
def test_a_short_form_has_two_to_ten_characters_and_a_capital(short: str, found: bool) -> None:
    """The bounds of Schwartz and Hearst."""
    long = " ".join(f"{letter.lower()}word" for letter in short)
    assert find_abbreviations(f"{long} ({short})") == ([(short, long)] if found else [])


def test_a_long_form_has_at_most_twice_the_words_of_a_short_one() -> None:
    """Two letters, four words: function words between them count."""
    assert find_abbreviations("house of the lords (HL)") == [("HL", "house of the lords")]
    assert find_abbreviations("house of all of the lords (HL)") == []


def test_a_long_form_is_bounded_in_characters() -> None:
    """A long text before a parenthesis is cut at the limit."""
    long = "a" * (MAX_LONG // 2) + " " + "b" * (MAX_LONG // 2 - 2)
    assert find_abbreviations(f"{long} (AB)") == [("AB", long)]
    assert find_abbreviations(f"a{long}bb (AB)") == []


def test_the_nearest_long_form_is_taken() -> None:
    """Earlier words with the same initial do not belong to it."""
    text = "all automated tests use an automated teller machine (ATM)"
    assert find_abbreviations(text) == [("ATM", "automated teller machine")]


def test_pairs_come_once_and_in_order() -> None:
    """A definition repeated in one text is one; two meanings of one short form are two."""
    text = "A heat pump (HP), a large language model (LLM), a heat pump (HP), a high pressure (HP)."
    assert find_abbreviations(text) == [("HP", "heat pump"), ("LLM", "large language model"), ("HP", "high pressure")]


def test_a_text_gives_a_bounded_number_of_pairs() -> None:
    """A glossary is limited to `MAX_PAIRS`."""
    pairs = itertools.product("ABCDEFGH", "ABCDEFGH")
    text = ". ".join(f"{a.lower()}x {b.lower()}y ({a}{b})" for a, b in pairs)
    assert len(find_abbreviations(text)) == MAX_PAIRS


@PROPERTY
@given(HOSTILE)
@example("İx Y (İY)")
@example("a b (AB" * 50)
def test_any_text_is_accepted_and_every_bound_holds(text: str) -> None:
    """Any Unicode text works; results are short forms with longer, casefolded long forms."""
    pairs = find_abbreviations(text)
    assert len(pairs) == len(set(pairs)) <= MAX_PAIRS
    for short, long in pairs:
        assert 2 <= len(short) <= 10
        assert any(char.isupper() for char in short)
        assert len(short) < len(long) <= MAX_LONG
        assert long == long.casefold()
        assert long[0] == short.casefold()[0]
        assert short.casefold() not in long.split()
        assert len(long.split()) <= min(len(short) + 5, 2 * len(short))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *["(", ")", "\n \n", "\n", " ", "a,", "a-", "(AB", "or is that ", "İ (İİ) "],
        *["a b c (XY) ", "a a a a a a a a (AAAAAAAAAB) ", "as is to of (ASASASASAX) "],
        *["AB short for a a a ", "X (the the the the) ", "A (a, b, c, d, e, f, AB) "],
    ],
)
def test_a_megabyte_of_traps_is_read_to_the_end(piece: str) -> None:
    """Time is linear in the length of the text; quadratic time would never finish."""
    assert len(find_abbreviations(piece * (1_000_000 // len(piece)))) <= 1


# --- Meanings: recognition


def test_the_most_frequent_meaning_comes_first() -> None:
    """A meaning with more definitions weighs more."""
    meanings = Meanings([ATM[0], ATM[1], ATM[1]])
    assert meanings.of("ATM") == ("asynchronous transfer mode", "automated teller machine")


def test_meanings_with_the_same_stems_are_one() -> None:
    """Hyphens and plurals do not make another meaning; the most frequent spelling is used."""
    spellings = [
        "retrieval augmented generation",
        *["retrieval-augmented generation"] * 2,
        "retrieval augmented generations",
    ]
    assert Meanings(("RAG", spelling) for spelling in spellings).of("RAG") == ("retrieval-augmented generation",)


@pytest.mark.parametrize("form", ["RAG", "rag", "Rag", "RAGs", "rags"])
def test_a_short_form_is_known_in_any_case_and_in_the_plural(form: str) -> None:
    """Another meaning is unlikely for three letters or more."""
    assert KNOWN.of(form) == ("retrieval-augmented generation",)


@pytest.mark.parametrize(
    ("form", "known"),
    [
        ("AI", True),
        ("ai", True),  # two letters, and no word
        ("AIs", True),
        ("ais", False),
        ("gas", False),  # not the plural of GA
        ("it", False),
        ("It", False),
        ("IT", True),
        ("ITs", True),
        ("its", False),
        ("who", False),
        ("WHO", True),
        ("bats", False),
        ("BATs", True),
        ("H2", True),  # one letter: as written only
        ("h2", False),
        ("MRNA", True),
        ("RAGS", False),
        ("unheard", False),
        ("", False),
    ],
)
def test_words_that_may_mean_something_else_are_known_in_capitals_only(form: str, known: bool) -> None:
    """Function words and everyday words are short forms only in capitals."""
    assert bool(KNOWN.of(form)) == known


def test_the_case_as_written_goes_before_any_other() -> None:
    """Mb and MB are two short forms; mb may be either."""
    meanings = Meanings([("Mb", "megabit"), ("MB", "megabyte"), ("MB", "megabyte")])
    assert meanings.of("Mb") == ("megabit",)
    assert meanings.of("MB") == ("megabyte",)
    assert meanings.of("mb") == ("megabyte", "megabit")


def test_a_double_s_is_no_plural() -> None:
    """`glass` is not a plural."""
    assert Meanings([("GLAS", "geoscience laser altimeter system")]).of("glass") == ()


def test_an_everyday_word_with_one_capital_is_no_short_form() -> None:
    """It may begin a sentence."""
    assert Meanings([("Go", "game of territory")]).expand("Go home") == "Go home"


def test_without_pairs_nothing_is_known() -> None:
    """Without meanings, queries are unchanged."""
    assert Meanings().expand("RAG tips") == "RAG tips"
    assert Meanings([("AB", ""), ("AB", " … ")]).of("AB") == ()


@PROPERTY
@given(
    taught=st.lists(st.tuples(st.sampled_from(["AB", "Ab", "ABs", "CD"]), st.sampled_from(["x y", "x-y", "y z", "z"]))),
    data=st.data(),
)
def test_the_order_of_pairs_does_not_matter(taught: list[tuple[str, str]], data: st.DataObject) -> None:
    """Rows may come from the database in any order."""
    shuffled = data.draw(st.permutations(taught))
    for form in ("AB", "Ab", "ab", "CD"):
        assert Meanings(taught).of(form) == Meanings(shuffled).of(form)


# --- Meanings: expansion


@pytest.mark.parametrize(
    ("query", "expanded"),
    [
        ("RAG best practices", "retrieval-augmented generation best practices"),
        ("rag best practices?", "retrieval-augmented generation best practices?"),
        ("LLMs vs APIs", "large language model vs application programming interface"),
        ("RAG-based search", "retrieval-augmented generation-based search"),
        ("what are RAG's limits", "what are retrieval-augmented generation's limits"),
        ("«RAG»", "«retrieval-augmented generation»"),
        ("mrna vaccines", "messenger rna vaccines"),
        ("WHO guidelines on AI", "world health organization guidelines on artificial intelligence"),
    ],
)
def test_short_forms_are_replaced_by_their_meaning(query: str, expanded: str) -> None:
    """The rest of the query is unchanged."""
    assert KNOWN.expand(query) == expanded


@pytest.mark.parametrize(
    "query",
    [
        "fragile ragtime storage",
        "example.org/API reference",
        "mail rag@example.org",
        "docs.API.rag",
        "what do .API, #RAG and @LLM mean",
        "snake_case_API",
        "who makes it for us",
        "HOW DO I USE IT",
        "coronavirus bats",
        "",
        "  ",
    ],
)
def test_parts_of_words_and_ordinary_words_are_unchanged(query: str) -> None:
    """Parts of words, names and URLs, everyday words, and function words in a query all in capitals."""
    assert KNOWN.expand(query) == query


def test_a_query_of_short_forms_alone_does_not_shout() -> None:
    """All in capitals, but only because every word of it is a short form."""
    assert KNOWN.expand("US GDP 2024") == "united states gross domestic product 2024"
    assert KNOWN.expand("IT") == "information technology"


@pytest.mark.parametrize(
    ("query", "expanded"),
    [
        ("retrieval-augmented generation (RAG) tips", "retrieval-augmented generation tips"),
        ("retrieval augmented generation RAG tips", "retrieval augmented generation tips"),
        ("RAG (retrieval augmented generation) tips", "retrieval augmented generation tips"),
        ("RAG: retrieval-augmented generation tips", "retrieval-augmented generation tips"),
        ("large language models (LLMs) at work", "large language models at work"),
        ("RAG (retrieval augmented generation, 2020)", "RAG (retrieval augmented generation, 2020)"),
    ],
)
def test_a_meaning_next_to_its_short_form_is_not_repeated(query: str, expanded: str) -> None:
    """A short form next to its meaning is dropped."""
    assert KNOWN.expand(query) == expanded


def test_short_forms_that_define_each_other_are_dropped_once() -> None:
    """No character of the query is used twice."""
    assert Meanings([("AB", "cd x"), ("CD", "y ab")]).expand("y AB CD x") == "y CD x"


def test_definitions_in_the_query_take_precedence() -> None:
    """Definitions in the query take precedence."""
    query = "red amber green (RAG) status: RAG colours"
    assert KNOWN.expand(query) == "red amber green status: red amber green colours"
    assert Meanings().expand("automated teller machine (ATM) fees") == "automated teller machine fees"


def test_the_rest_of_the_query_decides_between_meanings() -> None:
    """The meaning that shares words with the query is used."""
    assert KNOWN.expand("ATM network transfer cells") == "asynchronous transfer mode network transfer cells"
    assert KNOWN.expand("ATM machines nearby") == "automated teller machine machines nearby"
    assert KNOWN.ambiguous_in("ATM network transfer cells") == ()


@pytest.mark.parametrize("query", ["ATM fees", "ATM", "transfer cash by machine at an ATM"])
def test_an_undecided_short_form_stays(query: str) -> None:
    """No shared words, or a tie: no meaning is guessed, however frequent."""
    meanings = Meanings([*ATM, *[ATM[0]] * 50])
    assert meanings.expand(query) == query
    assert meanings.ambiguous_in(query) == ("ATM",)


def test_ambiguous_short_forms_come_once_as_the_query_writes_them() -> None:
    """They are for a message about ambiguity."""
    assert KNOWN.ambiguous_in("rag or atm, ATMs or atm?") == ("atm", "ATMs")


def test_a_query_that_would_grow_too_long_is_not_expanded() -> None:
    """An expanded query is still a valid key."""
    query = "LLM " * (MAX_QUERY_CHARS // 5)
    assert KNOWN.expand(query) == query
    assert len(KNOWN.expand("LLM " * 100)) > 400


@PROPERTY
@given(query=HOSTILE, taught=st.lists(st.tuples(HOSTILE, HOSTILE), max_size=5))
@example(query="RAG RAG (retrieval-augmented generation) RAG", taught=[("RAG", "retrieval-augmented generation")])
def test_any_query_and_any_pairs_are_accepted(query: str, taught: list[tuple[str, str]]) -> None:
    """Nothing raises, and expanded queries stay within the limit."""
    for meanings in (KNOWN, Meanings(taught)):
        assert len(meanings.expand(query)) <= max(len(query), MAX_QUERY_CHARS)
        assert len(meanings.ambiguous_in(query)) <= len(query)


@PROPERTY
@given(st.lists(st.sampled_from(["tips", "on", "the", "best", "search", "2024", "?", "-", "café"])))
def test_a_query_without_short_forms_is_unchanged(words: list[str]) -> None:
    """Not even white space changes."""
    query = "  ".join(words)
    assert KNOWN.expand(query) == query


# --- shorts_in


def test_candidates_are_casefolded_words_and_their_parts() -> None:
    """Candidates for the database lookup: also singulars and parts of hyphenated words, each once, in order."""
    assert Meanings.shorts_in("Are LLMs RAG-based, or rag?") == ("llms", "llm", "rag-based", "rag", "based")


def test_everyday_words_are_candidates_in_capitals_only() -> None:
    """`the` is never looked up; `WHO` may be."""
    assert Meanings.shorts_in("who is the WHO") == ("who",)
    assert Meanings.shorts_in("who is it for") == ()


@pytest.mark.parametrize("query", ["a", "7 42 1999", "internationalisation", "x.org/API", "snake_case", "", "—"])
def test_impossible_short_forms_are_not_candidates(query: str) -> None:
    """Too short, too long, without a letter, a URL, a name in code."""
    assert Meanings.shorts_in(query) == ()


def test_candidates_are_bounded() -> None:
    """A pasted document has no more candidates than a query."""
    assert len(Meanings.shorts_in(" ".join(f"word{i}" for i in range(1_000)))) == MAX_CANDIDATES


@PROPERTY
@given(HOSTILE)
def test_every_candidate_keeps_the_bounds(query: str) -> None:
    """For any query, candidates are short, casefolded and unique."""
    found = Meanings.shorts_in(query)
    assert len(found) == len(set(found)) <= MAX_CANDIDATES
    assert all(short == short.casefold() and any(char.isalpha() for char in short) for short in found)


@PROPERTY
@given(
    st.lists(st.sampled_from(["RAG", "LLMs", "api", "TCP/IP", "AI-based", "who", "WHO", "ATMs", "fees"]), max_size=8)
)
def test_expanded_short_forms_are_among_the_candidates(query_words: list[str]) -> None:
    """The database rows for the candidates are all that expansion needs."""
    query = " ".join(query_words)
    asked = Meanings.shorts_in(query)
    answered = Meanings((short, long) for short, long in TAUGHT if short.casefold() in asked)
    assert answered.expand(query) == KNOWN.expand(query)
    assert answered.ambiguous_in(query) == KNOWN.ambiguous_in(query)
