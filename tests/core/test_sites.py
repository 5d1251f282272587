"""Lists of sites: which hosts they cover, and what they refuse."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.sites import ONLY, SKIP, Sites, host_of, is_within
from harness.errors import InvalidInput

PROPERTY = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.COM:8443/a", "example.com"),
        ("http://example.com./", "example.com"),
        ("https://user:secret@example.com/", "example.com"),
        ("https://example.com@evil.com/", "evil.com"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://XN--BCHER-KVA.example/", "xn--bcher-kva.example"),
        ("https://ｅｖｉｌ。com/", "evil.com"),
        ("http://[::1]:80/", "::1"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("pydoc:with", ""),
        ("https://[", ""),
        ("", ""),
    ],
)
def test_hosts_are_comparable(url: str, host: str) -> None:
    """Case, port, user, final dot and script do not matter; without a host there is nothing."""
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("url", "skipped"),
    [
        ("https://example.com/", True),
        ("https://docs.example.com/a", True),
        ("https://a.b.EXAMPLE.com:8080/", True),
        ("https://evil-example.com/", False),
        ("https://example.com.evil.net/", False),
        ("https://example.community/", False),
        ("https://example.org/?u=example.com", False),
        ("https://example.com@evil.net/", False),
        ("https://com/", False),
    ],
)
def test_a_site_is_a_host_and_all_below_it(url: str, skipped: bool) -> None:
    """Hosts that look alike are others; the opposite list takes exactly the rest."""
    assert Sites.of((), ["example.com"]).left_out_by(url) == (SKIP if skipped else "")
    assert Sites.of(["example.com"], ()).left_out_by(url) == ("" if skipped else ONLY)


@pytest.mark.parametrize(
    "entry", ["example.com", "*.example.com", "EXAMPLE.com.", "example.com:443", " a.org , example.com,", "com"]
)
def test_spellings_of_an_entry(entry: str) -> None:
    """With a star, a port, a final dot, capital letters, or in a list with commas."""
    assert Sites.of((), [entry]).left_out_by("https://docs.example.com/") == SKIP


@pytest.mark.parametrize("entry", ["bücher.example", "xn--bcher-kva.example", "*.BÜCHER.example:80"])
def test_other_scripts_and_their_ascii_form_are_one(entry: str) -> None:
    """In the list as in the URL."""
    sites = Sites.of([entry], ())
    assert sites.left_out_by("https://www.bücher.example/") == ""
    assert sites.left_out_by("https://xn--bcher-kva.example/") == ""
    assert sites.left_out_by("https://bucher.example/") == ONLY


@pytest.mark.parametrize(("entry", "url"), [("::1", "http://[::1]:8080/"), ("[::1]:80", "http://[::1]/")])
def test_addresses_can_be_named(entry: str, url: str) -> None:
    """IPv6 with and without brackets."""
    assert Sites.of((), [entry]).left_out_by(url) == SKIP


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.com", "example.com/path", "example.com?q", "me@example.com", "", " , ", "*", "*.", "*.*.com",
        "a b.com", "example..com", "-a.com", "a.com:port", "a.com:99999", ".com", "x" * 64 + ".com", "a." * 200 + "com",
        "exa\nmple.com", "a.com\x1b[31m", "[::1", "1:2:3", "\ud800.com", "a\\b.com",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", [ONLY, SKIP])
def test_what_is_not_a_host_is_refused(entry: str, name: str) -> None:
    """The message names the list, says how to write a host, and shows no control characters."""
    lists: dict[str, list[str]] = {ONLY: [], SKIP: []} | {name: [entry]}
    with pytest.raises(InvalidInput, match=rf"{name}.* like example\.com|{name}.* as example\.com") as caught:
        Sites.of(lists[ONLY], lists[SKIP])
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_without_lists_everything_may_be_used() -> None:
    """Even what is no URL."""
    assert [Sites().left_out_by(url) for url in ("https://example.com/", "", "https://[")] == ["", "", ""]
    assert Sites().id == ""


def test_skipping_wins() -> None:
    """A site on both lists is left out by the list of what to skip."""
    sites = Sites.of(["example.com"], ["old.example.com"])
    assert sites.left_out_by("https://old.example.com/") == SKIP
    assert sites.left_out_by("https://new.example.com/") == ""


def test_a_url_without_a_host_is_on_no_list() -> None:
    """It is left out where only some sites may be used."""
    assert Sites.of(["example.com"], ()).left_out_by("https://[") == ONLY
    assert Sites.of((), ["example.com"]).left_out_by("https://[") == ""


def test_the_name_of_lists_depends_on_what_they_hold() -> None:
    """Not on order or spelling."""
    assert Sites.of(["b.org", "A.org"], ()).id == Sites.of(["*.a.org,b.org:80"], ()).id == "only_sites=a.org,b.org"
    assert Sites.of(["a.org"], ()).id != Sites.of((), ["a.org"]).id


@PROPERTY
@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_is_answered(url: str, entry: str) -> None:
    """A URL has a host or none, an entry is read or refused, and a host is within itself."""
    assert is_within(host_of(url), {host_of(url)})
    try:
        sites = Sites.of((), [entry])
    except InvalidInput:
        return
    assert sites.skip
    assert all(host.isascii() for host in sites.skip)


@pytest.mark.parametrize("text", ["a.", "ü", "ü.", "1", "xn--"])
def test_long_hosts_take_little_time(text: str) -> None:
    """A second is far more than is needed."""
    began = time.perf_counter()
    host_of(f"https://{text * 50_000}/")
    assert time.perf_counter() - began < 5
