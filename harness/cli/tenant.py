"""`harness tenant`: list and delete the tenants of the database."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import JsonOption, YesOption, stored_argument
from harness.cli.output import consent, print_json, print_result
from harness.cli.tables import Column, print_table
from harness.core.text import amount
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.ports import Store


@with_session
def list_(session: Session, as_json: JsonOption = False) -> None:
    """List tenants with their numbers of entries and access tokens.

    \b
    Example:
      harness tenant list
    """
    with session.app() as app:
        identity = app.identity
        identity.require("admin")
        tenants = app.databases.store.admin.tenants() if identity.local else [identity.tenant]
        counts = [_counts(app.store, tenant) for tenant in tenants]
    if as_json:
        print_json({"tenants": counts})
        return
    rows = [(each["tenant"], f"{each['entries']:,}", f"{each['tokens']:,}") for each in counts]
    columns = (Column("tenant", least=12), Column("entries", "right"), Column("tokens", "right"))
    print_table(columns, rows, empty="no tenants yet")


@with_session
def delete(
    session: Session,
    tenant: Annotated[str, stored_argument("TENANT", "Tenant to delete.", "tenants")],
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            metavar="NAME",
            help="Only this user: deletes their tokens, and their entries no longer name a user.",
        ),
    ] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a tenant with all its entries, or one user. Asks first.

    \b
    Examples:
      harness tenant delete lab
      harness tenant delete lab --user ada --yes
    """
    from harness.core.tables import TOKENS

    with session.app() as app:
        app.identity.require_over(tenant)
        store = app.store
        counts = _counts(store, tenant)
        if not counts["entries"] + counts["tokens"]:
            raise InvalidInput(f"no tenant {tenant!r:.100} has entries; `harness tenant list` shows all tenants")
        if user is None:
            what = f"{amount(counts['entries'], 'entry')} and {amount(counts['tokens'], 'token')} of {tenant}"
        else:
            what = (
                f"{user} and their {len(store.listings.find(TOKENS, tenant, {'user_id': user})):,} tokens of {tenant}"
            )
        consent(f"Delete {what} in {app.databases.place}?", yes=yes)
        gone = store.admin.forget(tenant, user)
    print_result({"tenant": tenant, "user": user, "deleted": gone}, f"deleted {what}", as_json=as_json)


def _counts(store: "Store", tenant: str) -> dict[str, Any]:
    """Count the rows of a tenant in all tables."""
    from harness.core.tables import TOKENS
    from harness.storage.tables import TABLES

    now = time.time()
    held = {table: store.listings.stats(table, tenant, now).total for table in TABLES}
    tokens = held.pop(TOKENS)
    return {"tenant": tenant, "entries": sum(held.values()), "tokens": tokens}
