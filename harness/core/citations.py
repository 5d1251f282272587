"""Does the quoted passage really stand in the stored source?"""

import unicodedata
from collections.abc import Iterable

from harness.core.text import one_line


def stands_in(quotation: str, texts: Iterable[str]) -> bool:
    """Say whether `quotation` is a part of one of `texts`, white space and Unicode form (NFC) aside.

    An empty quotation stands nowhere.
    """
    wanted = _comparable(quotation)
    return bool(wanted) and any(wanted in _comparable(text) for text in texts)


def _comparable(text: str) -> str:
    return one_line(unicodedata.normalize("NFC", text))
