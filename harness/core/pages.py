"""A page as read."""

from msgspec import Struct

from harness.core.page_numbers import PageStarts


class Page(Struct, frozen=True, omit_defaults=True):
    """A web page, or a document at a URL: `url` is its final address; `text` is plain, with empty lines between
    paragraphs and headings in Markdown; `media_type` is its original type (`text/html`, `application/pdf`,
    `text/plain`). What the page says about itself, empty if it does not: `date` of publication (YYYY, YYYY-MM or
    YYYY-MM-DD), `authors` in one line, `site`, and `doi`. To find out later whether it has changed, if its server says:
    `etag` and `last_modified` as received for `url`, and `extractor`, which names the code that extracted `text`.
    `page_starts` are the places in `text` at which the pages of a PDF begin. `ads` is the number of elements of its
    HTML that are made for advertising, for each 5,000 characters of `text`. `language` is the tag (BCP 47) that its
    HTML declares.
    """

    url: str
    title: str
    text: str
    media_type: str
    date: str = ""
    authors: str = ""
    site: str = ""
    doi: str = ""
    etag: str = ""
    last_modified: str = ""
    extractor: str = ""
    page_starts: PageStarts = ()
    ads: int = 0
    language: str = ""
