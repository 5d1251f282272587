"""A page as it was read."""

from msgspec import Struct


class Page(Struct, frozen=True):
    """A page of the web, or a document behind an address: `url` is where it was finally found, `text` is plain, its
    paragraphs apart by an empty line and its headings written as in Markdown; `media_type` is what it was
    (`text/html`, `application/pdf`, `text/plain`).
    """

    url: str
    title: str
    text: str
    media_type: str
