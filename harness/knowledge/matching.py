"""Decision whether a document may answer a question: the guards of equivalence, adapted to titles."""

from collections.abc import Container

from harness.core.equivalence import examine
from harness.core.equivalence.comparison import Comparison, compare
from harness.core.equivalence.reading import NUMBER, Word, read

READ_CHARS = 2_000
"""Characters of a content that are compared with the question; a long content mentions everything somewhere."""
MIN_STEM = 5


def objection(query: str, title: str, content: str, similarity: float, *, known: Container[str]) -> str:
    """Return why a document may not answer `query`, or "" if it may.

    The guards of `harness.core.equivalence` reject pairs, but three of them are meant for two questions:

    - `names` and `content` require that both sides mention the same things, which a title never does in full. Instead,
      the document (its title, or the beginning of its content) must mention everything in the query, and the query must
      mention every name in the title.
    - `question` ("when" is not "how") applies only if the title is a question, too; most titles name a subject.
    """
    if query.casefold().split() == title.casefold().split():
        return ""
    query_text, title_text = read(query), read(title)
    left_out = {"names", "content"} if title_text.is_question else {"names", "content", "question"}
    for verdict in examine(query, title, similarity, known=known).verdicts:
        if not verdict.passed and verdict.guard not in left_out:
            return f"{verdict.guard}: {verdict.reason}"
    return _unmentioned(compare(query_text, title_text, known), f"{title}. {content[:READ_CHARS]}")


def _unmentioned(pair: Comparison, document: str) -> str:
    """Return what the document does not mention, or what it names that the query does not, else ""."""
    content = read(document)
    if not (pair.a.words and pair.b.words):
        return "nothing in common but function words"
    if pair.a.signs != pair.b.signs or pair.a.identifiers - content.identifiers:
        return "other signs or identifiers"
    if missing := _not_among(pair.only_a, {word.form for word in content.words}):
        return f"the document does not mention {missing}"
    named = tuple(word for word in pair.only_b if word.name)
    if unasked := _not_among(named, {word.form for word in pair.a.words}):
        return f"the query does not mention {unasked}"
    return ""


def _not_among(words: tuple[Word, ...], forms: set[str]) -> str:
    """Return the words that match none of the forms. Numbers have their own guards."""
    absent = [word.plain for word in words if word.form[0] != NUMBER and not _is_among(word.form, forms)]
    return ", ".join(sorted(set(absent))[:5])


def _is_among(form: str, forms: set[str]) -> bool:
    """Return whether a form is among the others, or one that differs by a letter after stemming (verify,
    verification).
    """
    return form in forms or any(
        min(len(form), len(other)) >= MIN_STEM
        and abs(len(form) - len(other)) == 1
        and (form.startswith(other) or other.startswith(form))
        for other in forms
    )
