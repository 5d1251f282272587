"""What another tool wishes of a search (a language, a time range, …), told in the settings of the engines set up here.

A wish that an engine cannot keep is refused: a search that only looks as if it had been kept would be a wrong answer.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from harness.errors import InvalidInput
from harness.settings import Settings

NOBODYS = frozenset({"", "all", "auto"})
"""Languages that are no choice: what is set here holds."""

_LANGUAGE = re.compile("[a-z]{2,3}(-([A-Z]{2}|[A-Z][a-z]{3}))?")
_SAFETY = ("off", "moderate", "on")

_REGIONS = frozenset(
    """
    ar-es at-de au-en be-fr be-nl bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es ct-ca cz-cs de-de dk-da
    ee-et es-es fi-fi fr-fr gr-el hr-hr hu-hu id-en id-id ie-en il-he in-en it-it jp-jp kr-kr lt-lt lv-lv mx-es my-en
    my-ms nl-nl no-no nz-en pe-es ph-en ph-tl pl-pl pt-pt ro-ro ru-ru se-sv sg-en sk-sk sl-sl th-th tr-tr ua-uk ue-es
    uk-en us-en ve-es vn-vi xa-ar xa-en za-en
    """.split()
)
"""DuckDuckGo's regions, country and language; those whose code fits the setting `ddgs_region`.

https://duckduckgo.com/duckduckgo-help-pages/settings/params/
"""
_HOMES = {
    "ar": "SA", "ca": "ES", "cs": "CZ", "da": "DK", "el": "GR", "en": "US", "et": "EE", "he": "IL", "ja": "JP",
    "ko": "KR", "ms": "MY", "nb": "NO", "sl": "SI", "sv": "SE", "tl": "PH", "uk": "UA", "vi": "VN", "zh": "CN",
}  # fmt: skip
"""Countries of languages whose code is another one's, or no country's."""
_ODD = {
    "ar-SA": "xa-ar", "ca-ES": "ct-ca", "en-GB": "uk-en", "es-US": "ue-es", "ja-JP": "jp-jp", "ko-KR": "kr-kr",
    "nb-NO": "no-no", "sl-SI": "sl-sl", "zh-Hans": "cn-zh",
}  # fmt: skip
"""Regions that are not called by the country's code and the language's."""


class Wishes(Struct, frozen=True):
    """What somebody wishes of a search: nothing, as it stands here.

    `language` is a code as `de` or `pt-BR`; `time_range` is "", "day", "week", "month" or "year"; `safety` is 0 (off),
    1 (moderate) or 2 (strict); `engines` are names of engines that are set up here.
    """

    language: str = ""
    time_range: str = ""
    safety: int | None = None
    engines: tuple[str, ...] = ()


def choices(settings: Settings, wishes: Wishes) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the engines to ask (`NAME[:ARG]`), and the settings, others than `settings`, to ask them with.

    Raises:
        InvalidInput: no such engine, no such language, or a wish that one of the engines cannot keep.
    """
    specs = _named(settings.engine, wishes.engines)
    language = _one_spelling(wishes.language)
    changes: dict[str, Any] = {}
    for name in dict.fromkeys(map(_name, specs)):
        if language not in NOBODYS:
            changes |= _in_language(name, language, settings)
        if wishes.time_range:
            changes |= _within(name, wishes.time_range)
        if wishes.safety is not None:
            changes |= _with_safety(name, wishes.safety)
    return specs, changes


class Abilities(Struct, frozen=True):
    """Which choices an engine can follow: a language, a time range, strict safe search."""

    language: bool
    time_range: bool
    safety: bool


def engine_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of the engines that are set up here, each once."""
    return tuple(dict.fromkeys(map(_name, settings.engine)))


def abilities(name: str, settings: Settings) -> Abilities:
    """Return which choices the engine `name` can follow."""
    return Abilities(
        _can(lambda: _in_language(name, "de", settings)),
        _can(lambda: _within(name, "day")),
        _can(lambda: _with_safety(name, len(_SAFETY) - 1)),
    )


def safe_search(settings: Settings) -> int:
    """Return the level of safe search without a choice: 0 (off), 1 (moderate) or 2 (strict)."""
    return _SAFETY.index(settings.ddgs_safesearch) if "ddgs" in engine_names(settings) else 0


def region_of(language: str, region: str = "") -> str:
    """Return DuckDuckGo's region for a language; `region` itself, where that is one of a language without a country.

    Raises:
        InvalidInput: DuckDuckGo has none.
    """
    tongue, _, country = language.partition("-")
    if not country and region.endswith(f"-{tongue}"):
        return region
    locale = language if country else f"{tongue}-{_HOMES.get(tongue, tongue.upper())}"
    found = _ODD.get(locale) or "-".join(reversed(locale.lower().split("-")))
    if found not in _REGIONS:
        raise InvalidInput(f"DuckDuckGo has no region for the language {language}; leave it out, or ask for another")
    return found


def _can(choose: Callable[[], object]) -> bool:
    """Return whether a choice is accepted."""
    try:
        choose()
    except InvalidInput:
        return False
    return True


def _named(specs: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    known = dict.fromkeys(map(_name, specs))
    if unknown := next((name for name in names if name not in known), None):
        raise InvalidInput(f"no engine {unknown[:50]!r} is set up here; choose from {', '.join(known)}")
    return tuple(spec for spec in specs if _name(spec) in names) if names else specs


def _name(spec: str) -> str:
    return spec.partition(":")[0]


def _one_spelling(language: str) -> str:
    """Return a code as `pt-BR` or `zh-Hans`, however it was written: `PT_br`."""
    tongue, dash, country = language.strip().replace("_", "-").partition("-")
    spelled = tongue.lower()
    if dash:
        spelled += f"-{country.upper() if len(country) == 2 else country.capitalize()}"
    if spelled not in NOBODYS and not _LANGUAGE.fullmatch(spelled):
        raise InvalidInput(f"{language[:50]!r} is no code of a language; write it as de or pt-BR, or all")
    return spelled


def _in_language(name: str, language: str, settings: Settings) -> dict[str, Any]:
    match name:
        case "searxng":
            return {"searxng_language": language}
        case "ddgs" | "browser":
            return {"ddgs_region": region_of(language, settings.ddgs_region)}
    if language.partition("-")[0] != "en":  # what many clients send without being asked
        raise InvalidInput(f"the engine {name} has no choice of language; leave language out, or choose other engines")
    return {}


def _within(name: str, time_range: str) -> dict[str, Any]:
    match name:
        case "searxng":
            return {"searxng_time_range": time_range}
        case "ddgs" | "browser":
            return {"ddgs_timelimit": time_range[0]}
    raise InvalidInput(f"the engine {name} has no choice of time; leave time_range out, or choose other engines")


def _with_safety(name: str, safety: int) -> dict[str, Any]:
    if name == "ddgs":
        return {"ddgs_safesearch": _SAFETY[safety]}
    if safety > 1:  # less than what an engine does of itself is no promise; more is one
        raise InvalidInput(f"the engine {name} has no strict safe search; leave it out, or choose other engines")
    return {}
