"""Whether an English text has a verb: a title, a caption or a row of a table has none."""

import re

_CLAUSES = frozenset(
    """
    am is are was were be been being has have had do does did can cannot could may might must will would shall should
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't can't couldn't won't wouldn't shouldn't it's
    that's there's let's i'm i i've i'd i'll you you're you'll he he's she she's it it's we we're they they're
    """.split()
)
"""Words that a text without a verb hardly has: auxiliary verbs, and pronouns that are subjects."""
_VERBS = frozenset(
    """
    add allow appear apply arise ask avoid become began begin begun believe bring broke build built buy call came
    carry cause change check choose chose close come consist contain continue cost cover create cut decide depend
    describe die differ drew drive eat end enter exist expect explain fail fall fell fight fill find follow form
    fought found gave get give go got grew grow happen hear held help hold improve include increase keep kept knew
    know lead learn leave led left let lie live lose lost made make mark mean meant measure meet met move need occur
    offer open operate orbit paid pay play point produce provide publish put raise ran range rank reach read receive
    remain represent require return rise rose run said sang saw say see seem sell send sent serve set show sold
    speak spend spent spoke stand start stay stood stop support take taught teach tell tend think thought told took
    total travel try turn understand use vary want went win won wore work write wrote
    """.split()
)
"""Frequent verbs in the forms that a sentence has; regular past forms are known by their ending."""
_SIGNS = _CLAUSES | _VERBS
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_THIRD_PERSON = re.compile(
    r"(?<!['’])\b[a-z]{2,}[^s\W]s (?:the|an?|to|its|their|that|when|if|all|no|not|only|by|from|into|as|at|up|out|how"
    r"|what|about|around|almost|because|until|while|through|[a-z]+ly)\b"
    r"|^(?:the |an? )?[a-z-]+[^s\W] [a-z]{2,}[^s\W]s [a-z]+"
)
"""A word that ends as a verb in the third person, and one that seldom follows a plural noun; or such a word after a
subject of one word: "Insulin lowers blood sugar".
"""
_IMPERATIVE = re.compile(r"\W*[a-z]+ (?:the|an?|your|it|them|both|any|each|this|that|these|those|yourself)\b")
"""The beginning of an instruction: "Oil the chain"."""


def lacks_verb(text: str) -> bool:
    """Return whether an English text has no verb, as far as frequent verbs and endings show. Never raises."""
    plain = text.lower().replace("’", "'")
    words = set(_WORD.findall(plain))
    if not words.isdisjoint(_SIGNS) or any(word.endswith("ed") and len(word) > 4 for word in words):
        return False
    if any(word.endswith("s") and not _VERBS.isdisjoint((word[:-1], word[:-2], f"{word[:-3]}y")) for word in words):
        return False
    return bool(words) and not _IMPERATIVE.match(plain) and not _THIRD_PERSON.search(plain)
