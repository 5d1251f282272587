"""Choice of search engines by the question, for `--engine auto`."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from harness.core.function_words import listed
from harness.core.search_engines import AUTO, alternative_specs
from harness.core.text import one_line, stems, words

WEB = "the web"
"""Place of the engine for the whole web."""
MAX_NAMED, MAX_WORDS, MAX_CHARS = 3, 200, 5_000
_AMBIGUOUS = frozenset("paper papers theory react".split())
"""Words that say nothing by themselves: what paper size, how do people react."""

_SUBJECTS = listed("""
medicine: disease patient clinical symptom therapy treatment drug dose vaccine cancer tumor tumour diabetes
    hypertension crispr gene genome protein blood infection virus bacteria syndrome surgery mortality prevalence
    efficacy randomized randomised placebo medicine pregnancy asthma stroke obesity antibiotic insulin depression
    dementia statin chronic diagnosis therapeutic pathogen immune metabolism biomarker
code: python javascript typescript rust golang java kotlin sql sqlite postgresql docker kubernetes git github api
    regex compile compiler exception traceback stacktrace async asyncio thread npm pip django flask react pandas
    numpy linux bash html css json yaml segfault refactor debug dependency runtime iterator coroutine
papers: study paper evidence literature survey hypothesis theorem benchmark dataset neural transformer embedding
    quantum physics algorithm statistical empirical theory climate ecology economics psychology sociology citation
news: latest today yesterday news breaking announced election currently recent
""")
_ENGINES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "medicine": ("pubmed", "europepmc", WEB),
        "code": ("stackexchange", "github", WEB),
        "papers": ("openalex", "arxiv", WEB),
        "news": (WEB,),
        "general": (WEB, "wikipedia"),
    }
)
_CODE = re.compile(r"`[^`]+`|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b[A-Z]\w*(?:Error|Exception)\b|\w+::\w+|\b[a-z]+\.[a-z_]+\(")
_STUDIES = re.compile(
    r"\b(?:systematic reviews?|meta-?analys[ie]s|peer-reviewed|language models?|state of the art|effects? of"
    r"|retrieval-augmented)\b",
    re.IGNORECASE,
)


class EngineChoice(Struct, frozen=True):
    """Engines for a question, what it is about, and the words that say so."""

    specs: tuple[str, ...]
    subject: str
    words: tuple[str, ...]

    @property
    def reason(self) -> str:
        """The choice and why, in one line."""
        why = f"about {self.subject} ({', '.join(self.words)})" if self.words else "about no special field"
        named = ", ".join(spec.replace(",", " or ") for spec in self.specs)
        return f"engines: {named}; the question is {why}"


def chosen_engines(question: str, web: str) -> EngineChoice:
    """Return the engines for a question; `web` is the one for the whole web. Never raises."""
    found: dict[str, list[str]] = {subject: [] for subject in _SUBJECTS}
    for word in dict.fromkeys(words(question[:MAX_CHARS])[:MAX_WORDS]):
        stemmed = stems(word)
        for subject, known in _stems().items():
            if known & stemmed and word not in _AMBIGUOUS:
                found[subject].append(word)
    found["code"] += [one_line(match[0])[:30] for match in _CODE.finditer(question[:2_000])]
    found["papers"] += [one_line(match[0]).lower()[:30] for match in _STUDIES.finditer(question[:2_000])]
    found["papers"] = [] if found["medicine"] else found["papers"]
    best = max(found, key=lambda subject: len(found[subject]))
    subject = best if found[best] else "general"
    specs = tuple(web if spec == WEB else spec for spec in _ENGINES[subject])
    return EngineChoice(specs, subject, tuple(dict.fromkeys(found.get(subject, ())))[:MAX_NAMED])


def choosable() -> frozenset[str]:
    """Return every engine that may be chosen."""
    return frozenset({"ddgs", "brave", "serper", "exa"}.union(*_ENGINES.values())) - {WEB}


def searches_public_web(specs: Iterable[str]) -> bool:
    """Return whether engines include a search of the whole public web without a key: then a question may also go to the
    engines that suit it. Engines of a team (an instance, a folder) do not say so.
    """
    return bool({"ddgs", AUTO} & {each for spec in specs for each in alternative_specs(spec)})


@cache
def _stems() -> Mapping[str, frozenset[str]]:
    return {subject: frozenset(stems(known)) for subject, known in _SUBJECTS.items()}
