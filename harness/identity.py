"""Identity of a user: tenant, user name and role, from an access token.

A token is `hrn_TENANT.ID.SECRET`: the tenant's name in base64url, the id of its row, and 32 random bytes in base64url.
The row belongs to the tenant: it is deleted with the tenant, isolated as the tenant's other rows are, and not found if
a token names another tenant. It holds the SHA-256 of the secret; a slow hash is not needed, because 256 random bits
cannot be guessed.
"""

import base64
import binascii
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from harness.core.entries import Entry
from harness.core.freshness import DAY, is_expired
from harness.core.tables import TOKENS, TokenColumns
from harness.core.text import clean, one_line
from harness.errors import AccessDenied, InvalidInput, TooManyRequests
from harness.ports import Store
from harness.storage.forks import free_in_child

PREFIX = "hrn_"
DEFAULT_DAYS = 365
MAX_DAYS = 3_650
MAX_LABEL = 100
MAX_KNOWN = 10_000
"""Tokens whose requests are counted at the same time, at most."""
REFUSED = "the token is not valid; ask for a new one with `harness token create`"

Role: TypeAlias = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each includes the ones before: a reader looks up entries, a writer makes live calls and stores, an admin deletes."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_ID = re.compile(r"[0-9a-f]{16}")
_TOKEN = re.compile(PREFIX + r"([A-Za-z0-9_-]{2,86})\.([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")
_NO_HASH = "0" * 64
"""Compared with a token that has no row, so that the check takes the same time; no secret has this hash."""


class Identity(Struct, frozen=True):
    """A user of a tenant, with a role. `token` is the id of the access token, empty for the local user."""

    tenant: str
    user: str
    role: Role
    token: str = ""

    @property
    def local(self) -> bool:
        """Whether this is the local user, without a token, who may administer the whole database."""
        return not self.token

    def may(self, role: Role) -> bool:
        """Return whether this role includes `role`."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role) -> None:
        """Check that this role includes `role`.

        Raises:
            AccessDenied: it does not.
        """
        if not self.may(role):
            raise AccessDenied(f"this needs a token of the role {role}, and this one is a {self.role}'s; ask an admin")

    def require_local(self) -> None:
        """Check that this is the local user.

        Raises:
            AccessDenied: it has a token, which is for one tenant, and this concerns all.
        """
        if not self.local:
            raise AccessDenied("this concerns every tenant; do it on the database itself, with no token set")

    def require_over(self, tenant: str) -> None:
        """Check that this user may administer `tenant`: an admin its own, the local user any.

        Raises:
            AccessDenied: it may not.
        """
        self.require("admin")
        if not self.local and tenant != self.tenant:
            raise AccessDenied("this token is for another tenant; use one of that tenant")


LOCAL = Identity("default", "", "admin")
"""The user of the local machine, without a token."""


class TokenInfo(Struct, frozen=True):
    """A token without its secret. Times are seconds since the epoch."""

    id: str
    tenant: str
    user: str
    role: Role
    name: str
    created_by: str
    created_at: float
    expires_at: float


class NewToken(Struct, frozen=True):
    """A new token. Only this object has its text: it is not stored."""

    text: str
    info: TokenInfo

    def __repr__(self) -> str:
        return f"NewToken({self.info!r})"


class _TokenRow(Struct, frozen=True):
    """The payload of a token's row."""

    hash: str
    created_by: str = ""


class Tokens:
    """The access tokens of all tenants in one store. No method, error or log line repeats a secret."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def create(
        self,
        tenant: str,
        user: str,
        role: str,
        *,
        name: str = "",
        expires_days: float = DEFAULT_DAYS,
        created_by: str = "",
    ) -> NewToken:
        """Create a token for a user of a tenant, valid for `expires_days` (1 to 3,650). `name` is a label for lists.

        Raises:
            InvalidInput: an unusable name of a tenant or user, no such role, or days out of range.
            StoreError: the store cannot be written.
        """
        checked_name(tenant, "a tenant")
        checked_name(user, "a user")
        if role not in ROLES:
            raise InvalidInput(f"no such role: {clean(role, 100)!r}; choose {', '.join(ROLES)}")
        if not 1 <= expires_days <= MAX_DAYS:
            raise InvalidInput(f"a token is valid for 1 to {MAX_DAYS:,} days, not {expires_days:g}")
        identifier, secret = secrets.token_hex(8), _base64(secrets.token_bytes(32))
        now = self._clock()
        payload = msgspec.json.encode(_TokenRow(_hash(secret), created_by))
        label = one_line(clean(name, MAX_LABEL))
        entry = Entry(identifier, label, payload, now, now + expires_days * DAY, now, TokenColumns(user, role))
        self._store.rows.put(TOKENS, tenant, entry)
        text = f"{PREFIX}{_base64(tenant.encode())}.{identifier}.{secret}"
        return NewToken(text, _info(tenant, entry))

    def verify(self, text: str) -> Identity:
        """Return the identity of a token. Each call reads the store, so a revoked token is refused at once.

        Raises:
            AccessDenied: not a token, unknown, revoked or expired; the error does not say which.
            StoreError: the store cannot be read.
        """
        match = _TOKEN.fullmatch(text.strip())
        tenant = _tenant_in(match[1]) if match else None
        if match is None or tenant is None:
            raise AccessDenied(REFUSED)
        identifier, secret = match[2], match[3]
        entry = self._store.rows.get(TOKENS, tenant, identifier)
        kept = _kept(entry).hash if entry else _NO_HASH
        same = hmac.compare_digest(_hash(secret).encode(), kept.encode())
        if entry is None or not same or is_expired(entry.expires_at, self._clock(), entry.created_at):
            raise AccessDenied(REFUSED)
        return Identity(tenant, entry.own.user_id, _role(entry), identifier)

    def revoke(self, identifier: str, tenant: str | None = None) -> bool:
        """Delete the token with this id, of this tenant or (`None`) of any; return whether there was one.

        Raises:
            InvalidInput: not an id.
            StoreError: the store cannot be written.
        """
        if not _ID.fullmatch(identifier):  # it may be a whole token, so it is not repeated
            raise InvalidInput("a token's id has 16 digits (0-9, a-f); `harness token list` shows them")
        return sum(self._store.rows.delete(TOKENS, each, [identifier]) for each in self._tenants(tenant)) > 0

    def list(self, tenant: str | None = None) -> list[TokenInfo]:
        """Return the tokens of a tenant, or (`None`) of all, by tenant, oldest first; expired ones until swept."""
        listings = self._store.listings
        return [_info(each, entry) for each in self._tenants(tenant) for entry in listings.scan(TOKENS, each)]

    def _tenants(self, tenant: str | None) -> "Sequence[str]":
        return self._store.admin.tenants() if tenant is None else [tenant]


class RateLimit:
    """A token bucket for each access token: at most `per_minute` requests at once, refilled at that rate.

    Kept in the memory of this process, for at most 10,000 tokens; beyond, the fullest buckets are dropped. Thread-safe.
    `clock` returns monotonic seconds.

    Raises:
        InvalidInput: `per_minute` is not at least 1.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not per_minute >= 1:
            raise InvalidInput(f"a token may ask at least once a minute, not {per_minute:g} times")
        self._interval = 60.0 / per_minute
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._lock = free_in_child(threading.Lock())

    def check(self, token: str) -> None:
        """Take one request from the bucket of the token with this id.

        Raises:
            TooManyRequests: it is empty; `wait` says for how many seconds.
        """
        with self._lock:
            now = self._clock()
            full_at = max(now, self._full_at.get(token, now)) + self._interval
            wait = full_at - now - 60.0
            if wait > self._interval / 1_000:  # less is a rounding error
                raise TooManyRequests(f"too many requests with this token; wait {wait:.1f} s", wait)
            self._full_at[token] = full_at
            if len(self._full_at) > MAX_KNOWN:
                self._forget(now)

    def _forget(self, now: float) -> None:
        """Keep the emptier half of the buckets; a full one need not be stored."""
        emptiest = sorted(self._full_at.items(), key=lambda each: each[1])[-MAX_KNOWN // 2 :]
        self._full_at = {token: full_at for token, full_at in emptiest if full_at > now}


def checked_name(name: str, what: str) -> str:
    """Return `name` if it is the name of `what` (a tenant, a user): 1 to 64 letters, digits and `. _ @ -`.

    Raises:
        InvalidInput: it is not.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"the name of {what} has 1 to 64 characters, A-Z a-z 0-9 . _ @ -, and begins with a letter or digit; "
            f"{clean(name, 80)!r} does not fit"
        )
    return name


def _tenant_in(encoded: str) -> str | None:
    """Return the tenant that a token names, `None` if it is not a name, or not encoded as `create` encodes it."""
    try:
        tenant = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return tenant if _NAME.fullmatch(tenant) and _base64(tenant.encode()) == encoded else None


def _info(tenant: str, entry: Entry) -> TokenInfo:
    created_by = _kept(entry).created_by
    return TokenInfo(
        entry.key,
        tenant,
        entry.own.user_id,
        _role(entry),
        entry.text,
        created_by,
        entry.created_at,
        entry.expires_at,
    )


def _kept(entry: Entry) -> _TokenRow:
    """Return the payload of a row; for a damaged row, one with a hash that no secret has."""
    try:
        return msgspec.json.decode(entry.payload, type=_TokenRow)
    except msgspec.MsgspecError:
        return _TokenRow(_NO_HASH)


def _role(entry: Entry) -> Role:
    """Return the role in a row; for a damaged row, reader."""
    return next((role for role in ROLES if role == entry.own.role), "reader")


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
