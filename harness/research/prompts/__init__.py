"""Prompts of the language model, a text file each; the setting `prompts` replaces them by name."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import get_args

from harness.core.keys import digest_of
from harness.core.question_language import question_language
from harness.core.text import one_line
from harness.ports import Message
from harness.research.messages import LANGUAGE_NAMES
from harness.settings import PromptName

SHIPPED: Mapping[PromptName, str] = MappingProxyType({})
"""No prompt is replaced."""
MAX_TITLE = 200
_PART = re.compile(r"\{(\w{1,20})\}")


def prompt(name: PromptName, replaced: Mapping[PromptName, str], **parts: str) -> str:
    """Return a prompt, or what replaces it, with each of `parts` in the place of its name in braces; a part without a
    place comes at the end. Nothing else in braces is read.
    """
    text = replaced.get(name) or _shipped(name)
    text = "\n".join([text.strip(), *(f"{{{part}}}" for part in parts if f"{{{part}}}" not in text)])
    return _PART.sub(lambda found: parts.get(found[1], found[0]), text).strip()


def prompt_texts(replaced: Mapping[PromptName, str]) -> dict[str, str]:
    """Return the text of every prompt by name, with what replaces it."""
    return {name: replaced.get(name) or _shipped(name) for name in get_args(PromptName)}


def version_of(replaced: Mapping[PromptName, str], *names: PromptName) -> str:
    """Return 16 hexadecimal digits that name the texts of some prompts."""
    return digest_of({name: prompt(name, replaced) for name in names})


def messages_of(rules: Iterable[str], blocks: Iterable[str]) -> list[Message]:
    """Return a prompt: the rules, a line each, without empty ones, and the blocks that they are about."""
    return [
        {"role": "system", "content": "\n".join(filter(None, rules))},
        {"role": "user", "content": "\n\n".join(blocks)},
    ]


def source_block(number: int, title: str, text: str) -> str:
    """Return a numbered source with its text between tags that it cannot close."""
    return f'<source number="{number}" title="{attribute(title)}">\n{inside(text)}\n</source>'


def attribute(title: str) -> str:
    """Return a title that cannot close the attribute or the tag around it."""
    return inside(title)[:MAX_TITLE].replace('"', "'")


def inside(text: str) -> str:
    """Return a text, on one line, that cannot close the tag around it."""
    return one_line(text).replace("<", "‹").replace(">", "›")


def in_language_of(question: str) -> str:
    """Return the line that asks a model to write in the language of a question; "" for English and unknown ones."""
    language = question_language(question)
    if language in {"", "en"}:
        return ""
    name = LANGUAGE_NAMES.get(language, "the language of the question")
    return (
        f"Write your sentences in {name}. Copy each quotation in the language of its source. A heading that you are "
        "given stays as it is."
    )


@cache
def _shipped(name: PromptName) -> str:
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
