"""Apps for tasks: with the recorded web, the time and the settings of a task, or without anything read before."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path

from msgspec.structs import replace

from harness.app import App
from harness.core.origins import RunOrigin
from harness.errors import InvalidInput
from harness.identity import LOCAL
from harness.ports import PageReader, Progress, SearchEngine, silent
from harness.settings import Settings
from harness.settings.mode import Mode
from harness.sources.from_settings import Sources
from harness_evals.frozen_run import FrozenRun
from harness_evals.recorded_web import RecordedWeb, is_recorded, open_web
from harness_evals.tasks import Task

_DEFAULTS = Settings()


class _Reader:
    """Page reader of a recorded web."""

    def __init__(self, web: RecordedWeb | FrozenRun) -> None:
        self.name = f"recorded-{web.digest}"
        self.read = web.read


class _RecordedSources(Sources):
    """Sources of an app whose only engines and page reader are those of a recorded web."""

    def __init__(self, app: App, web: RecordedWeb | FrozenRun) -> None:
        def library() -> SearchEngine:
            raise InvalidInput("a recorded web has no library")

        super().__init__(app.settings, app.models.embedder_for, app.progress, library)
        self._web = web

    @property
    def reader(self) -> PageReader:
        return _Reader(self._web)

    def engines(
        self,
        specs: Sequence[str] = (),  # noqa: ARG002 - as `Sources` declares it
        *,
        question: str = "",  # noqa: ARG002
        waits: bool = False,  # noqa: ARG002
    ) -> tuple[SearchEngine, ...]:
        return self._web.engines


@contextmanager
def app_for(app: App, task: Task) -> Iterator[App]:
    """Yield the app itself, or one that shares its cache and models and has the task's recorded web as its only source,
    its time, and its settings where the app has the defaults.

    Raises:
        InvalidInput: the recorded web cannot be read.
    """
    web = open_web(task.engine) if is_recorded(task.engine) else None
    defaults = {name: getattr(_DEFAULTS, name) for name in task.settings}
    changes = {name: value for name, value in task.settings.items() if getattr(app.settings, name) == defaults[name]}
    if not (web is not None or changes or task.at):
        yield app
        return
    if web is not None:
        changes["offline"] = False  # nothing recorded is on the network
    with app.serving(app.identity, at=task.now, **changes) as served:
        if web is not None:
            served.sources = _RecordedSources(served, web)
        yield served


@contextmanager
def fresh_app(app: App) -> Iterator[App]:
    """Yield an app like that of a new user: it shares the models of `app`, and has an empty cache and library of its
    own. What means the same is answered from the cache, and passages are reused, as the settings say. One call at a
    time: of equally good passages, the library returns the one that was stored first.
    """
    settings = replace(app.settings, semantic=True, research_cache=None, concurrency=1)
    with empty_app(settings, "user", app.progress) as fresh:
        fresh.models = app.models
        yield fresh


@contextmanager
def empty_app(settings: Settings, origin: RunOrigin, progress: Progress = silent) -> Iterator[App]:
    """Yield an app with an empty cache and library, deleted afterwards, in place of those of the settings."""
    settings = replace(settings, store=None, token=None)
    with tempfile.TemporaryDirectory(prefix="harness-eval-") as folder:
        database = Path(folder) / "empty.db"
        with App(settings, Mode(origin=origin), database=database, identity=LOCAL, progress=progress) as app:
            yield app


def indexed(app: App, task: Task) -> App:
    """Return the app after its library has indexed all that was read before a task. A search spends at most one second
    on that, so its results would depend on the speed of the machine.
    """
    with app_for(app, task) as served:
        served.library.index.update(seconds=inf)
    return app
