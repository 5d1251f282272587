"""`harness token`: access tokens for the cache of a tenant."""

import time
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption, duration, stored_argument
from harness.cli.output import print_json, print_result
from harness.cli.tables import Column, print_table
from harness.core.freshness import DAY, is_expired
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.identity import Identity, TokenInfo


@with_session
def create(
    session: Session,
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help="Tenant whose cache it opens.",
            show_default=False,
            autocompletion=completion.stored("tenants"),
        ),
    ],
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Name of its user.", show_default=False)],
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="ROLE",
            autocompletion=completion.choices(("reader", "writer", "admin")),
            help="reader (looks up entries), writer (also searches and stores) or admin (also deletes).",
            show_default=False,
        ),
    ],
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Purpose of the token, shown in lists.")] = "",
    expires: Annotated[
        float, duration("--expires", "--expires-days", bare="d", help="How long it is valid: 30d, 1y.", default="1y")
    ] = 365 * DAY,
    as_json: JsonOption = False,
) -> None:
    """Create an access token and print it. It is shown only once: the database has only its hash.

    \b
    Examples:
      harness token create --tenant lab --user ada --role writer
      export HARNESS_TOKEN="$(harness token create --tenant lab --user ada --role reader)"
    """
    with session.app() as app:
        identity = app.identity
        identity.require_over(tenant)
        made = app.databases.tokens.create(
            tenant, user, role, name=name, expires_days=expires / DAY, created_by=identity.user
        )
    print_result({"token": made.text, **to_builtins(made.info)}, made.text, as_json=as_json)
    until = time.strftime("%Y-%m-%d", time.localtime(made.info.expires_at))
    session.note(
        f"a token for {user}, {role} of {tenant}, valid until {until}; it is not shown again.\n"
        "Programs read it from the environment variable HARNESS_TOKEN; "
        f"`harness token revoke {made.info.id}` ends it."
    )


@with_session
def list_(
    session: Session,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help="Only tokens of this tenant.",
            autocompletion=completion.stored("tenants"),
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List access tokens: user, role and expiry. The tokens themselves are not stored.

    \b
    Examples:
      harness token list
      harness token list --tenant lab --json
    """
    with session.app() as app:
        tenant = _tenant_of(app.identity, tenant)
        tokens = app.databases.tokens.list(tenant)
    if as_json:
        print_json({"tokens": to_builtins(tokens)})
        return
    now = time.time()
    rows = [(token.id, token.tenant, token.user, token.role, _until(token, now), token.name or "-") for token in tokens]
    own = (Column("tenant", least=10), Column("user", least=10), Column("role"), Column("valid until", least=10))
    print_table((Column("id"), *own, Column("name", least=12)), rows, empty="no tokens yet")


@with_session
def revoke(
    session: Session,
    identifier: Annotated[str, stored_argument("ID", "Id of the token, from `harness token list`.", "tokens")],
    as_json: JsonOption = False,
) -> None:
    """Revoke an access token at once.

    \b
    Example:
      harness token revoke 0123456789abcdef
    """
    with session.app() as app:
        tenant = _tenant_of(app.identity, None)
        if not app.databases.tokens.revoke(identifier, tenant):
            raise InvalidInput(f"no token has the id {identifier}; `harness token list` shows all")
    print_result({"revoked": identifier}, f"revoked {identifier}", as_json=as_json)


def _tenant_of(identity: "Identity", tenant: str | None) -> str | None:
    """Return the tenant whose tokens are selected: with an admin's token, its own tenant; else `tenant`, where `None`
    means all.

    Raises:
        AccessDenied: the role of the token does not suffice.
    """
    selected = identity.tenant if tenant is None and not identity.local else tenant
    identity.require_over(identity.tenant if selected is None else selected)
    return selected


def _until(token: "TokenInfo", now: float) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(token.expires_at))
    return f"{day} (expired)" if is_expired(token.expires_at, now, token.created_at) else day
