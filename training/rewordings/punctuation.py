"""Signs, spaces, quotation marks and hyphens."""

import re
from collections.abc import Callable
from random import Random

from training.rewordings.shape import ASKING, AUXILIARIES, first_word, is_keywords, is_one_sentence

_PAIR = re.compile(r"\"([^\"“”]+)\"|“([^\"“”]+)”|``\s?([^`']+?)\s?''")
_COMPOUND = re.compile(r"(?<![\w-])([a-z]{3,})-([a-z]{3,})(?![\w-])")
_PREFIX = frozenset("non pre post anti semi multi sub mid pro neo inter intra over under out off self".split())
_OPENED = re.compile(
    r"\A((?:if|when|in|on|at|after|before|since|while|as|for|during|so|well|also|ok|now|today"
    r"|recently)\b[^,]{2,60}),(?=\s)",
    re.IGNORECASE,
)
_JOINED = re.compile(r",(?=\s(?:and|or|but|so|because|which)\b)")
_LOOSE = re.compile(r"\s+(?=[,;:.?!)](?:\s|\Z))")
_COMPOUNDS = frozenset(
    """
    long-term short-term part-time full-time real-time well-known high-quality low-cost real-life real-world
    step-by-step high-speed open-source high-school long-distance middle-aged full-stack cross-platform decision-making
    problem-solving one-time two-year self-esteem self-confidence self-employed self-discipline follow-up check-up
    start-up over-the-counter low-carb high-protein sugar-free gluten-free fat-free machine-learning deep-sea
    credit-card third-party first-time single-player full-body old-fashioned time-consuming user-friendly
    cost-effective mind-blowing heart-warming far-fetched high-end low-end
    """.split()
)
_PARTED = re.compile(rf"\b(?:{'|'.join(sorted(_COMPOUNDS))})\b".replace("-", " "))


class Punctuation:
    """Drops, adds or repeats signs and spaces that say nothing: one to three kinds of them."""

    name = "punctuation"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        varied, wanted = text, chance.choice([1, 1, 2, 3])
        for way in chance.sample(_WAYS, len(_WAYS)):
            changed = way(varied, chance)
            if changed != varied:
                varied, wanted = changed, wanted - 1
            if not wanted:
                break
        return varied if varied != text else None


def _no_mark(text: str, _chance: Random) -> str:
    stripped = text.rstrip("?. \t")
    return stripped if stripped and is_one_sentence(text) else text


def _mark(text: str, chance: Random) -> str:
    asks = first_word(text) in ASKING or first_word(text) in AUXILIARIES
    if text.rstrip().endswith("?"):
        return re.sub(r"\s*\?+\s*\Z", chance.choice(["??", " ?", "???", "?!", " ??", "? "]), text)
    return text.rstrip() + "?" if asks and text.rstrip()[-1:].isalnum() else text


def _spaces(text: str, chance: Random) -> str:
    gaps = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text)]
    for at in sorted(chance.sample(gaps, min(len(gaps), chance.choice([1, 1, 2]))), reverse=True):
        text = text[:at] + " " + text[at:]
    return text


def _no_double_spaces(text: str, _chance: Random) -> str:
    return re.sub(r"(?<=\S) {2,}(?=\S)", " ", text).strip()


def _commas(text: str, chance: Random) -> str:
    return chance.choice([_OPENED, _JOINED]).sub(lambda found: found[0].replace(",", ""), text, count=1)


def _no_quotes(text: str, _chance: Random) -> str:
    return _PAIR.sub(lambda found: next(group for group in found.groups() if group), text)


def _other_quotes(text: str, chance: Random) -> str:
    opening, closing = chance.choice([("“", "”"), ("'", "'"), ('"', '"'), ("*", "*")])
    return _PAIR.sub(lambda found: opening + next(group for group in found.groups() if group) + closing, text)


def _no_hyphen(text: str, _chance: Random) -> str:
    def parted(found: re.Match[str]) -> str:
        return found[0] if found[1] in _PREFIX else f"{found[1]} {found[2]}"

    return _COMPOUND.sub(parted, text)


def _hyphen(text: str, _chance: Random) -> str:
    return _PARTED.sub(lambda found: found[0].replace(" ", "-"), text)


def _tight(text: str, _chance: Random) -> str:
    return _LOOSE.sub("", text)


def _loose_comma(text: str, chance: Random) -> str:
    return re.sub(r"(?<=[a-z]), (?=[a-zA-Z])", chance.choice([" , ", ",", " ,"]), text, count=1)


def _points(text: str, chance: Random) -> str:
    if text.rstrip().endswith("."):
        return text.rstrip().rstrip(". ") + chance.choice(["", "!", "..", "..."])
    return text + chance.choice([".", "...", " ", ".."]) if text[-1:].isalnum() and not is_keywords(text) else text


_WAYS: tuple[Callable[[str, Random], str], ...] = (
    _no_mark, _no_mark, _mark, _spaces, _no_double_spaces, _commas, _no_quotes, _other_quotes, _no_hyphen, _hyphen,
    _tight, _loose_comma, _points,
)  # fmt: skip
