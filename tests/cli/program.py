"""The program `harness`, run inside this process, without the start-up time of Python."""

import io
import json
import sys
from functools import cache
from typing import Any, NamedTuple

import pytest
import typer.main

from harness.cli.main import main

built = cache(typer.main.get_command)
"""The tree of commands, built once: building it takes longer than most commands."""


class Ended(NamedTuple):
    """Exit code and output of a run of the program."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> Any:
        """Its output, decoded from JSON."""
        return json.loads(self.out)

    @property
    def tables(self) -> dict[str, Any]:
        """The tables in the output of `harness cache stats --json`, by name."""
        return {each["table"]: each for each in self.told["tables"]}

    def one_line_error(self, code: int) -> str:
        """Check that it failed with `code` and a single line on standard error, and return that line."""
        assert (self.code, self.out) == (code, ""), self
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line


class Program:
    """Runner of `harness` with arguments."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, stdin: str = "") -> Ended:
        """Run it to its end."""
        self._capsys.readouterr()
        with self._monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["harness", *map(str, arguments)])
            patched.setattr(sys, "stdin", io.StringIO(stdin))
            patched.setattr(typer.main, "get_command", built)
            with pytest.raises(SystemExit) as ending:
                main()
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Ended(int(ending.value.code or 0), out, err)
