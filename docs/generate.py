"""Hook of mkdocs: adds the pages that are generated from the code, and files of the root, to the written ones."""

from functools import cache
from typing import Any

from docs.generators.api_pages import api_pages
from docs.generators.command_pages import command_pages
from docs.generators.error_pages import error_pages
from docs.generators.python_pages import python_pages
from docs.generators.root_pages import root_pages
from docs.generators.setting_pages import setting_pages


@cache
def pages() -> dict[str, str]:
    """Return the text of every generated file by its path in the site's sources."""
    return root_pages() | command_pages() | setting_pages() | error_pages() | api_pages() | python_pages()


def on_config(config: Any) -> Any:
    """Replace each folder of generated pages in the navigation (`reference/commands/`) by its pages."""
    config.nav = _with_pages(config.nav)
    return config


def _with_pages(nav: Any) -> Any:
    if isinstance(nav, list):
        return [_with_pages(each) for each in nav]
    if isinstance(nav, dict):
        return {title: _with_pages(below) for title, below in nav.items()}
    return [path for path in pages() if path.startswith(nav)] if nav.endswith("/") else nav


def on_files(files: Any, config: Any) -> Any:
    """Add the generated files."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - tests of the pages run without mkdocs

    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files
