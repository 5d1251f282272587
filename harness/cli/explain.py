"""`harness cache explain`: the answer that a search would get, and the reasons."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.command_session import Session, with_session
from harness.cli.options import Flags, JsonOption, SettingOptions, in_words
from harness.cli.output import print_json
from harness.core.entries import Hit, Miss, Stale
from harness.core.freshness import age_in_words
from harness.core.text import shorten

if TYPE_CHECKING:
    from harness.cache import Explanation
    from harness.cache.semantic import Candidate


@with_session
def explain(
    session: Session,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="Search to explain.", show_default=False)],
    flags: Annotated[Flags, SettingOptions("engine", "language", "embedding_model", "max_results")],
    as_json: JsonOption = False,
) -> None:
    """Explain how a search would be answered, and why.

    Shows the candidates, the result of each guard, and the decision.
    Searches nothing and changes nothing.

    \b
    Examples:
      harness cache explain "python 3.12 release date"
      harness cache explain "rag tips" --engine corpus:python-docs --json
    """
    from harness.research.search import engine_for

    query = in_words(words)
    with session.app(flags) as app:
        source = engine_for(query, app.sources.engines(question=query), app.cache, app.settings.max_results)
        explained = app.cache.searches.explain(
            query, max_results=app.settings.max_results, engine=source.name, options=source.options
        )
        now = app.cache.now
    if as_json:
        print_json(explained.shown(now))
        return
    typer.echo(_exact_words(explained.exact))
    if explained.expanded != query:
        typer.echo(f"read as: {explained.expanded}")
    if explained.volatile:
        typer.echo("about the present: answers have a short lifetime, and only fresh ones are semantic hits")
    for number, candidate in enumerate(explained.candidates, start=1):
        _print_candidate(number, candidate, now, explained)
    typer.echo(_decision(explained))


def _print_candidate(number: int, candidate: "Candidate", now: float, explained: "Explanation") -> None:
    from harness.core.audits import REFUSAL
    from harness.core.reading_calibration import sigmoid

    decision = candidate.decision
    age = age_in_words(now - candidate.entry.created_at)
    typer.echo(f"\n{number}. {shorten(candidate.entry.text, 100)}")
    if decision.verified:
        typer.echo(f"   similarity {decision.similarity:.3f}; {age}")
    else:
        needs = f"{decision.required + max(0.0, explained.threshold):.3f}" if decision.required <= 1 else "never enough"
        typer.echo(f"   similarity {decision.similarity:.3f}, needs {needs}; {age}")
    if decision.probability is not None:
        total = f"in total {sigmoid(decision.score):.1%}, needs {sigmoid(explained.threshold):.1%}"
        typer.echo(f"   verifier: {decision.probability:.1%} sure that both have one answer; {total}")
    passed = ", ".join(verdict.guard for verdict in decision.verdicts if verdict.passed)
    if passed:
        typer.echo(f"   passed: {passed}")
    for verdict in decision.verdicts:
        if not verdict.passed:
            overruled = "" if verdict in decision.objections else " (the verifier decides)"
            typer.echo(f"   {verdict.guard} objects: {verdict.reason}{overruled}")
    if not candidate.refusal:
        typer.echo(f"   may answer{f': {candidate.reason}' if candidate.reason else ''}")
    elif not decision.objections or candidate.refusal == REFUSAL:
        typer.echo(f"   refused: {candidate.refusal}")


def _exact_words(outcome: "Hit[Any] | Stale[Any] | Miss") -> str:
    match outcome:
        case Hit(found="no results"):
            return f"no results: the engine answered so {age_in_words(outcome.age)}"
        case Hit():
            return f"exact: cached {age_in_words(outcome.age)}, {len(outcome.value)} results"
        case Stale():
            return f"exact: expired {age_in_words(outcome.expired_for)}"
        case Miss():
            return f"exact: {outcome.reason}"


def _decision(explained: "Explanation") -> str:
    if isinstance(explained.exact, Hit):
        what = "has no results, as is cached" if explained.exact.found == "no results" else "is cached and answers"
        return f"\ndecision: this exact search {what}"
    if explained.answer:
        why = "whose results answer it" if explained.answer.reason else "which means the same"
        return f"\ndecision: answered by {explained.answer.entry.text!r}, {why}"
    return "\ndecision: a miss; the engine would be searched"
