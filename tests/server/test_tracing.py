"""Traces, received by a collector on loopback."""

import gzip
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pytest_httpserver import HTTPServer
from starlette.testclient import TestClient
from werkzeug import Request, Response

from harness.app import App
from harness.errors import InvalidInput
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.server.tracing import OFF, provider_of, telemetry_of


@pytest.fixture
def collector(httpserver: HTTPServer) -> list[ExportTraceServiceRequest]:
    """Exports that the collector received."""
    received: list[ExportTraceServiceRequest] = []

    def take(request: Request) -> Response:
        body = request.get_data()
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        received.append(ExportTraceServiceRequest.FromString(body))
        return Response(status=200)

    httpserver.expect_request("/v1/traces", method="POST").respond_with_handler(take)
    return received


def spans(received: list[ExportTraceServiceRequest]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the attributes of each span."""
    for export in received:
        for resource in export.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    yield (
                        span.name,
                        {each.key: each.value.string_value or str(each.value.int_value) for each in span.attributes},
                    )


def test_a_request_is_a_span_without_its_query(
    app: App, collector: list[ExportTraceServiceRequest], httpserver: HTTPServer
) -> None:
    """It has the route and the status."""
    provider = provider_of(httpserver.url_for(""))
    with Authenticator(app, per_minute=60, alone=True) as authenticator:
        routes = build_routes(
            ResearchJobs(1),
            authenticator,
            {**OFF, "tracing": True, "operation_spans": False, "tracer_provider": provider},
        )
        checks = RequestChecks(routes, names=HostNames("127.0.0.1"), authenticator=authenticator)
        with TestClient(checks, base_url="http://127.0.0.1") as client:
            assert client.get("/api/research-history", params={"q": "xylophone"}).status_code == 200
    provider.force_flush()
    found = [
        attributes for _, attributes in spans(collector) if attributes.get("http.route") == "/api/research-history"
    ]
    assert [each["http.response.status_code"] for each in found] == ["200"]
    assert "xylophone" not in "".join(map(str, collector))


def test_a_failed_research_does_not_show_its_question(
    collector: list[ExportTraceServiceRequest], httpserver: HTTPServer
) -> None:
    """Its span has the id of the run, and no message of the error."""
    from harness.server import tracing

    provider = provider_of(httpserver.url_for(""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracing.trace, "get_tracer", provider.get_tracer)
        with pytest.raises(InvalidInput), tracing.research_span("20260101-000000-000000"):
            raise InvalidInput("nothing is cached for 'xylophone'")
    provider.force_flush()
    assert ("research", {"harness.run": "20260101-000000-000000"}) in list(spans(collector))
    assert "xylophone" not in "".join(map(str, collector))


def test_no_collector_means_no_traces() -> None:
    """The default."""
    assert telemetry_of(None) == OFF


def test_a_wrong_address_is_refused() -> None:
    """With an example of a right one."""
    with pytest.raises(InvalidInput, match=r"as http://127\.0\.0\.1:4318"):
        telemetry_of("localhost")
