"""The search engines: the one list that settings, commands, pages and `Sources` read.

To add an engine that sends requests, add it here, and a module `harness/sources/engines/NAME.py` with a function
`from_settings(argument, settings)` that returns it.
"""

import re

from msgspec import Struct


class EngineKind(Struct, frozen=True):
    """A search engine. `argument` shows what follows its name (`:URL`; `[:LANG]` where it can be left out), `question`
    is an example that fits it. `language` is whether it searches in the language that is requested. `proxy` is whether
    its requests go through the setting `proxy`; `per_minute` is how many requests its service allows, if fewer than the
    setting.
    """

    name: str
    label: str
    argument: str = ""
    language: bool = False
    proxy: bool = False
    per_minute: float = 60_000.0
    question: str = "What are best practices for retrieval-augmented generation?"


AUTO = "auto"
"""Not an engine: the engines that suit the question."""
KEYED = ("brave", "serper", "exa")
"""Engines for the whole web that need a key."""
PYTHON_DOCS = "corpus:python-docs"
LIBRARY = "library"
"""The engine over everything that was read before; what it returns is held already."""

ENGINES: tuple[EngineKind, ...] = (
    EngineKind("ddgs", "DuckDuckGo", language=True, proxy=True),
    EngineKind("searxng", "SearXNG instance", ":URL", language=True),
    EngineKind("pubmed", "PubMed", question="How often does CRISPR have off-target effects?"),
    EngineKind("wikipedia", "Wikipedia", "[:LANG]", language=True, question="How do vaccines train the immune system?"),
    EngineKind("arxiv", "arXiv", "[:FILTER]", per_minute=10, question="How do language models use long contexts?"),
    EngineKind("openalex", "OpenAlex", "[:FILTER]", language=True, question="How does sleep affect memory?"),
    EngineKind("crossref", "Crossref", "[:FILTER]", question="How does sleep affect memory?"),
    EngineKind(
        "semanticscholar",
        "Semantic Scholar",
        "[:FILTER]",
        per_minute=60,
        question="How do language models use long contexts?",
    ),
    EngineKind("europepmc", "Europe PMC", "[:FILTER]", question="How often does CRISPR have off-target effects?"),
    EngineKind("github", "GitHub", "[:FILTER]", per_minute=10, question="Why does asyncio.gather hide errors?"),
    EngineKind("stackexchange", "Stack Exchange", "[:SITE]", question="How do I merge two dictionaries in Python?"),
    EngineKind("hackernews", "Hacker News", "[:FILTER]", question="What do people say about SQLite in production?"),
    EngineKind("brave", "Brave Search", language=True),
    EngineKind("serper", "Google through serper.dev", language=True),
    EngineKind("exa", "Exa", "[:FILTER]"),
    EngineKind(AUTO, "Chosen by the question", proxy=True),
    EngineKind("browser", "DuckDuckGo in a browser", language=True),
    EngineKind("corpus", "Folder of documents", ":PATH", question="What do these documents say about retries?"),
    EngineKind(LIBRARY, "Everything read before", proxy=True),
    EngineKind(PYTHON_DOCS, "Python language reference", question="In which order does Python look up an attribute?"),
)

_SPECS = [engine.name + engine.argument for engine in ENGINES]
ENGINE_SPECS = f"{', '.join(_SPECS[:-1])} or {_SPECS[-1]}"
"""The engines in one line, for messages and help."""


_NEXT = re.compile(rf",(?=(?:{'|'.join(engine.name for engine in ENGINES if ':' not in engine.name)})(?:[:,]|$))")


def alternative_specs(spec: str) -> list[str]:
    """Return the engines in `NAME[:ARG],NAME[:ARG]`, of which the first that works answers. A comma before anything
    else is part of an argument.
    """
    return _NEXT.split(spec)


def engine_kind(spec: str) -> EngineKind | None:
    """Return the engine that `spec` (`NAME[:ARG]`) names, `None` if there is no such engine."""
    by_name = {engine.name: engine for engine in ENGINES}
    return by_name.get(spec) or by_name.get(spec.partition(":")[0])
