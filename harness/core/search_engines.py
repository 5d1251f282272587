"""The search engines: the one list that settings, commands, pages and `Sources` read.

To add an engine that sends requests, add it here, and a module `harness/sources/engines/NAME.py` with a function
`from_settings(argument, settings)` that returns it.
"""

from msgspec import Struct


class EngineKind(Struct, frozen=True):
    """A search engine. `argument` shows what follows its name (`:URL`; `[:LANG]` where it can be left out), `question`
    is an example that fits it. `proxy` is whether its requests go through the setting `proxy`.
    """

    name: str
    label: str
    argument: str = ""
    proxy: bool = False
    question: str = "What are best practices for retrieval-augmented generation?"


PYTHON_DOCS = "corpus:python-docs"
LIBRARY = "library"
"""The engine over everything that was read before; what it returns is held already."""

ENGINES: tuple[EngineKind, ...] = (
    EngineKind("ddgs", "DuckDuckGo", proxy=True),
    EngineKind("searxng", "SearXNG instance", ":URL"),
    EngineKind("pubmed", "PubMed", question="How often does CRISPR have off-target effects?"),
    EngineKind("wikipedia", "Wikipedia", "[:LANG]", question="How do vaccines train the immune system?"),
    EngineKind("browser", "DuckDuckGo in a browser"),
    EngineKind("corpus", "Folder of documents", ":PATH", question="What do these documents say about retries?"),
    EngineKind(LIBRARY, "Everything read before", proxy=True),
    EngineKind(PYTHON_DOCS, "Python language reference", question="In which order does Python look up an attribute?"),
)

_SPECS = [engine.name + engine.argument for engine in ENGINES]
ENGINE_SPECS = f"{', '.join(_SPECS[:-1])} or {_SPECS[-1]}"
"""The engines in one line, for messages and help."""


def engine_kind(spec: str) -> EngineKind | None:
    """Return the engine that `spec` (`NAME[:ARG]`) names, `None` if there is no such engine."""
    by_name = {engine.name: engine for engine in ENGINES}
    return by_name.get(spec) or by_name.get(spec.partition(":")[0])
