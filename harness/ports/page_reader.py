"""Port of page readers."""

from typing import Protocol

from harness.core.pages import Page
from harness.core.sites import ANY_SITE, Sites


class PageReader(Protocol):
    """Fetches pages and takes the text out of them."""

    name: str
    """Names what fetches and extracts, with its version: what another one has read is read again."""

    def read(self, url: str, held: Page | None = None, sites: Sites = ANY_SITE) -> Page:
        """Return the page behind an address, its text bounded and cleaned, never empty. `held` is an earlier answer for
        this address: if the page has not changed since, it is returned, and nothing is extracted. A redirect to another
        site than `sites` allows is not followed.

        Raises:
            InvalidInput: not an address of the web (`http://…`, `https://…`).
            AddressRefused: the address, or one that it leads to, is private, loopback or link-local.
            SiteLeftOut: it leads to a site that is left out.
            PageError: no answer, an error status, refused to robots, too large, or nothing that is text.
        """
