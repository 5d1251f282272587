"""Every error that the harness raises on purpose.

    HarnessError                 harness_error
    ├── InvalidInput             invalid_input        the caller's argument, file or setting is wrong
    │   └── NotFound             not_found            there is nothing of that name
    ├── StoreError               store_error          the database failed (permissions, full disk, …)
    │   ├── MigrationError       migration_error      the file's schema cannot be migrated
    │   ├── StoreCorrupt         store_corrupt        the file is not a database, or a damaged one
    │   └── StoreBusy            store_busy           another process held the lock for too long
    ├── IndexUnavailable         index_unavailable    the vector index is lost, damaged or not installed
    ├── EmbeddingError           embedding_error      no vector could be made
    ├── VerifierError            verifier_error       the model that compares two questions failed
    ├── ReaderError              reader_error         the model that reads texts failed
    ├── SearchError              search_error         a search failed; not "no results"
    │   ├── RateLimited          rate_limited         the engine asks for fewer requests
    │   ├── EngineUnavailable    engine_unavailable   no answer, or not an answer of that engine
    │   └── SearchBackendError   search_backend_error the knowledge base cannot be searched by meaning
    ├── PageError                page_error           a page could not be read
    │   ├── AddressRefused       address_refused      its address is not allowed (private, loopback, …)
    │   └── SiteLeftOut          site_left_out        it leads to a site that only_sites or skip_sites leaves out
    ├── ModelError               model_error          a language model failed, or its answer is not usable
    │   ├── ModelUnavailable     model_unavailable    no answer: unreachable, refusing, or too slow
    │   └── ModelRefused         model_refused        its endpoint refused a request that was forwarded to it
    ├── OfflineMiss              offline_miss         offline, and the cache has no answer
    ├── AccessDenied             access_denied        the token is not valid, or not enough for this
    └── TooManyRequests          too_many_requests    a token sends requests too often

A message is one line that says what happened and what to do next. `code` is stable: programs may compare it.
"""

from typing import ClassVar


class HarnessError(Exception):
    """The root: catch it to catch everything that the harness raises on purpose."""

    code: ClassVar[str] = "harness_error"


class InvalidInput(HarnessError):
    """An argument, a file or a setting is not usable as it is."""

    code = "invalid_input"


class NotFound(InvalidInput):
    """There is nothing with the given name."""

    code = "not_found"


class StoreError(HarnessError):
    """The database could not do it; data that it had acknowledged before is still there."""

    code = "store_error"


class MigrationError(StoreError):
    """The schema of a database file cannot be migrated."""

    code = "migration_error"


class StoreCorrupt(StoreError):
    """A file is not a database, or is damaged."""

    code = "store_corrupt"


class StoreBusy(StoreError):
    """Another process held the database's lock for longer than the busy time-out."""

    code = "store_busy"


class IndexUnavailable(HarnessError):
    """The vector index cannot be used. It is a copy of rows in the database, so nothing is lost."""

    code = "index_unavailable"


class EmbeddingError(HarnessError):
    """The embedder could not make vectors."""

    code = "embedding_error"


class VerifierError(HarnessError):
    """The verifier could not be loaded, or could not read a pair."""

    code = "verifier_error"


class ReaderError(HarnessError):
    """The reader could not be loaded, or could not read a pair."""

    code = "reader_error"


class SearchError(HarnessError):
    """A search failed. An engine that answers with no results raises nothing and returns an empty list."""

    code = "search_error"


class RateLimited(SearchError):
    """The engine refused because of too many requests."""

    code = "rate_limited"


class EngineUnavailable(SearchError):
    """The engine did not answer, or answered with something that is not a result page."""

    code = "engine_unavailable"


class SearchBackendError(SearchError):
    """The knowledge base cannot be searched by meaning: the question cannot be embedded, or its vector not compared."""

    code = "search_backend_error"


class PageError(HarnessError):
    """A page could not be read: no answer, an error status, too large, or not text."""

    code = "page_error"


class AddressRefused(PageError):
    """The address of the page is not allowed: private, loopback, link-local, or not HTTP."""

    code = "address_refused"


class SiteLeftOut(PageError):
    """The page redirects to a site that a list of the settings leaves out; nothing was requested there."""

    code = "site_left_out"


class ModelError(HarnessError):
    """A language model answered with something that cannot be used."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """A language model did not answer: unreachable, refusing, or too slow."""

    code = "model_unavailable"


class ModelRefused(ModelError):
    """The endpoint of a model refused a request that was forwarded to it, with the HTTP status `status`.

    `kind`, `reason` and `parameter` are the type, code and param of its error; `wait` is its `Retry-After` in seconds.
    """

    code = "model_refused"

    def __init__(
        self,
        message: str,
        status: int = 502,
        *,
        kind: str = "",
        reason: str = "",
        parameter: str = "",
        wait: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.reason = reason
        self.parameter = parameter
        self.wait = wait


class OfflineMiss(HarnessError):
    """The harness is offline or replaying, and the cache has no answer."""

    code = "offline_miss"


class AccessDenied(HarnessError):
    """The access token is not valid, or its role or tenant does not allow this."""

    code = "access_denied"


class TooManyRequests(HarnessError):
    """One access token sends requests too often; `wait` is the number of seconds to wait."""

    code = "too_many_requests"

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait
