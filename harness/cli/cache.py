"""`harness cache`: look after what is cached."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import JsonOption, OriginOption, YesOption, duration
from harness.cli.output import confirmed, print_json
from harness.cli.session import Session, with_session
from harness.cli.terminal import ExitCode
from harness.core.text import shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.cache.audit import Audited
    from harness.core.entries import Entry

SHOWN = 10
AUDITS = "audits"
"""The kind that `clear` deletes by its name only; it is no cache."""

KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="search, research, pages, completions, tools, runs, audits, or all but runs and audits.",
    ),
]


def table_names(kind: str) -> tuple[str, ...]:
    """Return the tables of a kind.

    Raises:
        InvalidInput: there is no such kind.
    """
    from harness.cache import KINDS

    if kind not in KINDS:
        raise InvalidInput(f"no such kind: {kind!r}; choose {', '.join((*KINDS, AUDITS))}")
    return KINDS[kind]


@with_session
def stats(session: Session, origin: OriginOption = "own", as_json: JsonOption = False) -> None:
    """Show what the cache holds and how often it answered.

    Counts users and agents, or those that --origin names.

    \b
    Examples:
      harness cache stats
      harness cache stats --origin evaluation
      harness cache stats --json
    """
    from harness.core.origins import origins_of

    with session.app() as app:
        cache = app.cache
        held, audited, database = cache.stats(), cache.audited(), app.place
        counted = cache.counted(origins_of(origin))
        size = cache.size() if app.identity.local else None  # with a token: the file is all tenants'
    hits = {how: counted.get(how, 0) for how in ("exact", "semantic", "stale", "no results")}
    misses = counted.get("live", 0) + counted.get("failed", 0)
    if as_json:
        from msgspec import to_builtins

        told = {
            "database": database,
            "size_bytes": size,
            "tables": {each.table: to_builtins(each) for each in held},
        }
        told |= {"hits": hits, "misses": misses, "live_calls_saved": sum(hits.values())}
        print_json(told | {"audits": to_builtins(audited)})
        return
    from tabulate import tabulate

    names = ("cache", "live", "expired", "total", "oldest", "newest", "indexed", "tail", "no vector")
    rows = [
        (
            each.table,
            *(f"{number:,}" for number in (each.live, each.expired, each.total)),
            *(_date(moment) for moment in (each.oldest, each.newest)),
            *(f"{number:,}" for number in (each.indexed, each.tail, each.unembedded)),
        )
        for each in held
    ]
    typer.echo(tabulate(rows, headers=names, stralign="right"))
    asked = sum(hits.values()) + misses
    typer.echo(f"\nhits: {', '.join(f'{number:,} {how}' for how, number in hits.items())}; misses: {misses:,}")
    on_disk = "" if size is None else f"; {size / 2**20:.1f} MB on disk in {database}"
    typer.echo(f"{sum(hits.values()):,} of {asked:,} live calls saved{on_disk}")
    if audited.audited:
        typer.echo(_audited_words(audited))


def _audited_words(audited: "Audited") -> str:
    pairs = "1 pair" if audited.audited == 1 else f"{audited.audited:,} pairs"
    share = f"{audited.wrong.share:.1%} (95 %: {audited.wrong.low:.1%} to {audited.wrong.high:.1%})"
    return f"audited: {pairs}, {audited.agreeing:,} agreeing, {audited.disagreeing:,} disagreeing, {share}"


@with_session
def clear(
    session: Session,
    kind: KindOption = "all",
    older_than: Annotated[
        float | None, duration("--older-than", help="Only entries stored longer ago than this: 48h, 30d.")
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Only entries about this very query.")
    ] = None,
    cache_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="With --kind tools: only results of this cache type.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="With --kind tools: only what this user stored.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete entries: all, or by kind, age and query. Asks first.

    What audits found stays, unless it is named: which answers were wrong is known for good. --kind audits deletes it,
    whole; pairs that disagreed may then answer each other again.

    \b
    Examples:
      harness cache clear --dry-run
      harness cache clear --kind search --older-than 48h --yes
      harness cache clear --query "python 3.12 release date"
      harness cache clear --kind tools --type job_search --user ada
    """
    from harness.cache.tools import stored_by

    if kind == AUDITS:
        _refuse_choices(older_than=older_than, query=query, type=cache_type, user=user)
        _clear_audits(session, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    tables, only = table_names(kind), stored_by(cache_type, user)
    if kind != "tools" and (cache_type is not None or user is not None):
        raise InvalidInput("--type and --user choose among what tools brought; add --kind tools")
    everything = kind == "all" and older_than is None and query is None
    with session.app() as app:
        if not dry_run:
            app.identity.require("admin")
        cache = app.cache
        selected = cache.select(tables, older_than=older_than, query=query, only=only)
        count = sum(map(len, selected.values()))
        if not as_json:
            _print_selected([entry for entries in selected.values() for entry in entries])
        if dry_run or not count:
            deleted = dict.fromkeys(selected, 0)
        else:
            if not yes and not confirmed(f"Delete {count:,} entries in {app.place}?"):
                raise InvalidInput("nothing was deleted; answer y, or pass --yes")
            deleted = cache.clear() if everything else cache.delete(selected)
    if as_json:
        print_json({"selected": {t: len(entries) for t, entries in selected.items()}, "deleted": deleted})
    else:
        typer.echo(f"{count:,} entries would go" if dry_run else f"deleted {sum(deleted.values()):,} entries")
        if kind == "all" and not dry_run:
            session.tell("records of researches stay, with their reports; --kind runs deletes them")


def _refuse_choices(**choices: object) -> None:
    for name, given in choices.items():
        if given is not None:
            raise InvalidInput(f"audits are deleted whole; leave out --{name.replace('_', '-')}")


def _clear_audits(session: Session, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    with session.app() as app:
        if not dry_run:
            app.identity.require("admin")
        count, deleted = app.cache.audited().audited, 0
        if count and not dry_run:
            if not yes and not confirmed(f"Forget the audits of {count:,} pairs in {app.place}?"):
                raise InvalidInput("nothing was deleted; answer y, or pass --yes")
            deleted = app.cache.clear_audits()
    if as_json:
        print_json({"selected": {AUDITS: count}, "deleted": {AUDITS: deleted}})
    else:
        typer.echo(f"{count:,} audits would go" if dry_run else f"deleted {deleted:,} audits")


def _print_selected(entries: "list[Entry]") -> None:
    for entry in entries[:SHOWN]:
        typer.echo(f"  {shorten(entry.text, 90)}")
    if len(entries) > SHOWN:
        typer.echo(f"  … and {len(entries) - SHOWN:,} more")


@with_session
def expired(
    session: Session,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="Of every tenant; expired access tokens go, too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete what has expired.

    \b
    Examples:
      harness cache expired
      harness cache expired --all-tenants
    """
    from harness.cache.cleaning import sweep_all

    with session.app() as app:
        if all_tenants:
            app.identity.require_local()
            deleted = sweep_all(app.database_store, time.time())
        else:
            app.identity.require("admin")
            deleted = app.cache.sweep()
    if as_json:
        print_json({"deleted": deleted})
    else:
        typer.echo(f"deleted {sum(deleted.values()):,} expired entries")


@with_session
def reindex(session: Session, as_json: JsonOption = False) -> None:
    """Embed rows without a vector, and rebuild the vector index.

    \b
    Example:
      harness cache reindex
    """
    with session.app() as app:
        app.identity.require("admin")
        cache = app.cache
        embedded = cache.reembed(app.progress)
        indexed = app.database_store.admin.reindex()
        if not app.identity.local:  # the index is all tenants'
            indexed = sum(each.indexed for each in cache.stats())
    if as_json:
        print_json({"embedded": embedded, "indexed": indexed})
    else:
        typer.echo(f"embedded {embedded:,} entries; {indexed:,} vectors in the index, the rest is scanned")


@with_session
def verify(
    session: Session,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended; unusable rows are deleted.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the database, every row and the vector index.

    Rows are checked against their checksums. Ends with 4 if one is wrong.

    \b
    Examples:
      harness cache verify
      harness cache verify --repair
    """
    with session.app() as app:
        app.identity.require_local()
        app.progress("checking the database", 0, 0)
        problems = app.database_store.admin.verify(repair=repair)
        unchecked = app.database_store.admin.unchecked()
        database = app.place
    if as_json:
        repaired = repair and bool(problems)
        print_json({"database": database, "problems": problems, "repaired": repaired, "unchecked": unchecked})
    else:
        for problem in problems:
            typer.echo(problem)
        if not problems:
            typer.echo(f"{database} is sound")
        elif repair:
            typer.echo(f"mended {_problems(len(problems))}")
        else:
            typer.echo(f"{_problems(len(problems))}; `harness cache verify --repair` mends what can be mended")
        if unchecked:
            typer.echo(f"rows without a checksum, from older or other programs: {unchecked:,}")
    if problems and not repair:
        raise typer.Exit(ExitCode.STORE_FAILED)


def _problems(number: int) -> str:
    return "1 problem" if number == 1 else f"{number:,} problems"


def _date(moment: float | None) -> str:
    return "-" if moment is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
