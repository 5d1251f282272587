"""Search options of other tools, as settings of the configured engines."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.core.locales import locale_of
from harness.errors import InvalidInput
from harness.server.search_api.search_options import SearchOptions, engine_settings
from harness.settings import Settings

EVERY = ("ddgs", "browser", "searxng:http://127.0.0.1:1", "pubmed", "corpus:python-docs")


def changes(*engines: str, **options: Any) -> dict[str, Any]:
    """Return the settings that the options change."""
    settings = Settings(data_dir=Path(), engine=engines)
    return engine_settings(settings, SearchOptions(**options))[1]


@pytest.mark.parametrize("language", ["", "all", "auto", " ALL "])
def test_no_language_changes_nothing(language: str) -> None:
    """The cache entries are shared with all other searches."""
    assert changes(*EVERY, language=language) == {}


@pytest.mark.parametrize("language", ["en", "en-US", "EN_us"])
def test_english_is_accepted_by_every_engine(language: str) -> None:
    """Clients send it by default."""
    assert changes("pubmed", "corpus:python-docs", language=language) == {}
    assert changes("ddgs", "pubmed", language=language) == {"language": locale_of(language)}


@pytest.mark.parametrize("engine", ["ddgs", "browser", "searxng", "wikipedia", "openalex", "brave", "serper"])
def test_a_language_is_a_setting_of_engines_that_know_one(engine: str) -> None:
    """In one form for all."""
    assert changes(engine, language="pt_br") == {"language": "pt-BR"}


def test_duckduckgo_needs_a_region() -> None:
    """Results of another country would be wrong."""
    with pytest.raises(InvalidInput, match="no region for the language"):
        changes("ddgs", language="de-BR")


def test_a_wikipedia_of_another_language_is_not_searched() -> None:
    """It is set up for one."""
    assert changes("wikipedia:de", language="de-AT") == {"language": "de-AT"}
    with pytest.raises(InvalidInput, match="wikipedia:de does not search in fr"):
        changes("wikipedia:de", language="fr")


@pytest.mark.parametrize("language", ["german", "d", "de-", "de-DE-1", "de\0", "🦆", "a" * 5_000, "tlh"])
def test_an_invalid_language_is_refused(language: str) -> None:
    """For every engine."""
    with pytest.raises(InvalidInput, match=r"not a language code|unknown language"):
        changes("corpus:python-docs", language=language)


@pytest.mark.parametrize("engine", ["pubmed", "corpus"])
def test_an_engine_without_languages_is_named(engine: str) -> None:
    """The message says what to leave out."""
    with pytest.raises(InvalidInput, match=f"the engine {engine} does not support a language"):
        changes("ddgs", f"{engine}:python-docs", language="de")


def test_each_engine_gets_the_time_range_in_its_own_form() -> None:
    """One option, several settings."""
    assert changes("ddgs", "searxng", time_range="month") == {"ddgs_timelimit": "m", "searxng_time_range": "month"}


@pytest.mark.parametrize("engine", ["pubmed", "corpus"])
def test_an_unsupported_time_range_is_refused(engine: str) -> None:
    """Old results would look like new ones."""
    with pytest.raises(InvalidInput, match=f"the engine {engine} does not support a time range"):
        changes(engine, time_range="day")


@pytest.mark.parametrize(("safety", "setting"), [(0, "off"), (1, "moderate"), (2, "on")])
def test_safe_search_is_one_of_ddgs(safety: int, setting: str) -> None:
    """In its three levels."""
    assert changes("ddgs", safety=safety) == {"ddgs_safesearch": setting}


@pytest.mark.parametrize("engine", ["browser", "searxng", "pubmed", "corpus"])
def test_unsupported_strict_safe_search_is_refused(engine: str) -> None:
    """The other levels, which clients send by default, are accepted."""
    assert changes(engine, safety=0) == changes(engine, safety=1) == {}
    with pytest.raises(InvalidInput, match=f"the engine {engine} does not support strict safe search"):
        changes(engine, safety=2)


def test_engines_are_chosen_by_name() -> None:
    """Their arguments, such as a folder, stay."""
    settings = Settings(data_dir=Path(), engine=("ddgs", "corpus:a", "corpus:b"))
    assert engine_settings(settings, SearchOptions(engines=("corpus",)))[0] == ("corpus:a", "corpus:b")
    assert engine_settings(settings, SearchOptions())[0] == ("ddgs", "corpus:a", "corpus:b")


def test_only_chosen_engines_must_support_the_options() -> None:
    """So choosing engines avoids a refusal."""
    assert changes("ddgs", "corpus:python-docs", language="de", engines=("ddgs",)) == {"language": "de"}


def test_an_unknown_engine_is_refused_with_the_known_names() -> None:
    """Only names: an argument may be a path or contain a password."""
    with pytest.raises(InvalidInput, match=re.escape("no such engine here: 'google'; choose from ddgs, searxng")):
        changes("ddgs", "searxng:http://me:secret@127.0.0.1:1", engines=("google",))
