"""Trials of changed source files, as the loop sees them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Trial(Protocol):
    """A copy of the program with changed source files."""

    @property
    def root(self) -> Path:
        """The folder of the copy."""

    def check(self) -> str:
        """Return the first check that fails (style, types, a test), in one line; empty if all pass."""

    def keep(self, message: str) -> str:
        """Keep the change as a commit with this message; return the commit."""

    def discard(self) -> None:
        """Remove the copy."""


class CodeTrials(Protocol):
    """Source of trials: a checkout of the program, and the files that may change."""

    @property
    def texts(self) -> Mapping[str, str]:
        """The declared files and their texts at the start of the loop."""

    def trial(self, number: int, files: Mapping[str, str]) -> Trial:
        """Return a copy of the state kept so far with these files in it.

        Raises:
            InvalidProposal: a file that is not declared, or a text that is no program.
        """

    def restore(self, commit: str) -> None:
        """Go back to this kept commit (empty: the start), and remove the copies that a stop left."""
