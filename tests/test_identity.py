"""Access tokens: made once, known by their hash, refused for every reason in the same words; and how often they ask."""

import base64
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.freshness import DAY
from harness.core.tables import TOKENS
from harness.errors import AccessDenied, InvalidInput, StoreError, TooManyRequests
from harness.identity import LOCAL, MAX_KNOWN, REFUSED, ROLES, Identity, NewToken, RateLimit, Tokens
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.fakes import FakeClock, MemoryStore, refusing

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", fullmatch=True)
TEXTS = st.one_of(
    st.text(max_size=200), st.from_regex(r"hrn_[A-Za-z0-9_-]{0,90}\.[0-9a-f]{14,18}\.[A-Za-z0-9_-]{41,45}")
)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that is moved by hand."""
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store."""
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "tokens.db")
    yield opened
    opened.close()


@pytest.fixture
def tokens(store: Store, clock: FakeClock) -> Tokens:
    """The tokens in that store."""
    return Tokens(store, clock)


def secret_of(token: NewToken) -> str:
    """Return the part of a token that nobody else may see."""
    return token.text.rpartition(".")[2]


# --- create and verify


@pytest.mark.parametrize("role", ROLES)
def test_a_token_tells_who_holds_it(tokens: Tokens, role: str) -> None:
    """Tenant, user, role, and the token's own id; blanks around it, as a file has, do not matter."""
    made = tokens.create("lab", "ada", role)
    assert tokens.verify(made.text) == Identity("lab", "ada", role, made.info.id)
    assert tokens.verify(f" {made.text}\n").user == "ada"


@given(tenant=NAMES, user=NAMES)
def test_every_allowed_name_comes_back(tenant: str, user: str) -> None:
    """Whatever a tenant and a user may be called."""
    tokens = Tokens(MemoryStore())
    found = tokens.verify(tokens.create(tenant, user, "reader").text)
    assert (found.tenant, found.user) == (tenant, user)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", ".lab", "-lab", "a/b", "läb", "a" * 65, "lab\n", "a\0", "a.b.c d", "a:b"]
)
def test_a_name_that_is_none_is_refused(tokens: Tokens, name: str) -> None:
    """Of a tenant, and of a user."""
    with pytest.raises(InvalidInput, match="the name of a tenant"):
        tokens.create(name, "ada", "reader")
    with pytest.raises(InvalidInput, match="the name of a user"):
        tokens.create("lab", name, "reader")
    assert tokens.list() == []


def test_a_role_and_a_lifetime_are_checked(tokens: Tokens) -> None:
    """There are three roles, and a token is valid for 1 to 3,650 days."""
    with pytest.raises(InvalidInput, match="choose reader, writer, admin"):
        tokens.create("lab", "ada", "root")
    for days in (0, -1, 3_651, 10**30):
        with pytest.raises(InvalidInput, match="days"):
            tokens.create("lab", "ada", "reader", expires_days=days)
    tokens.create("lab", "ada", "reader", expires_days=3_650)


def test_only_a_hash_is_kept(store: Store, tokens: Tokens) -> None:
    """Nothing that the store holds has the secret in it, nor does what is told of a token."""
    made = tokens.create("lab", "ada", "writer", name="of a\n job", created_by="eve")
    [row] = store.listings.scan(TOKENS, "lab")
    assert row.own == ("ada", "writer")
    assert secret_of(made) not in f"{row}"
    [info] = tokens.list()
    assert info == made.info
    assert (info.name, info.created_by) == ("of a job", "eve")
    for told in (f"{made!r} {made}", f"{info!r}"):
        assert secret_of(made) not in told


def test_two_tokens_are_never_alike(tokens: Tokens) -> None:
    """Neither their ids nor their secrets, and a secret has 256 bits."""
    made = [tokens.create("lab", "ada", "reader") for _ in range(50)]
    assert len({token.info.id for token in made}) == len({secret_of(token) for token in made}) == 50
    assert all(len(base64.urlsafe_b64decode(secret_of(token) + "=")) == 32 for token in made)


# --- refusals


def refusal(tokens: Tokens, text: str) -> str:
    """Return in what words a token is refused."""
    with pytest.raises(AccessDenied) as raised:
        tokens.verify(text)
    return str(raised.value)


def with_tenant(text: str, tenant: str) -> str:
    """Return the token with another tenant written into it."""
    _, _, rest = text.partition(".")
    return f"hrn_{base64.urlsafe_b64encode(tenant.encode()).decode().rstrip('=')}.{rest}"


def test_every_refusal_is_the_same(tokens: Tokens, store: Store, clock: FakeClock) -> None:
    """Wrong secret, unknown id, another or no tenant, revoked, expired, or no token at all: nobody learns which."""
    made, other = tokens.create("lab", "ada", "admin"), tokens.create("mill", "bob", "admin")
    head, _, secret = made.text.rpartition(".")
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    refused = [
        f"{head}.{changed}",
        f"{head}.{secret_of(other)}",
        f"hrn_bGFi.{'0' * 16}.{secret}",
        with_tenant(made.text, "mill"),
        with_tenant(made.text, "nobody"),
        made.text.replace("hrn_", "HRN_"),
        made.text + "A",
        made.text[:-1],
        "",
        "hrn_",
        "Bearer " + made.text,
        made.text + "\0",
        "x" * 1_000_000,
    ]
    assert {refusal(tokens, text) for text in refused} == {REFUSED}
    assert tokens.revoke(other.info.id)
    assert refusal(tokens, other.text) == REFUSED
    clock.advance(365 * DAY)
    assert refusal(tokens, made.text) == REFUSED


def test_a_token_is_valid_until_the_very_second(tokens: Tokens, clock: FakeClock) -> None:
    """One second before its end it is; then never again, though the row is still there."""
    made = tokens.create("lab", "ada", "reader", expires_days=1)
    clock.advance(DAY - 1)
    assert tokens.verify(made.text).tenant == "lab"
    clock.advance(1)
    assert refusal(tokens, made.text) == REFUSED
    assert tokens.list("lab") == [made.info]


def test_the_tenant_cannot_be_written_in_two_ways(tokens: Tokens) -> None:
    """Base64 has spare bits and fillings: one spelling of a token is valid, and no other."""
    made = tokens.create("lab1", "ada", "reader")  # four bytes leave four spare bits in the last letter
    encoded = made.text[4:].partition(".")[0]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in letters.replace(encoded[-1], ""):
        refusal(tokens, made.text.replace(encoded, encoded[:-1] + last))
    refusal(tokens, made.text.replace(encoded, f"{encoded}=="))


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"hash": 1}', b'{"hash": ""}', b'{"hash": "\\u00e9"}'])
def test_a_damaged_row_lets_nobody_in(payload: bytes) -> None:
    """Whatever stands in place of the hash."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("lab", "ada", "admin")
    [row] = store.listings.scan(TOKENS, "lab")
    store.rows.put(TOKENS, "lab", replace(row, payload=payload))
    assert refusal(tokens, made.text) == REFUSED
    assert [token.id for token in tokens.list()] == [made.info.id]


def test_a_row_with_an_unknown_role_is_a_readers() -> None:
    """The least that there is."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("lab", "ada", "admin")
    [row] = store.listings.scan(TOKENS, "lab")
    store.rows.put(TOKENS, "lab", replace(row, own=("ada", "god")))
    assert tokens.verify(made.text).role == "reader"


def test_a_row_in_another_tenants_name_is_of_no_use() -> None:
    """Somebody with a row of their own cannot make a token of it that opens another tenant."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("mill", "bob", "admin")
    tokens.create("lab", "ada", "admin")
    assert refusal(tokens, with_tenant(made.text, "lab")) == REFUSED


@settings(max_examples=100)
@given(text=TEXTS)
def test_no_text_that_was_not_made_here_is_a_token(text: str) -> None:
    """Whatever it is, it is refused, without its being told in the error."""
    tokens = Tokens(MemoryStore())
    tokens.create("lab", "ada", "admin")
    with pytest.raises(AccessDenied) as raised:
        tokens.verify(text)
    assert str(raised.value) == REFUSED


def test_a_store_that_cannot_be_read_is_no_refusal() -> None:
    """The token may be valid: it is the store's error that is told."""
    text = Tokens(MemoryStore()).create("lab", "ada", "admin").text
    with pytest.raises(StoreError, match="the disk is gone"):
        Tokens(refusing(StoreError("the disk is gone"), "rows.get")).verify(text)


def test_nothing_is_logged(tokens: Tokens, caplog: pytest.LogCaptureFixture) -> None:
    """No part of a secret, whatever happens to a token."""
    caplog.set_level(logging.DEBUG)
    made = tokens.create("lab", "ada", "admin")
    tokens.verify(made.text)
    refusal(tokens, made.text[:-1])
    with pytest.raises(InvalidInput) as raised:
        tokens.revoke(made.text)
    assert secret_of(made) not in str(raised.value)
    tokens.revoke(made.info.id)
    refusal(tokens, made.text)
    assert secret_of(made)[:10] not in caplog.text


def test_the_hashes_are_compared_in_constant_time(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the library's function for it, and when there is no row, too."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr("hmac.compare_digest", compare)
    made = tokens.create("lab", "ada", "admin")
    tokens.verify(made.text)
    refusal(tokens, with_tenant(made.text, "nobody"))
    assert [len(a) == len(b) == 64 for a, b in compared] == [True, True]


# --- list and revoke


def test_a_revoked_token_is_gone_at_once(tokens: Tokens) -> None:
    """Revoked by its id, in whosever tenant it is; the second time there is nothing to revoke."""
    kept, gone = tokens.create("lab", "ada", "reader"), tokens.create("mill", "bob", "reader")
    assert tokens.revoke(gone.info.id)
    assert not tokens.revoke(gone.info.id)
    assert tokens.list() == [kept.info]
    assert tokens.verify(kept.text).user == "ada"


def test_with_a_tenant_only_its_tokens_are_meant(tokens: Tokens) -> None:
    """Another's are neither listed nor revoked."""
    mine, other = tokens.create("lab", "ada", "reader"), tokens.create("mill", "bob", "reader")
    assert tokens.list("lab") == [mine.info]
    assert not tokens.revoke(other.info.id, "lab")
    assert tokens.verify(other.text).tenant == "mill"


@pytest.mark.parametrize("identifier", ["", "x", "0" * 15, "0" * 17, "A" * 16, "0123456789abcde\n"])
def test_what_is_no_id_revokes_nothing(tokens: Tokens, identifier: str) -> None:
    """It is an error, and not repeated: it may be a token."""
    with pytest.raises(InvalidInput, match="16 digits"):
        tokens.revoke(identifier)


def test_whether_any_token_exists(tokens: Tokens, clock: FakeClock) -> None:
    """One that is valid: an expired one does not count."""
    assert not tokens.any_exist()
    tokens.create("lab", "ada", "reader", expires_days=2)
    tokens.create("mill", "bob", "reader", expires_days=1)
    assert tokens.any_exist()
    clock.advance(DAY)
    assert tokens.any_exist()
    clock.advance(DAY)
    assert not tokens.any_exist()


def test_a_tenants_tokens_go_with_it_and_a_users_with_the_user(tokens: Tokens, store: Store) -> None:
    """Nobody comes in who was deleted."""
    ada, eve, bob = (tokens.create(*who, "reader") for who in (("lab", "ada"), ("lab", "eve"), ("mill", "bob")))
    store.admin.forget("lab", "ada")
    assert [token.user for token in tokens.list()] == ["eve", "bob"]
    store.admin.forget("lab")
    assert tokens.list() == [bob.info]
    for gone in (ada, eve):
        assert refusal(tokens, gone.text) == REFUSED


# --- roles


def test_roles_include_those_below() -> None:
    """An admin may what a writer may, a writer what a reader may; what is needed is told."""
    for role in ROLES:
        identity = Identity("lab", "ada", role)
        for needed in ROLES:
            if ROLES.index(needed) <= ROLES.index(role):
                identity.require(needed)
            else:
                with pytest.raises(AccessDenied, match=f"role {needed}, and this one is a {role}'s"):
                    identity.require(needed)


def test_who_may_look_after_whom() -> None:
    """Without a token everything; with an admin's its own tenant, and nothing that concerns all."""
    LOCAL.require_local()
    LOCAL.require_over("anybody")
    admin = Identity("lab", "ada", "admin", "0" * 16)
    admin.require_over("lab")
    with pytest.raises(AccessDenied, match="another tenant"):
        admin.require_over("mill")
    with pytest.raises(AccessDenied, match="every tenant"):
        admin.require_local()
    with pytest.raises(AccessDenied, match="role admin"):
        Identity("lab", "ada", "writer", "0" * 16).require_over("lab")


# --- how often


def test_a_bucket_empties_and_fills_again() -> None:
    """So many requests at once, then one more each interval; whoever asks too early is told how long to wait."""
    clock = FakeClock()
    rate = RateLimit(60, clock)
    for _ in range(60):
        rate.check("a")
    with pytest.raises(TooManyRequests, match=r"wait 1\.0 s") as raised:
        rate.check("a")
    assert raised.value.wait == pytest.approx(1.0)
    clock.advance(raised.value.wait)
    rate.check("a")
    with pytest.raises(TooManyRequests):
        rate.check("a")


def test_tokens_do_not_use_up_each_others_requests() -> None:
    """One that is refused leaves the others as they were."""
    rate = RateLimit(1, FakeClock())
    rate.check("a")
    with pytest.raises(TooManyRequests):
        rate.check("a")
    rate.check("b")


@settings(max_examples=50)
@given(per_minute=st.integers(1, 20), steps=st.lists(st.floats(0, 30), max_size=100))
def test_no_minute_sees_more_than_a_bucket_and_what_flows_in(per_minute: int, steps: list[float]) -> None:
    """Twice the rate at the most in any 60 seconds, and the rate itself in the long run."""
    clock = FakeClock(0.0)
    rate = RateLimit(per_minute, clock)
    served: list[float] = []
    for step in steps:
        clock.advance(step)
        with suppress(TooManyRequests):
            rate.check("a")
            served.append(clock())
    for start in served:
        assert sum(start <= moment < start + 60 for moment in served) <= 2 * per_minute
    assert len(served) <= per_minute * (1 + clock() / 60) + 1e-6


def test_the_memory_for_it_is_bounded() -> None:
    """Beyond 10,000 tokens the fullest buckets are forgotten; an empty one is not, so that nobody gains by crowds."""
    rate = RateLimit(2, FakeClock())
    for _ in range(2):
        rate.check("greedy")
    for number in range(3 * MAX_KNOWN):
        rate.check(f"{number}")
        assert len(rate._full_at) <= MAX_KNOWN
    with pytest.raises(TooManyRequests):
        rate.check("greedy")


def test_threads_together_get_no_more_than_one_would() -> None:
    """Of 200 requests at once as many as the bucket holds are served."""
    rate = RateLimit(50, FakeClock())

    def served(_: int) -> bool:
        try:
            rate.check("a")
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(served, range(200))) == 50


@pytest.mark.parametrize("per_minute", [0, -1, 0.5, float("nan")])
def test_a_rate_that_lets_nobody_in_is_refused(per_minute: float) -> None:
    """At least one request a minute."""
    with pytest.raises(InvalidInput, match="at least once a minute"):
        RateLimit(per_minute)
