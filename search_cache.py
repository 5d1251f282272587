"""Search cache for scripts, and its maintenance command.

    from search_cache import acached_search, cached_search
    results = cached_search("best practices for rag pipelines", my_search)   # my_search(query, max_results)
    results = await acached_search("best practices for rag pipelines", my_async_search)

    python search_cache.py              show how many entries the cache holds
    python search_cache.py --expired    delete expired entries
    python search_cache.py --clear      delete everything (asks first)

The functions use the database of the settings (`HARNESS_DATA_DIR`, the configuration file), opened at the first call.
Hits and misses are logged at level INFO by the logger `harness.cache`; `logging.basicConfig(level="INFO")` shows them
on standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from harness.cache.script_api import ScriptCache
from harness.cli.terminal import EXIT_CODES, configure_logging, run
from harness.core.freshness import DEFAULT_TTL
from harness.core.text import amount
from harness.errors import InvalidInput
from harness.tools import close_default_app, default_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.cache import Cache
    from harness.core.entries import TableStats

__all__ = [
    "DEFAULT_TTL",
    "acached_search",
    "aget",
    "aput",
    "cached_search",
    "close",
    "get",
    "get_research",
    "main",
    "put",
    "put_research",
]


def _open_cache() -> Cache:
    return default_app().cache


_api = ScriptCache(_open_cache)
acached_search = _api.acached_search
aget = _api.aget
aput = _api.aput
cached_search = _api.cached_search
get = _api.get
get_research = _api.get_research
put = _api.put
put_research = _api.put_research
close = close_default_app


# The maintenance command ---------------------------------------------------------------------------------------------


_EXAMPLES = """examples:
  search_cache                              show how many entries both caches hold
  search_cache --expired                    delete expired entries
  search_cache --clear --yes --db old.db    delete everything in another database
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message}; `{self.prog} --help` shows how")


def _parser() -> argparse.ArgumentParser:
    # argparse, not typer: this command starts in half the time that typer takes to be imported
    parser = _Parser(
        prog="search_cache",
        description="Show how many entries the search and research caches hold; delete the expired ones, or all.",
        epilog=f"{_EXAMPLES}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--db", metavar="PATH", type=Path, help="use this database instead of the one in the settings")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--expired", action="store_true", help="delete expired entries")
    action.add_argument("--clear", action="store_true", help="delete everything, after asking")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--debug", action="store_true", help="log everything; show tracebacks")
    return parser


def _maintain() -> None:
    from msgspec.structs import replace

    from harness.app import App
    from harness.settings import load

    arguments = _parser().parse_args()
    if arguments.db is not None and not arguments.db.is_file():
        raise InvalidInput(f"no database at {arguments.db}; leave out --db to use the one of the settings")
    if arguments.db is not None:
        from harness.storage.sqlite.damaged_files import holds_a_cache

        if not holds_a_cache(arguments.db):  # opening it would move it away, or add tables to it
            raise InvalidInput(f"{arguments.db} is no database of this program, or is damaged; nothing was changed")
    settings = replace(load().settings, semantic=False)  # no vector is needed, so no embedder is called
    configure_logging("debug" if arguments.debug else settings.log_level)
    with App(settings, database=arguments.db) as app:
        cache = app.cache
        deleted: dict[str, int] | None = None
        if arguments.clear or arguments.expired:
            app.identity.require("admin")
        if arguments.clear:
            count = sum(table.total for table in cache.maintenance.stats())
            question = f"Delete all {amount(count, 'entry')}, and the library, in {app.databases.place}?"
            if not arguments.yes and not _confirmed(question):
                raise InvalidInput("nothing was deleted; answer y, or pass --yes")
            deleted = cache.maintenance.clear()
        elif arguments.expired:
            deleted = cache.maintenance.sweep()
        size = cache.maintenance.size() if app.identity.local else None  # with a token: the file is all tenants'
        _show(app.databases.place, cache.maintenance.stats(), size, deleted, as_json=arguments.json)


def _confirmed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _show(
    database: str, stats: Sequence[TableStats], size: int | None, deleted: dict[str, int] | None, *, as_json: bool
) -> None:
    if as_json:
        import orjson

        payload: dict[str, Any] = {"database": database, "size_bytes": size}
        payload["tables"] = {
            each.table: {name: getattr(each, name) for name in ("live", "expired", "total", "oldest", "newest")}
            for each in stats
        }
        if deleted is not None:
            payload["deleted"] = deleted
        print(orjson.dumps(payload, option=orjson.OPT_INDENT_2).decode())
        return
    from tabulate import tabulate

    rows = [
        (each.table, f"{each.live:,}", f"{each.expired:,}", f"{each.total:,}", _date(each.oldest), _date(each.newest))
        for each in stats
    ]
    if deleted is not None:
        print(f"deleted {amount(sum(deleted.values()), 'entry')}\n")
    print(tabulate(rows, headers=("cache", "live", "expired", "total", "oldest", "newest"), stralign="right"))
    if size is not None:
        print(f"\n{size / 2**20:.1f} MB on disk in {database}")


def _date(moment: float | None) -> str:
    return "-" if moment is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def main() -> None:
    """Run the maintenance command and exit."""
    run(_maintain)


if __name__ == "__main__":
    main()
