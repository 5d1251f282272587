"""Options that several commands have, and options made from the declarations of settings."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer
from msgspec import Struct

from harness.cli import completion
from harness.core.durations import NAMES, is_bare, seconds_in, spelled
from harness.core.languages import LANGUAGES
from harness.core.origins import CHOICES as ORIGINS
from harness.errors import InvalidInput
from harness.settings.cache_settings import CacheSettings
from harness.settings.flags import flag_of
from harness.settings.model_settings import EmbeddingSettings, ModelSettings
from harness.settings.research_settings import FetchSettings, GatheringSettings, WritingSettings
from harness.settings.source_settings import EngineSettings

if TYPE_CHECKING:
    from harness_evals.tasks import Task

    from harness.storage.recent import Kind

IN_CACHE, IN_REPORT = "Cache", "Report"
HEADINGS: Mapping[str, tuple[type[Struct], ...]] = MappingProxyType(
    {
        "Sources": (EngineSettings,),
        "Rounds and limits": (GatheringSettings, FetchSettings),
        "Models": (ModelSettings, EmbeddingSettings),
        IN_REPORT: (WritingSettings,),
        IN_CACHE: (CacheSettings,),
    }
)
"""Heading in the help of the options for the settings of some groups."""
VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "language": ("auto", "any", *sorted({language for each in LANGUAGES.values() for language in each})),
        "embedding_model": ("local:english", "local:multilingual"),
    }
)
"""Values to complete for settings that also take others."""

Flags: TypeAlias = dict[str, Any]
"""Settings given as options, by name; `None` where an option was not given."""


class Options(Struct):
    """Base of a group of options. A command has one parameter for the group (see `with_session`)."""


class Duration(float):
    """Seconds given to an option; `note` names the unit in which a number without one was read."""

    note = ""


def duration(
    *names: str,
    bare: str = "",
    help: str,  # noqa: A002 - as in `typer.Option`
    default: str = "",
    heading: str | None = None,
) -> Any:
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

    return typer.Option(
        *names, metavar="TIME", help=help, parser=parse, show_default=default or True, rich_help_panel=heading
    )


def stored_argument(name: str, help: str, kind: "Kind") -> Any:  # noqa: A002 - as in `typer.Argument`
    """Return an argument that names something stored, which the shell completes."""
    return typer.Argument(metavar=name, help=help, show_default=False, autocompletion=completion.stored(kind))


class SettingOptions:
    """Annotation of a command's `Flags`: the settings that are its options, and the help that differs from theirs."""

    def __init__(self, *names: str, **helps: str) -> None:
        self.annotations = {name: _option(name, helps.get(name, "")) for name in (*names, *helps)}


@cache
def _option(name: str, text: str) -> Any:
    """Return the type of an option for a setting, with its declaration for typer."""
    flag = flag_of(name)
    heading = next(
        each for each, groups in HEADINGS.items() if any(name in group.__struct_fields__ for group in groups)
    )
    if flag.unit:
        option = duration(*flag.names, bare=flag.unit, help=text or flag.help, heading=heading)
        return Annotated[float | None, option]
    kind: Any = list[flag.kind] if flag.several else flag.kind  # type: ignore[name-defined]
    values = flag.choices or VALUES.get(name, ())
    completer = completion.engines if name == "engine" else completion.choices(values) if values else None
    option = typer.Option(
        *flag.names,
        metavar=flag.metavar or None,
        help=text or flag.help,
        show_default=False,
        autocompletion=completer,
        rich_help_panel=heading,
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
        autocompletion=completion.choices(ORIGINS),
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Id of a run (see `harness runs`), the start of one, or `last`.",
        autocompletion=completion.runs,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Change nothing; only show the result.")]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        metavar="FILE",
        help="Answer only from this snapshot, expired entries included.",
        rich_help_panel=IN_CACHE,
    ),
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
        autocompletion=completion.choices(("web", "short")),
        help="Take the tasks from this folder, suite (`web`, `short`) or JSON Lines of prompts (id, prompt).",
    ),
]
DaskOption = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Run tasks on the workers of this Dask scheduler.")
]


def listed_names(text: str) -> list[str]:
    """Return the names of a list with commas, each once."""
    return list(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))


def chosen_tasks(names: Iterable[str], folder: Path | None) -> "list[Task]":
    """Load the tasks of `--tasks` (all, if it names none) from the folder of `--tasks-dir`."""
    from harness_evals.tasks import folder_of, load_tasks

    return load_tasks(list(names), folder_of(folder))


class CacheOptions(Options):
    """Whether a command reads and writes the cache."""

    refresh: Annotated[
        bool, typer.Option("--refresh", help="Skip cached answers, and cache the new ones.", rich_help_panel=IN_CACHE)
    ] = False
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write the cache.", rich_help_panel=IN_CACHE)
    ] = False


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
            rich_help_panel=IN_REPORT,
        ),
    ] = None
    as_html: Annotated[bool, typer.Option("--html", help="Make one HTML page.", rich_help_panel=IN_REPORT)] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=IN_REPORT)] = False
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also print the probabilities behind each sentence, on standard error.",
            rich_help_panel=IN_REPORT,
        ),
    ] = False

    def __post_init__(self) -> None:
        flag = "json" if self.as_json else "html" if self.as_html else ""
        suffix = self._suffix
        if flag and SUFFIXES.get(suffix, "html") not in {"html", "json"}:
            raise InvalidInput(
                f"--{flag} does not write a {suffix} file; leave out --{flag}, or name a .{flag} file with --output"
            )
        if self.form in {"docx", "pdf"}:
            from harness.settings.extras import require_extra

            require_extra(self.form)

    @property
    def form(self) -> ReportForm:
        """The form of the report: that of a flag, else that of the file's suffix."""
        return "json" if self.as_json else "html" if self.as_html else SUFFIXES.get(self._suffix, "markdown")

    @property
    def _suffix(self) -> str:
        name = self.output.name.lower() if self.output else ""
        return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
