"""Messages to a language model that are questions: only those may be answered by another one that means the same."""

import re

from harness.core.equivalence.reading import read
from harness.core.function_words import FUNCTION_WORDS
from harness.core.question_language import question_language
from harness.core.text import words

_PARTS = re.compile(r"""[\n"“”„«»`:;]|(?<!\w)['‘’]|[.!?…](?=\s)""")
"""Signs that a message has more than one sentence, or text that a task is about."""
_TASK = re.compile(r"\b(?:can|could|will|would) you\b|\bplease\b", re.IGNORECASE)
_END = "?？؟;"
"""Question marks. The last one is Greek, and looks like a semicolon."""
_ENGLISH = ("", "en")
_FORMS = frozenset(
    """
    advanced basic beginner beginners brief briefly child concise concisely definition detail detailed details easily
    easy example examples explain explanation full fully guide list lists overview quick quickly short shortly simple
    simply step steps summary table tutorial
    """.split()
)
"""Words about the form of an answer. They change little about search results, and much about what a model writes."""


def is_plain_question(text: str) -> bool:
    """Return whether a message is one question and nothing else: it begins as a question does, in any language with
    spaces between words, and ends with a question mark. In a task ("proofread this", "write a short poem") every letter
    may count. Never raises.
    """
    text = text.strip()
    bare = text.rstrip(_END).rstrip()
    if bare == text or _PARTS.search(bare) or _TASK.search(bare):
        return False
    language = question_language(bare)
    if language in _ENGLISH:
        return read(bare).is_question
    first = bare.lstrip("¿¡").casefold().split(maxsplit=1)[:1]
    known = FUNCTION_WORDS.get(language, frozenset())
    return any({word, word.rsplit("-", 1)[0]} & known for word in first)


def forms_of(question: str) -> list[str]:
    """Return the words of a question about the form of its answer ("in detail"), sorted. Never raises."""
    return sorted(word for word in words(question) if word in _FORMS)
