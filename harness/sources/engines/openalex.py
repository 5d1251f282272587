"""OpenAlex, a catalogue of scholarly works of all fields, through its API.

https://developers.openalex.org/guides/searching, https://developers.openalex.org/api-reference/authentication
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from harness.core.locales import specific, tongue_of
from harness.core.text import clean, one_line, words
from harness.errors import InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import NO_FILTERS, Filters, filters_of
from harness.sources.engines.json_api import ApiEngine, identified
from harness.sources.engines.result_fields import MAX_BODY_CHARS, authors_of, doi_address, plain, result
from harness.sources.engines.result_lists import results
from harness.sources.http.request import HttpResponse, web_address

BASE_URL = "https://api.openalex.org"
MAX_RESULTS = 100

FIELDS = tuple(
    (
        "Agricultural and Biological Sciences; Arts and Humanities; Biochemistry, Genetics and Molecular Biology; "
        "Business, Management and Accounting; Chemical Engineering; Chemistry; Computer Science; Decision Sciences; "
        "Earth and Planetary Sciences; Economics, Econometrics and Finance; Energy; Engineering; "
        "Environmental Science; Immunology and Microbiology; Materials Science; Mathematics; Medicine; Neuroscience; "
        "Nursing; Pharmacology, Toxicology and Pharmaceutics; Physics and Astronomy; Psychology; Social Sciences; "
        "Veterinary; Dentistry; Health Professions"
    ).split("; ")
)
"""Values of the filter `field`, in the order of their ids: https://api.openalex.org/fields."""

_WHO = "OpenAlex"
_KEY_PAGE = "https://openalex.org/settings/api"
_SELECTED = (
    "id,doi,display_name,publication_date,publication_year,authorships,primary_location,best_oa_location,open_access,"
    "abstract_inverted_index"
)
_MAX_QUERY_CHARS = 300
"""OpenAlex refuses a URL of more than 4 KB; a character may need twelve of its bytes."""
_MAX_WORD_CHARS = 200
_SHORT_WAIT_SECONDS = 60
_FIRST_FIELD_ID = 11

_OPERATOR = re.compile(r"""[*?~|!"\u201c-\u201f\[\]{}()<>^\\]""")
_LOGIC = re.compile(r"\b(?:AND|OR|NOT)\b")


class _Author(Struct):
    display_name: str | None = None


class _Authorship(Struct):
    author: _Author | None = None


class _Source(Struct):
    display_name: str | None = None


class _Location(Struct):
    landing_page_url: str | None = None
    pdf_url: str | None = None
    source: _Source | None = None


class _OpenAccess(Struct):
    oa_url: str | None = None


class _Work(Struct):
    """Fields of a work that are read. `abstract_inverted_index` has the places of each word of the abstract."""

    id: str | None = None
    doi: str | None = None
    display_name: str | None = None
    publication_date: str | None = None
    publication_year: int | None = None
    authorships: list[_Authorship | None] | None = None
    primary_location: _Location | None = None
    best_oa_location: _Location | None = None
    open_access: _OpenAccess | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None


class _Reply(Struct):
    results: list[Any]


class OpenAlex(ApiEngine):
    """Search titles, abstracts and full texts of scholarly works, most relevant first; at most `MAX_RESULTS`. All words
    of a query must be found. A result's body is the abstract; it is empty where the publisher withholds it.

    Filters: years, `open` (free to read) and `field` (one of `FIELDS`, or words that only one of them has). With a
    `language` (ISO 639-1) only works that OpenAlex takes to be written in it are found. Without an
    `api_key` OpenAlex allows about 100 searches a day, with a free one 1,000. `contact` is an address to send along.
    `timeout` is in seconds.

    Raises:
        InvalidInput: an unknown field, a key of another form, or `base_url` is not an http(s) URL.
    """

    name, who, where = "openalex", _WHO, "the URL of OpenAlex"
    key_setting = "openalex_api_key"

    def __init__(
        self,
        *,
        filters: Filters = NO_FILTERS,
        language: str = "",
        api_key: str | None = None,
        contact: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        filters = replace(filters, field=_field_of_research(filters.field))
        options = {**filters.options, **({"language": language} if language else {})}
        super().__init__(base_url, BASE_URL, timeout, options, api_key)
        self._headers = {**identified(contact), **({"Authorization": f"Bearer {self._key}"} if self._key else {})}
        self._filters = _filter_parameters(filters, language)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: OpenAlex refuses the API key, or asks for one.
        """
        text = _without_operators(query)
        if not words(text):  # it would find everything
            return []
        limit = min(max_results, MAX_RESULTS)
        parameters = {"search": text, "per_page": str(limit), "select": _SELECTED, **self._filters}
        found = self._reply(_Reply, "works", params=parameters).results
        return results(map(_result, self._items(found, _Work)), limit)

    def _refuse(self, answer: HttpResponse) -> NoReturn:
        said = self._message(answer)
        if answer.status == 401 or (answer.status == 403 and "api key" in said.lower()):
            if self._key:
                raise self._key_refused()
            raise InvalidInput(f"{_WHO} asks for an API key; set openalex_api_key, which is free: {_KEY_PAGE}")
        if answer.status in {403, 429}:  # 403 is "slow down", as its documentation says
            wait = answer.headers.get("retry-after", "")
            today = wait.isdecimal() and int(wait) > _SHORT_WAIT_SECONDS
            advice = "wait until midnight UTC" if today else "wait a minute"
            advice += "" if self._key else f", or set openalex_api_key, which is free: {_KEY_PAGE}"
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP {answer.status}); {advice}")
        self._fail(answer, said)


def _without_operators(query: str) -> str:
    """Return a query without what has a meaning: quotation marks, brackets, wildcards, and AND, OR, NOT in capitals.

    OpenAlex refuses a question mark after a word, and reads other signs only in queries with quotation marks, AND, OR
    or NOT: https://developers.openalex.org/guides/searching
    """
    text = _LOGIC.sub(lambda found: found[0].lower(), _OPERATOR.sub(" ", query))
    return one_line(clean(text, _MAX_QUERY_CHARS))


def _result(work: _Work) -> SearchResult | None:
    main, free = work.primary_location or _Location(), work.best_oa_location or _Location()
    open_access = work.open_access or _OpenAccess()
    return result(
        one_line(plain(work.display_name)),
        doi_address(work.doi) or web_address(main.landing_page_url) or work.id,
        _abstract(work.abstract_inverted_index or {}),
        date=work.publication_date or str(work.publication_year or ""),
        authors=authors_of(each.author.display_name for each in work.authorships or [] if each and each.author),
        site=main.source.display_name if main.source else "",
        doi=work.doi,
        full_text=web_address(free.pdf_url) or web_address(open_access.oa_url) or free.landing_page_url,
    )


def _abstract(index: Mapping[str, Sequence[int]]) -> str:
    """Return the words of an inverted index in their order."""
    placed = sorted((place, word) for word, places in index.items() for place in places)
    return one_line(plain(" ".join(word[:_MAX_WORD_CHARS] for _, word in placed[:MAX_BODY_CHARS])))


def _field_of_research(name: str) -> str:
    """Return the one of `FIELDS` that is `name`, or the only one that has all its words; "" for none.

    Raises:
        InvalidInput: there is no such field, or more than one.
    """
    wanted = set(words(name))
    having = [each for each in FIELDS if wanted <= set(words(each))]
    found = [each for each in having if wanted == set(words(each))] or having
    if name and len(found) != 1:
        raise InvalidInput(f"{_WHO} has no single field {name[:60]!r}; choose one of: {'; '.join(FIELDS)}")
    return found[0] if name else ""


def _filter_parameters(filters: Filters, language: str) -> Mapping[str, str]:
    """Return filters and language as the parameter `filter`, a list of conditions that all hold."""
    conditions = filters.years("from_publication_date:{}-01-01", "to_publication_date:{}-12-31")
    conditions += ["open_access.is_oa:true"] if filters.open else []
    conditions += [f"primary_topic.field.id:{_FIRST_FIELD_ID + FIELDS.index(filters.field)}"] if filters.field else []
    conditions += [f"language:{language}"] if language else []
    return {"filter": ",".join(conditions)} if conditions else {}


def from_settings(argument: str, settings: Settings) -> OpenAlex:
    """Return the engine with the filters in `argument` and the language of the settings."""
    return OpenAlex(
        filters=filters_of("openalex", argument, ("years", "open", "field")),
        language=tongue_of(specific(settings.language)),
        api_key=settings.openalex_api_key,
        contact=settings.contact_email,
        timeout=settings.search_timeout,
    )
