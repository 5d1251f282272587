"""Decoding of web pages, whose declared character set is often missing and sometimes wrong.

The order is that of the HTML standard (byte order mark, HTTP header, `meta`), with one exception: bytes that are valid
UTF-8 and not only ASCII are UTF-8, despite any declaration. Text in another character set is almost never valid UTF-8.
"""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:\-]{1,40})", re.IGNORECASE)
_META_BYTES = 4_096
_SAMPLE_BYTES = 5_000
_OF_THE_WEB = re.compile(
    r"utf-8|utf-16(-[bl]e)?|cp125[0-8]|cp8(66|74)|cp9(32|49)|iso8859-\d+|koi8-[ru]|mac-(roman|cyrillic)|big5(hkscs)?"
    r"|gb18030|euc_(jp|jis_2004)|iso2022_jp"
)
"""Codecs that may be used. Some of Python's others take quadratic time (punycode) or are not character sets
(unicode_escape).
"""

_REALLY = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""Larger character set to use for a declared smaller one, as in the WHATWG Encoding standard."""

_MOST_BROKEN = 0.05
"""Share of the non-ASCII bytes that may be invalid in the declared character set."""


def decode(body: bytes, content_type: str) -> str:
    """Return `body` as text. Bytes that are invalid in its character set become U+FFFD; nothing is raised."""
    for mark, of_mark in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(of_mark, "replace")
    places = (content_type, body[:_META_BYTES].decode("latin-1"))
    labels = [found[1] for place in places if (found := _CHARSET.search(place))]
    declared = [each for label in labels if (each := _codec(label))]
    likely = [*declared, "utf-8"] if body.isascii() else ["utf-8", *declared]
    for name in likely:
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    beyond_ascii = len(body) - sum(map(body.count, range(128)))
    for name in [*declared, "utf-8"]:
        text = body.decode(name, "replace")
        if text.count("\ufffd") <= _MOST_BROKEN * beyond_ascii:
            return text
    return body.decode(_guessed(body) or "cp1252", "replace")


def _codec(label: str) -> str | None:
    """Return Python's name of a character set, `None` if it is not used on the web."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _REALLY.get(name, name)
    return name if _OF_THE_WEB.fullmatch(name) else None


def _guessed(body: bytes) -> str | None:
    """Guess from the first and last `_SAMPLE_BYTES`, which is quick."""
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_SAMPLE_BYTES] + body[-_SAMPLE_BYTES:]).best()
    return _codec(best.encoding) if best else None
