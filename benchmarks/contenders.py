"""Caches to compare. Inside the timing each does everything from a query to a list of results: normalising and hashing
the key, reading, checking the expiry, decoding.
"""

import json
import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
from diskcache import Cache as DiskCache
from requests import PreparedRequest, Request, Response
from requests_cache.backends.sqlite import SQLiteCache
from urllib3 import HTTPResponse

import search_cache
from benchmarks.rows import Results

TTL = 86_400
OURS = "this cache"
BARE = "sqlite3 + orjson"
BARE_JSON = "sqlite3 + json"
DISKCACHE = "diskcache"
REQUESTS_CACHE = "requests-cache"


def hashed(query: str) -> str:
    """Return the key of `query` as bare code writes it: SHA-256 hex of it lower-cased, white space collapsed."""
    return sha256(" ".join(query.lower().split()).encode()).hexdigest()


class Contender(ABC):
    """One cache. `request` and `answer` make what its caller holds anyway, so they are not timed."""

    name: str

    def request(self, query: str) -> Any:
        """Return what `hit`, `miss` and `put` take for `query`."""
        return query

    def answer(self, query: str, results: Results) -> Any:
        """Return what `put` takes for `results`."""
        del query
        return results

    @abstractmethod
    def hit(self, request: Any) -> Results | None:
        """Return the results that are stored for `request`, `None` if there are none or they are expired."""

    def miss(self, request: Any) -> Results | None:
        """Look up what is not there; by the same call as `hit`, if the cache has but one."""
        return self.hit(request)

    @abstractmethod
    def put(self, request: Any, answer: Any) -> object:
        """Store `answer` for `TTL` seconds."""

    @abstractmethod
    def close(self) -> None:
        """Close files."""


class Ours(Contender):
    """The public functions of `search_cache`, as a script calls them."""

    name = OURS

    def __init__(self, folder: Path) -> None:
        os.environ["HARNESS_DATA_DIR"] = str(folder)
        os.environ["HARNESS_SEMANTIC"] = "false"  # the others embed nothing: `benchmarks.semantic` measures that
        search_cache.close()  # or the database that an earlier call has opened would get these rows

    def hit(self, request: str) -> Results | None:
        """Go through `cached_search`; it never gets to call the search."""
        return search_cache.cached_search(request, _never)

    def miss(self, request: str) -> Results | None:
        """Go through `get`: `cached_search` would compute and store."""
        return search_cache.get(request)

    def put(self, request: str, answer: Results) -> bool:
        """Go through `put`."""
        return search_cache.put(request, answer, TTL)

    def close(self) -> None:
        """Let go of the database."""
        search_cache.close()


def _never(query: str, max_results: int) -> Results:
    raise AssertionError(f"a hit was expected for {query!r} ({max_results} results)")


class Bare(Contender):
    """The least that sqlite3 and JSON text can do: one table, one index, one statement an operation.

    `select` reads results and expiry by the key; another one reads another table.
    """

    name = BARE
    loads: Callable[[str], Any] = staticmethod(orjson.loads)
    select = "SELECT results, expires_at FROM search_cache WHERE key = ?"
    _schema = """
        CREATE TABLE IF NOT EXISTS search_cache (
            key TEXT PRIMARY KEY, query TEXT NOT NULL, results TEXT NOT NULL,
            created_at REAL NOT NULL, expires_at REAL NOT NULL
        )"""
    _replace = "INSERT OR REPLACE INTO search_cache VALUES (?, ?, ?, ?, ?)"

    def __init__(self, database: Path, *, select: str | None = None) -> None:
        self._connection = sqlite3.connect(database, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if select is None:
            self._connection.execute(self._schema)
        else:
            self.select = select

    def hit(self, request: str) -> Results | None:
        """Read and decode one row."""
        row = self._connection.execute(self.select, (hashed(request),)).fetchone()
        if row is None or row[1] <= time.time():
            return None
        results: Results = self.loads(row[0])
        return results

    miss = hit

    def dumps(self, results: Results) -> str:
        """Encode as JSON text."""
        return orjson.dumps(results).decode()

    def put(self, request: str, answer: Results) -> object:
        """Write one row in one transaction."""
        now = time.time()
        return self._connection.execute(self._replace, (hashed(request), request, self.dumps(answer), now, now + TTL))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class BareJson(Bare):
    """The same with the standard library's json."""

    name = BARE_JSON
    loads: Callable[[str], Any] = staticmethod(json.loads)

    def dumps(self, results: Results) -> str:
        """Encode as JSON text without spaces, as orjson does, so that the rows are the same."""
        return json.dumps(results, separators=(",", ":"))


class Disk(Contender):
    """diskcache as it comes (WAL, synchronous=NORMAL, pickle), under the same hashed key as the others."""

    name = DISKCACHE

    def __init__(self, folder: Path) -> None:
        # only the size limit is changed: at the default of 1 GB it would evict what is to be read
        self._cache = DiskCache(str(folder), size_limit=2**40)

    def hit(self, request: str) -> Results | None:
        """Read and unpickle one value."""
        found: Results | None = self._cache.get(hashed(request))
        return found

    miss = hit

    def put(self, request: str, answer: Results) -> object:
        """Pickle and write one value."""
        return self._cache.set(hashed(request), answer, expire=TTL)

    def close(self) -> None:
        """Close the connection."""
        self._cache.close()


class Requests(Contender):
    """requests-cache's SQLite backend in WAL mode (synchronous=NORMAL then, as everywhere here), pickle serialiser.

    Measured at its backend, where it is fastest: key of the prepared request, `get_response`, expiry, `.json()`; and
    `save_response` of a response whose body has come as JSON. A `CachedSession` adds its own work to each of these.
    """

    name = REQUESTS_CACHE
    _url = "https://search.example/api"
    _headers = {"Content-Type": "application/json"}  # noqa: RUF012 - never changed

    def __init__(self, database: Path) -> None:
        self._cache = SQLiteCache(database, wal=True)

    def request(self, query: str) -> PreparedRequest:
        """Prepare the request: with requests it is there before any cache is asked."""
        return Request("GET", self._url, params={"q": query}).prepare()

    def answer(self, query: str, results: Results) -> Response:
        """Build the response as received: the server has encoded the JSON."""
        response = Response()
        body = orjson.dumps(results)
        response.raw = HTTPResponse(body=BytesIO(body), headers=self._headers, status=200, preload_content=False)
        response.status_code, response.reason, response.encoding = 200, "OK", "utf-8"
        response.headers.update(self._headers)
        response.request = self.request(query)
        response.url = response.request.url or self._url
        response.content  # noqa: B018 - reads the body, as a session does
        return response

    def hit(self, request: PreparedRequest) -> Results | None:
        """Read, unpickle and rebuild one response, and decode its body."""
        response = self._cache.get_response(self._cache.create_key(request))
        if response is None or response.is_expired:
            return None
        results: Results = response.json()
        return results

    miss = hit

    def put(self, request: PreparedRequest, answer: Response) -> object:
        """Pickle and write one response."""
        expires = datetime.now(UTC) + timedelta(seconds=TTL)
        return self._cache.save_response(answer, self._cache.create_key(request), expires)

    def close(self) -> None:
        """Close the connections."""
        self._cache.close()


def open_all(folder: Path) -> list[Contender]:
    """Open every contender on separate files in `folder`."""
    return [
        Ours(folder / "harness"),
        Bare(folder / "bare-orjson.db"),
        BareJson(folder / "bare-json.db"),
        Disk(folder / "diskcache"),
        Requests(folder / "requests-cache.sqlite"),
    ]
