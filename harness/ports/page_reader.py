"""Port of page readers."""

from typing import Protocol

from harness.core.pages import Page


class PageReader(Protocol):
    """Fetches pages and takes the text out of them."""

    name: str
    """Names what fetches and extracts, with its version: what another one has read is read again."""

    def read(self, url: str) -> Page:
        """Return the page behind an address, its text bounded and cleaned, never empty.

        Raises:
            InvalidInput: not an address of the web (`http://…`, `https://…`).
            AddressRefused: the address, or one that it leads to, is private, loopback or link-local.
            PageError: no answer, an error status, too large, or nothing that is text.
        """
