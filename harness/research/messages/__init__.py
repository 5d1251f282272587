"""Texts that people read in reports, in the language of the question: a catalogue of gettext for each language.

The English text is the key of its translation. After a change of a catalogue (`de.po`), compile it:
`pybabel compile --input-file de.po --output-file de.mo --locale de`.
"""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from harness.core.languages import primary_tag
from harness.core.rules import HEADINGS

CATALOGUES = ("ar", "de", "es", "fr", "hi", "it", "ja", "ko", "nl", "pt", "ru", "tr", "zh")
"""Languages that have a catalogue. Texts are in English where there is none."""

KINDS = ("paper", "encyclopaedia", "documentation", "official", "news", "forum", "code", "document", "page")
LIMITS = ("limit of live calls", "limit of time", "limit of tokens", "limit of cost")
ANSWERS = ("exact", "semantic", "stale", "no results", "live", "failed", "library")
ABOUT = ("question", "date", "engine", "model", "run", "live calls", "answered", "quotations")
LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bangla", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""English names of languages, by their tags."""
CHOSEN = (*HEADINGS, *KINDS, *LIMITS, *ANSWERS, *ABOUT, *LANGUAGE_NAMES.values())
"""Texts that are chosen at run time, so that no call of `message` has them."""

_ENGLISH = NullTranslations()
_RIGHT_TO_LEFT = frozenset("ar arz ckb dv fa he ps sd ug ur yi".split())


def message(language: str, text: str, /, **values: object) -> str:
    """Return a text in a language, with each of `values` in the place of its name in braces."""
    return _catalogue(language).gettext(text).format(**values)


def counted(language: str, one: str, more: str, count: int, /, **values: object) -> str:
    """Return a text in a language, in the form that belongs to `count`; `one` and `more` are those of English."""
    return _catalogue(language).ngettext(one, more, count).format(count=count, **values)


def chosen(language: str, text: str) -> str:
    """Return one of the texts of `CHOSEN` in a language; any other one stays as it is."""
    return _catalogue(language).gettext(text) if text in CHOSEN else text


def heading_in(language: str, name: str) -> str:
    """Return the heading of a section in a language; any that is not one of a report's own stays as it is."""
    return chosen(language, name) if name in HEADINGS else name


def in_language(language: str, other: str) -> str:
    """Return "in German" in a language, for the language `other`; its tag where the name is not known, "" for none."""
    name = LANGUAGE_NAMES.get(other)
    shown = chosen(language, name) if name else primary_tag(other)
    return message(language, "in {language}", language=shown) if shown else ""


def place_in(language: str, number: int, page: int) -> str:
    """Return the number of a source, and the page if it is known (not 0)."""
    return message(language, "{number}, p. {page}", number=number, page=page) if page else str(number)


def list_in(language: str, parts: list[str]) -> str:
    """Return the parts of a list in one line, with the comma of a language; empty ones are left out."""
    return message(language, ", ").join(filter(None, parts))


def ended(language: str, text: str) -> str:
    """Return a text with the full stop of a language, if it has none yet, and a space."""
    stop = message(language, ". ")
    return f"{text} " if text.endswith((".", "?", "!", stop.strip(), "？", "！", "؟")) else f"{text}{stop}"


def direction_of(language: str) -> str:
    """Return the direction of a language's script, as HTML names it: "rtl" or "ltr"."""
    return "rtl" if language in _RIGHT_TO_LEFT else "ltr"


def digits_in(language: str, value: str) -> str:
    """Return a number in digits, as "1,234.5", with the signs that separate its digits in a language."""
    sample = message(language, "1,234.5")
    return value.translate({ord(","): sample[1], ord("."): sample[-2]})


def _catalogue(language: str) -> NullTranslations:
    """Return the catalogue of a language, an empty one if there is none. The tag may come from a file of another user:
    it names no file unless it is listed.
    """
    return _read(language) if language in CATALOGUES else _ENGLISH


@cache
def _read(language: str) -> NullTranslations:
    with files(__name__).joinpath(f"{language}.mo").open("rb") as file:
        return GNUTranslations(file)
