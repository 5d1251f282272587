"""The API description: complete, and true for every response."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.app import App
from harness.cache import ResearchContext
from harness.core.pages import Page
from harness.server.api.research_jobs import ResearchJobs
from harness.server.request_checks import RequestChecks
from harness.server.routes import build_routes
from harness.sources.from_settings import Sources
from tests.fakes import WordEmbedder

RESULT = {"title": "Retries", "href": "https://example.org/retries", "body": "Retries stop after five attempts."}
RUN = "20261122-101500-1a2b3c"
ERROR_RESPONSES = {"400", "401", "403", "404", "429", "502", "503"}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The description from the server."""
    authenticator: Any = None  # no request is made
    payload: dict[str, Any] = json.loads(json.dumps(build_routes(ResearchJobs(1), authenticator).openapi()))
    return payload


def operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each operation with its name: `GET /api/stats`."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference within the description."""
    while "$ref" in schema:
        here: Any = described
        for name in schema["$ref"].removeprefix("#/").split("/"):
            here = here[name]
        schema = here
    return schema


def test_every_operation_is_described(described: dict[str, Any]) -> None:
    """With a tag, a sentence, its errors, and the shape of its response."""
    names = [name for name, _ in operations(described)]
    assert len(names) > 20
    for name, operation in operations(described):
        assert operation["tags"], name
        assert operation["description"], name
        assert set(operation["responses"]) >= ERROR_RESPONSES, name
        assert "422" not in operation["responses"], name
        assert {"200", "202"} & set(operation["responses"]), name
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
        for parameter in operation.get("parameters", ()):
            known = parameter.get("description") or parameter["name"] in {"limit", "offset", "source"}
            assert known or resolved(described, parameter["schema"]).get("description"), (name, parameter["name"])
    assert len({operation["operationId"] for _, operation in operations(described)}) == len(names)


def test_every_shape_has_a_valid_example(described: dict[str, Any]) -> None:
    """For requests and responses."""
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


def test_all_errors_have_one_shape(described: dict[str, Any]) -> None:
    """`{"status": "error", "code", "message"}`; Tavily's clients get one more field."""
    for name, operation in operations(described):
        for status, answer in operation["responses"].items():
            if status[0] in "45":
                shape = resolved(described, answer["content"]["application/json"]["schema"])
                assert set(shape["required"]) >= {"status", "code", "message"}, (name, status)
                assert "detail" not in shape["properties"] or "/tavily/" in name


def test_only_the_api_is_described(described: dict[str, Any], client: TestClient) -> None:
    """Not pages, charts and files; no viewer of the description is served."""
    assert all(re.match("/(api|search$|config$|autocompleter$|tavily)", path) for path in described["paths"])
    for address in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(address).status_code == 404
    assert "HTTPValidationError" not in described["components"]["schemas"]


class AnyPage:
    """A page reader that has a page at every address."""

    name = "web"

    def read(self, url: str, held: Page | None = None) -> Page:
        """See `PageReader.read`."""
        return Page(url=url, title="Retries", text="Retries stop after five attempts.", media_type="text/html")


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_responses_match_the_description(
    checks: RequestChecks, app: App, researches: ResearchJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For generated requests: status, type and shape, and never a crash."""
    import schemathesis
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis.specs.openapi import checks as kept

    app.models.__dict__["embedder"] = WordEmbedder()
    monkeypatch.setattr(Sources, "reader", AnyPage())
    app.cache.searches.put("retries", [RESULT])
    app.cache.researches.put("retries", "general", ResearchContext("They stop.", [], []))
    app.cache.runs.put(RUN, "retries", "corpus", {"question": "x", "engines": [{"name": "x"}], "state": "writing"})
    app.knowledge.write("retries", "Three.")
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", checks, headers={"Host": "127.0.0.1"})
    conformance = [
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
            answer = case.call_and_validate(headers={"Host": "127.0.0.1"}, checks=conformance)
            tried.setdefault(operation.label, set()).add(answer.status_code)

        keeps()

    for described in schema.get_all_operations():
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # an operation without input has no invalid input
                keep(described.ok(), mode)
    assert len(tried) > 20
    assert all(tried.values())
    assert sum(any(status < 300 for status in statuses) for statuses in tried.values()) > 10, tried
