"""Reader of web pages."""

from collections.abc import Collection

from msgspec.structs import replace

from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites
from harness.errors import PageError
from harness.settings.code_digest import source_digest
from harness.sources.pages.addresses import AddressGuard, Resolver, resolve
from harness.sources.pages.extraction_process import Worker
from harness.sources.pages.robots import Robots


class WebReader:
    """Fetches pages over HTTP and extracts their text; see `PageReader`. Safe from any thread.

    `timeout` is in seconds for a whole fetch, redirects included; extracting the text may take another 15 s.
    `max_bytes` bounds the decompressed body. Only public addresses are fetched, and `allowed_hosts` (exact name or IP
    address, each with or without `:port`). With a `proxy` (`http://…`, `socks5://…`) the target is checked by the
    addresses that it resolves to here; the proxy resolves it again. Proxies of the environment are ignored. Tests
    replace the system's `resolver`. Without `robots`, pages are read whatever the robots.txt of their site says.

    Raises:
        InvalidInput: an invalid allowed host. `read` raises it for an invalid proxy.
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
        robots: bool = True,
    ) -> None:
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._max_redirects = max_redirects
        self._guard = AddressGuard(allowed_hosts, resolver)
        self._proxy = proxy
        self._robots = Robots() if robots else None
        self._worker = Worker()

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """See `PageReader.read`. Pages and PDFs are data: nothing in them is run or loaded. A `held` page whose text
        other code extracted is read again.
        """
        from harness.sources.pages.fetch import FetchLimits, fetch, shown_url, usable_proxy, web_address

        web_address(url)
        proxy = usable_proxy(self._proxy)
        if held is None or held.extractor != _extractor():
            held = None
            self._worker.start()
        limits = FetchLimits(self._timeout, self._max_bytes, self._max_redirects)
        try:
            fetched = fetch(url, self._guard, limits, proxy, robots=self._robots, held=held, sites=sites)
            if isinstance(fetched, Page):
                return fetched
            extracted = self._worker.extract(fetched.body, fetched.content_type)
        except PageError as error:
            raise type(error)(f"{shown_url(url)}: {error}") from error
        return replace(
            extracted,
            url=fetched.url,
            title=extracted.title or fetched.url,
            etag=fetched.etag,
            last_modified=fetched.last_modified,
            extractor=_extractor() if fetched.etag or fetched.last_modified else "",
        )

    def close(self) -> None:
        """End the extraction process. A later read starts a new one."""
        self._worker.close()


def _extractor() -> str:
    return source_digest("harness.sources.pages.extraction")
