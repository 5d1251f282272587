"""The commands `harness mcp` and `harness serve`: refused options, and start-up time of other commands."""

import subprocess
import sys

import pytest

from tests.cli.program import Program


def test_other_commands_do_not_load_the_sdk() -> None:
    """The SDK takes more than a second to import; only the server imports it."""
    script = (
        "import sys\nfrom harness.cli.main import commands\n"
        "loaded = {'mcp', 'uvicorn', 'starlette', 'pydantic', 'anyio'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("arguments", "payload"),
    [
        (["--host", "0.0.0.0"], "other machines can reach 0.0.0.0, and there is no token yet"),  # noqa: S104
        (["--host", "no such host"], "there is no token yet"),
        (["--rate", "0"], "at least once a minute"),
        (["--sweep-every", "0"], "--sweep-every must be 1s or more"),
        (["--sweep-every", "nan"], "--sweep-every: a duration is a number with"),
    ],
)
def test_invalid_options_are_refused_in_one_line(harness: Program, arguments: list[str], payload: str) -> None:
    """Before anything is served."""
    assert payload in harness("serve", *arguments).one_line_error(2)


def test_the_help_shows_both_transports(harness: Program) -> None:
    """It has an example for each."""
    said = harness("mcp", "--help").out
    assert "claude mcp add harness -- harness mcp" in said
    assert "harness serve --host 0.0.0.0" in said
