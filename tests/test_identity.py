"""Access tokens: stored as a hash, refused for every reason with the same message; and their rate limit."""

import base64
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.freshness import DAY
from harness.core.tables import TOKENS
from harness.errors import AccessDenied, InvalidInput, StoreError, TooManyRequests
from harness.identity import LOCAL, MAX_KNOWN, REFUSED, ROLES, Identity, NewToken, RateLimit, Tokens
from harness.ports import Store
from tests.fakes import FakeClock, MemoryStore, refusing

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", fullmatch=True)
TEXTS = st.one_of(
    st.text(max_size=200), st.from_regex(r"hrn_[A-Za-z0-9_-]{0,90}\.[0-9a-f]{14,18}\.[A-Za-z0-9_-]{41,45}")
)


@pytest.fixture
def tokens(store: Store, clock: FakeClock) -> Tokens:
    """The tokens in that store."""
    return Tokens(store, clock)


def secret_of(token: NewToken) -> str:
    """Return the secret of a token."""
    return token.text.rpartition(".")[2]


# --- create and verify


@pytest.mark.parametrize("role", ROLES)
def test_a_token_identifies_its_user(tokens: Tokens, role: str) -> None:
    """Tenant, user, role and the token's id; white space around it, as in a file, is ignored."""
    made = tokens.create("lab", "ada", role)
    assert tokens.verify(made.text) == Identity("lab", "ada", role, made.info.id)
    assert tokens.verify(f" {made.text}\n").user == "ada"


@given(tenant=NAMES, user=NAMES)
def test_every_allowed_name_is_returned_unchanged(tenant: str, user: str) -> None:
    """For tenants and users."""
    tokens = Tokens(MemoryStore())
    found = tokens.verify(tokens.create(tenant, user, "reader").text)
    assert (found.tenant, found.user) == (tenant, user)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", ".lab", "-lab", "a/b", "läb", "a" * 65, "lab\n", "a\0", "a.b.c d", "a:b"]
)
def test_an_unusable_name_is_refused(tokens: Tokens, name: str) -> None:
    """For a tenant and for a user."""
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


def test_only_a_hash_is_stored(store: Store, tokens: Tokens) -> None:
    """Neither the store nor the description of a token contains the secret."""
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
    """Return the message that refuses a token."""
    with pytest.raises(AccessDenied) as raised:
        tokens.verify(text)
    return str(raised.value)


def with_tenant(text: str, tenant: str) -> str:
    """Return the token with another tenant written into it."""
    _, _, rest = text.partition(".")
    return f"hrn_{base64.urlsafe_b64encode(tenant.encode()).decode().rstrip('=')}.{rest}"


def test_every_refusal_is_the_same(tokens: Tokens, store: Store, clock: FakeClock) -> None:
    """Wrong secret, unknown id, another or no tenant, revoked, expired, or not a token: the message does not differ."""
    made, other = tokens.create("lab", "ada", "admin"), tokens.create("mill", "bob", "admin")
    head, _, secret = made.text.rpartition(".")
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    refused = [
        f"{head}.{changed}",
        f"{head}.{secret_of(other)}",
        f"hrn_bGFi.{'0' * 16}.{secret}",
        with_tenant(made.text, "mill"),
        with_tenant(made.text, "unknown"),
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
    """It is valid one second before, and never after, although the row is still there."""
    made = tokens.create("lab", "ada", "reader", expires_days=1)
    clock.advance(DAY - 1)
    assert tokens.verify(made.text).tenant == "lab"
    clock.advance(1)
    assert refusal(tokens, made.text) == REFUSED
    assert tokens.list("lab") == [made.info]


def test_the_tenant_has_one_spelling(tokens: Tokens) -> None:
    """Base64 has unused bits and padding: only one spelling of a token is valid."""
    made = tokens.create("lab1", "ada", "reader")  # four bytes leave four spare bits in the last letter
    encoded = made.text[4:].partition(".")[0]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in letters.replace(encoded[-1], ""):
        refusal(tokens, made.text.replace(encoded, encoded[:-1] + last))
    refusal(tokens, made.text.replace(encoded, f"{encoded}=="))


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"hash": 1}', b'{"hash": ""}', b'{"hash": "\\u00e9"}'])
def test_a_damaged_row_is_refused(payload: bytes) -> None:
    """For any value instead of the hash."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("lab", "ada", "admin")
    [row] = store.listings.scan(TOKENS, "lab")
    store.rows.put(TOKENS, "lab", replace(row, payload=payload))
    assert refusal(tokens, made.text) == REFUSED
    assert [token.id for token in tokens.list()] == [made.info.id]


def test_a_row_with_an_unknown_role_is_a_readers() -> None:
    """The role that allows least."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("lab", "ada", "admin")
    [row] = store.listings.scan(TOKENS, "lab")
    store.rows.put(TOKENS, "lab", replace(row, own=("ada", "god")))
    assert tokens.verify(made.text).role == "reader"


def test_a_row_opens_no_other_tenant() -> None:
    """A user with a token cannot change it into one for another tenant."""
    store = MemoryStore()
    tokens = Tokens(store)
    made = tokens.create("mill", "bob", "admin")
    tokens.create("lab", "ada", "admin")
    assert refusal(tokens, with_tenant(made.text, "lab")) == REFUSED


@given(text=TEXTS)
@pytest.mark.slow
def test_no_other_text_is_a_token(text: str) -> None:
    """It is refused, and the error does not repeat it."""
    tokens = Tokens(MemoryStore())
    tokens.create("lab", "ada", "admin")
    with pytest.raises(AccessDenied) as raised:
        tokens.verify(text)
    assert str(raised.value) == REFUSED


def test_an_unreadable_store_is_not_a_refusal() -> None:
    """The token may be valid, so the error is the store's."""
    text = Tokens(MemoryStore()).create("lab", "ada", "admin").text
    with pytest.raises(StoreError, match="the disk is gone"):
        Tokens(refusing(StoreError("the disk is gone"), "rows.get")).verify(text)


def test_nothing_is_logged(tokens: Tokens, caplog: pytest.LogCaptureFixture) -> None:
    """No part of a secret, in any use of a token."""
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
    """By `hmac.compare_digest`, also when there is no row."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr("hmac.compare_digest", compare)
    made = tokens.create("lab", "ada", "admin")
    tokens.verify(made.text)
    refusal(tokens, with_tenant(made.text, "unknown"))
    assert [len(a) == len(b) == 64 for a, b in compared] == [True, True]


# --- list and revoke


def test_a_revoked_token_is_gone_at_once(tokens: Tokens) -> None:
    """Revoked by its id in any tenant; the second time there is nothing to revoke."""
    kept, gone = tokens.create("lab", "ada", "reader"), tokens.create("mill", "bob", "reader")
    assert tokens.revoke(gone.info.id)
    assert not tokens.revoke(gone.info.id)
    assert tokens.list() == [kept.info]
    assert tokens.verify(kept.text).user == "ada"


def test_with_a_tenant_only_its_tokens_count(tokens: Tokens) -> None:
    """Tokens of other tenants are neither listed nor revoked."""
    mine, other = tokens.create("lab", "ada", "reader"), tokens.create("mill", "bob", "reader")
    assert tokens.list("lab") == [mine.info]
    assert not tokens.revoke(other.info.id, "lab")
    assert tokens.verify(other.text).tenant == "mill"


@pytest.mark.parametrize("identifier", ["", "x", "0" * 15, "0" * 17, "A" * 16, "0123456789abcde\n"])
def test_an_invalid_id_revokes_nothing(tokens: Tokens, identifier: str) -> None:
    """The error does not repeat it: it may be a token."""
    with pytest.raises(InvalidInput, match="16 digits"):
        tokens.revoke(identifier)


def test_deleting_a_tenant_or_a_user_deletes_its_tokens(tokens: Tokens, store: Store) -> None:
    """Deleted users are refused."""
    ada, eve, bob = (tokens.create(*who, "reader") for who in (("lab", "ada"), ("lab", "eve"), ("mill", "bob")))
    store.admin.forget("lab", "ada")
    assert [token.user for token in tokens.list()] == ["eve", "bob"]
    store.admin.forget("lab")
    assert tokens.list() == [bob.info]
    for gone in (ada, eve):
        assert refusal(tokens, gone.text) == REFUSED


# --- roles


def test_roles_include_those_below() -> None:
    """An admin includes a writer, a writer a reader; the error names the role that is needed."""
    for role in ROLES:
        identity = Identity("lab", "ada", role)
        for needed in ROLES:
            if ROLES.index(needed) <= ROLES.index(role):
                identity.require(needed)
            else:
                with pytest.raises(AccessDenied, match=f"role {needed}, and this one is a {role}'s"):
                    identity.require(needed)


def test_who_may_administer_which_tenant() -> None:
    """The local user all; an admin with a token only its own tenant."""
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


# --- rate limit


def test_a_bucket_empties_and_refills() -> None:
    """`per_minute` requests at once, then one per interval; the error says how long to wait."""
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
    """A refusal of one does not change the others."""
    rate = RateLimit(1, FakeClock())
    rate.check("a")
    with pytest.raises(TooManyRequests):
        rate.check("a")
    rate.check("b")


@settings(max_examples=50)
@given(per_minute=st.integers(1, 20), steps=st.lists(st.floats(0, 30), max_size=100))
def test_no_minute_has_more_than_a_bucket_and_its_refill(per_minute: int, steps: list[float]) -> None:
    """At most twice the rate in any 60 seconds, and the rate on average."""
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


def test_the_number_of_buckets_is_bounded() -> None:
    """Beyond 10,000 tokens the fullest buckets are dropped; empty ones stay, so that many tokens gain nothing."""
    rate = RateLimit(2, FakeClock())
    for _ in range(2):
        rate.check("greedy")
    for number in range(3 * MAX_KNOWN):
        rate.check(f"{number}")
        assert len(rate._full_at) <= MAX_KNOWN
    with pytest.raises(TooManyRequests):
        rate.check("greedy")


def test_threads_together_get_no_more_than_one_would() -> None:
    """200 requests at once share one bucket."""
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
def test_a_rate_below_one_is_refused(per_minute: float) -> None:
    """At least one request a minute."""
    with pytest.raises(InvalidInput, match="at least once a minute"):
        RateLimit(per_minute)
