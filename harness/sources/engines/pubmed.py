"""PubMed through the E-utilities of NCBI: `esearch` finds papers, `efetch` returns their abstracts.

https://www.ncbi.nlm.nih.gov/books/NBK25499/. Both use POST: so the API key is in no URL that an HTTP library logs, and
a long query fits.
"""

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from harness.core.keys import MAX_QUERY_CHARS
from harness.core.text import clean, one_line, shorten
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import SearchResult
from harness.settings import Settings
from harness.sources.engines.json_api import ApiEngine, failure_of, shown
from harness.sources.engines.xml_reply import parsed
from harness.sources.http.request import check_status
from harness.storage.forks import free_in_child

if TYPE_CHECKING:
    from lxml import etree

BASE_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
MAX_RESULTS = 100
MAX_BODY_CHARS = 10_000

PER_SECOND = 3
PER_SECOND_WITH_KEY = 10
"""Requests per second that NCBI allows."""

_PMID = re.compile(r"[1-9][0-9]{0,9}")
_YEAR = re.compile(r"\b(?:1[5-9]|20)[0-9]{2}\b")
_NOT_FAILURES = frozenset({"phrasesnotfound", "fieldsnotfound"})
"""Kinds in `errorlist` that are about the query, not failures."""


class _Found(Struct):
    """Fields of a response of esearch that are read."""

    count: str = ""
    idlist: list[str] = []
    error: str = msgspec.field(name="ERROR", default="")
    errorlist: dict[str, list[str]] = {}


class _Search(Struct):
    esearchresult: _Found


class _Refusal(Struct):
    """Response of NCBI's gateway to a request that it refuses, sometimes with status 200."""

    error: str = ""


class PubMed(ApiEngine):
    """Search the abstracts of biomedical papers and books, most relevant first; at most `MAX_RESULTS`.

    A result's body has the place and year of publication and the PMID, then the abstract with empty lines between its
    sections. `email` identifies the client to NCBI. An `api_key` allows `PER_SECOND_WITH_KEY` requests a second instead
    of `PER_SECOND`; this object spaces its requests accordingly. `timeout` is in seconds, for each of the two requests
    of a search. `clock` returns monotonic seconds.

    Raises:
        InvalidInput: `base_url` is not an http(s) URL.
    """

    name, who, where = "pubmed", "PubMed", "the URL of the E-utilities"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        email: str | None = None,
        timeout: float = 10.0,
        base_url: str = BASE_URL,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(base_url, BASE_URL, timeout, {})
        self._identity = {"tool": "harness"}
        self._identity |= ({"email": email} if email else {}) | ({"api_key": api_key} if api_key else {})
        self._key = api_key or ""
        self._pace = _Pace(1 / (PER_SECOND_WITH_KEY if api_key else PER_SECOND), clock, sleep)

    def search(self, query: str, max_results: int) -> Sequence[SearchResult]:
        """See `SearchEngine.search`.

        Raises:
            InvalidInput: NCBI refuses the API key.
        """
        pmids = self._find(query, min(max_results, MAX_RESULTS))
        if not pmids:
            return []
        fetched = _read(self._called("efetch", id=",".join(pmids), rettype="abstract", retmode="xml"))
        if not any(pmid in fetched for pmid in pmids):
            raise EngineUnavailable("PubMed found papers but sent none of them; try again later")
        return [fetched[pmid] for pmid in pmids if pmid in fetched]

    def _find(self, query: str, retmax: int) -> list[str]:
        """Return the PMIDs of the papers found, best first."""
        term = clean(query, MAX_QUERY_CHARS)
        answer = self._called("esearch", term=term, retmax=str(retmax), sort="relevance", retmode="json")
        try:
            found = msgspec.json.decode(answer, type=_Search).esearchresult
        except (ValueError, RecursionError) as error:
            raise EngineUnavailable("PubMed answered with something other than a list of papers") from error
        failures = [found.error] if found.error else []
        failures += [text for kind, texts in found.errorlist.items() if kind not in _NOT_FAILURES for text in texts]
        if failures:
            raise EngineUnavailable(
                f"PubMed could not search: {shown('; '.join(failures), self._key)}; try again later"
            )
        if not all(_PMID.fullmatch(pmid) for pmid in found.idlist) or (found.count != "0" and not found.idlist):
            raise EngineUnavailable("PubMed answered with something other than a list of papers")
        return list(dict.fromkeys(found.idlist))[:retmax]

    def _called(self, utility: str, **parameters: str) -> bytes:
        """Wait for the next turn, call one utility and return its response.

        Raises:
            RateLimited, InvalidInput, EngineUnavailable: NCBI refuses.
        """
        self._pace.wait()
        form = {"db": "pubmed", **parameters, **self._identity}
        answer = self._ask(f"{utility}.fcgi", form=form)
        if refusal := failure_of(answer, _Refusal).error:
            if "rate limit" in refusal.lower():
                raise RateLimited("PubMed asks for fewer requests; wait a minute, or set pubmed_api_key")
            if "api key" in refusal.lower():
                raise InvalidInput("PubMed refuses the API key; check pubmed_api_key, or leave it out")
            raise EngineUnavailable(f"PubMed could not answer: {shown(refusal, self._key)}; try again later")
        check_status(self.who, answer)
        return answer.body


class _Pace:
    """Spaces requests by at least `interval` seconds, across all threads of this process."""

    def __init__(self, interval: float, clock: Callable[[], float], sleep: Callable[[float], object]) -> None:
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._next = float("-inf")
        self._lock = free_in_child(threading.Lock())

    def wait(self) -> None:
        """Take the next turn and sleep until then."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)


# Papers ------------------------------------------------------------------------------------------------------------


def _read(document: bytes) -> dict[str, SearchResult]:
    """Return the results of a response of efetch by PMID."""
    root = parsed("PubMed", document)
    if root.tag != "PubmedArticleSet":
        message = f" ({shorten(clean(_text(root), 2_000), 200)})" if root.tag == "eFetchResult" else ""
        raise EngineUnavailable(f"PubMed answered with something other than papers{message}; try again later")
    results: dict[str, SearchResult] = {}
    for article in root.iterchildren("PubmedArticle", "PubmedBookArticle"):
        pmid = _first(article, "MedlineCitation/PMID", "BookDocument/PMID")
        if _PMID.fullmatch(pmid):
            paper = _paper(article, pmid) if article.tag == "PubmedArticle" else _book(article, pmid)
            results.setdefault(pmid, paper)
    return results


def _paper(article: "etree._Element", pmid: str) -> SearchResult:
    within = "MedlineCitation/Article"
    issue = f"{within}/Journal/JournalIssue/PubDate"
    return _result(
        pmid,
        title=_first(article, f"{within}/ArticleTitle", f"{within}/VernacularTitle"),
        source=_first(article, f"{within}/Journal/Title", "MedlineCitation/MedlineJournalInfo/MedlineTA"),
        date=_first(article, f"{issue}/Year", f"{issue}/MedlineDate", f"{within}/ArticleDate/Year"),
        sections=article.iterfind(f"{within}/Abstract/AbstractText"),
    )


def _book(article: "etree._Element", pmid: str) -> SearchResult:
    """Return a book, or a chapter with its own title."""
    book, chapter = "BookDocument/Book", _first(article, "BookDocument/ArticleTitle")
    title = _first(article, f"{book}/BookTitle")
    publisher = _first(article, f"{book}/CollectionTitle", f"{book}/Publisher/PublisherName")
    return _result(
        pmid,
        title=chapter or title,
        source=title if chapter else publisher,
        date=_first(article, f"{book}/PubDate/Year", f"{book}/PubDate/MedlineDate"),
        sections=article.iterfind("BookDocument/Abstract/AbstractText"),
    )


def _result(pmid: str, *, title: str, source: str, date: str, sections: Any) -> SearchResult:
    year = _YEAR.search(date)
    where = ", ".join(part for part in (source.rstrip("."), year[0] if year else "") if part)
    paragraphs = [f"{where}. PMID {pmid}." if where else f"PMID {pmid}."]
    for section in sections:
        label, text = one_line(section.get("Label", "")), _text(section)
        if text:
            paragraphs.append(f"{label}: {text}" if label else text)
    return SearchResult(
        title=clean(title, 500),
        href=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        body=clean("\n\n".join(paragraphs), MAX_BODY_CHARS),
    )


def _first(element: "etree._Element", *paths: str) -> str:
    """Return the first text at these paths that is not empty, else an empty string."""
    texts = (_text(found) for path in paths if (found := element.find(path)) is not None)
    return next((text for text in texts if text), "")


def _text(element: "etree._Element") -> str:
    """Return the text of an element without mark-up, on one line. 10<sup>6</sup> becomes 10^6, not 106."""
    parts: list[str] = []
    found: Any = element.xpath(".//text()")
    for text in found:
        raised = text.is_text and text.getparent().tag == "sup"
        if raised and parts and parts[-1][-1:].isdigit():
            parts.append("^")
        parts.append(str(text))
    return one_line("".join(parts))


def from_settings(_argument: str, settings: Settings) -> PubMed:
    """Return the engine that the settings describe."""
    return PubMed(api_key=settings.pubmed_api_key, email=settings.pubmed_email, timeout=settings.search_timeout)
