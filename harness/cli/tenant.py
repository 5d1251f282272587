"""`harness tenant`: whose entries the database holds, and the end of them."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import JsonOption, YesOption
from harness.cli.output import confirmed, print_json
from harness.cli.session import Session, with_session
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.ports import Store


@with_session
def list_(session: Session, as_json: JsonOption = False) -> None:
    """List tenants: how many entries and access tokens each has.

    \b
    Example:
      harness tenant list
    """
    with session.app() as app:
        asks = app.identity
        asks.require("admin")
        tenants = app.database_store.admin.tenants() if asks.local else [asks.tenant]
        told = [_counts(app.store, tenant) for tenant in tenants]
    if as_json:
        print_json({"tenants": told})
        return
    from tabulate import tabulate

    rows = [(each["tenant"], f"{each['entries']:,}", f"{each['tokens']:,}") for each in told]
    headers = ("tenant", "entries", "tokens")
    align = ("left", "right", "right")
    typer.echo(tabulate(rows, headers=headers, colalign=align, disable_numparse=True) if rows else "no tenants yet")


@with_session
def delete(
    session: Session,
    tenant: Annotated[str, typer.Argument(help="Whose entries go.", show_default=False)],
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Only this user's tokens; what they stored stays, as nobody's."),
    ] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a tenant with everything it has, or one user. Asks first.

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
            raise InvalidInput(f"there is nothing of a tenant {tenant!r:.100}; `harness tenant list` tells them all")
        if user is None:
            what = f"{counts['entries']:,} entries and {counts['tokens']:,} tokens of {tenant}"
        else:
            what = (
                f"{user} and their {len(store.listings.find(TOKENS, tenant, {'user_id': user})):,} tokens of {tenant}"
            )
        if not yes and not confirmed(f"Delete {what} in {app.place}?"):
            raise InvalidInput("nothing was deleted; answer y, or pass --yes")
        gone = store.admin.forget(tenant, user)
    if as_json:
        print_json({"tenant": tenant, "user": user, "deleted": gone})
    else:
        typer.echo(f"deleted {what}")


def _counts(store: "Store", tenant: str) -> dict[str, Any]:
    """Count what a tenant has, in every table."""
    from harness.core.tables import TOKENS
    from harness.storage.tables import TABLES

    now = time.time()
    held = {table: store.listings.stats(table, tenant, now).total for table in TABLES}
    tokens = held.pop(TOKENS)
    return {"tenant": tenant, "entries": sum(held.values()), "tokens": tokens}
