"""`harness cache`: show, delete and check cached entries."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.command_session import Session, with_session
from harness.cli.options import DryRunOption, JsonOption, Options, OriginOption, YesOption, duration
from harness.cli.output import consent, print_json, print_result
from harness.cli.tables import Column, print_table
from harness.cli.terminal import ExitCode
from harness.core.freshness import TOOL_TTL_HOURS
from harness.core.text import amount, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.cache.audit import Audited
    from harness.core.entries import Entry

COLUMNS = (
    Column("cache"),
    Column("live", "right"),
    Column("expired", "right"),
    Column("total", "right"),
    Column("oldest", rank=2),
    Column("newest", rank=1),
    Column("indexed", "right", rank=3),
    Column("tail", "right", rank=3),
    Column("no vector", "right", rank=2),
)
SHOWN = 10
AUDITS = "audits"
"""A kind of `clear` that is not a cache and is deleted only by name."""


@with_session
def stats(session: Session, origin: OriginOption = "own", as_json: JsonOption = False) -> None:
    """Show the entries of the cache and its hits.

    Counts lookups of users and agents, or of --origin.

    \b
    Examples:
      harness cache stats
      harness cache stats --origin evaluation
      harness cache stats --json
    """
    from harness.cache.usage import CALL_SAVED, CALLED
    from harness.core.origins import origins_of

    with session.app() as app:
        if as_json:
            from harness.server.responses.cache_responses import stats_response

            print_json(stats_response(app, origin).model_dump())
            return
        cache = app.cache
        held, audited, database = cache.maintenance.stats(), cache.audits.summary(), app.databases.place
        amount = cache.usage.total(origins_of(origin))
        size = cache.maintenance.size() if app.identity.local else None  # with a token: other tenants share the file
    hits = {how: amount.get(how, 0) for how in CALL_SAVED}
    misses = sum(amount.get(how, 0) for how in CALLED)
    rows = [
        (
            each.table,
            *(f"{number:,}" for number in (each.live, each.expired, each.total)),
            *(_date(moment) for moment in (each.oldest, each.newest)),
            *(f"{number:,}" for number in (each.indexed, each.tail, each.unembedded)),
        )
        for each in held
    ]
    print_table(COLUMNS, rows)
    lookups = sum(hits.values()) + misses
    typer.echo(f"\nhits: {', '.join(f'{number:,} {how}' for how, number in hits.items())}; misses: {misses:,}")
    on_disk = "" if size is None else f"; {size / 2**20:.1f} MB on disk in {database}"
    typer.echo(f"{sum(hits.values()):,} of {lookups:,} live calls saved{on_disk}")
    if audited.audited:
        typer.echo(_audited_words(audited))


def _audited_words(audited: "Audited") -> str:
    pairs = amount(audited.audited, "pair")
    share = f"{audited.wrong.share:.1%} (95 %: {audited.wrong.low:.1%} to {audited.wrong.high:.1%})"
    return f"audited: {pairs}, {audited.agreeing:,} agreeing, {audited.disagreeing:,} disagreeing, {share}"


class SelectOptions(Options):
    """Which entries to delete."""

    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            autocompletion=completion.choices(
                ("search", "research", "pages", "completions", "tools", "runs", "audits", "all")
            ),
            help="search, research, pages, completions, tools, runs, audits, or all except runs and audits.",
        ),
    ] = "all"
    older_than: Annotated[
        float | None, duration("--older-than", help="Only entries stored longer ago than this: 48h, 30d.")
    ] = None
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Only entries of exactly this query.")
    ] = None
    cache_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="With --kind tools: only results of this cache type.",
            autocompletion=completion.choices(TOOL_TTL_HOURS),
        ),
    ] = None
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="With --kind tools: only results of this user.")
    ] = None

    @property
    def everything(self) -> bool:
        """Whether all entries are selected."""
        return self.kind == "all" and self.older_than is None and self.query is None


@with_session
def clear(
    session: Session,
    *,
    select: SelectOptions,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete entries: all, or by kind, age and query. Asks first.

    Results of audits are only deleted by --kind audits, all at once: they record which answers were wrong. After that,
    pairs that disagreed may answer each other again.

    \b
    Examples:
      harness cache clear --dry-run
      harness cache clear --kind search --older-than 48h --yes
      harness cache clear --query "python 3.12 release date"
      harness cache clear --kind tools --type job_search --user ada
    """
    from harness.cache import KINDS
    from harness.cache.maintenance import is_mark
    from harness.cache.tool_cache import stored_by

    if select.kind == AUDITS:
        _clear_audits(session, select, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    if select.kind not in KINDS:
        raise InvalidInput(f"no such kind: {select.kind!r}; choose {', '.join((*KINDS, AUDITS))}")
    only = stored_by(select.cache_type, select.user)
    if select.kind != "tools" and (select.cache_type is not None or select.user is not None):
        raise InvalidInput("--type and --user select results of tools; add --kind tools")
    with session.app() as app:
        if not dry_run:
            app.identity.require("admin")
        cache = app.cache
        selected = cache.maintenance.select(
            KINDS[select.kind], older_than=select.older_than, query=select.query, only=only
        )
        count = sum(map(len, selected.values()))
        if not as_json:
            _print_selected([entry for table in selected for entry in selected[table] if not is_mark(table, entry.key)])
        if dry_run or not count:
            deleted = dict.fromkeys(selected, 0)
        else:
            consent(f"Delete {amount(count, 'entry')} in {app.databases.place}?", yes=yes)
            deleted = cache.maintenance.clear() if select.everything else cache.maintenance.delete(selected)
    line = f"would delete {amount(count, 'entry')}" if dry_run else f"deleted {amount(sum(deleted.values()), 'entry')}"
    print_result({"selected": count, "deleted": deleted}, line, as_json=as_json)
    if select.kind == "all" and not dry_run and not as_json:
        session.note("records and reports of researches stay; --kind runs deletes them")


def _clear_audits(session: Session, select: SelectOptions, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    choices = {"older-than": select.older_than, "query": select.query, "type": select.cache_type, "user": select.user}
    for name, given in choices.items():
        if given is not None:
            raise InvalidInput(f"audits can only be deleted all at once; leave out --{name}")
    with session.app() as app:
        if not dry_run:
            app.identity.require("admin")
        count, deleted = app.cache.audits.summary().audited, 0
        if count and not dry_run:
            consent(f"Delete the audits of {amount(count, 'pair')} in {app.databases.place}?", yes=yes)
            deleted = app.cache.audits.clear()
    line = f"would delete {amount(count, 'audit')}" if dry_run else f"deleted {amount(deleted, 'audit')}"
    print_result({"selected": count, "deleted": {AUDITS: deleted}}, line, as_json=as_json)


def _print_selected(entries: "list[Entry]") -> None:
    for entry in entries[:SHOWN]:
        typer.echo(f"  {shorten(entry.text, 90)}")
    if len(entries) > SHOWN:
        typer.echo(f"  … and {len(entries) - SHOWN:,} more")


@with_session
def expired(
    session: Session,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="For every tenant; also deletes expired access tokens.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete expired entries.

    \b
    Examples:
      harness cache expired
      harness cache expired --all-tenants
    """
    from harness.cache.cleaning import sweep_all

    with session.app() as app:
        if all_tenants:
            app.identity.require_local()
            deleted = sweep_all(app.databases.store, time.time())
        else:
            app.identity.require("admin")
            deleted = app.cache.maintenance.sweep()
    count = sum(deleted.values())
    print_result({"selected": count, "deleted": deleted}, f"deleted {count:,} expired entries", as_json=as_json)


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
        embedded = cache.maintenance.reembed(app.progress)
        indexed = app.databases.store.admin.reindex()
        if not app.identity.local:  # all tenants share the index
            indexed = sum(each.indexed for each in cache.maintenance.stats())
    line = f"embedded {amount(embedded, 'entry')}; {amount(indexed, 'vector')} in the index; other rows are scanned"
    print_result({"embedded": embedded, "indexed": indexed}, line, as_json=as_json)


@with_session
def verify(
    session: Session,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair the database; rows that cannot be used are deleted.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the database, every row and the vector index.

    Compares rows with their checksums. Exits with 4 if there is a problem.

    \b
    Examples:
      harness cache verify
      harness cache verify --repair
    """
    with session.app() as app:
        app.identity.require_local()
        app.progress("checking the database", 0, 0)
        problems = app.databases.store.admin.verify(repair=repair)
        unchecked = app.databases.store.admin.unchecked()
        database = app.databases.place
    value = {"database": database, "problems": problems, "repaired": repair and bool(problems), "unchecked": unchecked}
    count = amount(len(problems), "problem")
    lines = [*problems]
    if not problems:
        lines.append(f"{database} has no problems")
    else:
        lines.append(f"repaired {count}" if repair else f"{count}; `harness cache verify --repair` repairs it")
    if unchecked:
        lines.append(f"rows without a checksum, from older or other programs: {unchecked:,}")
    print_result(value, lines, as_json=as_json)
    if problems and not repair:
        raise typer.Exit(ExitCode.STORE_FAILED)


def _date(moment: float | None) -> str:
    return "-" if moment is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
