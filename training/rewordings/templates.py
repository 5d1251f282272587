"""Question templates: one form of a family exchanged by another."""

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from training.rewordings.families import FAMILIES
from training.rewordings.pairs import are_sides
from training.rewordings.shape import ASKING, AUXILIARIES, LINKS, PREPOSITIONS, begins_small, first_word, split_end

_SLOT = re.compile(r"\{(\w)\}")
_MARKED = "!<"
_CLAUSAL = LINKS | frozenset("is are was were do does did can could will would should has have had".split())
_OTHERS = frozenset("you your yours yourself".split())
_OWN = frozenset("i me my mine myself i'm i've".split())
_OURS = frozenset("we us our ours ourselves".split())
_VAGUE = frozenset("it this that these those they them he she there him her".split())
_BASE_FORM = re.compile(r"(?!not\b|know\b|i\b|you\b|we\b|the\b|a\b|an\b|be able\b|\w+ing\b)[a-z]+\b", re.IGNORECASE)
_ADJECTIVAL = re.compile(
    r"\b(?:best|better|worst|wrong|right|happening|going|correct|up|new|good|bad|important|possible"
    r"|like|more|most|less|next"
    r"|\w+ing|\w+est|your|my|the|his|her|their|our|some|all|any|it|this|that)\b",
    re.IGNORECASE,
)
_NO_MARK = frozenset("define explain give list tell".split())


@dataclass(frozen=True)
class Form:
    """One form of a family: as it is written, as it is read, and whether it is."""

    written: str
    pattern: re.Pattern[str] | None
    family: int

    @property
    def slots(self) -> list[str]:
        """The letters of the slots."""
        return _SLOT.findall(self.written)


class QuestionTemplates:
    """Asks the same with another of about a hundred families of question forms."""

    name = "question templates"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        body, end = split_end(" ".join(text.split()).replace("’", "'"))
        if not body or len(body.split()) > 20 or re.search(r"[.?!;\"](?:\s|$)", body):
            return None
        found = [(form, match) for form in _by_start(first_word(body)) if (match := _read(form, body))]
        if not found:
            return None
        longest = max(len(_SLOT.sub("", form.written)) for form, _ in found)
        form, match = chance.choice([one for one in found if len(_SLOT.sub("", one[0].written)) >= longest - 4])
        options = [other for other in _families()[form.family] if _fits(other, form, match)]
        if not options:
            return None
        return _write(chance.choice(options), match, text, end)


def _read(form: Form, body: str) -> re.Match[str] | None:
    match = form.pattern.fullmatch(body) if form.pattern else None
    if match is None:
        return None
    said = match.groupdict()
    if "a" in said and not are_sides(said["a"], said["b"]):
        return None
    return match if all(_may_stand(slot, words) for slot, words in said.items()) else None


def _may_stand(slot: str, said: str) -> bool:
    """Return whether `said` is what a slot of this letter takes."""
    words = said.lower().split()
    if not words or words[0] in {"and", "or", "not"} or words[-1] in {"and", "or", "the", "a", "is", "of"}:
        return False
    if slot == "v":
        return bool(_BASE_FORM.match(said)) and len(words) >= 2
    if slot == "c":
        return len(words) >= 3
    if slot == "x":
        return len(words) <= 8
    if set(words) & _CLAUSAL or "," in said or words[0] in _VAGUE or set(words) & {"you", "i", "or"}:
        return False
    return _may_name(slot, said, words)


def _may_name(slot: str, said: str, words: list[str]) -> bool:
    """Return whether `said`, which holds no clause, is what a noun slot of this letter takes."""
    if slot == "w":
        return (
            len(words) <= 2
            and not _ADJECTIVAL.search(said)
            and not set(words) & PREPOSITIONS
            and words[0] not in {"a", "an"}
        )
    if slot in "ab":
        return len(words) <= 4 and not set(words) & (PREPOSITIONS | {"and", "or"})
    if slot == "p":
        return said[0].isupper() and len(words) <= 4 and not set(words) & (PREPOSITIONS | {"and"})
    if slot == "m":
        return (
            words[0] not in {"way", "ways", "things", "thing"}
            and any(word.endswith(("s", "people", "men")) for word in words)
            and (bool(set(words) & PREPOSITIONS) or words[-1].endswith(("s", "people", "men")))
        )
    if slot == "o":
        head = words[next((at for at, word in enumerate(words) if word in PREPOSITIONS), len(words)) - 1]
        return (
            len(words) <= 8
            and "and" not in words
            and (not head.endswith("s") or head.endswith(("ss", "us", "is")))
            and words[0] not in {"way", "these", "living"}
        )
    return len(words) <= 10


def _fits(other: Form, form: Form, match: re.Match[str]) -> bool:
    """Return whether the words of `match` fit `other`."""
    if other is form or other.written.startswith("<") or set(other.slots) - set(match.groupdict()) - {"n", "o"}:
        return False
    filled = _filled(other, match)
    if filled is None:
        return False
    inside = {word for said in match.groupdict().values() for word in said.lower().replace(",", "").split()}
    asked = set(_SLOT.sub("", other.written).replace("!", "").split())
    if asked & {"you", "your", "one"} and inside & _OWN:
        return False
    if asked & {"i", "we"} and inside & _OTHERS:
        return False
    if asked & {"you", "your", "one", "i"} and inside & _OURS:
        return False
    return not (asked & {"one", "we"} and inside & (_OWN | _OTHERS))


def _filled(form: Form, match: re.Match[str]) -> str | None:
    """Return the form with its slots filled, `n` and `o` from each other where the words allow it."""
    said = match.groupdict()
    for slot in form.slots:
        if slot not in said:
            given = said.get("o" if slot == "n" else "n")
            if given is None or not _may_stand(slot, given):
                return None
            said[slot] = given
    return _SLOT.sub(lambda found: said[found[1]], form.written.strip(_MARKED))


def _write(form: Form, match: re.Match[str], model: str, end: str) -> str | None:
    written = _filled(form, match)
    if written is None:
        return None
    if not begins_small(model):
        written = re.sub(r"\bi\b", "I", written[0].upper() + written[1:])
        written = re.sub(r"\bceo\b", "CEO", written)
    first = first_word(written)
    asks = first in ASKING or first in AUXILIARIES or ":" in written or ", which" in written
    varied = written + (end if asks else "" if first not in _NO_MARK else ("." if end else ""))
    return varied if varied != model else None


@cache
def _families() -> tuple[tuple[Form, ...], ...]:
    lines: list[str] = []
    for line in FAMILIES.splitlines():
        if lines and lines[-1].endswith("|"):
            lines[-1] += line
        elif line.strip():
            lines.append(line)
    return tuple(
        tuple(_form(written.strip(), number) for written in line.split("|") if written.strip())
        for number, line in enumerate(lines)
    )


def _form(written: str, family: int) -> Form:
    if written.endswith("!"):
        return Form(written, None, family)
    plain = re.escape(written.lstrip("<")).replace(r"\ ", " ")
    pattern = re.sub(r"\\\{(\w)\\\}", r"(?P<\1>.+?)", plain)
    pattern = re.sub(r"^what is ", "what(?: is|'s) ", pattern)
    return Form(written, re.compile(pattern, re.IGNORECASE), family)


@cache
def _starts() -> dict[str, tuple[Form, ...]]:
    starts: dict[str, list[Form]] = {}
    for family in _families():
        for form in family:
            first = form.written.lstrip("<").split()[0]
            keys = {"", *(["what is", "what's"] if first == "what's" else [])} if first.startswith("{") else {first}
            for key in keys | ({"what's"} if form.written.lstrip("<").startswith("what is ") else set()):
                starts.setdefault(key, []).append(form)
    return {key: tuple(forms) for key, forms in starts.items()}


def _by_start(first: str) -> tuple[Form, ...]:
    return _starts().get(first, ()) + (() if first in ASKING or first in AUXILIARIES else _starts().get("", ()))
