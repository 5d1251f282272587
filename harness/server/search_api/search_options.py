"""Search options of other tools (language, time range, …), converted to settings of the engines set up here.

An option that an engine does not support is refused: ignoring it would give wrong results.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from harness.core.search_engines import alternative_specs
from harness.errors import InvalidInput
from harness.settings import Settings

ANY_LANGUAGE = frozenset({"", "all", "auto"})
"""Values that keep the configured language."""

_LANGUAGE = re.compile("[a-z]{2,3}(-([A-Z]{2}|[A-Z][a-z]{3}))?")
_SAFETY = ("off", "moderate", "on")
STRICT = 2

_REGIONS = frozenset(
    """
    ar-es at-de au-en be-fr be-nl bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es ct-ca cz-cs de-de dk-da
    ee-et es-es fi-fi fr-fr gr-el hr-hr hu-hu id-en id-id ie-en il-he in-en it-it jp-jp kr-kr lt-lt lv-lv mx-es my-en
    my-ms nl-nl no-no nz-en pe-es ph-en ph-tl pl-pl pt-pt ro-ro ru-ru se-sv sg-en sk-sk sl-sl th-th tr-tr ua-uk ue-es
    uk-en us-en ve-es vn-vi xa-ar xa-en za-en
    """.split()
)
"""DuckDuckGo's regions (country-language) that the setting `ddgs_region` accepts.

https://duckduckgo.com/duckduckgo-help-pages/settings/params/
"""
_COUNTRIES = {
    "ar": "SA", "ca": "ES", "cs": "CZ", "da": "DK", "el": "GR", "en": "US", "et": "EE", "he": "IL", "ja": "JP",
    "ko": "KR", "ms": "MY", "nb": "NO", "sl": "SI", "sv": "SE", "tl": "PH", "uk": "UA", "vi": "VN", "zh": "CN",
}  # fmt: skip
"""Countries of languages whose code is not their country's."""
_IRREGULAR = {
    "ar-SA": "xa-ar", "ca-ES": "ct-ca", "en-GB": "uk-en", "es-US": "ue-es", "ja-JP": "jp-jp", "ko-KR": "kr-kr",
    "nb-NO": "no-no", "sl-SI": "sl-sl", "zh-Hans": "cn-zh",
}  # fmt: skip
"""Regions that are not named by country code and language code."""


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
        return _normalised(self.language).partition("-")[0] in {*ANY_LANGUAGE, "en"}


def engine_settings(settings: Settings, options: SearchOptions) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the engines to use (`NAME[:ARG]`), and the settings to change for them.

    Raises:
        InvalidInput: no such engine, no such language, or an option that one of the engines does not support.
    """
    specs = _named(settings.engine, options.engines)
    language = _normalised(options.language)
    changes: dict[str, Any] = {}
    for name in dict.fromkeys(_name(each) for spec in specs for each in alternative_specs(spec)):
        if language not in ANY_LANGUAGE:
            changes |= _in_language(name, language, settings)
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


def region_of(language: str, region: str = "") -> str:
    """Return DuckDuckGo's region for a language; `region` itself if it fits a language without a country.

    Raises:
        InvalidInput: DuckDuckGo has no such region.
    """
    tongue, _, country = language.partition("-")
    if not country and region.endswith(f"-{tongue}"):
        return region
    locale = language if country else f"{tongue}-{_COUNTRIES.get(tongue, tongue.upper())}"
    found = _IRREGULAR.get(locale) or "-".join(reversed(locale.lower().split("-")))
    if found not in _REGIONS:
        raise InvalidInput(f"DuckDuckGo has no region for the language {language}; leave it out, or choose another")
    return found


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


def _normalised(language: str) -> str:
    """Return a language code in the form `pt-BR` or `zh-Hans`; `PT_br` is accepted."""
    tongue, dash, country = language.strip().replace("_", "-").partition("-")
    spelled = tongue.lower()
    if dash:
        spelled += f"-{country.upper() if len(country) == 2 else country.capitalize()}"
    if spelled not in ANY_LANGUAGE and not _LANGUAGE.fullmatch(spelled):
        raise InvalidInput(f"{language[:50]!r} is not a language code; write it as de or pt-BR, or all")
    return spelled


def _in_language(name: str, language: str, settings: Settings) -> dict[str, Any]:
    match name:
        case "searxng":
            return {"searxng_language": language}
        case "ddgs" | "browser":
            return {"ddgs_region": region_of(language, settings.ddgs_region)}
    if language.partition("-")[0] != "en":  # many clients send it by default
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
