"""Contracted forms and full ones."""

import re
from random import Random

from training.rewordings.shape import PRONOUNS

_PAIRS = tuple(
    (pair.split("=")[0].strip(), pair.split("=")[1].strip())
    for pair in """
    what is=what's; who is=who's; where is=where's; how is=how's; that is=that's; there is=there's; it is=it's;
    he is=he's; she is=she's; I am=I'm; you are=you're; we are=we're; they are=they're; I will=I'll; you will=you'll;
    we will=we'll; they will=they'll; it will=it'll; he will=he'll; she will=she'll; do not=don't; does not=doesn't;
    did not=didn't; is not=isn't;
    are not=aren't; was not=wasn't; were not=weren't; cannot=can't; can not=can't; could not=couldn't;
    should not=shouldn't; would not=wouldn't; will not=won't; have not=haven't; has not=hasn't; had not=hadn't;
    let us=let's; I would=I'd; here is=here's; when is=when's; why is=why's
    """.replace("\n", " ").split(";")
)  # fmt: skip
_PERFECT = tuple((f"{who} have", f"{who}'ve") for who in ("I", "you", "we", "they"))
_PARTICIPLE = (
    r"(?=\s+(?:not |never |always |just |already |recently |also )?(?:\w+ed|been|had|done|seen|gone"
    r"|got|taken|made|found"
    r"|heard|read|given|lost|felt|become|known|come|tried|put|set|bought|written|eaten|met|gotten|built|paid|run)\b)"
)
_INFORMAL = (("going to", "gonna"), ("want to", "wanna"), ("got to", "gotta"), ("kind of", "kinda"))
_NO_APOSTROPHE = frozenset("it's he'll she'll we'll i'll we're i'd won't can't let's who's".split())
"""Without the apostrophe these are other words, or look like it."""
_WRONG_AFTER = (
    r"(?!\s+(?:\w+ed|been|got|had|gone|done|become|gotten|taken|made|happened|a lot been|come|seen|given|changed)\b)"
)


class Contractions:
    """Writes `what is` as `what's`, `do not` as `don't`, and the reverse, at one place."""

    name = "contractions"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        text_as_typed = text.replace("’", "'")
        found = [
            (match.start(), match.end(), new)
            for pattern, new in _RULES
            for match in pattern.finditer(text_as_typed)
            if not (match[0].isupper() and len(match[0].split()[0]) > 1 and not text.isupper())
        ]
        if not found:
            return None
        start, end, new = chance.choice(found)
        if "'" in new and new.lower() not in _NO_APOSTROPHE and chance.random() < 0.25:
            new = new.replace("'", "")
        if text[start].isupper():
            new = new[:1].upper() + new[1:]
        elif text == text.lower():
            new = new.lower()
        varied = text[:start] + new + text[end:]
        return varied if varied != text else None


def _rules() -> list[tuple[re.Pattern[str], str]]:
    """Return patterns and what replaces them."""
    rules = []
    followed = r"(?=\s+(?!not\b)\w)"
    for full, short in (*_PAIRS, *_PERFECT):
        needed = _PARTICIPLE if short.endswith("'ve") else r"(?=\s+(?:like|love)\b)" if short == "I'd" else followed
        rules.append((_pattern(full, needed), short))
        if full == "cannot":
            continue
        if short.endswith("n't"):
            rules.append((_pattern(short, rf"(?!\s+(?:{'|'.join(sorted(PRONOUNS))}|the|my|your|a)\b)"), full))
            rules.append((_pattern(short, ""), short.replace("'", "")))
        elif short != "I'd":
            rules.append((_pattern(short, _WRONG_AFTER + r"(?=\s+\w)"), full))
            if short.lower() not in _NO_APOSTROPHE:
                rules.append((_pattern(short, r"(?=\s+\w)"), short.replace("'", "")))
    for full, short in _INFORMAL[:2]:
        rules.extend(
            [
                (_pattern(full, r"(?=\s+(?:be|do|get|go|have|make|take|buy|learn|know)\b)"), short),
                (_pattern(short, ""), full),
            ]
        )
    return rules


def _pattern(words: str, after: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])\b{re.escape(words)}\b(?!'){after}", re.IGNORECASE)


_RULES = _rules()
