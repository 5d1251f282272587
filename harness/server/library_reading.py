"""Reading of a page into the library, for `harness library add` and the API."""

import time

from harness.app import App
from harness.core.freshness import NEVER
from harness.core.keys import canonical_url
from harness.library import ReadDocument


def read_document(app: App, url: str) -> ReadDocument:
    """Read a page, from the cache if it is there, as a document that stays in the library until it is deleted.

    Raises:
        InvalidInput: the address is not usable.
        PageError: the page cannot be read.
        OfflineMiss: the cache does not have it, and the harness is offline.
        StoreError: the cache cannot be read.
    """
    page = app.cache.pages.answer(url, app.sources.reader, ttl=app.settings.page_ttl).value
    return ReadDocument(
        url=canonical_url(page.url),
        title=page.title or page.url,
        text=page.text,
        source="page",
        engine=app.sources.reader.name,
        fetched_at=time.time(),
        expires_at=NEVER,
        page_starts=page.page_starts,
        language=page.language,
    )
