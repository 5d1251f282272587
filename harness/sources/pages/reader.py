"""Reading pages of the web."""

from collections.abc import Collection

from harness.core.pages import Page
from harness.errors import PageError
from harness.sources.pages.addresses import AddressGuard, Resolver, resolve
from harness.sources.pages.extraction_process import Worker


class WebReader:
    """Fetches pages over HTTP and takes their text out; see `PageReader`. Safe from any thread.

    `timeout` is in seconds and holds for all of a fetch, redirects included; taking the text out may last another 15.
    `max_bytes` bounds the body after decompression. Only addresses of the public internet are asked, and those of
    `allowed_hosts` (exact name or literal address, each with or without `:port`). With a `proxy` (`http://…`,
    `socks5://…`) the target is checked by what it resolves to here; the proxy then resolves it anew. The proxies of the
    environment are ignored. `resolver` stands in for the system's in tests.

    Raises:
        InvalidInput: an allowed host that cannot be one; of a proxy, `read` says so.
    """

    name = "web-1"

    def __init__(
        self,
        *,
        timeout: float = 20.0,
        max_bytes: int = 5_000_000,
        max_redirects: int = 5,
        allowed_hosts: Collection[str] = (),
        proxy: str | None = None,
        resolver: Resolver = resolve,
    ) -> None:
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._max_redirects = max_redirects
        self._guard = AddressGuard(allowed_hosts, resolver)
        self._proxy = proxy
        self._worker = Worker()

    def read(self, url: str) -> Page:
        """See `PageReader.read`. Page and PDF alike are data: nothing in them is run, loaded or obeyed."""
        from harness.sources.pages.fetch import Limits, fetch, told, usable_proxy, web_address

        web_address(url)
        proxy = usable_proxy(self._proxy)
        self._worker.start()
        limits = Limits(self._timeout, self._max_bytes, self._max_redirects)
        try:
            fetched = fetch(url, self._guard, limits, proxy)
            found = self._worker.extract(fetched.body, fetched.content_type)
        except PageError as error:
            raise type(error)(f"{told(url)}: {error}") from error
        return Page(url=fetched.url, title=found.title or fetched.url, text=found.text, media_type=found.media_type)

    def close(self) -> None:
        """End the process that takes the text out. A later read starts another one."""
        self._worker.close()
