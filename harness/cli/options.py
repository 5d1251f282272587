"""Options that more than one command has."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.core.durations import NAMES, is_bare, seconds_in, spelled
from harness.core.search_engines import ENGINE_SPECS
from harness.errors import InvalidInput


class Duration(float):
    """Seconds that an option was given; `note` says in which unit a number without one was read."""

    note = ""


def duration(*names: str, bare: str = "", help: str) -> Any:  # noqa: A002 - as in `typer.Option`
    """Return an option that takes a duration (see `harness.core.durations`), and gives the command seconds.

    A number without a unit is read in the unit `bare`, and the command says so, unless the name of the option does.
    Where `bare` is empty, such a number is refused.
    """

    def parse(given: Any) -> Duration:
        if not isinstance(given, str):  # the default
            return Duration(given)
        try:
            seconds = Duration(seconds_in(given, bare=bare))
        except InvalidInput as error:
            raise InvalidInput(f"{names[0]}: {error}") from error
        if bare and is_bare(given) and NAMES[bare] not in names[0]:
            spellings = dict.fromkeys((f"{given}{bare}", spelled(seconds)))
            seconds.note = f"{names[0]} {given} is read as {NAMES[bare]}; write {' or '.join(spellings)}"
        return seconds

    return typer.Option(*names, metavar="TIME", help=help, parser=parse)


def in_words(words: Sequence[str] | None) -> str:
    """Join the words of a text that was given without quotation marks."""
    return " ".join(words or ())


EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        "-e",
        metavar="NAME[:ARG]",
        help=f"{ENGINE_SPECS}. Several are fused.",
        autocompletion=completion.engines,
    ),
]
EmbeddingModelOption = Annotated[
    str | None,
    typer.Option(
        "--embedding-model",
        metavar="NAME",
        help="Model behind embedding_url, or sentence-transformers:NAME_OR_PATH; else the local MiniLM.",
        show_default=False,
    ),
]
MaxResultsOption = Annotated[
    int | None, typer.Option("--max-results", "-n", metavar="N", help="Results a search asks for, 1 to 100.")
]
TtlOption = Annotated[
    float | None, duration("--ttl", bare="s", help="How long what is found stays fresh: 15m, 24h, 7d.")
]
OriginOption = Annotated[
    str,
    typer.Option(
        "--origin",
        metavar="ORIGIN",
        help="For whom it was made: own (users and agents), user, agent, run (searches of researches), evaluation, "
        "experiment, or all.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
OfflineOption = Annotated[
    bool | None,
    typer.Option("--offline/--online", help="Answer from the cache alone; what is missing is an error (exit code 6).",
                 show_default=False),
]  # fmt: skip
RefreshOption = Annotated[bool, typer.Option("--refresh", help="Ask anew, and cache what comes.")]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Neither look into the cache nor store.")]
SemanticOption = Annotated[
    bool | None,
    typer.Option("--semantic/--exact", help="Answer by searches that mean the same, or only by the very same.",
                 show_default=False),
]  # fmt: skip
ReplayOption = Annotated[
    Path | None, typer.Option("--replay", metavar="FILE", help="Answer from this snapshot alone, whatever has expired.")
]
