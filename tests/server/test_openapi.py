"""The description of the API: complete, true, and kept by every answer."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.cache import ResearchContext
from harness.server.api.jobs import Researches
from harness.server.application import build_routes
from harness.server.request_checks import Gate
from tests.fakes import WordEmbedder

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
RUN = "20261122-101500-1a2b3c"
FAILURES = {"400", "401", "403", "404", "429", "502", "503"}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The description, as the server tells it."""
    admission: Any = None  # nobody asks
    told: dict[str, Any] = json.loads(json.dumps(build_routes(Researches(1), admission).openapi()))
    return told


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each operation with its name: `GET /api/stats`."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference to another part of the description."""
    while "$ref" in schema:
        here: Any = described
        for name in schema["$ref"].removeprefix("#/").split("/"):
            here = here[name]
        schema = here
    return schema


def test_every_operation_says_what_it_is(described: dict[str, Any]) -> None:
    """Each operation has a subject, a sentence, descriptions of what may fail, and a shape for its answer."""
    names = [name for name, _ in operations(described)]
    assert len(names) > 20
    for name, operation in operations(described):
        assert operation["tags"], name
        assert operation["description"], name
        assert set(operation["responses"]) >= FAILURES, name
        assert "422" not in operation["responses"], name
        assert {"200", "202"} & set(operation["responses"]), name
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
        for parameter in operation.get("parameters", ()):
            known = parameter.get("description") or parameter["name"] in {"limit", "offset", "source"}
            assert known or resolved(described, parameter["schema"]).get("description"), (name, parameter["name"])
    assert len({operation["operationId"] for _, operation in operations(described)}) == len(names)


def test_every_shape_has_an_example_that_fits(described: dict[str, Any]) -> None:
    """What an operation takes and answers is shown by an example, which is of its own shape."""
    import jsonschema

    for name, operation in operations(described):
        bodies = [*operation["responses"].values(), operation.get("requestBody", {})]
        contents = [each for body in bodies for each in body.get("content", {}).items()]
        for kind, media in contents:
            if kind == "text/event-stream":
                continue
            schema = resolved(described, media["schema"])
            examples = schema.get("examples")
            assert examples, (name, kind, schema.get("title"))
            for example in examples:
                wrong = jsonschema.Draft202012Validator({**schema, "components": described["components"]})
                assert not list(wrong.iter_errors(example)), (name, schema["title"])


def test_every_failure_has_the_one_shape(described: dict[str, Any]) -> None:
    """A failure is `{"status": "error", "code", "message"}` everywhere; Tavily's clients are told a little more."""
    for name, operation in operations(described):
        for status, answer in operation["responses"].items():
            if status[0] in "45":
                shape = resolved(described, answer["content"]["application/json"]["schema"])
                assert set(shape["required"]) >= {"status", "code", "message"}, (name, status)
                assert "detail" not in shape["properties"] or "/tavily/" in name


def test_what_is_not_of_the_api_is_not_described(described: dict[str, Any], client: TestClient) -> None:
    """Pages, charts and files are for people; no viewer of the description is served, which would load from outside."""
    assert all(re.match("/(api|search$|config$|autocompleter$|tavily)", path) for path in described["paths"])
    for address in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(address).status_code == 404
    assert "HTTPValidationError" not in described["components"]["schemas"]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_answer_is_as_described(gate: Gate, app: App, researches: Researches) -> None:
    """Whatever is sent, an answer is of a described status, kind and shape, and never a crash."""
    import schemathesis
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis.specs.openapi import checks as kept

    app.models.__dict__["embedder"] = WordEmbedder()
    app.cache.put_search("retries", [RESULT])
    app.cache.put_research("retries", "general", ResearchContext("They stop.", [], []))
    app.cache.put_run(RUN, "retries", "corpus", {"question": "x", "engines": [{"name": "x"}], "state": "writing"})
    app.knowledge.write("retries", "Three.")
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", gate, headers={"Host": "127.0.0.1"})
    checks = [
        schemathesis.checks.not_a_server_error,
        kept.status_code_conformance,
        kept.content_type_conformance,
        kept.response_schema_conformance,
        kept.response_headers_conformance,
    ]
    tried: dict[str, set[int]] = {}

    def keep(operation: Any, mode: Any) -> None:
        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def keeps(case: Any) -> None:
            answer = case.call_and_validate(headers={"Host": "127.0.0.1"}, checks=checks)
            tried.setdefault(operation.label, set()).add(answer.status_code)

        keeps()

    for described in schema.get_all_operations():
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
                keep(described.ok(), mode)
    assert len(tried) > 20
    assert all(tried.values())
    assert sum(any(status < 300 for status in statuses) for statuses in tried.values()) > 10, tried
