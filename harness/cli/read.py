"""`harness read`: the text of one page."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import to_builtins

from harness.cli.command_session import Session, with_session
from harness.cli.options import CacheOptions, Flags, JsonOption, SettingOptions, duration
from harness.cli.output import print_json
from harness.core.entries import Hit, Stale
from harness.core.freshness import age_in_words

if TYPE_CHECKING:
    from harness.cache import Answer
    from harness.core.pages import Page


@with_session
def read(
    session: Session,
    *,
    url: Annotated[str, typer.Argument(help="Address of the page: http://… or https://…", show_default=False)],
    flags: Annotated[Flags, SettingOptions("offline")],
    ttl: Annotated[float | None, duration("--ttl", bare="s", help="Lifetime of the cached page: 15m, 24h, 7d.")] = None,
    cache: CacheOptions,
    as_json: JsonOption = False,
) -> None:
    """Read a page as plain text, through the cache. HTML, PDF, feeds and text can be read.

    Addresses in private networks are refused unless `allowed_hosts` names the host; pages that robots may not read,
    unless the setting `robots` is false. The page is only printed: nothing in it is followed.

    \b
    Examples:
      harness read https://docs.python.org/3/reference/datamodel.html
      harness read https://arxiv.org/pdf/2208.02814 | less
      harness read https://example.org --json | jq -r .text
    """
    with session.app({**flags, "page_ttl": ttl}, cache=cache) as app:
        app.progress("reading", 0, 1)
        answer = app.cache.pages.answer(url, app.sources.reader, ttl=app.settings.page_ttl)
        app.progress("reading", 1, 1)
    if as_json:
        _print_json(url, answer)
    else:
        _print_text(answer.value)
    session.note(page_summary(answer))


def _print_text(page: "Page") -> None:
    if sys.stdout.isatty():
        from rich.text import Text

        from harness.cli.terminal.console import SafeConsole

        console = SafeConsole()
        console.print(Text(page.title, style="bold"))
        console.print(Text(f"\n{page.text}"), width=min(console.width, 100))
    else:
        typer.echo(f"{page.title}\n\n{page.text}")


def page_summary(answer: "Answer[Page]") -> str:
    """Describe how a page was read, in one line."""
    page, outcome = answer.value, answer.outcome
    message = f"{len(page.text):,} characters of {page.media_type} from {page.url}"
    if isinstance(outcome, Hit):
        return f"{message}; from the cache, {age_in_words(outcome.age)}; 0 live calls"
    if answer.how == "stale":
        return f"{message}; stale, because the page cannot be read now"
    return f"{message}; {'unchanged since it was last read; ' if _is_unchanged(answer) else ''}1 live call"


def _is_unchanged(answer: "Answer[Page]") -> bool:
    """Return whether a live call found the page as it was in the expired row."""
    return answer.how == "live" and isinstance(answer.outcome, Stale) and answer.outcome.value == answer.value


def _print_json(url: str, answer: "Answer[Page]") -> None:
    outcome = answer.outcome
    page = {name: value for name, value in to_builtins(answer.value).items() if name != "extractor"}
    value: dict[str, Any] = {"asked": url, **page, "answered_by": answer.how}
    if isinstance(outcome, Hit):
        value["age_seconds"] = round(outcome.age, 3)
    if _is_unchanged(answer):
        value["unchanged"] = True
    print_json(value | {"live_calls": int(answer.how == "live")})
