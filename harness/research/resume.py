"""Resume a run with the settings that it was started with."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from harness.errors import InvalidInput, StoreCorrupt
from harness.ports import Progress
from harness.settings import BUNDLED, Settings, reaching, resumed_settings

if TYPE_CHECKING:
    from harness.app import App
    from harness.research.gathering import Round
    from harness.research.result import Research

NOTHING_GIVEN: Mapping[str, Any] = MappingProxyType({})


class _Started(Struct, frozen=True):
    """How a run was started, as its record holds it."""

    question: str
    settings: dict[str, Any] | None = None
    epoch: str = ""
    refresh: bool = False
    serve_stale: float | None = None


def resume_run(
    app: "App",
    run: str,
    *,
    given: Mapping[str, Any] = NOTHING_GIVEN,
    epoch: str = "",
    sections: int | None = None,
    serve_stale: float | None = None,
    progress: Progress | None = None,
    on_text: Callable[[str], None] | None = None,
    on_round: "Callable[[Round], None] | None" = None,
) -> "Research":
    """Resume a run with its own settings; `given` settings, `epoch`, `sections` and `serve_stale` override
    them.

    Where somebody other than the local user asks, the run's engines, hosts and models must be the present ones: who can
    write a record must not decide what a server reads.

    Raises:
        NotFound: there is no such run.
        StoreCorrupt: its record cannot be read.
        InvalidInput: its settings are not usable here, or not stored.
        HarnessError: see `Researcher.run`.
    """
    try:
        started = msgspec.convert(app.cache.get_run(run), _Started)
    except (ValueError, msgspec.MsgspecError) as error:
        raise StoreCorrupt(f"the record of the run {run} cannot be read; research its question again") from error
    settings = _settings(started, app, given, run)
    changes = {name: getattr(settings, name) for name in settings.__struct_fields__}
    with app.serving(
        app.identity,
        progress=progress,
        read=False if started.refresh else None,
        serve_stale=started.serve_stale if serve_stale is None else serve_stale,
        **changes,
    ) as mine:
        researcher = mine.researcher(epoch=epoch or started.epoch, on_text=on_text, on_round=on_round)
        return researcher.resume(run, sections=sections)


def _settings(started: _Started, app: "App", given: Mapping[str, Any], run: str) -> Settings:
    present = app.settings
    if started.settings is None:
        if given.get("engine") is None:
            raise InvalidInput(
                f"the run {run} was recorded by an older version, without its settings; pass --engine and the other "
                "options that it was started with"
            )
        return present
    settings = resumed_settings(started.settings, present, given, run)
    other = sorted(name for name in reaching() if not _is_set_up(name, settings, present))
    if other and not app.identity.local:
        raise InvalidInput(
            f"the run {run} was started with another {', '.join(other)} than this server has; resume it where these "
            "are set, with `harness research --resume`"
        )
    return settings


def _is_set_up(name: str, settings: Settings, present: Settings) -> bool:
    """Say whether what a run reaches by one setting is set up here: some of the engines, or no model, also are."""
    wanted, offered = getattr(settings, name), getattr(present, name)
    if name == "engine":
        return {*wanted} <= {*offered, BUNDLED}
    return wanted == offered or (name == "model" and wanted is None)
