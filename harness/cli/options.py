"""Options that more than one command has."""

from typing import Annotated

import typer

EngineOption = Annotated[
    str | None,
    typer.Option("--engine", "-e", metavar="NAME[:ARG]", help="ddgs, corpus:python-docs or corpus:PATH."),
]
MaxResultsOption = Annotated[
    int | None, typer.Option("--max-results", "-n", metavar="N", help="Results a search asks for, 1 to 100.")
]
TtlOption = Annotated[
    float | None, typer.Option("--ttl", metavar="SECONDS", help="How long what is found stays fresh.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
