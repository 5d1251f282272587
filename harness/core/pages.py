"""A page as read."""

from msgspec import Struct


class Page(Struct, frozen=True):
    """A web page, or a document at a URL: `url` is its final address; `text` is plain, with empty lines between
    paragraphs and headings in Markdown; `media_type` is its original type (`text/html`, `application/pdf`,
    `text/plain`).
    """

    url: str
    title: str
    text: str
    media_type: str
