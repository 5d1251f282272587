"""Edits of a text: `replace` a part that occurs once `with` another, so that a proposal need not repeat a file."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.core.text import clean, one_line, shorten
from harness.errors import InvalidInput
from harness_evals.space import Changes, InvalidProposal, Surface, checked_changes

MAX_EDITS = 50
MAX_TEXT = 200_000
"""Characters of a changed text."""
_KEYS = {"replace", "with"}


def is_edit(value: Any) -> bool:
    """Return whether a new value is a list of edits, not a text or the value of a setting."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and each.keys() == _KEYS for each in value)
    )


def edited(changes: Mapping[str, Any], texts: Mapping[str, str], where: str, surfaces: Sequence[Surface]) -> Changes:
    """Return the changes with the whole new text in place of edits, checked (see `checked_changes`); `texts` are the
    present ones by target.

    Raises:
        InvalidProposal: a target without a text, a part that does not occur exactly once, or a change that may not be.
    """
    made = {
        target: _made(value, target, texts.get(target)) if is_edit(value) else value
        for target, value in changes.items()
    }
    try:
        return checked_changes(made, where, surfaces)
    except InvalidInput as error:
        raise InvalidProposal(str(error)) from error


def _made(edits: Sequence[Mapping[str, Any]], target: str, text: str | None) -> str:
    if text is None:
        raise InvalidProposal(f"{shorten(one_line(clean(target, 200)), 200)} is no text that this loop may change")
    if len(edits) > MAX_EDITS:
        raise InvalidProposal(f"{target}: {len(edits)} edits; at most {MAX_EDITS} are read")
    for edit in edits:
        old, new = edit["replace"], edit["with"]
        if not (isinstance(old, str) and isinstance(new, str) and old):
            raise InvalidProposal(f"{target}: `replace` and `with` must be texts, and `replace` not empty")
        if (times := text.count(old)) != 1:
            raise InvalidProposal(
                f"{target}: {shorten(one_line(clean(old, 200)), 80)!r} occurs {times} times; it must occur once"
            )
        text = text.replace(old, new)
        if len(text) > MAX_TEXT:
            raise InvalidProposal(f"{target}: the new text has more than {MAX_TEXT:,} characters")
    return text
