"""Prompts of the language model, a text file each; the setting `prompts` replaces them by name."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from harness.core.keys import digest_of
from harness.settings import PromptName

SHIPPED: Mapping[PromptName, str] = MappingProxyType({})
"""No prompt is replaced."""
_PART = re.compile(r"\{(\w{1,20})\}")


def prompt(name: PromptName, replaced: Mapping[PromptName, str], **parts: str) -> str:
    """Return a prompt, or what replaces it, with each of `parts` in the place of its name in braces; a part without a
    place comes at the end. Nothing else in braces is read.
    """
    text = replaced.get(name) or _shipped(name)
    text = "\n".join([text.strip(), *(f"{{{part}}}" for part in parts if f"{{{part}}}" not in text)])
    return _PART.sub(lambda found: parts.get(found[1], found[0]), text).strip()


def version_of(replaced: Mapping[PromptName, str], *names: PromptName) -> str:
    """Return 16 hexadecimal digits that name the texts of some prompts."""
    return digest_of({name: prompt(name, replaced) for name in names})


@cache
def _shipped(name: PromptName) -> str:
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
