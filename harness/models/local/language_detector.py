"""Language of a text by CLD3, the compact language detector of Chromium; its model is a part of the package."""

from typing import Any

from harness.core.languages import LANGUAGES, MAX_CHARS, main_script, primary_tag, script_of, scripts

MIN_BYTES, MIN_LETTERS = 60, 8
"""Letters that a text has at least: their bytes in UTF-8, and how many different ones. In less, the detector confuses
neighbours such as Spanish and Catalan.
"""
MIN_SHARE = 0.6
"""Share of the main script among the letters of a text, at least."""
LIKELY, LIKELY_OTHER = 0.7, 0.9
"""Probability from which on the language of a text counts, and that of a half of it which has another language."""
_MAX_BYTES = 4 * MAX_CHARS


class CompactLanguageDetector:
    """The port `LanguageDetector`. Loads in a few milliseconds at the first text; a text takes about one. Safe from any
    thread.
    """

    def language(self, text: str) -> str:
        """See `LanguageDetector.language`."""
        text = text[:MAX_CHARS]
        script = main_script(text)
        if not _is_enough(text, script):
            return ""
        text = _in_script(text, script)
        import gcld3

        detector = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=_MAX_BYTES)  # of one thread only: 0.1 ms
        found = _language(detector, text, LIKELY)
        if found not in LANGUAGES[script]:
            return ""
        middle = text.find(" ", len(text) // 2) + 1 or len(text) // 2
        halves = (_language(detector, half, LIKELY_OTHER) for half in (text[:middle], text[middle:]))
        return found if all(half in {found, ""} for half in halves) else ""


def _is_enough(text: str, script: str) -> bool:
    """Return whether a text has enough letters, most of them of one script."""
    if script not in LANGUAGES:
        return False
    found = scripts(text)
    enough = max(MIN_BYTES, MIN_SHARE * found.total())
    return max(found.values()) >= enough and sum(script_of(each) != "" for each in set(text)) >= MIN_LETTERS


def _in_script(text: str, script: str) -> str:
    """Return a text in one line, without the letters of other scripts: a foreign name would count most."""
    kept = {"", "CJK", "KANA"} if script in {"CJK", "KANA"} else {"", script}
    foreign = {ord(each): " " for each in set(text) if script_of(each) not in kept}
    return " ".join(text.translate(foreign).split())


def _language(detector: Any, text: str, likely: float) -> str:
    """Return the language that the detector finds; "" if it is not likely enough, or not known here."""
    found = detector.FindLanguage(text=text)
    return primary_tag(found.language) if found.is_reliable and found.probability >= likely else ""
