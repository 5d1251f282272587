"""Language of a search: tags, countries and regions."""

import pytest

from harness.core.language_hints import word_weights
from harness.core.locales import (
    ALL_REGIONS,
    ANY,
    DEFAULT_REGION,
    REGIONS,
    check_language,
    country_of,
    locale_of,
    region_of,
    requested_language,
    specific,
)
from harness.errors import InvalidInput
from harness.settings.loading import checked


@pytest.mark.parametrize(
    ("language", "region"),
    [
        ("de", "de-de"), ("de-AT", "at-de"), ("pt", "pt-pt"), ("pt-BR", "br-pt"), ("pt_br", "br-pt"),
        ("en-GB", "uk-en"), ("ja", "jp-jp"), ("ko-KR", "kr-kr"), ("zh", "cn-zh"), ("zh-Hans", "cn-zh"),
        ("uk", "ua-uk"), ("cs", "cz-cs"), ("sv", "se-sv"), ("da", "dk-da"), ("nb", "no-no"), ("no", "no-no"),
        ("ar", "xa-ar"), ("es-US", "ue-es"), ("ca", "ct-ca"), ("fr-CA", "ca-fr"), ("hi", "wt-wt"), ("fa", "wt-wt"),
    ],
)  # fmt: skip
def test_a_language_has_a_region_of_duckduckgo(language: str, region: str) -> None:
    """Country first; some regions have other names than the codes, some languages have none."""
    assert region_of(locale_of(language)) == region


def test_a_language_without_a_country_keeps_a_matching_region() -> None:
    """`en` does not move a British user to the United States; without a language the region stays."""
    assert region_of("en", "uk-en") == "uk-en"
    assert region_of("de", "uk-en") == "de-de"
    assert region_of(ANY, "uk-en") == "uk-en"
    assert region_of(ANY) == DEFAULT_REGION


@pytest.mark.parametrize("language", ["zh-TW", "de-BR"])
def test_a_country_without_a_region_is_refused(language: str) -> None:
    """Results of another country would be wrong."""
    with pytest.raises(InvalidInput, match="no region for the language"):
        region_of(language)


def test_every_region_fits_the_setting() -> None:
    """Engines take both."""
    for region in (*REGIONS, ALL_REGIONS):
        assert checked({"ddgs_region": region}, "a test") == {"ddgs_region": region}


@pytest.mark.parametrize("language", ["german", "d", "de-", "de-DE-1", "de\0", "🦆", "a" * 5_000, "", "tlh"])
def test_an_invalid_language_is_refused(language: str) -> None:
    """Also an unknown one; by the setting, too."""
    for check in (locale_of, check_language):
        with pytest.raises(InvalidInput, match="language"):
            check(language)


@pytest.mark.parametrize(
    ("setting", "question", "language"),
    [
        ("auto", "Wie lange ist die Kündigungsfrist?", "de"),
        ("auto", "How long is the notice period?", ANY),
        ("auto", "SQLite WAL", ANY),
        ("any", "Wie lange ist die Kündigungsfrist?", ANY),
        ("PT_br", "How long is the notice period?", "pt-BR"),
        ("en", "Wie lange ist die Kündigungsfrist?", "en"),
    ],
)
def test_the_setting_and_the_question_decide(setting: str, question: str, language: str) -> None:
    """English is requested only if it is set."""
    check_language(setting)
    assert requested_language(setting, question) == language


def test_every_language_of_questions_has_a_country() -> None:
    """A code of two capitals; without an entry it is that of the language."""
    for language in {each for languages in word_weights().values() for each in languages} | set(
        "ru ar hi zh ja".split()
    ):
        assert len(country_of(language)) == 2
        assert country_of(language).isupper()
    assert (country_of("pt-BR"), country_of("zh-Hant"), country_of("hi")) == ("BR", "CN", "IN")


def test_engines_need_no_parameter_for_what_they_do_anyway() -> None:
    """So the cache entries are those of searches without a language."""
    assert [specific(each) for each in (ANY, "auto", "en", "en-US", "en-GB", "de")] == ["", "", "", "", "en-GB", "de"]
