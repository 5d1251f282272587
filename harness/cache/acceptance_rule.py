"""Acceptance rule of lookups by meaning: the user's own, or the one shipped with the verifier."""

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InvalidInput
from harness.ports import Verifier

if TYPE_CHECKING:
    from harness.core.equivalence import Rule


def rule_of(verifier: Verifier | None, own: Path, max_wrong: float) -> "Rule":
    """Return the acceptance rule for a verifier, or for none: the one in the file `own`, if it was calibrated for this
    verifier and for at most `max_wrong` (0..1), else the shipped one at `max_wrong`.

    Raises:
        InvalidInput: the user's own rule cannot be read; no rule can promise so few wrong answers.
        VerifierError: the verifier's rule is missing or damaged.
    """
    from harness.core.equivalence import rule_for

    given, name = (rule_for, "") if verifier is None else (verifier.rule, verifier.id)
    rule = own_rule(own)
    if rule is not None and rule.max_wrong <= max_wrong and rule.verifier == name:
        return rule
    return given(max_wrong)


def own_rule(own: Path) -> "Rule | None":
    """Return the rule that the user calibrated on custom pairs, for any verifier; `None` if there is none.

    Raises:
        InvalidInput: it cannot be read.
    """
    import msgspec

    from harness.core.equivalence import Rule

    try:
        return msgspec.json.decode(own.read_bytes(), type=Rule)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidInput(
            f"the acceptance rule {own} cannot be used ({error}); calibrate again, or remove the file"
        ) from error
