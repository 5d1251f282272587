"""Shared parts of the engines of services with an API."""

import time
from collections.abc import Iterator

import pytest
from msgspec import Struct

from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.sources.engines.json_api import MAX_KEY_CHARS, ApiEngine, failure_of, key_of, plain_words, shown
from harness.sources.engines.result_fields import (
    MAX_AUTHORS_CHARS,
    MAX_BODY_CHARS,
    authors_of,
    date_of,
    doi_address,
    doi_of,
    joined,
    plain,
    result,
)
from harness.sources.engines.result_lists import results, results_of_pages
from harness.sources.http.request import HttpResponse

KEY = "k3y-of-a-service"
OLD_DOI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


class Item(Struct):
    """An item of a reply."""

    title: str | None = None
    number: int | None = None


class Service(ApiEngine):
    """An engine of a service X."""

    name, who, where, key_setting = "x", "X", "the URL of X", "x_api_key"


def engine(url: str = "https://x.example", key: str | None = None) -> Service:
    """Return the engine."""
    return Service(url, "https://x.example", 1.0, {"since": 2020}, key)


def answer(body: bytes = b"", status: int = 400, **headers: str) -> HttpResponse:
    """Return a response."""
    return HttpResponse(status, headers, body)


def made(number: int) -> SearchResult:
    """Return a result."""
    return SearchResult(title=f"Page {number}", href=f"https://example.org/{number}", body="")


# Keys and options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "key"), [(None, ""), (" \n", ""), (f" {KEY}\n", KEY), ("!~" * 250, "!~" * 250)])
def test_a_key_has_no_space_around_it(value: str | None, key: str) -> None:
    """It is optional without an address to get one at."""
    assert key_of(value, "x_api_key") == key


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_says_where_to_get_one(value: str | None) -> None:
    """And which setting to set."""
    with pytest.raises(InvalidInput, match=r"needs a key; get one at https://x\.example and set x_api_key$"):
        key_of(value, "x_api_key", "https://x.example")
    assert key_of(KEY, "x_api_key", "https://x.example") == KEY


@pytest.mark.parametrize("value", ["a b", "a\r\nX-Evil: 1", "kéy", "a\x00b", "k" * (MAX_KEY_CHARS + 1)])
def test_a_key_that_no_header_has_is_refused(value: str) -> None:
    """The message names the setting, not the key."""
    with pytest.raises(InvalidInput, match=r"^x_api_key has characters that no key has; copy it again$") as raised:
        key_of(value, "x_api_key")
    assert value not in str(raised.value)
    with pytest.raises(InvalidInput, match=r"copy it again from https://x\.example$"):
        key_of(value, "x_api_key", "https://x.example")


def test_a_key_that_the_service_refuses_names_the_setting() -> None:
    """One that is optional may be left out."""
    assert str(engine()._key_refused()) == "X refuses the key; check x_api_key, or leave it out"
    needed = engine()._key_refused("https://x.example")
    assert str(needed) == "X refuses the key; check x_api_key against https://x.example"


def test_an_address_that_is_not_the_default_is_an_option() -> None:
    """The default is none."""
    assert engine().options == engine("https://X.example/").options == {"since": 2020}
    assert engine("https://b.example").options == {"since": 2020, "base_url": "https://b.example"}


# Replies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"title": 5}', b"[" * 100_000, b'{"title": "\xff"}'])
def test_a_reply_of_another_form_is_a_failure(body: bytes) -> None:
    """As an error it is an empty one."""
    with pytest.raises(EngineUnavailable, match="X answered with something else than results; try again later"):
        engine()._decoded(answer(body, 200), Item)
    assert failure_of(answer(body), Item) == Item()


def test_items_of_another_form_are_left_out() -> None:
    """If all are, that is a failure; no items are none."""
    assert engine()._items([None, 5, {"title": 7}, {"title": "A"}, {}], Item) == [Item("A"), Item()]
    assert engine()._items([], Item) == engine()._items(None, Item) == []
    with pytest.raises(EngineUnavailable, match="X answered with something else than results"):
        engine()._items(["x", {"number": "1"}], Item)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message": "Bad query.", "error": "Bad"}', "Bad query"),
        (b'{"message": null, "error": "Bad"}', "Bad"),
        (b'{"message": ["a"], "error": {"b": 1}}', ""),
        (b'{"error": 5}', ""),
        (b"{}", ""),
        (b"[]", ""),
        (b"<html>", ""),
        (b"[" * 100_000, ""),
    ],
)
def test_the_message_of_an_error_is_a_text(body: bytes, message: str) -> None:
    """The text is that of `message`, else of `error`."""
    assert engine()._message(answer(body)) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, ""),
        (" Bad\n\x07 query. ", "Bad query"),
        (f"The key {KEY} is bad", "The key … is bad"),
        (f"The key {KEY[:5]}\x00{KEY[5:]} is bad", "The key … is bad"),
        ("x" * 190 + KEY, "x" * 190 + "…"),
    ],
)
def test_a_message_is_one_line_without_the_key(text: str | None, message: str) -> None:
    """Also where control characters hide it, or the end is cut."""
    assert shown(text, KEY) == message


def test_a_long_message_is_shortened() -> None:
    """No part of the key remains at the cut."""
    assert len(shown("word " * 500)) <= 200
    assert KEY[:4] not in shown(" " * 1_990 + KEY, KEY)
    assert shown("a key", "") == "a key"


@pytest.mark.parametrize(
    ("status", "said", "kind", "words"),
    [
        (429, "Slow", RateLimited, r"X asks for fewer requests \(HTTP 429\); set x$"),
        (400, "Bad", EngineUnavailable, r"X could not search \(HTTP 400\): Bad; try again later$"),
        (503, "", EngineUnavailable, "X answered HTTP 503; try again later$"),
        (301, "Moved", EngineUnavailable, "a redirect to https://x.example"),
        (200, "Wrong", EngineUnavailable, r"could not search \(HTTP 200\): Wrong"),
        (200, "", EngineUnavailable, "something else than results"),
    ],
)
def test_a_refusal_says_what_happened(status: int, said: str, kind: type[Exception], words: str) -> None:
    """The service's message is not shown for a redirect or a rate limit."""
    with pytest.raises(kind, match=words):
        engine()._fail(answer(status=status, location="https://x.example/a"), said, "set x")


# Queries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('repo:x -label "a phrase" [tag] (y*)', "repo x label a phrase tag y"),
        ("a AND b or NOT c", "a b c"),
        ("C++, C#, node.js; e-mail don't x--", "C++ C# node.js e-mail don't x"),
        ("the cat is here", "cat here"),
        ("the is", "the is"),
        ("AND or ???", ""),
        ("", ""),
        ("word " * 100, "word word word word word"),
        ("x" * 100, "x" * 24),
        ("a\x1b[0mb\u202e", "a 0mb"),
    ],
)
def test_a_query_has_only_words(query: str, words: str) -> None:
    """Fillers are left out where others remain; it is cut between words."""
    assert plain_words(query, 24 if len(query) > 50 else 60, {"the", "is"}) == words


# Results -----------------------------------------------------------------------------------------------------------


def test_a_result_has_clean_fields() -> None:
    """Fields that are empty or of another form are left out."""
    full = result(
        " A\ntitle\x07 ",
        " https://example.org/\n1 ",
        "\x1bOne\r\ntwo\rthree\r\n\r\n  four",
        date="2024-01-02T03:04",
        authors="A\nB",
        site="J\x00",
        doi="doi:10.1000/X",
        full_text="https://example.org/1.pdf",
    )
    assert full == {
        "title": "A title",
        "href": "https://example.org/1",
        "body": "One\ntwo\nthree\n\n  four",
        "date": "2024-01-02",
        "authors": "A B",
        "site": "J",
        "doi": "10.1000/x",
        "full_text": "https://example.org/1.pdf",
    }
    bare = result(None, "https://a.example", None, date="soon", authors=None, site=" ", doi="x", full_text="ftp://x")
    assert bare == {"title": "https://a.example", "href": "https://a.example", "body": ""}
    assert result("t", "javascript:alert(1)", "b") is None


def test_others_stay_where_authors_are_cut() -> None:
    """Long names are cut, not what says that there are more."""
    long = result("t", "https://a.example", "", authors=authors_of(["a" * 200] * 9))
    assert long is not None
    assert len(long["authors"]) <= MAX_AUTHORS_CHARS
    assert long["authors"].endswith("aaa and others")
    endless = result("t", "https://a.example", "", authors="b" * 5_000)
    assert endless is not None
    assert endless["authors"] == "b" * MAX_AUTHORS_CHARS


def test_authors_are_names_in_one_line() -> None:
    """Up to three; empty names do not count."""
    assert authors_of(["A\nB", None, " ", "C\x07"]) == "A B, C"
    assert authors_of("ABC") == "A, B, C"
    assert authors_of("ABCD") == "A, B, C and others"


def test_results_have_each_address_once() -> None:
    """The first stays; there are no more than the limit."""
    assert results([made(2), None, made(1), made(2), made(3)], 2) == [made(2), made(1)]


def pages(*numbers: list[int], error: Exception | None = None) -> Iterator[list[SearchResult | None]]:
    """Yield pages of results, then fail."""
    for page in numbers:
        yield [made(number) for number in page]
    if error is not None:
        raise error


def test_pages_are_read_until_there_are_enough_results() -> None:
    """Or until one has nothing new; the next one is not requested then."""
    left = pages([1, 2], [3, 4], [5])
    assert results_of_pages(left, 3) == [made(1), made(2), made(3)]
    assert len(list(left)) == 1
    left = pages([1, 2], [2, 1], [3])
    assert results_of_pages(left, 9) == [made(1), made(2)]
    assert len(list(left)) == 1
    assert results_of_pages(pages(), 9) == []


def test_a_later_page_that_fails_ends_the_results() -> None:
    """The first one raises; an error of the program always does."""
    assert results_of_pages(pages([1], error=RateLimited("x")), 9) == [made(1)]
    with pytest.raises(RateLimited):
        results_of_pages(pages(error=RateLimited("x")), 9)
    with pytest.raises(ZeroDivisionError):
        results_of_pages(pages([1], error=ZeroDivisionError()), 9)


def test_texts_are_joined_each_once() -> None:
    """With empty lines; indentation stays."""
    assert joined(["\r\nOne\n", None, " ", "    two", "One", ""]) == "One\n\n    two"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (None, ""),
        ("It helped (p < 0.05 and r > 0.5).", "It helped (p < 0.05 and r > 0.5)."),
        ("n <20, 5<6>4, a <= b", "n <20, 5<6>4, a <= b"),
        ("<p>One <b>is</b>.</p><p>Two &lt;b&gt;.</p>", "One is.\n\nTwo <b>."),
        ("One<br/>two<!-- x -->", "One\n\ntwo"),
        ("10<sup>6</sup>, 10<jats:sup>-6</jats:sup>, 10<sup class='x'>2</sup>", "10^6, 10^-6, 10^2"),
        ("x<sup>2</sup>, Ca<sup>2+</sup>, <sup>1</sup>H, CO<sub>2</sub>", "x2, Ca2+, 1H, CO2"),
        (
            "<jats:list><jats:list-item>One</jats:list-item><jats:list-item>two</jats:list-item></jats:list>",
            "One\n\ntwo",
        ),
        (
            "<jats:p>&lt;p class=&quot;x&quot;&gt;One &lt;b&gt;is&lt;/b&gt;.&lt;br /&gt;Two.&lt;/p&gt;</jats:p>",
            "One is.\n\nTwo.",
        ),
        ("<jats:p>&lt;p&gt;P &amp;lt; 0.05 &amp;amp; 10&lt;sup&gt;6&lt;/sup&gt;&lt;/p&gt;</jats:p>", "P < 0.05 & 10^6"),
        ("<jats:p>If a&lt;b then c&gt;d &amp;amp; e.</jats:p>", "If a<b then c>d &amp; e."),
        (
            "<p>Try:</p>\n<pre><code>    if x:\n\n        f()\n \n        g()\n</code></pre>",
            "Try:\n\n    if x:\n\n        f()\n\n        g()",
        ),
        ("<p>One</p>\n  <p>&nbsp;</p>\n<p>two</p>", "One\n\ntwo"),
        ("One\r\n\r\n\r\n  two\rthree", "One\n\n  two\nthree"),
    ],
)
def test_markup_becomes_plain_text(markup: str | None, text: str) -> None:
    """Tags go; signs of comparison, powers and indentation stay."""
    assert plain(markup) == text


@pytest.mark.parametrize("end", ["<", "</", "<b", "</jats:p", '<a href="https://example.org', "<!-- x"])
def test_a_tag_that_the_limit_cuts_is_dropped(end: str) -> None:
    """A last < stays if nothing is cut."""
    limit = 4 * MAX_BODY_CHARS
    text = ("word " * limit)[: limit - len(end)]
    assert plain(text + end + " more>" + "x" * 50) == text.strip()
    assert plain("a <") == "a <"
    assert plain(("1 < 2 " * limit)[: limit - 3] + "< 2 and more").endswith("< 2")


@pytest.mark.parametrize(
    "markup",
    ["<" * 200_000, "<a" * 100_000, "<jats:&lt;p a=" + " " * 100_000, "<jats:" + "&lt;p a=" * 20_000, "\n \n" * 70_000],
)
def test_hostile_markup_takes_no_long_time(markup: str) -> None:
    """It is bounded."""
    begin = time.monotonic()
    plain(markup)
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024", "2024"),
        (" 2024-05-06T07:08", "2024-05-06"),
        ("2024-13-01", "2024"),
        ("1999-12", "1999-12"),
        ("in 2024", ""),
        ("Jan 5, 2024", "2024-01-05"),
        ("January 5, 2024", "2024-01-05"),
        ("5. Sept 2024", "2024-09-05"),
        ("Jan 5, 2024 or later", ""),
        ("Jan 45, 2024", ""),
        ("Decem 10, 2020", ""),
        (None, ""),
    ],
)
def test_a_date_is_as_exact_as_it_is_known(text: str | None, date: str) -> None:
    """Year, month or day."""
    assert date_of(text) == date


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        (f" {OLD_DOI} ", OLD_DOI.lower()),
        (f"https://doi.org/{OLD_DOI}", OLD_DOI.lower()),
        ("doi: 10.1016/S0140-6736(97)11096-0", "10.1016/s0140-6736(97)11096-0"),
        ("10.1000/x(1)", "10.1000/x(1)"),
        ("10.1000/a\x07b\u202e", "10.1000/ab"),
    ],
)
def test_a_text_that_is_a_doi_is_taken_as_it_is(text: str, doi: str) -> None:
    """Also an old one with signs of other languages in it, and an address."""
    assert doi_of(text) == doi
    assert doi_address(text).startswith("https://doi.org/10.")


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("See (10.1000/abc).", "10.1000/abc"),
        ("10.1000/abc; 10.1000/def", "10.1000/abc"),
        ("see 10.1000/a.b, and", "10.1000/a.b"),
        ('<a href="https://doi.org/10.1000/abc">', "10.1000/abc"),
        ("10.1000/).,", "10.1000/).,"),
        ("see 10.1000/).,", ""),
        ("10.1/x", ""),
        ("javascript:alert(1)", ""),
        (None, ""),
    ],
)
def test_a_doi_in_a_text_has_no_sign_of_the_sentence(text: str | None, doi: str) -> None:
    """Such a text has no address: the DOI may be that of another work."""
    assert doi_of(text) == doi
    assert bool(doi_address(text)) == (text == doi)


def test_the_address_of_a_doi_is_quoted() -> None:
    """It may contain signs that have a meaning in a URL."""
    assert doi_address("10.1000/A#b?c") == "https://doi.org/10.1000/a%23b%3Fc"
    assert doi_address(OLD_DOI).endswith("(sici)1097-0258(19980815/30)17:15/16%3C1661::aid-sim968%3E3.0.co;2-2")
