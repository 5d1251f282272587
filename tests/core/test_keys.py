"""Keys: normalised requests, digests, canonical URLs."""

import re
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.core.keys import (
    MAX_QUERY_CHARS,
    canonical_json,
    canonical_url,
    checked_cache_type,
    completion_key,
    digest_of,
    in_words,
    is_url,
    normalise,
    research_key,
    search_key,
    tool_key,
)
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None)

HEX_64 = re.compile(r"[0-9a-f]{64}")
WHITE_SPACE = st.text(alphabet=" \t\n\r\v\f\u00a0\u2003\u3000", min_size=1, max_size=4)
WORDS = st.lists(st.text(alphabet="abcdefghijklmnopqrstuvwxyzäöéñжд0123456789?'-", min_size=1, max_size=8), min_size=1)

URL_TEXT = st.text(alphabet="aZ09%4fF1/2~;:@!$&'()*+,=?#[]. -_\u3000é\udc80\\|\"<>^`{}", max_size=20)
URLS = st.builds(
    "{}://{}{}/{}{}".format,
    st.sampled_from(["http", "https", "HTTP", "hTTps", "ftp", ""]),
    st.one_of(st.sampled_from(["example.org", "EXAMPLE.org", "[::1]", "user:pw@h.de", "h ", "bücher.de"]), URL_TEXT),
    st.sampled_from(["", ":80", ":443", ":8080", ":0", ":x", ":99999"]),
    URL_TEXT,
    st.one_of(st.just(""), st.builds("?{}".format, URL_TEXT), st.just("?utm_source=x&b=2&a=1&a=0&gclid=")),
)


# --- normalise


def test_normalise_lower_cases_and_collapses_white_space() -> None:
    """Case, tabs, line ends and repeated spaces do not change the query."""
    assert normalise("  Best\tPractices \n for   RAG\u00a0Pipelines ") == "best practices for rag pipelines"


@PROPERTY
@given(st.text(max_size=200))
def test_normalise_is_idempotent(text: str) -> None:
    """A normalised query is its own normal form."""
    try:
        once = normalise(text)
    except InvalidInput:
        return
    assert normalise(once) == once


@pytest.mark.parametrize("text", ["", " ", "\t\n \u3000"])
def test_an_empty_query_is_refused_with_advice(text: str) -> None:
    """White space alone is not a query; the message says what to do."""
    with pytest.raises(InvalidInput, match="say what to look for"):
        normalise(text)


def test_a_nul_character_is_refused() -> None:
    """A NUL in a query is an error that names it."""
    with pytest.raises(InvalidInput, match="NUL"):
        normalise("rag\0pipelines")


def test_the_longest_query_allowed_is_accepted() -> None:
    """A query of exactly the limit is valid."""
    assert len(normalise("x" * MAX_QUERY_CHARS)) == MAX_QUERY_CHARS


def test_a_longer_query_is_refused_with_both_numbers() -> None:
    """The message has the length of the pasted document and the limit."""
    with pytest.raises(InvalidInput, match=r"100,000 characters long; at most 10,000"):
        normalise("x" * 100_000)


@pytest.mark.parametrize("text", [None, 5, b"query", ["query"]])
def test_a_non_string_is_refused_with_its_type(text: object) -> None:
    """The message has the type of the value."""
    with pytest.raises(InvalidInput, match=f"not {type(text).__name__}"):
        normalise(text)  # type: ignore[arg-type]


# --- search_key


def test_the_default_search_key_is_the_sha256_of_the_normalised_query() -> None:
    """The digest in older files: SHA-256 of the lower-cased query with white space collapsed."""
    expected = "bfdfdc9c2089a1dac3146214d213b0b195cc221327b5fd02ce4482f8daa8a94e"
    assert search_key("  Best practices for\nRAG pipelines") == expected


def test_the_default_search_key_is_that_of_any_sha256_tool() -> None:
    """Any program can compute a query's key: UTF-8, SHA-256, hex."""
    assert search_key("Köln  Wetter") == sha256("köln wetter".encode()).hexdigest()


def test_default_engine_without_options_is_the_bare_digest() -> None:
    """Passing the default engine or no options does not change the key."""
    assert search_key("q", "ddgs", {}) == search_key("q", "ddgs", None) == search_key("q")


def test_another_engine_has_another_key() -> None:
    """Results of different engines are never mixed."""
    assert search_key("q", "corpus") != search_key("q")


def test_options_are_folded_into_the_key() -> None:
    """An option that changes results changes the key, and so does its value."""
    keys = {search_key("q"), search_key("q", "ddgs", {"region": "de-de"}), search_key("q", "ddgs", {"region": "fr-fr"})}
    assert len(keys) == 3


def test_the_order_of_options_does_not_matter() -> None:
    """Options are a mapping: order does not change the key."""
    one = search_key("q", "ddgs", {"region": "de-de", "timelimit": "w"})
    assert one == search_key("q", "ddgs", {"timelimit": "w", "region": "de-de"})


def test_a_tuple_and_a_list_of_options_are_the_same() -> None:
    """Options from JSON give the same key as options from Python."""
    assert search_key("q", "ddgs", {"backends": ("a", "b")}) == search_key("q", "ddgs", {"backends": ["a", "b"]})


@PROPERTY
@given(words=WORDS, gaps=st.lists(WHITE_SPACE, min_size=1), around=WHITE_SPACE)
def test_case_and_white_space_variants_share_a_key(words: list[str], gaps: list[str], around: str) -> None:
    """Spacing and capitals do not change a search."""
    spaced = around + "".join(word + gaps[i % len(gaps)] for i, word in enumerate(words)) + around
    assert search_key(spaced) == search_key(" ".join(words)) == search_key(" ".join(words).upper())


@PROPERTY
@given(st.one_of(st.text(), st.text(alphabet="a\0 \ud800\udfffé\n", max_size=5)))
def test_any_text_gives_a_key_or_invalid_input(text: str) -> None:
    """Any text gives 64 hex digits or `InvalidInput`."""
    try:
        key = search_key(text)
    except InvalidInput:
        return
    assert HEX_64.fullmatch(key)


def test_a_lone_surrogate_is_refused_with_advice() -> None:
    """The error explains broken Unicode."""
    with pytest.raises(InvalidInput, match="lone surrogate"):
        search_key("rag \ud800 pipelines")


@PROPERTY
@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=20, unique=True))
def test_different_queries_have_different_keys(queries: list[str]) -> None:
    """Queries that differ after normalising have different keys."""
    assert len({search_key(query) for query in queries}) == len({normalise(query) for query in queries})


# --- research_key


def test_the_research_key_is_the_sha256_of_task_bar_type() -> None:
    """The digest in older files: SHA-256 of the normalised task, a bar and the lower-cased type."""
    expected = sha256(b"in which order?|explanation").hexdigest()
    assert research_key(" In which\tORDER? ", "Explanation") == expected


def test_the_research_key_is_stable_across_releases() -> None:
    """A fixed digest guards against a change that would lose every old row."""
    expected = "f8f66f9e95ec839d0958ce28da2da9ac667cb7721a75091cedccc3c84f8c0cb2"
    assert research_key("In which order?", "explanation") == expected


def test_a_fingerprint_makes_another_research_key() -> None:
    """Another planner or engine makes another research."""
    keys = {research_key("t", "x"), research_key("t", "x", "one"), research_key("t", "x", "two")}
    assert len(keys) == 3


def test_a_lone_surrogate_in_a_task_is_refused() -> None:
    """`InvalidInput` here too."""
    with pytest.raises(InvalidInput, match="lone surrogate"):
        research_key("task \udfff", "overview")


# --- canonical_json, digest_of


def test_canonical_json_is_compact_and_sorted() -> None:
    """Equal values have the same JSON."""
    assert canonical_json({"b": [1, 2.5, None], "a": True}) == '{"a":true,"b":[1,2.5,null]}'


def test_digest_of_ignores_the_order_of_mappings() -> None:
    """The order of keys does not matter."""
    assert digest_of({"a": 1, "b": {"c": 2, "d": 3}}) == digest_of({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})


# --- canonical_url


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("HTTP://Example.ORG/Path", "http://example.org/Path"),
        ("  https://example.org/a \n", "https://example.org/a"),
        ("https://example.org/", "https://example.org"),
        ("https://example.org/a/", "https://example.org/a"),
        ("https://example.org/a#section", "https://example.org/a"),
        ("http://[2001:DB8::1]:80/a", "http://[2001:db8::1]/a"),
    ],
)
def test_spellings_of_one_address_become_one(spelled: str, canonical: str) -> None:
    """Case of scheme and host, fragment, outer white space and a trailing slash do not matter."""
    assert canonical_url(spelled) == canonical


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:443/a", "http://example.org:443/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
    ],
)
def test_only_the_schemes_own_port_is_dropped(spelled: str, canonical: str) -> None:
    """Port 80 is the default of http, not of https."""
    assert canonical_url(spelled) == canonical


@pytest.mark.parametrize("name", ["utm_source", "UTM_Campaign", "gclid", "fbclid", "msclkid", "mc_cid", "igshid"])
def test_tracking_parameters_are_dropped(name: str) -> None:
    """The referrer does not change the page."""
    assert canonical_url(f"https://example.org/a?{name}=x&id=7") == "https://example.org/a?id=7"


def test_other_parameters_are_kept_and_sorted() -> None:
    """Parameters determine the page; their order does not."""
    assert canonical_url("https://example.org/a?b=2&a=1&b=1&empty=") == "https://example.org/a?a=1&b=1&b=2&empty="


def test_an_escaped_slash_is_not_decoded() -> None:
    """`%2F` is a character of a name, not a separator: decoding it would change the URL."""
    assert canonical_url("https://example.org/a%2fb") == "https://example.org/a%2Fb"


def test_needless_escapes_are_decoded_and_others_upper_cased() -> None:
    """`%7E` is `~` and `%c3%a9` is `%C3%A9` (RFC 3986, 6.2.2.1 and 6.2.2.2)."""
    assert canonical_url("https://example.org/%7Eme/caf%c3%a9") == "https://example.org/~me/caf%C3%A9"


def test_a_plain_and_an_escaped_letter_are_one() -> None:
    """A path with é equals its percent-encoding."""
    assert canonical_url("https://example.org/café") == canonical_url("https://example.org/caf%C3%A9")


@pytest.mark.parametrize("path", ["/Wiki/Python", "/a/../b", "/a//b"])
def test_parts_that_a_server_may_distinguish_stay(path: str) -> None:
    """The case of a path and its inner slashes are kept."""
    assert canonical_url(f"https://example.org{path}") == f"https://example.org{path}"


@pytest.mark.parametrize(
    "address",
    [
        "pydoc:attribute-access",
        "file:///home/me/Notes.md",
        "mailto:a@b.org",
        "[",
        "http://h:port/",
        "http://",
        "",
        "x y",
    ],
)
def test_other_identifiers_stay_unchanged(address: str) -> None:
    """Other source ids pass through unchanged."""
    assert canonical_url(f" {address} ") == address


@PROPERTY
@given(st.one_of(URLS, st.text(max_size=60)))
@example("http://h/%%34%31")
@example("http://h /")
@example("http://h\u3000/")
@example("http://h/?[&\udc80")
def test_canonical_url_is_idempotent(url: str) -> None:
    """Canonicalising twice changes nothing, and no URL raises."""
    once = canonical_url(url)
    assert canonical_url(once) == once


# --- tool_key


@pytest.mark.parametrize("query", ["Python jobs", "  python JOBS\n", "PYTHON JOBS"])
def test_a_tool_key_is_the_hash_of_type_and_trimmed_lower_cased_query(query: str) -> None:
    """SHA-256 of type, colon, query; the type in any case."""
    expected = sha256(b"job_search:python jobs").hexdigest()
    assert tool_key("job_search", query) == expected
    assert tool_key(" Job_Search ", query) == expected


def test_white_space_within_a_tools_query_counts() -> None:
    """Only the ends are trimmed."""
    assert tool_key("job_search", "a b") != tool_key("job_search", "a  b")


def test_the_case_of_an_addresses_path_counts() -> None:
    """The host's case does not count, nor do other spellings of the same URL."""
    key = tool_key("web_fetch", "https://example.org/Path?Q=A")
    assert key == sha256(b"web_fetch:https://example.org/Path?Q=A").hexdigest()
    assert key == tool_key("web_fetch", " HTTPS://EXAMPLE.org:443/Path/?Q=A#there ")
    assert key != tool_key("web_fetch", "https://example.org/path?Q=A")


def test_the_case_of_a_json_object_counts() -> None:
    """Arguments of a call are data, not language."""
    assert tool_key("read", '{"path":"A"}') != tool_key("read", '{"path":"a"}')


@pytest.mark.parametrize(
    ("text", "words", "url"),
    [
        ("python jobs", True, False),
        ("https://example.org/a", False, True),
        ("HTTP://EXAMPLE.ORG", False, True),
        ("https://example.org is down", True, False),
        ("https://", True, False),
        ("https://[", True, False),
        ("ftp://example.org/a", True, False),
        ('{"a":1}', False, False),
        ("[jobs]", True, False),
    ],
)
def test_language_urls_and_json_objects_are_distinguished(text: str, words: bool, url: bool) -> None:
    """A URL is nothing but a URL; a JSON object is neither language nor URL."""
    assert (in_words(text), is_url(text)) == (words, url)


@pytest.mark.parametrize("name", ["", " ", "-a", "_a", "a b", "a:b", "a" * 65, "jöb", "a\0", "../a", None, 7])
def test_an_unusable_cache_type_is_refused_with_an_example(name: object) -> None:
    """Nothing that could be taken for another type or a path."""
    with pytest.raises(InvalidInput, match="job_search"):
        tool_key(name, "q")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a", "9", "job_search", "x-1", "A" * 64])
def test_new_types_need_no_code(name: str) -> None:
    """Any valid name is a type."""
    assert checked_cache_type(name) == name.lower()


@pytest.mark.parametrize("query", ["", "  ", "x" * (MAX_QUERY_CHARS + 1), "a\0b", "\ud800", "https://a.b/\ud800", None])
def test_an_unusable_query_of_a_tool_is_refused(query: object) -> None:
    """Like a search query."""
    with pytest.raises(InvalidInput):
        tool_key("job_search", query)  # type: ignore[arg-type]


@PROPERTY
@given(st.text(min_size=1, max_size=50), st.sampled_from(["job_search", "web_fetch", "other-1"]))
def test_tool_keys_follow_their_definition(query: str, cache_type: str) -> None:
    """For any text: the hash as defined, the same for the trimmed query and the upper-cased type."""
    try:
        key = tool_key(cache_type, query)
    except InvalidInput:
        return
    trimmed = query.strip()
    text = trimmed.lower() if in_words(query) else canonical_url(trimmed)
    assert key == sha256(f"{cache_type}:{text}".encode()).hexdigest()
    assert key == tool_key(cache_type.upper(), f" {query}\n")


@PROPERTY
@given(URLS)
def test_an_address_and_its_canonical_form_have_one_tool_key(url: str) -> None:
    """However an agent spells it."""
    try:
        key = tool_key("web_fetch", url)
    except InvalidInput:
        return
    if is_url(url.strip()):
        assert key == tool_key("web_fetch", canonical_url(url))


def test_a_completion_key_is_the_hash_of_all_that_determines_the_answer() -> None:
    """Endpoint, model, messages, parameters, schema and epoch; non-JSON values are refused."""
    asked: dict[str, Any] = {"parameters": {"temperature": 0}, "schema": None, "epoch": ""}
    key = completion_key("http://127.0.0.1/v1", "m", [{"role": "user", "content": "hi"}], **asked)
    assert re.fullmatch("[0-9a-f]{64}", key)
    others = [
        completion_key("http://127.0.0.1/v2", "m", [{"role": "user", "content": "hi"}], **asked),
        completion_key("http://127.0.0.1/v1", "n", [{"role": "user", "content": "hi"}], **asked),
        completion_key("http://127.0.0.1/v1", "m", [{"role": "user", "content": "ho"}], **asked),
        *(
            completion_key("http://127.0.0.1/v1", "m", [{"role": "user", "content": "hi"}], **{**asked, **other})
            for other in ({"parameters": {"temperature": 1}}, {"schema": {"type": "object"}}, {"epoch": "2"})
        ),
    ]
    assert len({key, *others}) == 7
    with pytest.raises(InvalidInput, match="not JSON"):
        completion_key("http://127.0.0.1/v1", "m", [], **{**asked, "parameters": {"temperature": {1}}})
