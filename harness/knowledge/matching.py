"""May a document answer a question? The guards of equivalence, as they hold between a question and a title."""

from collections.abc import Container

from harness.core.equivalence import examine
from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.reading import NUMBER, Word, read

READ_CHARS = 2_000
"""Characters of a content that are read for what the document speaks of: a long one names everything at some point."""
MIN_STEM = 5


def objection(query: str, title: str, content: str, similarity: float, *, known: Container[str]) -> str:
    """Return why a document may not answer `query`, and nothing where it may.

    The guards of `harness.core.equivalence` veto, but three of them are meant for two questions:

    - `names` and `content` ask that each side speaks of what the other does, and a title never does in full. In their
      place stands: the document (its title, or the beginning of its content) speaks of everything that is asked about,
      and what the title calls by name is asked about.
    - `question` (when is not how) counts only where the title asks, too: most name a subject, for every question.
    """
    if query.casefold().split() == title.casefold().split():
        return ""
    asked, told = read(query), read(title)
    left_out = {"names", "content"} if told.is_question else {"names", "content", "question"}
    for verdict in examine(query, title, similarity, known=known).verdicts:
        if not verdict.passed and verdict.guard not in left_out:
            return f"{verdict.guard}: {verdict.reason}"
    return _unspoken(compare(asked, told, known), f"{title}. {content[:READ_CHARS]}")


def _unspoken(pair: Comparison, document: str) -> str:
    """Say what is asked about that the document does not speak of, or what it names that nobody asks about."""
    held = read(document)
    if not (pair.a.words and pair.b.words):
        return "nothing in common but function words"
    if pair.a.signs != pair.b.signs or pair.a.identifiers - held.identifiers:
        return "other signs or identifiers"
    if unheld := _not_among(pair.only_a, {word.form for word in held.words}):
        return f"nothing is said of {unheld}"
    named = tuple(word for word in pair.only_b if word.name)
    if unasked := _not_among(named, {word.form for word in pair.a.words}):
        return f"nothing is asked about {unasked}"
    return ""


def _not_among(words: tuple[Word, ...], forms: set[str]) -> str:
    """List the words that none of the forms stands for. Numbers have guards of their own."""
    absent = [word.plain for word in words if word.form[0] != NUMBER and not _stands_among(word.form, forms)]
    return ", ".join(sorted(set(absent))[:5])


def _stands_among(form: str, forms: set[str]) -> bool:
    """Say whether a form is there, or one that the stemmer has left a letter apart (verify, verification)."""
    return form in forms or any(
        min(len(form), len(other)) >= MIN_STEM
        and abs(len(form) - len(other)) == 1
        and (form.startswith(other) or other.startswith(form))
        for other in forms
    )
