"""The acceptance rule of the semantic lookup: a calibrated one, or the one that ships with the verifier."""

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InvalidInput
from harness.ports import Verifier
from harness.settings import Settings

if TYPE_CHECKING:
    from harness.core.equivalence import Rule

LAXEST = 0.05
"""Share of wrong answers whose shipped threshold is the lowest that is ever used."""


def rule_file(settings: Settings) -> Path:
    """Return the path of the rule that `harness cache calibrate` writes."""
    return settings.data_dir / "acceptance.json"


def rule_of(verifier: Verifier | None, settings: Settings) -> "Rule":
    """Return the acceptance rule for a verifier, or for none: the calibrated one, if it was made for this verifier and
    accepts no more wrong answers than the setting `max_wrong` (0..1); else the one that ships with it.

    Raises:
        InvalidInput: the file cannot be read; no rule reaches `max_wrong`.
        VerifierError: the verifier's rule is missing or damaged.
    """
    from harness.core.equivalence import rule_for

    shipped, name = (rule_for, "") if verifier is None else (verifier.rule, verifier.id)
    rule = own_rule(rule_file(settings))
    if rule is not None and rule.max_wrong <= settings.max_wrong and rule.verifier == name:
        return rule
    return shipped(settings.max_wrong)


def own_rule(own: Path) -> "Rule | None":
    """Return the calibrated rule in the file `own`, for whichever verifier; `None` if there is no file.

    Raises:
        InvalidInput: the file cannot be read.
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
