"""Sentences that say what a thing is."""

import re

from harness.core.text import stems

MAX_READ = 500
"""Characters of a sentence that are read."""
_SUBJECT_IS = re.compile(
    r"(?:an? |the |in [^,]{2,60}, (?:an? |the )?)?(?P<subject>[^,.;:()]{2,80}?)(?: \([^()]{1,60}\))?,? "
    r"(?:(?:is|are|was|were) (?:an?|the|any|one of|defined|known as"
    r"|called(?! (?:again|as|by|for|from|if|in|on|when|with)\b))\b|(?:refers? to|denotes?|stands? for)\b)",
    re.IGNORECASE,
)
"""The beginning of "A closure is a …", "In Python, a closure (…) is the …", "Jitter refers to …"."""
_CALLED = re.compile(
    r".{3,}\b(?:is|are|was|were) (?:also |often |sometimes |usually )?"
    r"(?:(?:called|termed)|(?:known|referred to) as) (?:an? |the )?(?P<subject>[^,.;:()]{2,60})",
    re.IGNORECASE | re.DOTALL,
)
"""The end of "A function that refers to names around it is called a closure"."""
_WHAT_IS = re.compile(
    r"what(?: is|['’]s| are| was| were) (?P<thing>[^?.,;:]{1,80}?)"
    r"(?: (?:of|in|for|from|with|on|at|to|by|between|about|under|and|or|that|which|who|when|called)\b|[?.,;:]|$)",
    re.IGNORECASE,
)
"""The thing that a question asks about, without what follows its name: "the load" in "What is the load of the …?"."""
_NOT_WHAT = re.compile(
    r"what (?:happens|does .+ do)\b"
    r"|(?:(?:in|at|on|for|by) )?(?:how|why|when|where)\b(?!.*\b(?:defined|called|named|mean|stands? for|refer to)\W*$)",
    re.IGNORECASE | re.DOTALL,
)
"""A question for a manner, a reason, a time or a place, unless it ends as one for a name does: "How is it called?"."""

_WHAT_DOES = re.compile(r"what do(?:es)? (?P<thing>.{2,80}?) do\b(?! with\b)", re.IGNORECASE)
"""The thing whose action a question asks for: "a lock" in "What does a lock do?"."""
_DOES = re.compile(
    r"\W*(?:an? |the )?(?P<subject>\S+(?: \S+){0,3}?) (?:also |always |then |only )?"
    r"(?!(?:this|its|is|was|has|does|as|plus|versus|class|process|access|alias|bus|gas|series|yes|us|thus)\b)"
    r"[a-z]{2,}s (?!(?:of|is|are|in|for|on|that|which|can|may|have|were)\b)",
    re.IGNORECASE,
)
"""The beginning of "A lock keeps …": a subject, and a verb in the third person."""


def asks_what(question: str) -> bool:
    """Return whether an English question asks for a definition ("What is …"). Never raises."""
    return _WHAT_IS.match(question.strip()) is not None


def asks_other(question: str) -> bool:
    """Return whether an English question asks for something else than a definition: how, why, when, where, what
    happens. Never raises.
    """
    return _NOT_WHAT.match(question.strip()) is not None


def defines(sentence: str, question: str) -> bool:
    """Return whether an English sentence defines a thing that the question names. If the question asks for a
    definition, it must be that one: for "What is the load of the bike?" of the load, not of the bike. Never raises.
    """
    asked = _WHAT_IS.match(question.strip())
    for form in (_SUBJECT_IS, _CALLED):
        found = form.match(sentence.strip()[:MAX_READ])
        subject = stems(found["subject"]) if found else set()
        thing = stems(asked["thing"]) if asked else subject
        if subject and subject <= stems(question) and (subject <= thing or (bool(thing) and thing <= subject)):
            return True
    return False


def says_what_it_does(sentence: str, question: str) -> bool:
    """Return whether an English question asks what a thing does, and a sentence begins with that thing and a verb: "A
    lock keeps …" for "What does a lock do?". Never raises.
    """
    if not (asked := _WHAT_DOES.match(question.strip())) or not (found := _DOES.match(sentence[:MAX_READ])):
        return False
    subject = stems(found["subject"])
    return bool(subject) and subject <= stems(asked["thing"])
