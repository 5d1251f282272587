"""Start of a run, read from its record, to resume it in the same way."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.engine_choice import choosable, searches_public_web
from harness.core.search_engines import AUTO, LIBRARY, alternative_specs
from harness.core.sub_questions import follow_up
from harness.errors import InvalidInput, StoreCorrupt
from harness.settings import BUNDLED, Settings, reaching, resumed_settings


class Start(Struct, frozen=True):
    """Question, settings and options that a run was started with."""

    question: str
    settings: dict[str, Any] | None = None
    epoch: str = ""
    refresh: bool = False
    serve_stale: float | None = None


def resumed_start(
    record: Mapping[str, Any], run: str, present: Settings, given: Mapping[str, Any], *, local: bool
) -> tuple[Start, Settings]:
    """Return how the run was started, and the settings to resume it with: `given`, then those of the run, then the
    `present` ones.

    For a user who is not `local`, the run's engines, hosts and models must be the present ones: a stored record must
    not decide what a server reads.

    Raises:
        StoreCorrupt: the record cannot be read.
        InvalidInput: its settings are not usable here, or not stored.
    """
    try:
        start = msgspec.convert(record, Start)
    except (ValueError, msgspec.MsgspecError) as error:
        raise StoreCorrupt(f"the record of the run {run} cannot be read; research its question again") from error
    if start.settings is None:
        if given.get("engine") is None:
            raise InvalidInput(
                f"the run {run} was recorded by an older version, without its settings; pass --engine and the other "
                "options that it was started with"
            )
        return start, present
    settings = resumed_settings(start.settings, present, given, run)
    other = sorted(name for name in reaching() if not _is_set_up(name, settings, present))
    if other and not local:
        raise InvalidInput(
            f"the run {run} was started with another {', '.join(other)} than this server has; resume it where these "
            "are set, with `harness research --resume`"
        )
    return start, settings


def follow_up_start(
    record: Mapping[str, Any], run: str, words: str, present: Settings, given: Mapping[str, Any], *, local: bool
) -> tuple[str, dict[str, Any]]:
    """Return the follow-up question to a run in a form that can be searched by itself, and the settings by name to
    research it with; `given` ones, then those of the run, see `resumed_start`.

    Raises:
        StoreCorrupt: the record cannot be read.
        InvalidInput: the settings of the run are not usable here, or not stored.
    """
    start, settings = resumed_start(record, run, present, given, local=local)
    changes = {name: getattr(settings, name) for name in settings.__struct_fields__}
    return follow_up(start.question, words), changes


def _is_set_up(name: str, settings: Settings, present: Settings) -> bool:
    """Return whether a setting of a run reaches nothing that is not set up here; some of the engines or no model is
    fine, too.
    """
    wanted, offered = getattr(settings, name), getattr(present, name)
    if name == "engine":
        suited = {*choosable(), AUTO} if searches_public_web(offered) else ()
        return _single(wanted) <= {*_single(offered), *suited, BUNDLED, LIBRARY}
    return wanted == offered or (name == "model" and wanted is None)


def _single(specs: Sequence[str]) -> set[str]:
    return {each for spec in specs for each in alternative_specs(spec)}
