"""The generated reference: complete, and without values of this machine."""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
import typer.main

from docs.generate import pages
from docs.generators.api_pages import openapi, tools
from docs.generators.setting_pages import bounds, type_text
from harness import errors
from harness.cli.main import commands
from harness.cli.terminal import ExitCode
from harness.server.mcp.server import build_server
from harness.settings import Settings, setting_names
from harness.settings.flags import flag_of, flagged
from harness.settings.loading import type_of


def command_paths(command: Any = None, path: str = "harness") -> Iterator[str]:
    """Yield every command of the program with the groups above it, as `harness cache stats`."""
    yield path
    for name, below in getattr(command or typer.main.get_command(commands), "commands", {}).items():
        yield from command_paths(below, f"{path} {name}")


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """The generated files."""
    return pages()


def entry(page: str, heading: str) -> str:
    """Return the part of a page below a heading, up to the next one."""
    _, found, below = page.partition(f"\n{heading}\n")
    assert found, f"no {heading!r}"
    return below.partition("\n#")[0]


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_has_an_entry(generated: dict[str, str], name: str) -> None:
    """An entry has the type, the default, the environment variable and, where there is one, the flag."""
    shown = entry(generated["reference/settings.md"], f"### `{name}`")
    assert "- type: " in shown
    assert "- default: " in shown
    assert f"`HARNESS_{name.upper().replace('.', '__')}`" in shown
    if name in flagged():
        assert all(f"`{option}`" in shown for option in flag_of(name).names)


def test_bounds_and_choices_of_a_setting_are_shown(generated: dict[str, str]) -> None:
    """The entry says which values are allowed."""
    shown = entry(generated["reference/settings.md"], "### `max_rounds`")
    assert "- bounds: at least 1, at most 5" in shown
    assert "- default: `5`" in shown
    assert "- type: `normal` or `full`" in entry(generated["reference/settings.md"], "### `durability`")


@pytest.mark.parametrize("name", setting_names())
def test_types_of_settings_are_words(name: str) -> None:
    """No name of a Python type or of a library reaches the page."""
    shown = type_text(type_of(name)) + bounds(type_of(name))
    assert not any(word in shown for word in ("typing", "Annotated", "Meta(", "NoneType", "class"))


@pytest.mark.parametrize("path", [*command_paths()])
def test_every_command_has_its_help(generated: dict[str, str], path: str) -> None:
    """The help of each command and group is on a page, and the overview names it."""
    usage = re.compile(rf"^```text\nUsage: {path} (?:\[OPTIONS\]|\{{|COMMAND)", re.MULTILINE)
    found = [name for name, page in generated.items() if usage.search(page)]
    assert len(found) == 1, found
    assert path == "harness" or f"[`{path}`](" in generated["reference/commands.md"]


def test_commands_of_groups_are_walked() -> None:
    """The list of commands above has those of groups, too."""
    assert {"harness research", "harness cache explain", "harness autoresearch apply"} <= set(command_paths())


@pytest.mark.parametrize(
    "kind", [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
)
def test_every_error_is_listed_with_its_code(generated: dict[str, str], kind: type[errors.HarnessError]) -> None:
    """A line names the class and the stable code."""
    assert f"`{kind.__name__}` | `{kind.code}` |" in generated["reference/errors.md"]


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_is_listed(generated: dict[str, str], code: ExitCode) -> None:
    """A line has the number and its meaning."""
    assert f"\n| `{code.value}` | " in generated["reference/errors.md"]


def test_every_request_of_the_api_is_listed(generated: dict[str, str]) -> None:
    """Each path and method has a heading, each shape too, and the schema itself is a file of the site."""
    page, schema = generated["reference/http-api.md"], openapi()
    for path, methods in schema["paths"].items():
        assert all(f"\n### {method.upper()} {path}\n" in page for method in methods)
    assert all(f"\n### {name}\n" in page for name in schema["components"]["schemas"])
    assert json.loads(generated["reference/openapi.json"]) == schema


def test_every_tool_is_listed_with_its_arguments(generated: dict[str, str]) -> None:
    """Each tool has a heading, and each argument a line."""
    for tool in tools():
        shown = entry(generated["reference/mcp-tools.md"], f"## {tool.name}")
        assert all(f"| `{argument}` |" in shown for argument in tool.input_schema["properties"])


def test_every_resource_and_prompt_is_listed(generated: dict[str, str]) -> None:
    """Each has a heading, and each argument of a prompt a line."""
    page, server = generated["reference/mcp-tools.md"], build_server(None)
    templates = asyncio.run(server.list_resource_templates())
    assert all(f"\n### `{each.uri_template}`\n" in page for each in templates)
    for prompt in asyncio.run(server.list_prompts()):
        shown = entry(page, f"### {prompt.name}")
        assert prompt.arguments
        assert all(f"| `{argument.name}` |" in shown for argument in prompt.arguments)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("search_cache", ["cached_search", "acached_search", "put_research"]),
        ("harness.tools", ["cached_tool"]),
        ("harness.vector_cache", ["VectorCache", "VectorCache.get_query", "VectorCache.search_chunks"]),
    ],
)
def test_the_python_api_has_signatures_and_docstrings(generated: dict[str, str], module: str, names: list[str]) -> None:
    """Each public function and method has a definition and a text."""
    for name in names:
        level = "###" if "." in name else "##"
        shown = entry(generated[f"reference/python/{module}.md"], f"{level} {name}")
        assert "```python\n" in shown
        assert shown.rpartition("```")[2].strip() or "```pycon" in shown


def test_no_page_has_a_path_of_this_machine(generated: dict[str, str]) -> None:
    """The same code gives the same pages on each machine."""
    home, here, data = str(Path.home()), str(Path.cwd()), str(Settings().data_dir)
    for page in generated.values():
        assert not any(path in page for path in (home, here, data))


def test_bounds_of_parts_of_a_type_are_found() -> None:
    """A list, and a value that may be missing, have the bounds of what they hold."""
    inner = msgspec.Meta(ge=2, lt=9)
    assert bounds(tuple[Annotated[int, inner], ...] | None) == "at least 2, less than 9"
    assert type_text(tuple[Annotated[int, inner], ...] | None) == "list of: integer"
