"""Search options of other tools (language, time range, …), converted to settings of the engines set up here.

An option that an engine does not support is refused: ignoring it would give wrong results.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from harness.core.locales import DEFAULT, locale_of, region_of, tongue_of
from harness.core.search_engines import alternative_specs, engine_kind
from harness.errors import InvalidInput
from harness.settings import Settings

ANY_LANGUAGE = frozenset({"", "all", "auto"})
"""Values that keep the configured language."""

_SAFETY = ("off", "moderate", "on")
STRICT = 2


class SearchOptions(Struct, frozen=True):
    """Options of one search; the defaults change nothing.

    `language` is a code as `de` or `pt-BR`; `time_range` is "", "day", "week", "month" or "year"; `safety` is 0 (off),
    1 (moderate) or 2 (strict); `engines` are names of engines that are set up here; `reuse` is the setting of that
    name, and `more` says that results beyond the first page, or only those of some sites, are asked for.
    """

    language: str = ""
    time_range: str = ""
    safety: int | None = None
    engines: tuple[str, ...] = ()
    reuse: str = ""
    more: bool = False

    @property
    def takes_passages(self) -> bool:
        """Whether passages that were read before can answer: they have no time range, safety, language or further
        pages.
        """
        if self.more or self.time_range or self.safety == STRICT:
            return False
        return tongue_of(_locale(self.language)) in {"", DEFAULT}


def engine_settings(settings: Settings, options: SearchOptions) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the engines to use (`NAME[:ARG]`), and the settings to change for them.

    Raises:
        InvalidInput: no such engine, no such language, or an option that one of the engines does not support.
    """
    specs = _named(settings.engine, options.engines)
    language = _locale(options.language)
    changes: dict[str, Any] = {}
    for each in dict.fromkeys(each for spec in specs for each in alternative_specs(spec)):
        name = _name(each)
        if language:
            changes |= _in_language(each, language, settings)
        if options.time_range:
            changes |= _within(name, options.time_range)
        if options.safety is not None:
            changes |= _with_safety(name, options.safety)
    return specs, changes


class Capabilities(Struct, frozen=True):
    """Options that an engine supports: language, time range, strict safe search."""

    language: bool
    time_range: bool
    safety: bool


def engine_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of the engines set up here, without duplicates."""
    return tuple(dict.fromkeys(map(_name, settings.engine)))


def capabilities(name: str, settings: Settings) -> Capabilities:
    """Return the options that the engine `name` supports."""
    return Capabilities(
        _can(lambda: _in_language(name, "de", settings)),
        _can(lambda: _within(name, "day")),
        _can(lambda: _with_safety(name, len(_SAFETY) - 1)),
    )


def safe_search(settings: Settings) -> int:
    """Return the default level of safe search: 0 (off), 1 (moderate) or 2 (strict)."""
    return _SAFETY.index(settings.ddgs_safesearch) if "ddgs" in engine_names(settings) else 0


def _can(choose: Callable[[], object]) -> bool:
    """Return whether an option is accepted."""
    try:
        choose()
    except InvalidInput:
        return False
    return True


def _named(specs: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    known = dict.fromkeys(map(_name, specs))
    if unknown := next((name for name in names if name not in known), None):
        raise InvalidInput(f"no such engine here: {unknown[:50]!r}; choose from {', '.join(known)}")
    return tuple(spec for spec in specs if _name(spec) in names) if names else specs


def _name(spec: str) -> str:
    return spec.partition(":")[0]


def _locale(language: str) -> str:
    """Return a language code as `locale_of`; "" for values that keep the configured language."""
    return "" if language.strip().lower() in ANY_LANGUAGE else locale_of(language)


def _in_language(spec: str, language: str, settings: Settings) -> dict[str, Any]:
    """Return the settings with which an engine searches in a language.

    Raises:
        InvalidInput: it cannot, or is set up for another language.
    """
    name, _, argument = spec.partition(":")
    kind = engine_kind(spec)
    if kind is not None and kind.language:
        if name == "wikipedia" and argument and argument != tongue_of(language):
            raise InvalidInput(f"the engine {spec[:50]} does not search in {language}; leave language out")
        if name in {"ddgs", "browser"}:
            region_of(language, settings.ddgs_region or "")
        return {"language": language}
    if tongue_of(language) != DEFAULT:  # many clients send it by default
        raise InvalidInput(
            f"the engine {name} does not support a language; leave language out, or choose other engines"
        )
    return {}


def _within(name: str, time_range: str) -> dict[str, Any]:
    match name:
        case "searxng":
            return {"searxng_time_range": time_range}
        case "ddgs" | "browser":
            return {"ddgs_timelimit": time_range[0]}
    raise InvalidInput(
        f"the engine {name} does not support a time range; leave time_range out, or choose other engines"
    )


def _with_safety(name: str, safety: int) -> dict[str, Any]:
    if name == "ddgs":
        return {"ddgs_safesearch": _SAFETY[safety]}
    if safety > 1:  # only strict is a promise that must be kept
        raise InvalidInput(
            f"the engine {name} does not support strict safe search; leave it out, or choose other engines"
        )
    return {}
