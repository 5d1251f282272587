"""`server.json`, the description for the MCP registry."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from harness import __version__
from harness.settings import Settings

ROOT = Path(__file__).parents[3]
_TEXT = {"type": "string", "minLength": 1}
_VALUE = {"value": _TEXT, "description": _TEXT, "isSecret": {"type": "boolean"}, "isRequired": {"type": "boolean"}}


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


_ARGUMENT = {
    "oneOf": [
        _closed(["type", "name"], type={"const": "named"}, name=_TEXT, **_VALUE),
        _closed(["type", "value"], type={"const": "positional"}, **_VALUE),
    ]
}
_PACKAGE = _closed(
    ["registryType", "identifier", "version", "transport"],
    registryType={"const": "pypi"},
    identifier=_TEXT,
    version={"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)+$"},
    runtimeHint={"enum": ["uvx"]},
    runtimeArguments={"type": "array", "items": _ARGUMENT},
    packageArguments={"type": "array", "items": _ARGUMENT},
    environmentVariables={"type": "array", "items": _closed(["name"], name=_TEXT, **_VALUE)},
    transport=_closed(["type"], type={"const": "stdio"}),
)
SCHEMA = _closed(
    ["$schema", "name", "description", "version", "packages"],
    **{"$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"}},
    name={"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
    title={"type": "string", "minLength": 1, "maxLength": 100},
    description={"type": "string", "minLength": 1, "maxLength": 100},
    version={"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)+$"},
    packages={"type": "array", "minItems": 1, "items": _PACKAGE},
)
"""Requirements of the registry's schema of that date on the fields that are used here."""


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The description."""
    found: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The package's own description."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def test_the_registry_accepts_it(described: dict[str, Any]) -> None:
    """Each field has the shape and the length that the registry requires."""
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(described)] == []


def test_it_names_this_version_of_the_package(described: dict[str, Any], project: dict[str, Any]) -> None:
    """In each place."""
    (package,) = described["packages"]
    assert project["version"] == __version__
    assert (described["version"], package["version"]) == (__version__, __version__)
    assert package["identifier"] == project["name"]
    (extra,) = package["runtimeArguments"]
    assert (extra["name"], extra["value"]) == ("--with", f"{project['name']}[mcp]=={__version__}")


def test_its_command_exists(described: dict[str, Any], project: dict[str, Any]) -> None:
    """`uvx research-harness mcp` runs the script of the package's name, with a command that there is."""
    (package,) = described["packages"]
    assert project["scripts"][package["identifier"]] == project["scripts"]["harness"]
    assert [each["value"] for each in package["packageArguments"]] == ["mcp"]
    assert "mcp" in project["optional-dependencies"]


def test_its_variables_are_settings(described: dict[str, Any]) -> None:
    """A secret is marked as one."""
    (package,) = described["packages"]
    names = [each["name"] for each in package["environmentVariables"]]
    assert {name.removeprefix("HARNESS_").lower() for name in names} <= set(Settings.__struct_fields__)
    secret = [each["name"] for each in package["environmentVariables"] if each.get("isSecret")]
    assert secret == ["HARNESS_TOKEN"]
