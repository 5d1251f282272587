"""Large and small letters."""

import re
from random import Random

from training.rewordings.shape import lowered_start, raised_start

_TELLING = re.compile(r"\b(?:US|IT|WHO|AIDS|SAT|ACT|MS|PE|OR|IN|ME|MA|AM|PM|CAN|ED|US\w?|Polish|Turkey|March|May)\b")
_UNIT = re.compile(r"\d\s?(?:[kmgt]?[bw]|m|ma|mah|mhz)\b", re.IGNORECASE)
_LITTLE = frozenset("a an the of in on at to for and or but with from by as is vs".split())


class LetterCase:
    """Writes a text in small letters, in capitals, as a title, or with a capital in front only.

    Not where case distinguishes a word or unit from another (`US`, `AIDS`, `Mb`).
    """

    name = "case"

    def vary(self, text: str, chance: Random) -> str | None:
        """See `Generator.vary`."""
        if _TELLING.search(text) or _UNIT.search(text):
            return None
        ways = [str.lower, str.lower, _title, _sentence, _first_changed, _first_changed, _small_i]
        if len(text) < 120:
            ways.append(str.upper)
        for way in chance.sample(ways, len(ways)):
            varied = way(text)
            if varied != text:
                return varied
        return None


def _title(text: str) -> str:
    words = re.split(r"(\s+)", text)
    return "".join(
        word if index and word.lower() in _LITTLE else raised_start(word) for index, word in enumerate(words)
    )


def _sentence(text: str) -> str:
    return re.sub(r"\bi\b", "I", text.lower()[:1].upper() + text.lower()[1:])


def _first_changed(text: str) -> str:
    return raised_start(text) if text[:1].islower() else lowered_start(text)


def _small_i(text: str) -> str:
    return re.sub(r"(?<=\s)I(?=\s|'|’)", "i", text)
