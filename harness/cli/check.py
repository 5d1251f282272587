"""`harness check`: does a text support a claim, or contradict it?"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from harness.cli.command_session import Session, with_session
from harness.cli.options import CacheOptions, Flags, JsonOption, SettingOptions
from harness.cli.output import print_result
from harness.cli.terminal import ExitCode
from harness.cli.text_input import STDIN, documents_of, text_of
from harness.core.text import one_line, printable, shorten
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness.app import App
    from harness.research.claims import ClaimCheck, ClaimSource

MAX_SHOWN = 500
"""Characters of a sentence that is printed."""
URLS = ("http://", "https://")
_PATH = re.compile(r"[\x21-\x7e]{1,300}")
"""A text that was meant as the name of a file."""
LINES = (".txt", ".text", ".log", ".csv", "")
"""Suffixes of files that are read as they are."""


@with_session
def check(
    session: Session,
    claim: Annotated[str, typer.Argument(help="The sentence to check.", show_default=False)],
    *,
    against: Annotated[
        list[str],
        typer.Option(
            "--against",
            metavar="FILE|TEXT|URL",
            help="What to check it against; repeat it for more; - is standard input.",
            show_default=False,
        ),
    ],
    flags: Annotated[Flags, SettingOptions("offline")],
    cache: CacheOptions,
    as_json: JsonOption = False,
) -> None:
    """Check whether texts support a claim or contradict it.

    The local reader reads the likest sentences with the claim; the one that decides is printed. Numbers, names, dates
    and negations that differ never count as support. A URL is read through the cache, as `harness read` does.

    Exits with 0 if the claim is supported, 1 if neither, and 8 if it is contradicted.

    \b
    Examples:
      harness check "The pool holds ten connections" --against docs/pool.md
      harness check "Sea ice is growing" --against "Arctic sea ice has shrunk by 13 % a decade since 1979."
      harness check "HTTP/3 runs over TCP" --against https://www.rfc-editor.org/rfc/rfc9114.html --json
    """
    from harness.research.claims import check_claim

    with session.app(flags, cache=cache) as app:
        sources = [source for given in against for source in _sources(app, given)]
        found = check_claim(claim, sources, app.models.reader, app.models.embedder_for(claim), app.progress)
    print_result(to_builtins(found), _lines(found), as_json=as_json)
    codes = {"supports": ExitCode.OK, "neither": ExitCode.NOTHING_FOUND, "contradicts": ExitCode.CONTRADICTED}
    raise typer.Exit(codes[found.verdict])


def _lines(found: "ClaimCheck") -> Iterator[str]:
    sentence = f"“{printable(shorten(one_line(found.sentence), MAX_SHOWN))}” [{printable(found.source)}]"
    match found.verdict:
        case "supports":
            yield f"supports ({found.supports:.2f}): {sentence}"
        case "contradicts":
            yield f"contradicts ({found.contradicts:.2f}): {sentence}"
        case "neither":
            yield f"neither: of {found.read} sentences, the nearest is {sentence}"
            for reason in found.reasons:
                yield f"  it does not support the claim: {printable(reason)}"


def _sources(app: "App", given: str) -> "Iterator[ClaimSource]":
    """Yield what `given` names: a page, a file's documents, or itself."""
    from harness.research.claims import ClaimSource

    if given.startswith(URLS):
        app.progress("reading", 0, 1)
        page = app.cache.pages.answer(given, app.sources.reader, ttl=app.settings.page_ttl).value
        app.progress("reading", 1, 1)
        yield ClaimSource(page.url, page.text)
        return
    file = Path(given)
    if file == STDIN:
        yield ClaimSource("standard input", text_of(file))
    elif _is_file(file):
        if file.suffix.lower() in LINES:
            yield ClaimSource(given, text_of(file))
        else:
            for _, text in documents_of(file):
                yield ClaimSource(given, text)
    elif _PATH.fullmatch(given):
        raise InvalidInput(f"{given}: no such file; a text to check against has more than one word")
    else:
        yield ClaimSource("text", given)


def _is_file(path: Path) -> bool:
    try:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a file")
        return path.is_file()
    except (OSError, ValueError):  # a text that is too long for a name, or has a null character
        return False
