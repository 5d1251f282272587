"""The wiring against a real model and a real server (llama.cpp's): it answers weakly, so only the form is looked at."""

import json
import threading
from typing import Any

import pytest

from harness.errors import ModelUnavailable
from harness.models.remote.chat_completions import CompletionSettings, OpenAICompatible
from harness.ports import Message
from tests.models.conftest import serve_smollm

pytestmark = pytest.mark.full

ASKED: list[Message] = [{"role": "user", "content": "Name three fruits."}]
TOLD: list[Message] = [{"role": "user", "content": "Write a long story about a fox and a crow, with many details."}]


def model(url: str, **options: Any) -> OpenAICompatible:
    """Return the model, with limits for a machine that is busy with other tests."""
    settings = CompletionSettings(**{"max_tokens": 30, "timeout": 120.0, "retries": 0, **options})
    return OpenAICompatible("smollm2", url, settings)


def test_it_answers_in_a_stream(smollm: str) -> None:
    """Text comes in many pieces that are the answer, with the server's count of tokens."""
    heard: list[str] = []
    answer = model(smollm).complete(ASKED, on_text=heard.append)
    assert answer.text == "".join(heard)
    assert answer.prompt_tokens > 3
    assert 0 < answer.completion_tokens <= 30


def test_the_same_question_gets_the_same_answer(smollm: str) -> None:
    """Temperature 0 and a seed: no chance is left."""
    one, other = (model(smollm).complete(ASKED).text for _ in range(2))
    assert one == other


def test_it_stops_at_max_tokens(smollm: str) -> None:
    """An answer that the server cut is not whole."""
    answer = model(smollm, max_tokens=5).complete(ASKED)
    assert not answer.whole
    assert answer.completion_tokens == 5


@pytest.mark.parametrize("support", ["auto", "json_schema"])
def test_it_keeps_to_a_schema(smollm: str, support: Any) -> None:
    """The server's grammar holds even a weak model to the schema."""
    schema = {
        "type": "object",
        "properties": {"fruit": {"enum": ["apple", "pear"]}, "sweet": {"type": "boolean"}},
        "required": ["fruit", "sweet"],
        "additionalProperties": False,
    }
    answer = json.loads(model(smollm, schema_support=support).complete(ASKED, schema=schema).text)
    assert answer["fruit"] in {"apple", "pear"}
    assert isinstance(answer["sweet"], bool)


def test_a_server_that_dies_in_the_middle_is_unavailable() -> None:
    """Killed after the first words, it leaves an error and no half of an answer."""
    served = serve_smollm()
    try:
        begun = threading.Event()

        def on_text(_: str) -> None:
            if not begun.is_set():
                begun.set()
                served.kill()

        asked = model(served.url, max_tokens=1_500)
        with pytest.raises(ModelUnavailable, match=r"cannot be reached|stopped in the middle"):
            asked.complete(
                [{"role": "user", "content": "Write a long story about a fox and a crow, with many details."}],
                on_text=on_text,
            )
        assert begun.is_set()
        with pytest.raises(ModelUnavailable, match="is it running"):
            asked.complete(ASKED)
    finally:
        served.kill()
