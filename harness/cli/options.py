"""Options that more than one command has."""

from pathlib import Path
from typing import Annotated

import typer

EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        "-e",
        metavar="NAME[:ARG]",
        help="ddgs, searxng:URL, pubmed, browser, corpus:PATH or corpus:python-docs. Several are fused.",
    ),
]
EmbeddingModelOption = Annotated[
    str | None,
    typer.Option(
        "--embedding-model",
        metavar="NAME",
        help="Model behind embedding_url, or sentence-transformers:NAME_OR_PATH; else the local MiniLM.",
        show_default=False,
    ),
]
MaxResultsOption = Annotated[
    int | None, typer.Option("--max-results", "-n", metavar="N", help="Results a search asks for, 1 to 100.")
]
TtlOption = Annotated[
    float | None, typer.Option("--ttl", metavar="SECONDS", help="How long what is found stays fresh.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
OfflineOption = Annotated[
    bool | None,
    typer.Option("--offline/--online", help="Answer from the cache alone; what is missing is an error (exit code 6).",
                 show_default=False),
]  # fmt: skip
RefreshOption = Annotated[bool, typer.Option("--refresh", help="Ask anew, and cache what comes.")]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Neither look into the cache nor store.")]
SemanticOption = Annotated[
    bool | None,
    typer.Option("--semantic/--exact", help="Answer by searches that mean the same, or only by the very same.",
                 show_default=False),
]  # fmt: skip
ReplayOption = Annotated[
    Path | None, typer.Option("--replay", metavar="FILE", help="Answer from this snapshot alone, whatever has expired.")
]
