"""Agreement between sources: how much of what a text adds to a question other sources say, too.

On the web, an answer is found in many pages in many words; a mistake in few (Dumais, Banko, Brill, Lin, Ng, "Web
Question Answering: Is More Always Better?", SIGIR 2002).
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import sqrt

MIN_SITES = 2
"""Fewest sites that can agree. The pages of one site are about different things."""


def agreement(
    texts: Sequence[Collection[str]], sites: Sequence[str], asked: Collection[str]
) -> list[float] | list[None]:
    """Return for each text, given by the stems of its content words, how many other sites have its words, those that
    are `asked` aside: the sum over its words, divided by the square root of their number, so that neither a long text
    nor a single word has much. `sites` are those of the texts; where there is only one, `None` for each text.
    """
    if len(set(sites)) < MIN_SITES:
        return [None] * len(texts)
    having = defaultdict[str, set[str]](set)
    for text, site in zip(texts, sites, strict=True):
        for word in text:
            having[word].add(site)
    found = []
    for text in texts:
        added = [word for word in text if word not in asked]
        found.append(sum(len(having[word]) - 1 for word in added) / sqrt(len(added) or 1))
    return found
