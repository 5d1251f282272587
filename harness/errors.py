"""Every error that the harness raises on purpose.

    HarnessError                 harness_error
    ├── InvalidInput             invalid_input        the caller's argument, file or setting is wrong
    │   └── NotFound             not_found            there is nothing of that name
    ├── StoreError               store_error          the database said no (permissions, full disk, …)
    │   ├── MigrationError       migration_error      the file's schema cannot be brought up to date
    │   ├── StoreCorrupt         store_corrupt        the file is not a database, or a damaged one
    │   └── StoreBusy            store_busy           somebody else held the lock for too long
    ├── IndexUnavailable         index_unavailable    the vector index is lost, damaged or not installed
    ├── EmbeddingError           embedding_error      no vector could be made
    ├── VerifierError            verifier_error       nothing can say whether two questions have the same answer
    ├── SearchError              search_error         a search failed; never "it found nothing"
    │   ├── RateLimited          rate_limited         the engine asks for fewer requests
    │   ├── EngineUnavailable    engine_unavailable   no answer, or not an answer of that engine
    │   └── SearchBackendError   search_backend_error what is known cannot be searched by meaning
    ├── PageError                page_error           a page could not be read
    │   └── AddressRefused       address_refused      it is on an address that is not asked (private, loopback, …)
    ├── ModelError               model_error          a language model failed, or answered with something unusable
    │   └── ModelUnavailable     model_unavailable    no answer: unreachable, refusing, or too slow
    ├── OfflineMiss              offline_miss         offline, and the cache has no answer
    ├── AccessDenied             access_denied        the token is not valid, or not enough for this
    └── TooManyRequests          too_many_requests    one token asks too often

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
    """There is nothing of the name that was asked for."""

    code = "not_found"


class StoreError(HarnessError):
    """The database could not do what was asked; what it had acknowledged before is still there."""

    code = "store_error"


class MigrationError(StoreError):
    """The schema of a database file cannot be brought up to date."""

    code = "migration_error"


class StoreCorrupt(StoreError):
    """A file is not a database, or is a damaged one."""

    code = "store_corrupt"


class StoreBusy(StoreError):
    """Another process held the database's lock for longer than the busy time-out."""

    code = "store_busy"


class IndexUnavailable(HarnessError):
    """The vector index cannot be used. It is a copy of what the database holds, so nothing is lost."""

    code = "index_unavailable"


class EmbeddingError(HarnessError):
    """The embedder could not make vectors."""

    code = "embedding_error"


class VerifierError(HarnessError):
    """The verifier could not be loaded, or could not read a pair."""

    code = "verifier_error"


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
    """What is known cannot be searched by meaning: no vector of the question can be made, or none compared."""

    code = "search_backend_error"


class PageError(HarnessError):
    """A page could not be read: no answer, an error status, too large, or nothing that is text."""

    code = "page_error"


class AddressRefused(PageError):
    """The page is on an address that is never asked: private, loopback, link-local, or not of the web."""

    code = "address_refused"


class ModelError(HarnessError):
    """A language model answered with something that cannot be used."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """A language model did not answer: unreachable, refusing, or too slow."""

    code = "model_unavailable"


class OfflineMiss(HarnessError):
    """The harness is offline or replaying, and what was asked is not in the cache."""

    code = "offline_miss"


class AccessDenied(HarnessError):
    """The access token is not valid, or its role or tenant is not enough for what was asked."""

    code = "access_denied"


class TooManyRequests(HarnessError):
    """One access token asks more often than it may; `wait` says for how many seconds it has to wait."""

    code = "too_many_requests"

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait
