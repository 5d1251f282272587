"""Tags of languages, and the scripts that they are written in."""

import pytest

from harness.core.languages import checked_language, is_written_in, main_script, primary_tag
from harness.errors import InvalidInput


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de", "de"), ("de-AT", "de"), (" DE_at ", "de"), ("zh-Hant-TW", "zh"), ("fil", "fil"), ("iw", "he"),
        ("nb-NO", "no"), ("tl", "fil"), ("", ""), ("d", ""), ("xx", ""), ("english", ""), ("de-", ""), ("und", ""),
        ("de;q=0.5", ""), ("<b>", ""), ("de\x00", ""), ("дe", ""), ("de" + "-a" * 50_000, ""), (" " * 10**6, ""),
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_a_tag_has_its_language_or_none(tag: str, language: str) -> None:
    """Regions and scripts are left out, withdrawn tags are replaced. Invalid and unknown tags have no language."""
    assert primary_tag(tag) == language


def test_an_unknown_tag_of_a_user_is_an_error() -> None:
    """The message is short and has examples; a known tag is read as any other."""
    assert checked_language("pt-BR") == "pt"
    with pytest.raises(InvalidInput, match="unknown language 'klingon'; pass a tag such as en"):
        checked_language("klingon")
    with pytest.raises(InvalidInput) as refused:
        checked_language("\x1b" * 10_000)
    assert len(str(refused.value)) < 300
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("A pool holds ten connections: 池", "LATIN"), ("Пул держит десять соединений (pool)", "CYRILLIC"),
        ("连接池最多保持十个连接", "CJK"), ("接続プールは十個の接続を保持する", "KANA"),
        ("ひらがな", "KANA"), ("연결 풀", "HANGUL"), ("हिन्दी में", "DEVANAGARI"), ("e\u0301 abc", "LATIN"),
        ("abcd вг", ""), ("", ""), ("1 + 2 = 3", ""), ("😀\x00\ud800", ""),
    ],
)  # fmt: skip
def test_the_main_script_has_more_than_half_of_a_text(text: str, script: str) -> None:
    """Kana make a text Japanese. Two halves, and texts without letters, have no main script."""
    assert main_script(text) == script


def test_a_language_has_its_scripts() -> None:
    """Chinese is not in kana, Serbian is in two scripts, and an unknown language in none."""
    assert is_written_in("连接池最多保持十个连接", "zh")
    assert not is_written_in("接続プールは十個の接続を保持する", "zh")
    assert is_written_in("接続プールは十個の接続を保持する", "ja")
    assert is_written_in("Базен држи десет веза", "sr")
    assert is_written_in("Bazen drži deset veza", "sr")
    assert not is_written_in("Пул держит десять соединений", "en")
    assert not is_written_in("A pool holds ten connections", "")
    assert not is_written_in("", "en")
