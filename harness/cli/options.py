"""Options that several commands have, and options made from the declarations of settings."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from msgspec import Struct

from harness.cli import completion
from harness.core.durations import NAMES, is_bare, seconds_in, spelled
from harness.errors import InvalidInput
from harness.settings.flags import flag_of

Flags: TypeAlias = dict[str, Any]
"""Settings given as options, by name; `None` where an option was not given."""


class Options(Struct):
    """Base of a group of options. A command has one parameter for the group (see `with_session`)."""


class Duration(float):
    """Seconds given to an option; `note` names the unit in which a number without one was read."""

    note = ""


def duration(*names: str, bare: str = "", help: str, default: str = "") -> Any:  # noqa: A002 - as in `typer.Option`
    """Return an option that takes a duration (see `harness.core.durations`) and gives the command seconds.

    A number without a unit is read in the unit `bare`, and the command prints a note, unless the option's name has the
    unit. Where `bare` is empty, such a number is an error. `default` is how the help spells the default.
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

    return typer.Option(*names, metavar="TIME", help=help, parser=parse, show_default=default or True)


class SettingOptions:
    """Annotation of a command's `Flags`: the settings that are its options, and the help that differs from theirs."""

    def __init__(self, *names: str, **helps: str) -> None:
        self.annotations = {name: _option(name, helps.get(name, "")) for name in (*names, *helps)}


@cache
def _option(name: str, text: str) -> Any:
    """Return the type of an option for a setting, with its declaration for typer."""
    flag = flag_of(name)
    if flag.unit:
        return Annotated[float | None, duration(*flag.names, bare=flag.unit, help=text or flag.help)]
    kind: Any = list[flag.kind] if flag.several else flag.kind  # type: ignore[name-defined]
    option = typer.Option(
        *flag.names,
        metavar=flag.metavar or None,
        help=text or flag.help,
        show_default=False,
        autocompletion=completion.engines if name == "engine" else None,
    )
    return Annotated[kind | None, option]


def in_words(words: Sequence[str] | None) -> str:
    """Join the words of a text that was given without quotation marks."""
    return " ".join(words or ())


ServerFlags = Annotated[Flags, SettingOptions("engine", "language", "embedding_model", "offline")]
"""Settings that the servers take as options."""

OriginOption = Annotated[
    str,
    typer.Option(
        "--origin",
        metavar="ORIGIN",
        help="Only entries made by: own (users and agents), user, agent, run (searches of researches), evaluation, "
        "experiment, or all.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Change nothing; only show the result.")]
ReplayOption = Annotated[
    Path | None,
    typer.Option("--replay", metavar="FILE", help="Answer only from this snapshot, expired entries included."),
]
TasksOption = Annotated[
    str,
    typer.Option(
        "--tasks",
        metavar="ID,ID,…",
        help="Tasks to run; all by default.",
        show_default=False,
        autocompletion=completion.tasks,
    ),
]
TasksDirOption = Annotated[
    Path | None,
    typer.Option(
        "--tasks-dir",
        metavar="DIR",
        help="Take the tasks from this folder, suite (`web`, `short`) or JSON Lines of prompts (id, prompt).",
    ),
]
DaskOption = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Run tasks on the workers of this Dask scheduler.")
]


class CacheOptions(Options):
    """Whether a command reads and writes the cache."""

    refresh: Annotated[bool, typer.Option("--refresh", help="Skip cached answers, and cache the new ones.")] = False
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")] = False


ReportForm: TypeAlias = Literal["markdown", "html", "json", "docx", "pdf", "bib", "csl"]
SUFFIXES: dict[str, ReportForm] = {
    ".csl.json": "csl",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".docx": "docx",
    ".pdf": "pdf",
    ".bib": "bib",
}
"""Form of a report, by how the name of its file ends, in any case; Markdown where none fits."""


class ReportOptions(Options):
    """Form of a report, and the file for it.

    Raises:
        InvalidInput: two forms are asked for, or a library for the form is not installed.
    """

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report to this file. Its suffix chooses the form: .html, .json, .docx, .pdf; .bib or "
            ".csl.json for the sources; any other: Markdown with front matter.",
        ),
    ] = None
    as_html: Annotated[bool, typer.Option("--html", help="Make one HTML page.")] = False
    as_json: JsonOption = False
    explain: Annotated[
        bool, typer.Option("--explain", help="Also print the probabilities behind each sentence, on standard error.")
    ] = False

    def __post_init__(self) -> None:
        flag = "json" if self.as_json else "html" if self.as_html else ""
        suffix = self._suffix
        if flag and SUFFIXES.get(suffix, "html") not in {"html", "json"}:
            raise InvalidInput(
                f"--{flag} does not write a {suffix} file; leave out --{flag}, or name a .{flag} file with --output"
            )
        if self.form in {"docx", "pdf"}:
            from harness.research.report_documents import require_libraries

            require_libraries(self.form)

    @property
    def form(self) -> ReportForm:
        """The form of the report: that of a flag, else that of the file's suffix."""
        return "json" if self.as_json else "html" if self.as_html else SUFFIXES.get(self._suffix, "markdown")

    @property
    def _suffix(self) -> str:
        name = self.output.name.lower() if self.output else ""
        return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


class ListenOptions(Options):
    """Address of a server and who can reach it."""

    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port to listen on; 0: a free one.")
    ] = 8766
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Accept this host name too, as behind a proxy."),
    ] = None
    rate: Annotated[float, typer.Option("--rate", metavar="N", help="Maximum requests a minute for each token.")] = (
        6_000.0
    )
