"""Catalogues of the texts of reports: complete, compiled, and with the places for values."""

import ast
import io
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from harness.core.languages import primary_tag
from harness.core.source_kind import source_kind
from harness.research import messages
from harness.research.messages import (
    CATALOGUES,
    CHOSEN,
    LANGUAGE_NAMES,
    counted,
    digits_in,
    direction_of,
    ended,
    heading_in,
    in_language,
    message,
)

FOLDER = Path(messages.__file__).parent
PROGRAM = FOLDER.parents[1]
TEMPLATE = PROGRAM / "server" / "pages" / "templates" / "report.html"
_SAID = re.compile(r'say\("([^"]+)"\)')
NUMBERS = (*range(120), 1_000, 1_001, 1_000_000)


def catalogue(language: str) -> Catalog:
    """Return the translations of a language as their source has them."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def compiled(language: str) -> GNUTranslations:
    """Return the translations of a language as the program reads them."""
    with (FOLDER / f"{language}.mo").open("rb") as file:
        return GNUTranslations(file)


def used() -> Iterator[tuple[str, ...]]:
    """Yield the texts of every call of `message` and `counted` in the program, which has to name them literally, and
    those of the page of a report.
    """
    for path in PROGRAM.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent == FOLDER or "harness.research.messages" in text:
            yield from _called(path, ast.parse(text))
    yield from ((text,) for text in _SAID.findall(TEMPLATE.read_text(encoding="utf-8")))


def _called(path: Path, tree: ast.Module) -> Iterator[tuple[str, ...]]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"message", "counted"}:
            texts = call.args[1 : 2 if call.func.id == "message" else 3]
            assert all(isinstance(each, ast.Constant) for each in texts), f"{path}:{call.lineno}"
            yield tuple(str(each.value) for each in texts if isinstance(each, ast.Constant))


def places(text: str) -> set[str]:
    """Return the names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def texts_of(entry: Message) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the English texts and the translations of an entry."""
    ids = entry.id if isinstance(entry.id, tuple) else (entry.id,)
    return tuple(map(str, ids)), tuple(entry.string if isinstance(entry.string, tuple) else (entry.string,))


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_text_is_translated_and_none_is_left_over(language: str) -> None:
    """A catalogue has what the program says, and nothing else."""
    wanted = {each[0] for each in used()} | set(CHOSEN)
    assert {texts_of(entry)[0][0] for entry in catalogue(language) if entry.id} == wanted
    assert all(all(texts_of(entry)[1]) for entry in catalogue(language) if entry.id)


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_translation_has_the_places_of_its_text(language: str) -> None:
    """No value is lost. A form that is for one number alone may have that number in words."""
    # `plural` is an attribute of `GNUTranslations` that typeshed does not declare
    chosen = compiled(language).plural  # type: ignore[attr-defined]
    for entry in catalogue(language):
        english, translated = texts_of(entry)
        for form, text in enumerate(translated):
            numbers = [number for number in NUMBERS if chosen(number) == form]
            optional = {"count"} if len(translated) > 1 and len(numbers) == 1 else set()
            if entry.id:
                assert places(text) | optional == places(english[-1]) | optional, text


@pytest.mark.parametrize("language", CATALOGUES)
def test_the_compiled_catalogue_is_that_of_its_source(language: str) -> None:
    """A change of one without the other fails. `gettext` has both parts, but typeshed does not declare them."""
    made = io.BytesIO()
    write_mo(made, catalogue(language))
    made.seek(0)
    fresh, shipped = GNUTranslations(made), compiled(language)
    texts = [{key: text for key, text in each._catalog.items() if key} for each in (fresh, shipped)]  # type: ignore[attr-defined]
    assert texts[0] == texts[1]
    plurals = [[each.plural(number) for number in NUMBERS] for each in (fresh, shipped)]  # type: ignore[attr-defined]
    assert plurals[0] == plurals[1]


@pytest.mark.parametrize(
    "url", ["https://arxiv.org/1", "https://a.gov/", "https://dw.com/", "https://a.org/docs/", "x"]
)
def test_every_kind_of_source_has_a_name(url: str) -> None:
    """Kinds are chosen at run time, so no call names them."""
    assert source_kind(url) in CHOSEN


def test_tags_of_languages_are_known() -> None:
    """Each is a primary tag, so that a detector's answer finds its name."""
    assert all(primary_tag(tag) == tag for tag in (*LANGUAGE_NAMES, *CATALOGUES))
    assert {direction_of(tag) for tag in ("ar", "fa", "he", "ur")} == {"rtl"}
    assert {direction_of(tag) for tag in ("", "de", "zh", "../x")} == {"ltr"}


@pytest.mark.parametrize("language", ["", "en", "pl", "xx", "../de", "de.mo", "{x}", "DE"])
def test_without_a_catalogue_a_text_is_english(language: str) -> None:
    """A tag comes from a record, perhaps another user's: it names no other file."""
    assert message(language, "read on {day}", day="2026-11-27") == "read on 2026-11-27"
    assert heading_in(language, "Answer") == "Answer"


def test_forms_of_numbers_are_those_of_the_language() -> None:
    """Russian has three, Arabic six."""
    one, more = "revised once", "revised {count} times"
    said = [counted("ru", one, more, count) for count in (1, 2, 5, 21)]
    assert said == ["исправлено 1 раз", "исправлено 2 раза", "исправлено 5 раз", "исправлено 21 раз"]
    assert [counted("ar", one, more, count) for count in (1, 2, 3)] == ["نُقّح مرة واحدة", "نُقّح مرتين", "نُقّح 3 مرات"]
    assert counted("", one, more, 1) == "revised once"


def test_values_are_not_read_as_places() -> None:
    """A title or an error may have braces, too."""
    said = message("de", "Nothing was found that answers: {question}", question="{0.__class__} {x}")
    assert said == "Nichts gefunden zur Frage: {0.__class__} {x}"


@pytest.mark.parametrize(
    ("language", "other", "said"),
    [("", "de", "in German"), ("de", "en", "auf Englisch"), ("zh", "de", "原文为德语"), ("de", "mn", "auf mn")],
)
def test_a_language_is_named(language: str, other: str, said: str) -> None:
    """A language without a known name is shown by its tag, and an invalid tag not at all."""
    assert in_language(language, other) == said
    assert in_language(language, "{x}") == in_language(language, "") == ""


def test_only_headings_of_reports_are_translated() -> None:
    """The title of a source, which may head a section, stays as it is."""
    assert heading_in("de", "Sources") == "Quellen"
    assert heading_in("de", "news") == "news"


@pytest.mark.parametrize(
    ("language", "said"), [("", "1,234.5"), ("de", "1.234,5"), ("fr", "1\u202f234,5"), ("zh", "1,234.5")]
)
def test_digits_are_separated_as_in_the_language(language: str, said: str) -> None:
    """A German reads 1,234 as a little more than one."""
    assert digits_in(language, "1,234.5") == said


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("", "A title", "A title. "),
        ("", "A title?", "A title? "),
        ("zh", "标题", "标题。"),
        ("zh", "标题？", "标题？ "),
    ],
)
def test_a_text_ends_with_the_stop_of_the_language(language: str, text: str, said: str) -> None:
    """One that ends with a sign gets no other."""
    assert ended(language, text) == said
