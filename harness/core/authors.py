"""Authors of a source, in one line."""

from collections.abc import Sequence

MOST = 3
"""Names that are listed."""
OTHERS = " and others"
"""End of a line that does not list all."""


def author_line(names: Sequence[str]) -> str:
    """Return the first `MOST` names in one line, which says whether there are others."""
    return ", ".join(names[:MOST]) + OTHERS * (len(names) > MOST)
