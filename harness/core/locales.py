"""Language of a search: the setting `language`, its tags, and the countries and DuckDuckGo regions of languages."""

import re

from harness.core.languages import primary_tag
from harness.core.question_language import question_language
from harness.errors import InvalidInput

AUTO, ANY = "auto", "any"
"""Values of the setting `language` besides tags: the language of each question; no language is requested."""
DEFAULT = "en"
"""Language that engines search in if none is requested."""
DEFAULT_REGION = "us-en"
ALL_REGIONS = "wt-wt"
"""DuckDuckGo's region for languages that have none."""

_LANGUAGE = re.compile("[a-z]{2,3}(-([A-Z]{2}|[A-Z][a-z]{3}))?")

REGIONS = frozenset(
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
    "am": "ET", "ar": "SA", "be": "BY", "bn": "BD", "ca": "ES", "cs": "CZ", "cy": "GB", "da": "DK", "el": "GR",
    "en": "US", "et": "EE", "eu": "ES", "fa": "IR", "fil": "PH", "ga": "IE", "gl": "ES", "gu": "IN", "he": "IL",
    "hi": "IN", "hy": "AM", "ja": "JP", "ka": "GE", "km": "KH", "kn": "IN", "ko": "KR", "lo": "LA", "ml": "IN",
    "mr": "IN", "ms": "MY", "my": "MM", "nb": "NO", "ne": "NP", "pa": "IN", "si": "LK", "sl": "SI", "sq": "AL",
    "sr": "RS", "sv": "SE", "sw": "TZ", "ta": "IN", "te": "IN", "tl": "PH", "uk": "UA", "ur": "PK", "vi": "VN",
    "zh": "CN",
}  # fmt: skip
"""Countries of languages whose code is not their country's."""
_IRREGULAR = {
    "ar-SA": "xa-ar", "ca-ES": "ct-ca", "en-GB": "uk-en", "es-US": "ue-es", "ja-JP": "jp-jp", "ko-KR": "kr-kr",
    "nb-NO": "no-no", "sl-SI": "sl-sl", "zh-Hans": "cn-zh",
}  # fmt: skip
"""Regions that are not named by country code and language code."""


def locale_of(language: str) -> str:
    """Return a language code in the form `pt-BR` or `zh-Hans`; `PT_br` is accepted.

    Raises:
        InvalidInput: not a language code, or an unknown language.
    """
    tongue, dash, country = language.strip().replace("_", "-").partition("-")
    spelled = tongue.lower()
    if dash:
        spelled += f"-{country.upper() if len(country) == 2 else country.capitalize()}"
    if not _LANGUAGE.fullmatch(spelled):
        raise InvalidInput(f"{language[:50]!r} is not a language code; write it as de or pt-BR")
    if not primary_tag(spelled):
        raise InvalidInput(f"unknown language {spelled!r}; write one such as de or pt-BR")
    return spelled


def check_language(setting: str) -> None:
    """Check a value of the setting `language`.

    Raises:
        InvalidInput: not `auto`, `any` or a language.
    """
    if setting not in {AUTO, ANY}:
        locale_of(setting)


def requested_language(setting: str, question: str) -> str:
    """Return the language to search a question in: a code such as `de` or `pt-BR`, or `any`.

    With the setting `auto` it is that of the question; `any` for English, which engines search in anyway, and for an
    unknown one.
    """
    if setting == ANY:
        return ANY
    if setting != AUTO:
        return locale_of(setting)
    found = question_language(question)
    return found if found not in {"", DEFAULT} else ANY


def specific(language: str) -> str:
    """Return a requested language; "" for `any`, `auto` and American English, which engines search in by default."""
    return "" if language in {ANY, AUTO, DEFAULT, "en-US"} else language


def tongue_of(language: str) -> str:
    """Return the code of a language without its country or script: `pt` for `pt-BR`."""
    return language.partition("-")[0]


def country_of(language: str) -> str:
    """Return the country in a code, else one where the language is spoken: `DE` for `de`; "" if none is known."""
    tongue, _, country = language.partition("-")
    return country if len(country) == 2 else _COUNTRIES.get(tongue, tongue.upper() if len(tongue) == 2 else "")


def region_of(language: str, region: str = "") -> str:
    """Return DuckDuckGo's region for a language; `region` itself if it fits a language without a country. For `any`
    and `auto` it is the one of the United States, for a language without a region `ALL_REGIONS`.

    Raises:
        InvalidInput: DuckDuckGo has no region for this country or script of the language.
    """
    if language in {ANY, AUTO}:
        return region or DEFAULT_REGION
    tongue, _, country = language.partition("-")
    if not country and region.endswith(f"-{tongue}"):
        return region
    locale = language if country else f"{tongue}-{country_of(tongue)}"
    found = _IRREGULAR.get(locale) or "-".join(reversed(locale.lower().split("-")))
    if found in REGIONS:
        return found
    if country:
        raise InvalidInput(f"DuckDuckGo has no region for the language {language}; leave it out, or choose another")
    return ALL_REGIONS
