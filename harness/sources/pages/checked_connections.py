"""Connections of one read, only to checked addresses."""

import ssl
from typing import Any

import httpcore2
import httpx2

from harness.sources.http.transport import Deadline, Sockets, Transport
from harness.sources.pages.addresses import AddressGuard

CONNECT_SECONDS = 5.0
"""Time limit for connecting to one address of a host."""


def transport(guard: AddressGuard, deadline: Deadline, tls: ssl.SSLContext, proxy: httpx2.Proxy | None) -> Transport:
    """Return the transport of one read, until `deadline`. Without a `proxy`, it connects only to addresses that `guard`
    accepts; exceptions of `guard` propagate.
    """
    if proxy is None:
        return Transport(_CheckedSockets(guard, deadline), tls)
    return Transport(Sockets(deadline), tls, httpcore2.Proxy(url=str(proxy.url), auth=proxy.raw_auth))


class _CheckedSockets(Sockets):
    def __init__(self, guard: AddressGuard, deadline: Deadline) -> None:
        super().__init__(deadline)
        self._guard = guard

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        addresses = self._guard.addresses(host, port, self.deadline.within())
        for number, address in enumerate(addresses, start=1):
            try:
                return super().connect_tcp(address, port, timeout, *args, **kwargs)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")
