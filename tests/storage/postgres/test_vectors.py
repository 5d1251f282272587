"""An index for each large scope: built next to all other work, used, good enough, and dropped with its tenant."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from harness.core.freshness import latest_creation
from harness.storage.postgres.dialect import POSTGRES_TABLES
from harness.storage.postgres.row_codec import ROW_CODECS
from harness.storage.postgres.store import PostgresStore
from harness.storage.postgres.vectors import _INDEXES, _through_index
from tests.storage.embedded import SCOPES, Vectors, ask, embedded, keys_near, vector_of
from tests.storage.entries import NOW, SEARCHES, TENANT, an_entry
from tests.storage.postgres.servers import Server

pytestmark = pytest.mark.slow

DIMENSION = 384
CLUSTERS = 150
MODEL = "model-384"
OTHER_SCOPE = ("ddgs", '{"region":"de-de"}')
ROWS = 3_000


def clustered(number: int, seed: int) -> Vectors:
    """Return unit vectors around a few directions, as those of texts on a few subjects are."""
    centres = np.random.default_rng(1).standard_normal((CLUSTERS, DIMENSION))
    rng = np.random.default_rng(seed)
    vectors = centres[rng.integers(CLUSTERS, size=number)] + 0.5 * rng.standard_normal((number, DIMENSION))
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def fill(store: PostgresStore, tenant: str, vectors: Vectors) -> None:
    """Put a row for each vector in one transaction: half are expired, and a third of another scope."""
    table = POSTGRES_TABLES[SEARCHES]
    rows = []
    for number, vector in enumerate(vectors):
        own = (10, *(OTHER_SCOPE if number % 3 == 0 else SCOPES[SEARCHES]))
        expires = NOW - 1 if number % 2 else NOW + 3_600
        entry = an_entry(str(number), own=own, expires_at=expires, embedding=vector.tobytes(), embedder=MODEL)
        rows.append(ROW_CODECS[table.logical].values(tenant, entry))
    store._connections.introduce(tenant)
    store._connections.run(tenant, lambda each: each.cursor().executemany(table.upsert, rows))


def fresh(number: int, scope: tuple[str, ...]) -> bool:
    """Return whether a row of `fill` may be found."""
    return number % 2 == 0 and (number % 3 == 0) == (scope == OTHER_SCOPE)


def indexes(server: Server, *, valid: bool = True) -> list[str]:
    """Return the names of the vector indexes."""
    rows = server.execute(f"{_INDEXES.replace('%', '%%')} AND indisvalid = %s", valid)
    return sorted(str(name) for (name,) in rows)


def wait_for_index(server: Server, number: int = 1) -> None:
    """Wait until `number` indexes are made."""
    deadline = time.monotonic() + 120
    while len(indexes(server)) < number:
        assert time.monotonic() < deadline, "no index is made"
        time.sleep(0.1)


@pytest.fixture
def small(url: str, server: Server) -> Iterator[PostgresStore]:
    """Return an empty store that indexes from 20 rows on; indexes of earlier tests are dropped."""
    store = PostgresStore(url, busy_seconds=10, index_from=20)
    store.admin.verify(repair=True)
    yield store
    store.close()


def put(store: PostgresStore, tenant: str = TENANT, number: int = 25) -> None:
    """Put enough rows for an index."""
    for each in range(number):
        store.rows.put(SEARCHES, tenant, embedded(str(each)))


@pytest.fixture
def large(url: str) -> Iterator[PostgresStore]:
    """Return an empty store that indexes from 200 rows on."""
    store = PostgresStore(url, busy_seconds=30, index_from=200)
    yield store
    store.close()


def test_an_index_finds_the_true_neighbours(large: PostgresStore, server: Server) -> None:
    """At least 98 % of the nearest eight of 3,000 rows, half expired, in two scopes, next to another tenant's."""
    vectors = clustered(ROWS, 2)
    fill(large, TENANT, vectors)
    fill(large, "other", clustered(ROWS, 3))
    asked = clustered(40, 4)

    def found(scope: tuple[str, ...]) -> list[set[int]]:
        got = [large.nearest.search(SEARCHES, TENANT, scope, each, embedder=MODEL, k=8, now=NOW) for each in asked]
        return [{int(near.entry.key) for near in one} for one in got]

    def true(scope: tuple[str, ...]) -> list[set[int]]:
        held = np.array([number for number in range(ROWS) if fresh(number, scope)])
        nearest = np.argsort(-(asked @ vectors[held].T), axis=1)[:, :8]
        return [set(held[each]) for each in nearest]

    for scope in (OTHER_SCOPE, SCOPES[SEARCHES]):
        assert found(scope) == true(scope), "compared row by row they are exact"
    wait_for_index(server)
    large.vectors._looked.clear()
    server.execute("ANALYZE search_cache")
    for scope in (OTHER_SCOPE, SCOPES[SEARCHES]):
        pairs = list(zip(found(scope), true(scope), strict=True))
        assert sum(len(got & expected) for got, expected in pairs) >= 0.98 * 8 * len(asked)
    assert large.vectors.counts(SEARCHES, TENANT) == (ROWS, 0)
    assert uses_index(large, asked[0])


def uses_index(store: PostgresStore, vector: Vectors) -> bool:
    """Return whether the server answers the statement by the index."""
    table = POSTGRES_TABLES[SEARCHES]
    text = f"[{','.join(map(str, vector.tolist()))}]"
    bound = (TENANT, *SCOPES[SEARCHES], MODEL, NOW, latest_creation(NOW), DIMENSION, text, 32)
    sql = f"EXPLAIN {_through_index(table, DIMENSION)}"
    plan = store._connections.run(TENANT, lambda each: each.execute(sql, bound, prepare=False).fetchall())
    return any("harness_hnsw_" in line for (line,) in plan)


def test_a_new_row_is_found_with_an_index(small: PostgresStore, server: Server) -> None:
    """An index finds every row as soon as it is put, and no deleted one."""
    put(small)
    ask(small, vector_of("0"))
    wait_for_index(server)
    small.vectors._looked.clear()
    for key in ("new", "newer"):
        small.rows.put(SEARCHES, TENANT, embedded(key))
        assert keys_near(small, vector_of(key), 1) == [key]
    small.rows.delete(SEARCHES, TENANT, ["new"])
    assert "new" not in keys_near(small, vector_of("new"), 3)


def test_each_large_tenant_has_its_own_index(small: PostgresStore, server: Server) -> None:
    """No tenant finds another's rows by it."""
    put(small)
    put(small, "large")
    put(small, "little", 3)
    for tenant in (TENANT, "large", "little"):
        ask(small, vector_of("0"), tenant=tenant)
    wait_for_index(server, 2)
    small.vectors._looked.clear()
    time.sleep(0.3)
    assert len(indexes(server)) == 2
    assert len(ask(small, vector_of("0"), k=50, tenant="little")) == 3
    assert len(ask(small, vector_of("0"), k=50, tenant="large")) == 25


def break_off(server: Server, name: str) -> None:
    """Leave an index as a killed process leaves it."""
    server.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", f'"{name}"')


def test_an_index_that_was_never_finished_is_reported_and_dropped(small: PostgresStore, server: Server) -> None:
    """`verify` names it, `repair` drops it, and the next one that is built is whole."""
    put(small)
    assert small.admin.reindex() == 25
    (name,) = indexes(server)
    break_off(server, name)
    assert small.admin.verify(repair=False) == [f"the vector index {name} was never finished"]
    assert indexes(server, valid=False) == [name]
    assert small.admin.verify(repair=True) == [f"the vector index {name} was never finished"]
    assert indexes(server, valid=False) == []
    assert small.admin.verify(repair=False) == []


def test_an_index_that_was_never_finished_is_rebuilt(small: PostgresStore, server: Server) -> None:
    """Without any help: it does not stop the next attempt."""
    put(small)
    small.admin.reindex()
    (name,) = indexes(server)
    break_off(server, name)
    small.vectors._looked.clear()
    assert keys_near(small, vector_of("3"), 1) == ["3"]
    wait_for_index(server)
    assert indexes(server) == [name]
    assert indexes(server, valid=False) == []


def test_a_builder_that_dies_leaves_searches_right(small: PostgresStore, server: Server) -> None:
    """Its session ends in the middle: rows are compared one by one until the index is built."""
    import psycopg

    put(small)
    with psycopg.connect(server.url) as reader:  # whose open transaction the builder has to wait for
        reader.execute("SELECT count(*) FROM search_cache")
        reader.execute("INSERT INTO \"Tenant\" (id) VALUES ('x')")
        ask(small, vector_of("0"))
        building = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%%'"
        deadline = time.monotonic() + 30
        reader.execute("LOCK TABLE search_cache IN ROW EXCLUSIVE MODE")
        while not (pids := server.execute(building)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [each for each in small.admin.verify(repair=True) if "never finished" in each] == [], "it is being made"
        if pids:
            server.execute("SELECT pg_terminate_backend(%s)", pids[0][0])
        assert keys_near(small, vector_of("3"), 1) == ["3"]
        reader.rollback()
    deadline = time.monotonic() + 60  # the session that was ended still holds the lock for a moment
    while indexes(server, valid=False) and time.monotonic() < deadline:
        small.admin.verify(repair=True)
        time.sleep(0.1)
    assert indexes(server, valid=False) == []


def test_reindexing_rebuilds_large_indexes(small: PostgresStore, server: Server) -> None:
    """And drops those that are not needed any more."""
    put(small)
    put(small, "large")
    put(small, "little", 3)
    assert small.admin.reindex() == 50
    first = indexes(server)
    assert len(first) == 2
    small.admin.clear(SEARCHES, "large")
    assert small.admin.reindex() == 25
    assert len(indexes(server)) == 1
    assert indexes(server)[0] in first


def test_a_tenants_indexes_are_dropped_with_it(small: PostgresStore, server: Server) -> None:
    """At once if the store deletes it; by `verify` if plain SQL deleted it."""
    put(small)
    put(small, "large")
    small.admin.reindex()
    small.admin.forget("large")
    (name,) = indexes(server)
    server.execute('DELETE FROM "Tenant"')
    assert small.admin.verify(repair=False) == [f"the vector index {name} belongs to no tenant any more"]
    assert small.admin.verify(repair=True) == [f"the vector index {name} belongs to no tenant any more"]
    assert indexes(server) == []


def test_vectors_too_long_for_an_index_are_compared(small: PostgresStore, server: Server) -> None:
    """Row by row, however many there are."""
    for number in range(25):
        vector = vector_of(str(number), 2_500)
        small.rows.put(SEARCHES, TENANT, embedded(str(number), vector=vector, embedder="long"))
    assert keys_near(small, vector_of("3", 2_500), 1, embedder="long") == ["3"]
    assert small.admin.reindex() == 0
    assert indexes(server) == []
    assert indexes(server, valid=False) == []
