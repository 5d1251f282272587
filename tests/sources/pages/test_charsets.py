"""Decoding: what is declared, what is wrongly declared, what is broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sources.pages.charsets import decode

GERMAN = "Größe und Gewicht – für „Übergänge“ gemäß der Straßenverkehrsordnung, café, naïve"
JAPANESE = "日本語の文章です。これは試験のための文章で、文字コードの判定に使います。" * 3
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю." * 3


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (GERMAN, "utf-8", "UTF-8"),
        (GERMAN, "cp1252", "windows-1252"),
        (GERMAN, "cp1252", "iso-8859-1"),  # what is declared so is cp1252 in truth
        ("Größe, café", "latin-1", "latin1"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", "ISO-2022-JP"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        ("中文网页的字符编码" * 5, "gb18030", "gb2312"),
        ("한국어 문장입니다" * 5, "cp949", "euc-kr"),
    ],
)
def test_a_declared_character_set_is_used(text: str, codec: str, label: str) -> None:
    """The header says it, or the page does; either way the text comes out whole."""
    body = text.encode(codec)
    assert decode(body, f"text/html; charset={label}") == text
    meta = f'<meta charset="{label}">'.encode()
    assert decode(meta + body, "text/html").endswith(text)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_byte_order_mark_outdoes_every_declaration(codec: str) -> None:
    """A mark is no accident; a header is often the server's default."""
    assert decode("\ufeff".encode(codec) + GERMAN.encode(codec), "text/html; charset=shift_jis") == GERMAN


@pytest.mark.parametrize("label", ["iso-8859-1", "shift_jis", "windows-1251", "us-ascii"])
def test_utf_8_under_a_wrong_declaration_is_utf_8(label: str) -> None:
    """Bytes beyond ASCII that are valid UTF-8 are so by no accident."""
    assert decode(GERMAN.encode(), f"text/html; charset={label}") == GERMAN


@pytest.mark.parametrize("label", ["utf-8", "no-such-set", "", "rot13", "punycode", "unicode_escape", "zlib"])
def test_another_set_under_a_wrong_declaration_is_guessed(label: str) -> None:
    """A declaration that the bytes contradict, or that names no character set of the web, does not count."""
    assert decode((RUSSIAN * 3).encode("cp1251"), f"text/html; charset={label}") == RUSSIAN * 3


def test_a_few_broken_bytes_are_replaced() -> None:
    """The rest of the text stays what it is."""
    broken = (GERMAN * 5).encode() + b"\xff\xfe." + GERMAN.encode()
    assert decode(broken, "text/html; charset=utf-8") == GERMAN * 5 + "\ufffd\ufffd." + GERMAN


@given(st.binary(max_size=300), st.text(max_size=30))
def test_no_bytes_and_no_declaration_make_it_fail(body: bytes, label: str) -> None:
    """Whatever comes, text comes out."""
    assert isinstance(decode(body, f"text/html; charset={label}"), str)
