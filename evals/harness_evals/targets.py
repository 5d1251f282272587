"""Texts that an experiment may change: the present prompts and rules."""

from collections.abc import Sequence

from harness.research.prompts import prompt_texts
from harness.research.rules import rule_texts
from harness.settings import Settings
from harness_evals.space import Surface


def texts_in(surfaces: Sequence[Surface], settings: Settings) -> dict[str, str]:
    """Return the texts of these surfaces, with what the settings replace, by target."""
    found: dict[str, str] = {}
    if "prompts" in surfaces:
        found |= {f"prompts.{name}": text for name, text in prompt_texts(settings.prompts).items()}
    if "rules" in surfaces:
        found |= {f"rules.{name}": text for name, text in rule_texts(settings.rules).items()}
    return found
