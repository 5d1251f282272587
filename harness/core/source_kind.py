"""The kind of a source, by its address."""

import re
from urllib.parse import urlsplit

from harness.core.sites import is_within

_PAPERS = frozenset(
    """arxiv.org doi.org pubmed.ncbi.nlm.nih.gov pmc.ncbi.nlm.nih.gov europepmc.org semanticscholar.org openalex.org
    aclanthology.org openreview.net biorxiv.org medrxiv.org nature.com science.org sciencedirect.com springer.com
    link.springer.com wiley.com onlinelibrary.wiley.com plos.org journals.plos.org dl.acm.org ieeexplore.ieee.org
    jstor.org cell.com thelancet.com nejm.org bmj.com frontiersin.org mdpi.com tandfonline.com academic.oup.com
    pnas.org papers.nips.cc proceedings.neurips.cc proceedings.mlr.press""".split()
)
_ENCYCLOPAEDIAS = frozenset("wikipedia.org britannica.com wikidata.org plato.stanford.edu".split())
_FORUMS = frozenset(
    """stackoverflow.com stackexchange.com serverfault.com superuser.com askubuntu.com mathoverflow.net reddit.com
    news.ycombinator.com quora.com lobste.rs discourse.org""".split()
)
_NEWS = frozenset(
    """reuters.com apnews.com bbc.com bbc.co.uk nytimes.com theguardian.com washingtonpost.com bloomberg.com cnn.com
    aljazeera.com economist.com ft.com wsj.com npr.org dw.com lemonde.fr spiegel.de elpais.com arstechnica.com
    theverge.com techcrunch.com wired.com""".split()
)
_CODE = frozenset("github.com gitlab.com bitbucket.org codeberg.org sr.ht".split())
_DOCUMENTATION = frozenset("readthedocs.io docs.rs developer.mozilla.org pkg.go.dev kubernetes.io".split())
_DOCUMENTATION_HOST = re.compile(r"(?:docs?|documentation|developers?|dev|manual|api|learn|help|support)\.[^.]+\.")
_DOCUMENTATION_PATH = re.compile(r"/(?:docs?|documentation|manual|reference|api|guide)s?(?:/|$)", re.IGNORECASE)
MAX_HOST = 253
_PUBLIC = re.compile(r"(?:^|\.)(?:gov|mil|int)(?:\.[a-z]{2})?$|(?:^|\.)(?:europa\.eu|who\.int|un\.org|gov\.uk)$")


def source_kind(url: str, doi: str = "") -> str:
    """Return the kind of a source: "paper", "encyclopaedia", "documentation", "official", "news", "forum", "code",
    "document" (not from the web) or "page". Never raises.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().removeprefix("www.").rstrip(".")[-MAX_HOST:]
    except ValueError:
        return "page"
    if parts.scheme not in {"http", "https"}:
        return "documentation" if parts.scheme == "pydoc" else "document"
    kinds = (
        ("paper", bool(doi) or is_within(host, _PAPERS) or (host == "ncbi.nlm.nih.gov" and "/pmc/" in parts.path)),
        ("encyclopaedia", is_within(host, _ENCYCLOPAEDIAS)),
        ("forum", is_within(host, _FORUMS)),
        ("news", is_within(host, _NEWS)),
        ("documentation", is_within(host, _DOCUMENTATION) or _DOCUMENTATION_HOST.match(host)),
        ("code", is_within(host, _CODE)),
        ("documentation", _DOCUMENTATION_PATH.search(parts.path)),
        ("official", _PUBLIC.search(host)),
    )
    return next((kind for kind, holds in kinds if holds), "page")
