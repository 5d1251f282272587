"""Search of documents: by words of title and content, and by the meaning of the title."""

from heapq import nlargest

from harness.core.question_language import question_language
from harness.core.rank_fusion import reciprocal_rank_fusion
from harness.core.tables import KNOWLEDGE
from harness.core.text import STEMMERS, stem, stems, words
from harness.knowledge.knowledge_rows import KnowledgeRows, readable

MAX_RANKED = 200
"""Documents that each of the two rankings has at most."""
SUBJECT = 0.2
"""Titles below this similarity are left out: for all-MiniLM-L6-v2 they have no common subject."""


def ranked(rows: KnowledgeRows, query: str) -> list[tuple[str, float | None]]:
    """Return the ids of the documents about a query, the best first by reciprocal rank fusion, with the similarity of
    the title; `None` where only words were found.
    """
    near = rows.nearest(query, MAX_RANKED, at_least=SUBJECT)
    near.sort(key=lambda each: (-round(each.similarity, 3), -each.entry.created_at))
    similar = {each.entry.key: round(each.similarity, 3) for each in near}
    return [(key, similar.get(key)) for key in reciprocal_rank_fusion([_with_words(rows, query), list(similar)])]


def _with_words(rows: KnowledgeRows, query: str) -> list[str]:
    """Return the ids of documents with more than half of the content words of a query, in any form: those with most
    words first, then those with most of them in the title, then the last updated.
    """
    language = question_language(query)
    latin = language if language in STEMMERS else "en"
    wanted = stems(query, latin)
    found = []
    for document in readable(rows.store.listings.scan(KNOWLEDGE, rows.tenant)) if wanted else ():
        in_title = wanted & _forms(document.title, latin)
        present = in_title if in_title == wanted else in_title | (wanted & _forms(document.content, latin))
        if 2 * len(present) > len(wanted):
            found.append((len(present), len(in_title), document.updated_at, document.id))
    return [key for *_, key in nlargest(MAX_RANKED, found)]


def _forms(text: str, latin: str) -> set[str]:
    """Return the stems of the words of a text. In English, the function words stay, which takes less than half of the
    time: a query has none, and the stemmer removes a possessive ending.
    """
    return {stem(word) for word in set(words(text))} if latin == "en" else stems(text, latin)
