"""Selection of sources: which ones a research may use, which add nothing to another one, and which come first."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from harness.cache import Cache
from harness.core.copies import copies
from harness.core.keys import canonical_url
from harness.core.question_language import question_language
from harness.core.required_terms import lacking_terms
from harness.core.search_engines import LIBRARY
from harness.core.sites import ONLY, SKIP, Sites
from harness.core.source_quality import NEUTRAL, Quality, least_year, quality
from harness.errors import SearchError, SiteLeftOut
from harness.ports import LanguageDetector
from harness.research.gathering import LEFT_OUT, GatheredSource, SourceNote
from harness.research.held_answers import CORPUS
from harness.research.page_reading import READABLE, ReadPage
from harness.research.relevance import by_quality
from harness.research.reranking import Found
from harness.research.search import EngineSearch
from harness.settings import GatheringSettings


def year_of(question: str, gathering: GatheringSettings, cache: Cache, *, ttl: float) -> int:
    """Return the year of a research. If dates count for its question, it is stored for `ttl` seconds: a replay in
    another year takes the one of its run.

    Raises:
        StoreError: the cache cannot be read.
    """
    year = time.gmtime(cache.now if cache.began is None else cache.began).tm_year
    if not gathering.source_quality or not least_year(question, year):
        return year
    return cache.derived.get(question, "year", [], lambda: year, int, ttl=ttl)


def with_languages(
    question: str, sources: Sequence[GatheredSource], detector: LanguageDetector | None
) -> list[GatheredSource]:
    """Return the sources, with the language of each one that is in another language than the question. If that is not
    known, no source has one.
    """
    own = question_language(question)
    if not own or detector is None:
        return list(sources)
    found = [(source, _other_language("\n".join(source.texts), own, detector)) for source in sources]
    return [replace(source, language=other) if other else source for source, other in found]


def _other_language(text: str, own: str, detector: LanguageDetector) -> str:
    """Return the language of a text that is not in the language `own`; "" if it may be: the detector alone takes 1.5 %
    of English search results, which are lists of names, for other languages.
    """
    found = detector.language(text)
    return found if {found, question_language(text)}.isdisjoint({"", own}) else ""


class SourceSelection:
    """Selection of the sources of one research of this `year`. Documents of a corpus are neither left out nor weighed:
    the user chose them.

    Raises:
        InvalidInput: a list of sites has an entry that is not a host.
    """

    def __init__(self, question: str, gathering: GatheringSettings, year: int) -> None:
        self._question = question
        self._weighs = gathering.source_quality
        self.sites = Sites.of(gathering.only_sites, gathering.skip_sites)
        self._year = year
        self._since = least_year(question, year)
        self._of_corpus: set[str] = set()
        self._refused: dict[str, str] = {}

    def note_corpus(self, urls: Iterable[str]) -> None:
        """Note the URLs of documents of a corpus."""
        self._of_corpus.update(canonical_url(url) for url in urls)

    def permitted(self, search: EngineSearch) -> EngineSearch:
        """Return a search without the results, and full texts, of sites that are left out."""
        if isinstance(search.outcome, SearchError):
            return search
        if search.engine == CORPUS:
            self.note_corpus(str(result.get("href") or "") for result in search.results)
            return search
        kept = []
        for result in search.results:
            url = canonical_url(str(result.get("href") or ""))
            is_held = search.engine == LIBRARY and not url.startswith(READABLE)
            if name := "" if is_held else self.sites.left_out_by(url):
                self._refused[url] = f"{name}: {LEFT_OUT}"
            elif self.sites.left_out_by(str(result.get("full_text") or url)):
                kept.append({**result, "full_text": ""})
            else:
                kept.append(result)
        return replace(search, outcome=replace(search.outcome, value=kept))

    def reached(self, read: ReadPage) -> ReadPage:
        """Return a read page, without its text if a redirect took it to a site that is left out: in an earlier run, or
        not at all, as it is not followed now.
        """
        reading, page, _ = read
        name = self.sites.left_out_by(page.url) if page else _list_in(reading.error or "")
        if not name:
            return read
        self._refused[reading.url] = f"{name}: page not used, it leads to another site"
        error = f"{name}: it leads to a site that this list leaves out"
        return ReadPage(replace(reading, characters=0, error=error), None)

    def to_read(
        self, found: Sequence[Found], sources: Mapping[str, GatheredSource], tried: Collection[str]
    ) -> Sequence[Found]:
        """Return results without the copies of others, unless the page of the original could not be read."""
        if not self._weighs:
            return found
        originals = self._copies(list(sources.values()))

        def adds_something(url: str) -> bool:
            original = originals.get(url)
            return original is None or (original in tried and not sources[original].read)

        return [each for each in found if adds_something(each[0])]

    def ranked(self, found: Sequence[Found], sources: Mapping[str, GatheredSource]) -> list[Found]:
        """Return ranked results with those of primary sources first where others are about as relevant."""
        return [found[place] for place in by_quality([self._quality(sources[url]).weight for url, _ in found])]

    def selected(self, sources: Sequence[GatheredSource]) -> tuple[list[GatheredSource], list[SourceNote]]:
        """Return the sources, weighed and best first, without copies; and the notes on all, those left out included."""
        originals = self._copies(sources) if self._weighs else {}
        weighed = [(each, self._quality(each)) for each in sources if each.url not in originals]
        ordered = [weighed[place] for place in by_quality([found.weight for _, found in weighed])]
        notes = {source.url: "; ".join(found.reasons) for source, found in ordered if found.reasons}
        notes |= {copy: f"copy of {original}: {LEFT_OUT}" for copy, original in originals.items()}
        notes |= self._refused
        # neutral sources stay as they are: msgspec omits a default only if it is the same object
        chosen = [replace(source, weight=found.weight) if found.weight else source for source, found in ordered]
        return chosen, [SourceNote(url, note) for url, note in notes.items()]

    def _quality(self, source: GatheredSource) -> Quality:
        if not self._is_weighed(source):
            return NEUTRAL
        about = {"doi": source.doi, "date": source.date, "site": source.site}
        return quality(source.url, **about, ads=source.ads, since=self._since, year=self._year)

    def _is_weighed(self, source: GatheredSource) -> bool:
        return self._weighs and source.url.startswith(READABLE) and source.url not in self._of_corpus

    def _copies(self, sources: Sequence[GatheredSource]) -> dict[str, str]:
        """Return the URL of each copy with that of its original: the primary source, or the first one found. An
        original has every number and name of the question that the copy has.
        """
        weighed = [each for each in sources if self._is_weighed(each)]
        weighed.sort(key=lambda source: -self._quality(source).weight)  # stable

        def lacks(place: int) -> set[str]:
            source = weighed[place]
            return set(lacking_terms(self._question, "\n".join((source.url, source.title, *source.texts))))

        texts = ["\n".join(each.texts) for each in weighed]
        found = copies(texts, may_replace=lambda original, copy: lacks(original) <= lacks(copy))
        return {weighed[copy].url: weighed[original].url for copy, original in found.items()}


def _list_in(error: str) -> str:
    """Return the list because of which a redirect was not followed, if that is the error."""
    if not error.startswith(f"{SiteLeftOut.code}: "):
        return ""
    return next((name for name in (ONLY, SKIP) if error.endswith(f" {name} leaves out")), "")
