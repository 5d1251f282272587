"""What every `harness` command has in common: its options, and the app that they open."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness import settings
from harness.cli.options import Duration
from harness.cli.terminal import configure_logging
from harness.cli.terminal.progress import ProgressBars
from harness.core.origins import RunOrigin
from harness.settings import Loaded

if TYPE_CHECKING:  # it takes long to import, and `--help` needs none
    from harness.app import App

ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Read settings from this YAML file.")
]
DataDirOption = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="Keep everything in this directory.")
]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Log hits and misses to standard error.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary on standard error.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Log everything; show tracebacks.")]


class Session:
    """One run of one command: the common options as given."""

    def __init__(self, *, config: Path | None, data_dir: Path | None, verbose: bool, quiet: bool, debug: bool) -> None:
        self._config = config
        self._data_dir = data_dir
        self._level = "debug" if debug else "info" if verbose else "error" if quiet else None
        self._bars: ProgressBars | None = None
        self.quiet = quiet

    def load(self, **flags: Any) -> Loaded:
        """Merge the settings with the common flags and `flags`, and configure logging by them."""
        level_flag = {"log_level": self._level} if self._level else {}
        loaded = settings.load({"data_dir": self._data_dir, **level_flag, **flags}, config=self._config)
        configure_logging(loaded.settings.log_level)
        return loaded

    @contextmanager
    def app(
        self,
        flags: Mapping[str, Any] | None = None,
        *,
        refresh: bool = False,
        no_cache: bool = False,
        replay: Path | None = None,
        serve_stale: float | None = None,
        origin: RunOrigin = "user",
    ) -> "Iterator[App]":
        """Open an app by the settings, with progress on the terminal; close it at the end."""
        from harness.app import App, Mode

        loaded = self.load(**(flags or {}))
        with ProgressBars() as bars:
            self._bars = bars
            bars.visible &= not self.quiet
            with App(
                loaded.settings,
                Mode(
                    read=not (refresh or no_cache),
                    write=not no_cache,
                    replay=replay,
                    serve_stale=serve_stale,
                    origin=origin,
                ),
                progress=bars,
            ) as app:
                yield app

    def end_progress(self) -> None:
        """Take the progress off the terminal for good: an answer follows, though the app is still open. To close
        that may take a moment, if an audit is under way.
        """
        if self._bars is not None:
            self._bars.visible = False
            self._bars.stop()

    def tell(self, message: str) -> None:
        """Say something about the run on standard error, unless told to be quiet."""
        if not self.quiet:
            typer.echo(message, err=True)


def with_session(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of `function(session, …)`: the common options come after its own."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, annotation, default in (
            ("config", ConfigOption, None),
            ("data_dir", DataDirOption, None),
            ("verbose", VerboseOption, False),
            ("quiet", QuietOption, False),
            ("debug", DebugOption, False),
        )
    ]

    @wraps(function)
    def command(**arguments: Any) -> None:
        session = Session(**{parameter.name: arguments.pop(parameter.name) for parameter in common})
        for name, value in arguments.items():
            if isinstance(value, Duration):
                arguments[name] = float(value)
                if value.note:
                    session.tell(f"note: {value.note}")
        function(session, **arguments)

    command.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *common)}
    return command
