"""OpenAlex, a catalogue of scholarly works of all fields, through its API.

https://developers.openalex.org/guides/searching, https://developers.openalex.org/api-reference/authentication
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from harness.core.text import clean, one_line, shorten, words
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.filters import Filters, filters_of
from harness.sources.engines.json_api import MAX_BODY_CHARS, authors_of, decoded, identified, plain, result, results
from harness.sources.http.request import HttpResponse, ask, base_address, check_status, web_address

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

_NO_FILTERS = Filters()
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

_KEY = re.compile(r"[!-~]{1,200}")
_OPERATOR = re.compile(r"""[*?~|!"\u201c-\u201f\[\]{}()<>^\\]""")
_LOGIC = re.compile(r"\b(?:AND|OR|NOT)\b")
_LESS_THAN = re.compile(r"<(?![A-Za-z/!])")


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


class _Failure(Struct):
    error: str | None = None
    message: str | None = None


class OpenAlex:
    """Search titles, abstracts and full texts of scholarly works, most relevant first; at most `MAX_RESULTS`. All words
    of a query must be found. A result's body is the abstract; it is empty where the publisher withholds it.

    Filters: years, `open` (free to read) and `field` (one of `FIELDS`, or words that only one of them has). Without an
    `api_key` OpenAlex allows about 100 searches a day, with a free one 1,000. `contact` is an address to send along.
    `timeout` is in seconds.

    Raises:
        InvalidInput: an unknown field, a key of another form, or `base_url` is not an http(s) URL.
    """

    name = "openalex"

    def __init__(
        self,
        *,
        filters: Filters = _NO_FILTERS,
        api_key: str | None = None,
        contact: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
    ) -> None:
        filters = msgspec.structs.replace(filters, field=_field_of_research(filters.field))
        self._url = base_address(base_url, "the URL of OpenAlex")
        self._key = (api_key or "").strip()
        if self._key and not _KEY.fullmatch(self._key):
            raise InvalidInput(f"openalex_api_key has characters that no key has; copy it again from {_KEY_PAGE}")
        self._headers = {**identified(contact), **({"Authorization": f"Bearer {self._key}"} if self._key else {})}
        self._timeout = timeout
        self._filters = _filter_parameters(filters)
        self.options: Mapping[str, Any] = {
            **filters.options,
            **({} if self._url == BASE_URL else {"base_url": self._url}),
        }

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
        url = f"{self._url}/works"
        answer = ask(_WHO, url, params=parameters, headers=self._headers, timeout=self._timeout)
        self._check(answer)
        return results(map(_result, _works(decoded(_WHO, answer, _Reply).results)), limit)

    def _check(self, answer: HttpResponse) -> None:
        """Raise unless the status is 200.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: OpenAlex refuses.
        """
        said = "" if answer.status == 200 else self._said(answer.body)
        if answer.status == 401 or (answer.status == 403 and "api key" in said.lower()):
            if self._key:
                raise InvalidInput(f"{_WHO} refuses the API key; check openalex_api_key, or leave it out")
            raise InvalidInput(f"{_WHO} asks for an API key; set openalex_api_key, which is free: {_KEY_PAGE}")
        if answer.status in {403, 429}:  # 403 is "slow down", as its documentation says
            wait = answer.headers.get("retry-after", "")
            today = wait.isdecimal() and int(wait) > _SHORT_WAIT_SECONDS
            advice = "wait until midnight UTC" if today else "wait a minute"
            advice += "" if self._key else f", or set openalex_api_key, which is free: {_KEY_PAGE}"
            raise RateLimited(f"{_WHO} asks for fewer requests (HTTP {answer.status}); {advice}")
        if said:
            raise EngineUnavailable(f"{_WHO} could not search (HTTP {answer.status}): {said}; try again later")
        check_status(_WHO, answer)

    def _said(self, body: bytes) -> str:
        """Return the message of an error, shortened and without the key; "" if there is none."""
        try:
            failure = msgspec.json.decode(body, type=_Failure)
        except (ValueError, RecursionError):
            return ""
        message = clean(failure.message or failure.error, 2_000)
        return shorten(message.replace(self._key, "…") if self._key else message, 200).rstrip(".")


def _without_operators(query: str) -> str:
    """Return a query without what has a meaning: quotation marks, brackets, wildcards, and AND, OR, NOT in capitals.

    OpenAlex refuses a question mark after a word, and reads other signs only in queries with quotation marks, AND, OR
    or NOT: https://developers.openalex.org/guides/searching
    """
    text = _LOGIC.sub(lambda found: found[0].lower(), _OPERATOR.sub(" ", query))
    return one_line(clean(text, _MAX_QUERY_CHARS))


def _works(items: Sequence[Any]) -> list[_Work]:
    """Return the works; those of another form are left out.

    Raises:
        EngineUnavailable: all of them are of another form.
    """
    works: list[_Work] = []
    for item in items:
        with suppress(msgspec.ValidationError):
            works.append(msgspec.convert(item, _Work))
    if items and not works:
        raise EngineUnavailable(f"{_WHO} answered with something else than works; try again later")
    return works


def _result(work: _Work) -> SearchResult | None:
    main, free = work.primary_location or _Location(), work.best_oa_location or _Location()
    doi = clean(work.doi, 300).removeprefix("https://doi.org/")
    # quoted, because a DOI may contain # and ?
    by_doi = f"https://doi.org/{quote(doi, safe='/():;,')}" if doi.startswith("10.") else ""
    open_access = work.open_access or _OpenAccess()
    return result(
        _text(work.display_name),
        by_doi or web_address(main.landing_page_url) or work.id,
        _abstract(work.abstract_inverted_index or {}),
        date=work.publication_date or str(work.publication_year or ""),
        authors=authors_of(each.author.display_name for each in work.authorships or [] if each and each.author),
        site=main.source.display_name if main.source else "",
        doi="" if "<" in doi else doi,  # what stands before it would be another work
        full_text=web_address(free.pdf_url) or web_address(open_access.oa_url) or free.landing_page_url,
    )


def _abstract(index: Mapping[str, Sequence[int]]) -> str:
    """Return the words of an inverted index in their order."""
    placed = sorted((place, word) for word, places in index.items() for place in places)
    return _text(" ".join(word[:_MAX_WORD_CHARS] for _, word in placed[:MAX_BODY_CHARS]))


def _text(text: str | None) -> str:
    """Return the text of an abstract or title: mostly plain, some with tags. A `<` that begins no tag stays."""
    return one_line(plain(_LESS_THAN.sub("&lt;", text or "")))


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


def _filter_parameters(filters: Filters) -> Mapping[str, str]:
    """Return filters as the parameter `filter`, a list of conditions that all hold."""
    conditions = [f"from_publication_date:{filters.since}-01-01"] if filters.since else []
    conditions += [f"to_publication_date:{filters.until}-12-31"] if filters.until else []
    conditions += ["open_access.is_oa:true"] if filters.open else []
    conditions += [f"primary_topic.field.id:{_FIRST_FIELD_ID + FIELDS.index(filters.field)}"] if filters.field else []
    return {"filter": ",".join(conditions)} if conditions else {}


def from_settings(argument: str, settings: Settings) -> OpenAlex:
    """Return the engine with the filters in `argument`."""
    return OpenAlex(
        filters=filters_of("openalex", argument, ("years", "open", "field")),
        api_key=getattr(settings, "openalex_api_key", None),
        contact=settings.contact_email,
        timeout=settings.search_timeout,
    )
