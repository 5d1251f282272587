"""Sites: names of hosts made comparable, and the lists of sites that a research may use."""

import re
from collections.abc import Collection, Iterable, Iterator
from ipaddress import IPv6Address
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct

from harness.core.keys import host_in
from harness.core.text import shorten
from harness.errors import InvalidInput

WEB = ("http://", "https://")
"""Beginnings of the addresses of web pages."""
ONLY, SKIP = "only_sites", "skip_sites"
"""Names of the two lists."""
MAX_HOST = 253
"""Characters of a host name (RFC 1035)."""

_DOTS = re.compile("[.\u3002\uff0e\uff61]")
"""Signs that separate labels (RFC 3490, section 3.1)."""
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")


def host_of(url: str) -> str:
    """Return the host of a URL as lists have it: in lower case, in ASCII (IDNA), without port and final dot; "" if
    there is none. A label that IDNA refuses stays as it is. Never raises.
    """
    host = host_in(url)
    return ".".join(map(_in_ascii, _DOTS.split(host[-2 * MAX_HOST :]))).rstrip(".")


def is_within(host: str, sites: Collection[str]) -> bool:
    """Return whether a host is one of `sites`, or below one: docs.example.org is within example.org, evil-example.org
    is not.
    """
    labels = host.split(".")
    return any(".".join(labels[place:]) in sites for place in range(len(labels)))


class Sites(Struct, frozen=True):
    """The only sites that may be used (all, if there are none), and those that may not. A site is a host with all that
    is below it.
    """

    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()

    @classmethod
    def of(cls, only: Iterable[str], skip: Iterable[str]) -> Self:
        """Read the two lists. An entry is one host or several with commas; a beginning `*.` and a port are ignored.

        Raises:
            InvalidInput: an entry that is not a host.
        """
        return cls(frozenset(_hosts(only, ONLY)), frozenset(_hosts(skip, SKIP)))

    @property
    def id(self) -> str:
        """Name of the lists in keys; "" if both are empty."""
        lists = ((ONLY, self.only), (SKIP, self.skip))
        return " ".join(f"{name}={','.join(sorted(hosts))}" for name, hosts in lists if hosts)

    def left_out_by(self, url: str) -> str:
        """Return the name of the list that leaves a URL out, "" if none does. A URL without a host is on no list."""
        if not self.only and not self.skip:
            return ""
        host = host_of(url)
        if is_within(host, self.skip):
            return SKIP
        return ONLY if self.only and not is_within(host, self.only) else ""


ANY_SITE = Sites()
"""No list: every site may be used."""


def _hosts(entries: Iterable[str], name: str) -> Iterator[str]:
    for entry in entries:
        parts = [part for each in entry.split(",") if (part := each.strip())]
        if not parts:
            raise InvalidInput(f"{name} has an entry without a host; write hosts, like example.com")
        yield from (_host(part, name) for part in parts)


def _host(entry: str, name: str) -> str:
    """Return the host of an entry: `name`, `*.name`, `name:port`, `1.2.3.4`, `::1`, `[::1]:port`."""
    bare = entry.removeprefix("*.")
    bracketed = f"[{bare}]" if bare.count(":") > 1 and not bare.startswith("[") else bare
    try:
        _ = urlsplit(f"//{bracketed}").port
        host = host_of(f"//{bracketed}")
        usable = _NAME.fullmatch(host) or (":" in host and IPv6Address(host))
    except ValueError:  # a port that is not a number, an address that is none
        host, usable = "", False
    is_bare = bare.split() == [bare] and not set("/?#@") & set(bare)
    if not usable or not is_bare or len(host) > MAX_HOST:
        shown = shorten(repr(entry), 80)
        raise InvalidInput(f"{shown} in {name} is not a host; write it as example.com, without https:// and path")
    return host


def _in_ascii(label: str) -> str:
    try:
        return label.encode("idna").decode().lower()
    except UnicodeError:
        return label.lower()
