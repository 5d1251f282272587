"""A page as read."""

from msgspec import Struct


class Page(Struct, frozen=True, omit_defaults=True):
    """A web page, or a document at a URL: `url` is its final address; `text` is plain, with empty lines between
    paragraphs and headings in Markdown; `media_type` is its original type (`text/html`, `application/pdf`,
    `text/plain`). What the page says about itself, empty if it does not: `date` of publication (YYYY, YYYY-MM or
    YYYY-MM-DD), `authors` in one line, `site`, and `doi`.
    """

    url: str
    title: str
    text: str
    media_type: str
    date: str = ""
    authors: str = ""
    site: str = ""
    doi: str = ""
