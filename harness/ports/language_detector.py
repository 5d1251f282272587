"""Port of language detectors."""

from typing import Protocol


class LanguageDetector(Protocol):
    """Finds the language of a text. The same text always has the same one."""

    def language(self, text: str) -> str:
        """Return the language of any text as a primary tag of BCP 47 (`en`, `zh`); "" if it is not certain, as of short
        and of mixed texts. The first `MAX_CHARS` characters decide (see `harness.core.languages`).
        """
