"""`harness search`: one cached search."""

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import CacheOptions, Flags, JsonOption, ReplayOption, SettingOptions, in_words
from harness.cli.output import BY_WORDS, print_json
from harness.cli.tables import Column, Line, print_table
from harness.cli.terminal import ExitCode
from harness.cli.without_network import network_hint
from harness.core.entries import Hit, Stale
from harness.core.freshness import age_in_words
from harness.core.search_engines import AUTO
from harness.core.text import amount, shorten
from harness.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.cache import Results
    from harness.research.search import EngineSearch

SNIPPET_CHARS = 300
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
"""A heading in a text of Markdown."""


@with_session
def search(
    session: Session,
    *,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="Query to search for.", show_default=False)],
    flags: Annotated[
        Flags, SettingOptions("engine", "language", "embedding_model", "max_results", "ttl", "semantic", "offline")
    ],
    cache: CacheOptions,
    replay: ReplayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search through the cache. The results of several engines are fused by rank.

    On an exact miss, a cached search that means the same may answer; `harness cache explain` shows why or why not.

    \b
    Examples:
      harness search "best practices for rag pipelines"
      harness search "descriptor protocol" --engine corpus:python-docs -n 3
      harness search "crispr off-target effects" --engine pubmed --engine ddgs
      harness search "kündigungsfrist mietvertrag" --engine wikipedia --language de
      harness search "best practices for rag pipelines" --json | jq -r '.results[].href'
    """
    query = in_words(words)
    with session.app(flags, cache=cache, replay=replay) as app:
        if AUTO in app.settings.engine and replay is None:
            session.note(app.sources.suited(query).reason)
        with network_hint(app, replaying=replay is not None):
            found, results = app.search(query)
        session.end_progress()
        if as_json:
            _print_json(query, found, results)
        elif results:
            _print_table(results)
        for asked in found:
            session.note(search_summary(asked))
        if app.settings.corpus_meaning and any(asked.ranked_by == "words" for asked in found):
            session.note(BY_WORDS)
        answered = sum(not isinstance(asked.outcome, SearchError) for asked in found)
        if answered > 1:
            session.note(f"{len(results)} results from {answered} engines, fused")
        sys.stdout.flush()
    if not results:
        raise typer.Exit(ExitCode.NOTHING_FOUND)


def search_summary(asked: "EngineSearch") -> str:
    """Describe the outcome of one search, in one line."""
    answer = asked.outcome
    if isinstance(answer, SearchError):
        return f"warning: {asked.engine}: {answer}"
    count = amount(len(answer.value), "result")
    if asked.ranked_by == "words":
        count += ", ranked by words alone,"
    outcome = answer.outcome
    if isinstance(outcome, Hit):
        how = f"{outcome.found}, {age_in_words(outcome.age)}"
        if outcome.found == "semantic":
            why = "results of" if outcome.reason else "means the same as"
            detail = outcome.reason or f"similarity {outcome.similarity:.2f}"
            how = f"{why} {outcome.query!r}, {detail}, {age_in_words(outcome.age)}"
        return f"{count} from the cache ({how}); 0 live calls"
    if isinstance(outcome, Stale) and answer.how == "stale":
        return f"{count} from the cache (stale, {age_in_words(outcome.age)}), because the search failed"
    if not answer.value:
        return f"nothing found by {asked.engine}; try other words"
    return f"{count} from {asked.engine}; 1 live call"


def _print_json(query: str, found: "Sequence[EngineSearch]", results: "Results") -> None:
    searches = [_as_json(asked) for asked in found]
    value: dict[str, Any] = {"query": query}
    value |= searches[0] if len(searches) == 1 else {"searches": searches}
    print_json(value | {"results": results})


def _as_json(asked: "EngineSearch") -> dict[str, Any]:
    answer = asked.outcome
    if isinstance(answer, SearchError):
        return {"engine": asked.engine, "outcome": "failed", "error": answer.code, "message": str(answer)}
    outcome = answer.outcome
    value: dict[str, Any] = {"engine": asked.engine, "ranked_by": asked.ranked_by or None}
    value["outcome"] = type(outcome).__name__.lower()
    if isinstance(outcome, Hit):
        value |= {"found": outcome.found, "matched_query": outcome.query, "age_seconds": round(outcome.age, 3)}
        value |= {"similarity": round(outcome.similarity, 4), "reason": outcome.reason or None}
    return value | {"stale": answer.how == "stale", "live_calls": int(answer.how == "live")}


def _print_table(results: "Results") -> None:
    rows = [
        (
            str(number),
            (Line(str(result.get("title", "")), "bold"), Line(str(result.get("href", "")), "cyan")),
            shorten(_HEADING.sub(r"\1:", str(result.get("body", ""))), SNIPPET_CHARS),
        )
        for number, result in enumerate(results, start=1)
    ]
    print_table((Column("#", "right"), Column("result", least=32), Column("text", least=36)), rows)
