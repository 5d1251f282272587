"""The files for containers and services name extras, options and settings that exist."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.settings import Settings
from tests.cli.program import Program

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
UNIT = (ROOT / "deploy" / "harness.service").read_text()


def extras_in(text: str) -> set[str]:
    """Return the extras in the commands of pip."""
    return {name for found in re.findall(r"\[([a-z,-]+)\]['\"]", text) for name in found.split(",")}


def variables_in(text: str) -> set[str]:
    """Return the settings that variables of the environment name."""
    return {name.lower() for name in re.findall(r"HARNESS_([A-Z_]+)", text)}


@pytest.mark.parametrize("text", [DOCKERFILE, UNIT], ids=["Dockerfile", "unit"])
def test_the_extras_exist(text: str) -> None:
    """And both install what the server needs."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"web", "mcp"} <= extras_in(text) <= set(declared)


def test_the_settings_exist() -> None:
    """The variables of all three files."""
    compose = (ROOT / "compose.yaml").read_text()
    for text in (DOCKERFILE, UNIT, compose):
        assert variables_in(text)
        assert variables_in(text) <= set(Settings.__struct_fields__)


def test_the_options_of_the_server_exist(harness: Program) -> None:
    """The image and the unit use them."""
    command = re.findall(r"^CMD (\[\"serve.*\])$", DOCKERFILE, re.MULTILINE)[-1]
    (unit,) = re.findall(r"^ExecStart=\S+/harness (.*)$", UNIT, re.MULTILINE)
    help_text = harness("serve", "--help").out
    for words in (json.loads(command), shlex.split(unit)):
        assert words[0] == "serve"
        assert all(word in help_text for word in words if word.startswith("--"))


def test_the_image_runs_without_rights() -> None:
    """Compose takes away what the server does not need."""
    compose: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    server = compose["services"]["harness"]
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])
    assert re.search(r"^USER 10001$", DOCKERFILE, re.MULTILINE)
    assert "/readyz" in DOCKERFILE


def test_the_image_gets_what_the_wheel_is_made_of() -> None:
    """The files that hatchling includes, and nothing of tests or data."""
    lines = (ROOT / ".dockerignore").read_text().split()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert lines[0] == "*"
    assert {f"!{name}" for name in wheel["only-include"]} <= set(lines)
