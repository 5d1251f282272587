"""Messages that may be answered by meaning: plain questions, never tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.chat_questions import is_plain_question


@pytest.mark.parametrize(
    "text",
    [
        "How do I sort a list in Python?",
        "  What is the capital of France ? ",
        "Is Python faster than C?",
        "¿Cuál es la capital de Francia?",
        "Qu'est-ce que la photosynthèse ?",
        "Wie sortiere ich eine Liste?",
        "Где находится Москва?",
        "Τι είναι η Python;",
    ],
)
def test_a_question_is_one(text: str) -> None:
    """In any language with spaces between words."""
    assert is_plain_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "Write a short poem about love",
        "Explain recursion simply",
        "Convert to upper case: Python?",
        "Proofread: Its",
        "Translate where is the station?",
        "Korrigiere wo ist der Bahnhof?",
        "Traduce dónde está la estación?",
        "Can you write a poem about love?",
        "How would you write a poem, please?",
        "What is its upper case: python?",
        'How is "its" written?',
        "How is 'its' written?",
        "Is this right?\nits good",
        "Here is a text. Is it good?",
        "Have a look at this",
        "Tips for sleeping",
        "Do write a poem about love",
    ],
)
def test_a_task_is_no_question(text: str) -> None:
    """Nor are several sentences, or a text to work on."""
    assert not is_plain_question(text)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    """It never raises, and only a question mark makes a question."""
    assert is_plain_question(text) in ((True, False) if text.strip()[-1:] in tuple("?？؟;;") else (False,))
