"""Which addresses are asked, however they are written and whatever they resolve to."""

import threading
from collections.abc import Sequence

import pytest

from harness.errors import AddressRefused, HarnessError, InvalidInput, PageError
from harness.sources.pages.addresses import AddressGuard, is_public
from harness.sources.pages.reader import WebReader

REFUSED = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.254 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:0:5ef5:79fd::1 2001:db8::1
    2002:7f00:1:: 2002:a00:1:: 2002:c0a8:101::1 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1
    ff02::1
""".split()
PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.215.14 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
    2606:4700:4700::1111 2a00:1450:4001::200e 2002:808:808::1
""".split()


@pytest.mark.parametrize("address", REFUSED)
def test_no_address_of_somebodys_own_network_is_public(address: str) -> None:
    """Private, loopback, link-local, shared, multicast, reserved: none is public, nor one that carries such a one."""
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    """Globally routed addresses are public."""
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:8080/admin",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://localhost/",
        "http://LOCALHOST/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://good@127.0.0.1/",
        "http://example.org:80@127.0.0.1/",
        "http://example.org%2f@127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/",
        "http://192.168.0.1:22/",
    ],
)
def test_every_spelling_of_a_private_address_is_refused(url: str) -> None:
    """The address to connect to is checked, so another spelling hides nothing."""
    with pytest.raises(AddressRefused, match="allowed_hosts"):
        _fetch(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127。0。0。1/",
        "http://①②⑦.0.0.1/",
        "http://127.0.0.1./",
        "http://[::1%25lo]/",
        "http://0177.0.0.1/",
        "http://localhost./",
    ],
)
def test_an_odd_spelling_is_an_error_if_nothing_else(url: str) -> None:
    """An ambiguous spelling ends in a `HarnessError`, never in a connection."""
    with pytest.raises((PageError, InvalidInput)):
        _fetch(url)


def test_one_private_address_among_public_ones_is_enough() -> None:
    """A host with a public and a private address is refused: which one is connected to is chance."""
    guard = AddressGuard(resolver=lambda host, port: ["8.8.8.8", "192.168.0.7"])
    with pytest.raises(AddressRefused, match=r"192\.168\.0\.7"):
        guard.addresses("example.org", 80, 1)


def test_public_addresses_come_in_the_resolvers_order() -> None:
    """The system's preference is kept."""
    guard = AddressGuard(resolver=lambda host, port: ["8.8.8.8", "1.1.1.1"])
    assert guard.addresses("example.org", 80, 1) == ["8.8.8.8", "1.1.1.1"]


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        ("wiki.intranet", "wiki.intranet", 80, True),
        ("wiki.intranet", "WIKI.intranet.", 8080, True),
        ("Wiki.Intranet:8080", "wiki.intranet", 8080, True),
        ("wiki.intranet:8080", "wiki.intranet", 80, False),
        ("wiki.intranet:80", "wiki.intranet", 8080, False),
        ("wiki.intranet", "evil.wiki.intranet", 80, False),
        ("wiki.intranet", "wiki.intranet.evil.org", 80, False),
        ("127.0.0.1", "127.0.0.1", 99, True),
        ("127.0.0.1", "2130706433", 99, False),
        ("::1", "::1", 99, True),
        ("[::1]:99", "::1", 99, True),
        ("[::1]:99", "::1", 98, False),
        ("bücher.intranet", "xn--bcher-kva.intranet", 80, True),
    ],
)
def test_an_allowed_host_is_that_very_host(entry: str, host: str, port: int, allowed: bool) -> None:
    """A name allows itself, on one port if it names one: no other spelling, no subdomain, no other port."""
    guard = AddressGuard([entry], resolver=lambda host, port: ["127.0.0.1"])
    if allowed:
        assert guard.addresses(host, port, 1) == ["127.0.0.1"]
    else:
        with pytest.raises(AddressRefused):
            guard.addresses(host, port, 1)


@pytest.mark.parametrize(
    "entry", ["", " ", "http://host", "host/path", "host:port", "user@host", "a..b", ":80", "x" * 70]
)
def test_an_allowed_host_that_is_none_is_invalid(entry: str) -> None:
    """A typo in the settings is an error instead of allowing nothing."""
    with pytest.raises(InvalidInput, match="allowed_hosts"):
        WebReader(allowed_hosts=[entry])


def test_a_host_without_an_address_is_a_page_error() -> None:
    """The system's resolver says no: that is said, with the name."""

    def no_such_host(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    with pytest.raises(PageError, match=r"nowhere\.invalid has no address"):
        AddressGuard(resolver=no_such_host).addresses("nowhere.invalid", 80, 1)


def test_a_resolver_that_hangs_does_not_hold_the_read_up() -> None:
    """The system's resolver has no time-out, so it is left behind when the read's time is over."""
    released = threading.Event()

    def hangs(host: str, port: int) -> Sequence[str]:
        released.wait(10)
        return ["8.8.8.8"]

    with pytest.raises(PageError, match="no address of"):
        AddressGuard(resolver=hangs).addresses("slow.example", 80, 0.05)
    released.set()


@pytest.mark.parametrize("host", ["a" * 300, "a\0b", "ex ample", "-", "\udc80"])
def test_a_host_that_cannot_be_one_is_an_error_of_ours(host: str) -> None:
    """Whatever the system's resolver throws at such a name, a `HarnessError` comes out."""
    with pytest.raises(HarnessError):
        AddressGuard().addresses(host, 80, 5)


def _fetch(url: str) -> None:
    from harness.sources.pages.fetch import FetchLimits, fetch

    fetch(url, AddressGuard(), FetchLimits(timeout=5, max_bytes=1000, max_redirects=1), None)
