"""Answers that fit a schema: how they are asked for, what is taken out of an answer, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidInput, ModelError
from harness.models.remote.chat_completions import CompletionSettings, OpenAICompatible
from harness.models.remote.json_answers import json_answer
from harness.ports import Message
from tests.models.endpoint import Endpoint, refusing, saying

SCHEMA: dict[str, Any] = {
    "title": "Measured length!",
    "type": "object",
    "properties": {"metres": {"type": "number"}, "note": {"type": "string"}},
    "required": ["metres"],
    "additionalProperties": False,
}
ASKED: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long?"}]


def model(endpoint: Endpoint, **options: Any) -> OpenAICompatible:
    """Return a model at the endpoint."""
    settings = CompletionSettings(**{"timeout": 5.0, "total_timeout": 20.0, "retries": 0, **options})
    return OpenAICompatible("m", endpoint.url, settings)


# --- asking


def test_a_schema_is_asked_for_strictly(endpoint: Endpoint) -> None:
    """It goes out as `response_format`, with a name that endpoints allow."""
    endpoint.answers(saying('{"metres"', ": 2}"))
    assert model(endpoint).complete(ASKED, schema=SCHEMA).text == '{"metres":2}'
    wanted = {"name": "Measured_length", "schema": SCHEMA, "strict": True}
    assert endpoint.asked[0]["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert endpoint.asked[0]["messages"] == ASKED


def test_an_endpoint_without_schemas_is_asked_in_words(endpoint: Endpoint) -> None:
    """First for any JSON object, then for nothing, with the schema in the system message; what works is remembered."""
    refusal = refusing(400, "Unknown parameter: response_format")
    endpoint.answers(refusal, refusal, saying('{"metres":2}'))
    asked = model(endpoint)
    for _ in range(2):
        assert asked.complete(ASKED, schema=SCHEMA).text == '{"metres":2}'
    formats = [body.get("response_format", {}).get("type") for body in endpoint.asked]
    assert formats == ["json_schema", "json_object", None, None]
    for body in endpoint.asked[1:]:
        first, *rest = body["messages"]
        assert first["content"].startswith("Be brief.\n\n")
        assert json.dumps(SCHEMA, separators=(",", ":")) in first["content"]
        assert rest == ASKED[1:]


def test_without_a_system_message_the_schema_makes_one(endpoint: Endpoint) -> None:
    """The messages of the caller stay as they are."""
    endpoint.answers(saying('{"metres":2}'))
    model(endpoint, schema_support="none").complete(ASKED[1:], schema=SCHEMA)
    assert [message["role"] for message in endpoint.asked[0]["messages"]] == ["system", "user"]


def test_a_chosen_way_is_kept_to(endpoint: Endpoint) -> None:
    """Only `auto` falls back."""
    endpoint.answers(refusing(400, "Unknown parameter: response_format"))
    with pytest.raises(ModelError, match="refuses the request"):
        model(endpoint, schema_support="json_object").complete(ASKED, schema=SCHEMA)
    assert len(endpoint.asked) == 1


def test_another_refusal_is_no_reason_to_fall_back(endpoint: Endpoint) -> None:
    """Errors unrelated to the format are raised at once."""
    endpoint.answers(refusing(400, "the context is too long"))
    with pytest.raises(ModelError, match="the context is too long"):
        model(endpoint).complete(ASKED, schema=SCHEMA)
    assert len(endpoint.asked) == 1


def test_the_listener_gets_the_value_once_it_fits(endpoint: Endpoint) -> None:
    """It gets the JSON without the text around it, and never a value that does not fit."""
    endpoint.answers(saying("Here: ", '{"metres": 2}'), saying('{"metres": "two"}'))
    heard: list[str] = []
    assert model(endpoint).complete(ASKED, schema=SCHEMA, on_text=heard.append).text == "".join(heard)
    with pytest.raises(ModelError, match="does not fit"):
        model(endpoint).complete(ASKED, schema=SCHEMA, on_text=heard.append)
    assert heard == ['{"metres":2}']


@pytest.mark.parametrize("text", ['{"metres": 2', '{"metres": 2}'])
def test_an_answer_that_was_cut_off_is_refused(endpoint: Endpoint, text: str) -> None:
    """Whatever there is of it: what came last may be missing."""
    endpoint.answers(saying(text, reason="length"))
    with pytest.raises(ModelError, match=r"cut off before its JSON ended; raise max_tokens \(it begins “\{"):
        model(endpoint).complete(ASKED, schema=SCHEMA)


# --- the value in the text


@pytest.mark.parametrize(
    "text",
    [
        '{"metres": 2.5}',
        '```json\n{"metres": 2.5}\n```',
        'Sure!\n```\n{"metres": 2.5}\n```\nAnything else?',
        'As {you} asked [1]: {"metres": 2.5} — that is all.',
        '{"feet": 8} or rather {"metres": 2.5}',
    ],
)
def test_what_stands_around_the_value_is_passed_over(text: str) -> None:
    """Fences, prose and other brackets are not the answer."""
    assert json_answer(text, SCHEMA, whole=True) == '{"metres":2.5}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('ab{}[]"\\ é'), st.lists, max_leaves=8
    )
)
def test_any_object_is_found_in_prose(value: Any) -> None:
    """Brackets, quotes and backslashes within strings end nothing."""
    text = f"The answer: {json.dumps({'value': value})}."
    found = json.loads(json_answer(text, {"type": "object"}, whole=True))
    assert json.dumps(found).replace(" ", "") == json.dumps({"value": value}).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "schema"), [("[1, 2]", {"type": "array"}), (' "a" ', {"type": "string"}), ("```\n3\n```", {})]
)
def test_a_value_need_not_be_an_object(text: str, schema: dict[str, Any]) -> None:
    """Whatever the schema allows."""
    assert json.loads(json_answer(text, schema, whole=True)) == json.loads(text.strip("`\n"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"metres": "two"}', r"\$.metres: 'two' is not of type 'number'"),
        ('{"note": "x"}', "'metres' is a required property"),
        ('{"metres": 2, "feet": 8}', "'feet' was unexpected"),
        ("[2]", "is not of type 'object'"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, problem: str) -> None:
    """The message says where and why."""
    with pytest.raises(ModelError, match=f"does not fit the schema: .*{problem}"):
        json_answer(text, SCHEMA, whole=True)


@pytest.mark.parametrize(
    "text",
    [
        "Two metres.",
        '{"metres": 2',
        '[{"metres": 2}',
        '{"metres": NaN}',
        '{"metres": 1e999}',
        '{"metres": 2, "note": "\\ud800"}',
        "{'metres': 2}",
        "{" * 100_000,
    ],
)
def test_text_without_json_is_refused(text: str) -> None:
    """Nothing is guessed, and no part of a broken value is taken for the value."""
    with pytest.raises(ModelError, match="not JSON") as caught:
        json_answer(text, SCHEMA, whole=True)
    assert len(str(caught.value)) < 300


def test_what_is_nested_too_deeply_is_refused() -> None:
    """No answer overflows the stack."""
    with pytest.raises(ModelError, match=r"nested too deeply|no JSON"):
        json_answer(
            "[" * 1_000 + "]" * 1_000,
            {"$ref": "#/$defs/l", "$defs": {"l": {"items": {"$ref": "#/$defs/l"}}}},
            whole=True,
        )


def test_strings_within_the_value_are_clean() -> None:
    """An escape brings no control character in."""
    text = r'{"metres": 2, "note": "a\u0000\u202eb"}'
    assert json_answer(text, SCHEMA, whole=True) == '{"metres":2,"note":"ab"}'


@pytest.mark.parametrize("schema", [{"type": "metre"}, {"$ref": "http://127.0.0.1:9/schema"}])
def test_a_schema_that_is_none_is_the_callers_mistake(schema: dict[str, Any]) -> None:
    """Nothing is fetched for it, either."""
    with pytest.raises(InvalidInput, match="the schema"):
        json_answer("{}", schema, whole=True)
