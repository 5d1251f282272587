"""Any text comes back unchanged, or is refused by a typed error."""

import math
import random
import string

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.entries import Entry
from harness.core.keys import canonical_json
from harness.errors import HarnessError, InvalidInput
from harness.storage.postgres.dialect import escaped, unescaped
from harness.storage.postgres.store import PostgresStore
from harness.storage.tables import AUDITS
from tests.storage.embedded import EMBEDDER, SCOPES, ask, embedded, vector_of
from tests.storage.entries import NOW, RESEARCH, SEARCHES, TENANT, a_token, a_tool_entry, an_audit, an_entry

some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD = [
    "\0",
    "\x1b",
    "\x1b0",
    "\x1b[",
    "\0\x1b\0",
    "\x1b[31m red \x1b[0m",
    "\ufeff\u202e",
    "\U0010ffff",
    "é e\u0301",
    "",
]
texts = st.one_of(st.sampled_from(ODD), st.text(alphabet=st.one_of(st.sampled_from("\0\x1b0[a'\\"), st.characters())))
utf8 = texts.filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text))
surrogates = st.tuples(utf8, st.characters(categories=["Cs"]), utf8).map("".join)
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-1e15, 1e15).map(lambda number: number + 0.0)
    | utf8,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(utf8, inner, max_size=3),
    max_leaves=8,
)


@given(utf8)
def test_escaping_is_undone(text: str) -> None:
    """No NUL remains, and nothing is lost; no text becomes a single escape, the name for no tenant."""
    stored = escaped(text)
    assert "\0" not in stored
    assert stored != "\x1b"
    assert unescaped(stored.encode()).decode() == text


@given(utf8, utf8)
def test_two_texts_are_never_escaped_alike(one: str, other: str) -> None:
    """So no two tenants, and no two keys, are the same."""
    assert (escaped(one) == escaped(other)) == (one == other)


@some
@given(tenant=utf8, key=utf8, text=utf8, payload=utf8, own=utf8, short=utf8, long=utf8)
def test_any_text_comes_back(
    store: PostgresStore, tenant: str, key: str, text: str, payload: str, own: str, short: str, long: str
) -> None:
    """As tenant, key, text, payload, own column and abbreviation; in every way of reading."""
    entry = an_entry(key, text=text, payload=payload.encode(), own=(10, own, own), teaches=((short, long),))
    entry = replace(entry, embedding=vector_of("v").tobytes(), embedder=EMBEDDER)
    store.rows.put(SEARCHES, tenant, entry)
    whole = replace(entry, teaches=())
    got = store.rows.get(SEARCHES, tenant, key)
    assert got is not None
    assert (got.text, got.payload) == (text, payload.encode())
    near = store.nearest.search(SEARCHES, tenant, (own, own), vector_of("v"), embedder=EMBEDDER, k=1, now=NOW)
    assert [each.entry for each in near] == [whole]
    assert (
        list(store.listings.scan(SEARCHES, tenant)) == store.listings.find(SEARCHES, tenant, {"engine": own}) == [whole]
    )
    assert store.nearest.meanings(tenant, [short]) == [(short, long)]
    assert tenant in store.admin.tenants()
    assert store.rows.delete(SEARCHES, tenant, [key]) == 1
    assert store.admin.forget(tenant) == 0


@some
@given(params=st.dictionaries(utf8, json, max_size=3), data=json, user=utf8)
def test_any_json_of_a_tool_comes_back(
    store: PostgresStore, params: dict[str, object], data: object, user: str
) -> None:
    """In canonical form, whatever JSONB makes of it; only the NUL character is refused."""
    entry = a_tool_entry("k", created_by=user)
    entry = replace(
        entry,
        payload=canonical_json(data).encode(),
        own=("job_search", canonical_json(params), 2, user),
    )
    if "\\u0000" in canonical_json([data, params]).replace("\\\\", ""):
        with pytest.raises(HarnessError):
            store.rows.put("tool_cache", TENANT, entry)
        return
    store.rows.put("tool_cache", TENANT, entry)
    got = store.rows.get("tool_cache", TENANT, "k")
    assert got is not None
    assert got == entry
    store.admin.clear("tool_cache", TENANT)


@pytest.mark.parametrize(("number", "kept"), [(1e16, 10**16), (-0.0, 0.0), (1e308, 1e308), (5e-324, 5e-324)])
def test_a_number_of_a_tool_comes_back_equal(store: PostgresStore, number: float, kept: float) -> None:
    """But not always in the same spelling: JSONB has no exponents, and no negative zero."""
    entry = replace(a_tool_entry("k", created_by=None), payload=canonical_json([number]).encode())
    store.rows.put("tool_cache", TENANT, entry)
    got = store.rows.get("tool_cache", TENANT, "k")
    assert got is not None
    assert got.payload == canonical_json([kept]).encode()


@some
@given(surrogates)
def test_lone_surrogates_are_an_invalid_input(store: PostgresStore, broken: str) -> None:
    """Wherever they are, in reading and in writing; nothing is half done."""
    entries: list[tuple[str, Entry]] = [
        (TENANT, replace(an_entry("k"), key=broken)),
        (broken, an_entry("k")),
        (TENANT, an_entry("k", text=broken)),
        (TENANT, an_entry("k", own=(10, broken, ""))),
        (TENANT, an_entry("k", teaches=((broken, "x"),))),
        (TENANT, an_entry("k", teaches=(("x", broken),))),
        (TENANT, an_entry("k", payload=b"\xff")),
    ]
    for tenant, entry in entries:
        with pytest.raises(InvalidInput):
            store.rows.put(SEARCHES, tenant, entry)
    for call in (
        lambda: store.rows.get(SEARCHES, TENANT, broken),
        lambda: store.rows.get(SEARCHES, broken, "k"),
        lambda: store.rows.delete(SEARCHES, TENANT, [broken]),
        lambda: store.nearest.meanings(TENANT, [broken]),
        lambda: store.usage.add(TENANT, "2026-01-01", {broken: 1}),
        lambda: store.admin.forget(broken),
        lambda: store.listings.find(SEARCHES, TENANT, {"engine": broken}),
        lambda: store.rows.put("access_tokens", TENANT, replace(a_token("ann"), own=(broken, "writer"))),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert store.admin.tenants() == []
    with store.locks.hold(broken, 0) as mine:
        assert mine


def noise(length: int) -> str:
    """Return text that does not become shorter by compression."""
    return "".join(random.Random(length).choices(string.ascii_letters + string.digits, k=length))


@pytest.mark.parametrize(
    "change",
    [
        {"key": noise(10_000)},
        {"own": (10, noise(10_000), "{}")},
        {"teaches": (("WHO", noise(10_000)),)},
    ],
    ids=["key", "scope", "meaning"],
)
def test_a_key_too_long_for_an_index_is_refused(store: PostgresStore, change: dict[str, object]) -> None:
    """By an invalid input; keys are digests of 64 characters, so this does not happen by accident."""
    with pytest.raises(InvalidInput, match="too long"):
        store.rows.put(SEARCHES, TENANT, replace(an_entry("k"), **change))
    assert list(store.listings.scan(SEARCHES, TENANT)) == []


@pytest.mark.parametrize("length", [64, 1_000, 2_000])
def test_keys_and_names_of_usual_lengths_are_kept(store: PostgresStore, length: int) -> None:
    """A key of up to 2,000 characters, and a tenant of 500."""
    tenant = noise(500)
    store.rows.put(SEARCHES, tenant, an_entry(noise(length)))
    assert store.rows.get(SEARCHES, tenant, noise(length)) is not None


def test_a_long_key_is_a_miss(store: PostgresStore) -> None:
    """No row can have it; it is not an error."""
    assert store.rows.get(SEARCHES, TENANT, noise(10_000)) is None
    assert store.rows.delete(SEARCHES, TENANT, [noise(10_000)]) == 0


@pytest.mark.slow
def test_a_payload_of_16_megabytes_comes_back(store: PostgresStore) -> None:
    """With NUL and escape characters, by every way of reading."""
    payload = ("\0\x1b" + noise(1_000)).encode() * (2**24 // 1_002)
    store.rows.put(SEARCHES, TENANT, embedded("k", payload=payload))
    got = store.rows.get(SEARCHES, TENANT, "k")
    assert got is not None
    assert got.payload == payload
    (near,) = store.nearest.search(SEARCHES, TENANT, SCOPES[SEARCHES], vector_of("k"), embedder=EMBEDDER, k=1, now=NOW)
    assert near.entry.payload == payload
    data = canonical_json([noise(1_000)] * 4_000)
    store.rows.put("tool_cache", TENANT, replace(a_tool_entry("k", created_by=None), payload=data.encode()))
    tool = store.rows.get("tool_cache", TENANT, "k")
    assert tool is not None
    assert tool.payload == data.encode()


def broken_vectors() -> list[bytes]:
    """Return embeddings that cannot be compared with any vector."""
    numbers = [[math.nan] * 32, [math.inf] * 32, [1.0] * 31 + [-math.inf], [1.0] * 20_000]
    return [b"", b"\0", b"abc", *(np.array(each, "<f4").tobytes() for each in numbers)]


@pytest.mark.parametrize("table", [SEARCHES, RESEARCH])
@pytest.mark.parametrize("embedding", broken_vectors(), ids=["none", "one", "odd", "nan", "inf", "-inf", "long"])
def test_a_broken_embedding_is_never_near(store: PostgresStore, table: str, embedding: bytes) -> None:
    """Put or given later, its row is there as if it had none, and hides no other row."""
    store.rows.put(table, TENANT, embedded("sound", table))
    store.rows.put(table, TENANT, embedded("put", table, embedding=embedding))
    store.rows.put(table, TENANT, an_entry("given", table))
    store.nearest.embed(table, TENANT, "given", embedding, EMBEDDER)
    assert [key for key, _ in ask(store, vector_of("sound"), 5, table)] == ["sound"]
    assert store.rows.get(table, TENANT, "put") is not None
    assert store.listings.stats(table, TENANT, NOW).total == 3
    assert [entry.key for entry in store.listings.scan(table, TENANT)] == ["sound", "put", "given"]
    assert store.admin.verify(repair=False) == []


@pytest.mark.parametrize(
    "damage", ["query_a = 'x'", "query_b = ''", "overlap = 1.5", "similarity = 'NaN'", "created_at = 'Infinity'"]
)
def test_a_damaged_audit_is_reported_and_deleted(store: PostgresStore, damage: str) -> None:
    """The schema allows it, and it is never read; the others stay."""
    first, second = an_audit("a", "b"), an_audit("c", "d", at=1.0)
    for audit in (first, second):
        store.audits.put(TENANT, audit)
    sql = f"UPDATE {AUDITS} SET {damage} WHERE query_a IN ('c', 'd')"
    assert store.audits._statements.write(TENANT, lambda connection: connection.execute(sql).rowcount) == 1
    assert store.audits.all(TENANT) == [first]
    (problem,) = store.admin.verify(repair=False)
    assert TENANT in problem
    assert AUDITS in problem
    assert store.admin.verify(repair=True) == [problem]
    assert store.admin.verify(repair=False) == []
    assert store.audits.count(TENANT) == (0, 1)


@pytest.mark.parametrize("asked", [[math.nan] * 32, [math.inf] * 32, [], [0.0] * 32, [1.0] * 20_000])
def test_a_broken_question_is_near_to_nothing(store: PostgresStore, asked: list[float]) -> None:
    """Not an error of the server."""
    store.rows.put(SEARCHES, TENANT, embedded("k"))
    near = ask(store, np.array(asked, np.float32), at_least=0.5)
    assert near == []


@pytest.mark.parametrize("own", [(2**63, "", ""), (2**70, "", ""), (-(2**63) - 1, "", "")])
def test_numbers_that_no_column_holds_are_refused(store: PostgresStore, own: tuple[object, ...]) -> None:
    """By a typed error."""
    with pytest.raises(HarnessError):
        store.rows.put(SEARCHES, TENANT, an_entry("k", own=own))


@pytest.mark.parametrize("moment", [math.inf, 1e15, 253_402_300_800.0, -1e10, 0.1])
@pytest.mark.parametrize("table", [SEARCHES, "tool_cache"])
def test_any_time_is_kept_or_refused(store: PostgresStore, table: str, moment: float) -> None:
    """Rows that never expire stay; a time outside the calendar is refused by a typed error."""
    made = an_entry("k") if table == SEARCHES else a_tool_entry("k", created_by=None)
    entry = replace(made, expires_at=moment)
    try:
        store.rows.put(table, TENANT, entry)
    except HarnessError:
        assert (table, moment) == ("tool_cache", 1e15)
        return
    got = store.rows.get(table, TENANT, "k")
    assert got is not None
    assert got.expires_at == moment
