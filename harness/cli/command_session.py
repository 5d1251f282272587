"""Base of every `harness` command: the common options, and the app that they open."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from harness import settings
from harness.cli.options import CacheOptions, Duration, Options, SettingOptions
from harness.cli.terminal import configure_logging
from harness.cli.terminal.progress import ProgressBars
from harness.core.origins import RunOrigin
from harness.errors import InvalidInput
from harness.settings import Loaded

if TYPE_CHECKING:  # it takes long to import, and `--help` needs none
    from harness.app import App
    from harness.chat import Memory


BOTH = CacheOptions()
"""The cache is read and written."""
COMMON = "Options of every command"
"""Heading in the help."""


class CommonOptions(Options):
    """Options of every command."""

    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Read settings from this YAML file.", rich_help_panel=COMMON),
    ] = None
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", metavar="DIR", help="Use this directory for all data.", rich_help_panel=COMMON),
    ] = None
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log hits and misses to standard error.", rich_help_panel=COMMON)
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Print no progress and no summary to standard error.", rich_help_panel=COMMON
        ),
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Log everything, and show tracebacks.", rich_help_panel=COMMON)
    ] = False


class Session:
    """One run of one command, with the common options."""

    def __init__(self, common: CommonOptions) -> None:
        self._common = common
        self._bars: ProgressBars | None = None
        self.quiet = common.quiet

    def load(self, **flags: Any) -> Loaded:
        """Merge the settings with the common flags and `flags`, and configure logging."""
        common = self._common
        level = "debug" if common.debug else "info" if common.verbose else "error" if common.quiet else None
        loaded = settings.load({"data_dir": common.data_dir, "log_level": level, **flags}, config=common.config)
        configure_logging(loaded.settings.log_level)
        return loaded

    @contextmanager
    def app(
        self,
        flags: Mapping[str, Any] | None = None,
        *,
        cache: CacheOptions = BOTH,
        replay: Path | None = None,
        serve_stale: float | None = None,
        origin: RunOrigin = "user",
    ) -> "Iterator[App]":
        """Open an app with the settings and show its progress on the terminal; close it at the end."""
        from harness.app import App
        from harness.settings.mode import Mode

        loaded = self.load(**(flags or {}))
        read, write = not (cache.refresh or cache.no_cache), not cache.no_cache
        mode = Mode(read=read, write=write, replay=replay, serve_stale=serve_stale, origin=origin)
        with ProgressBars(quiet=self.quiet) as bars, App(loaded.settings, mode, progress=bars) as app:
            self._bars, app.loaded = bars, loaded
            yield app

    @contextmanager
    def memory(self, *, writes: bool = False) -> "Iterator[Memory]":
        """Open an app and yield its memory of conversations.

        Raises:
            InvalidInput: it is disabled.
            AccessDenied: `writes`, and the token may only read.
        """
        with self.app() as app:
            if not app.settings.vector_store.enabled:
                raise InvalidInput(
                    "the memory of conversations is disabled; set `enabled: true` in the block vector_store of the "
                    "settings"
                )
            if writes:
                app.identity.require("writer")
            yield app.chat_memory

    def end_progress(self) -> None:
        """Remove the progress from the terminal before an answer is printed, while the app is still open: closing it
        may take a moment if an audit is running.
        """
        if self._bars is not None:
            self._bars.visible = False
            self._bars.stop()

    def note(self, message: str) -> None:
        """Print a message to standard error, except with `--quiet`."""
        if not self.quiet:
            typer.echo(message, err=True)


class _Argument(NamedTuple):
    """One argument of a command function: the options that make it, and how."""

    name: str
    options: list[inspect.Parameter]
    make: Callable[[dict[str, Any]], Any]


def with_session(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of `function(session, …)`, with the common options after its own.

    A parameter whose type is a subclass of `Options` becomes an option for each field, one whose annotation has
    `SettingOptions` an option for each of those settings; the function gets one value.
    """
    own = [_argument(each) for each in list(inspect.signature(function, eval_str=True).parameters.values())[1:]]
    common = _group("common", CommonOptions)
    options = [option for argument in (*own, common) for option in argument.options]

    @wraps(function)
    def command(**given: Any) -> None:
        session = Session(_made(common, given))
        for name, value in given.items():
            if isinstance(value, Duration):
                given[name] = float(value)
                if value.note:
                    session.note(f"note: {value.note}")
        function(session, **{argument.name: _made(argument, given) for argument in own})

    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in options}
    return command


def _made(argument: _Argument, given: Mapping[str, Any]) -> Any:
    return argument.make({option.name: given[option.name] for option in argument.options})


def _argument(parameter: inspect.Parameter) -> _Argument:
    """Return the options of one parameter."""
    name, kind = parameter.name, parameter.annotation
    if isinstance(kind, type) and issubclass(kind, Options):
        return _group(name, kind)
    for note in getattr(kind, "__metadata__", ()):
        if isinstance(note, SettingOptions):
            options = [_option(setting, annotation, None) for setting, annotation in note.annotations.items()]
            return _Argument(name, options, _flags)
    return _Argument(name, [_option(name, kind, parameter.default)], lambda given: given[name])


def _group(name: str, group: type[Options]) -> _Argument:
    kinds = get_type_hints(group, include_extras=True)
    fields = zip(group.__struct_fields__, group.__struct_defaults__, strict=True)
    return _Argument(
        name, [_option(field, kinds[field], default) for field, default in fields], lambda given: group(**given)
    )


def _flags(given: dict[str, Any]) -> dict[str, Any]:
    """Return settings as given; an empty list was not given."""
    return {name: None if value == [] else value for name, value in given.items()}


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
