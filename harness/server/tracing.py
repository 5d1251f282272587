"""OpenTelemetry traces of a server: a span for each request and each research, without texts of users or pages."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace

from harness.errors import InvalidInput
from harness.settings.extras import require_extra

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

OFF: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
"""FastAPI's telemetry where no collector is set."""
PRIVATE = ("url.path", "url.query")
"""Attributes of FastAPI's spans that hold what users ask; `http.route` names the route."""
SERVICE = "harness"


def telemetry_of(collector: str | None) -> TelemetryConfig:
    """Return FastAPI's telemetry for a collector, which takes OTLP over HTTP (as `http://127.0.0.1:4318`).

    Raises:
        InvalidInput: the collector is not an HTTP URL, or the extra `otel` is not installed.
    """
    if collector is None:
        return OFF
    return {**OFF, "tracing": True, "operation_spans": False, "tracer_provider": provider_of(collector)}


def check_collector(collector: str | None) -> None:
    """Check that traces can be sent to a collector.

    Raises:
        InvalidInput: see `telemetry_of`.
    """
    if collector is None:
        return
    if not collector.startswith(("http://", "https://")):
        raise InvalidInput(f"trace_collector must be a URL, as http://127.0.0.1:4318, not {collector!r:.60}")
    require_extra("otel")


def provider_of(collector: str) -> "TracerProvider":
    """Return the provider whose spans go to a collector, in batches, from a thread. It becomes the provider of this
    process; a later one only serves its own application.

    Raises:
        InvalidInput: see `telemetry_of`.
    """
    check_collector(collector)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class Redaction(SpanProcessor):
        """Removal of what users ask from new spans."""

        def on_start(self, span: Span, parent_context: Any = None) -> None:  # noqa: ARG002 - the SDK's name
            """Empty the private attributes."""
            for name in PRIVATE:
                if name in (span.attributes or {}):
                    span.set_attribute(name, "")

    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(Redaction())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{collector.rstrip('/')}/v1/traces")))
    trace.set_tracer_provider(provider)
    return provider


def research_span(run: str) -> AbstractContextManager[trace.Span]:
    """Return the span of a research; it is not recorded where no collector is set. Errors are not in it: their messages
    may hold the question.
    """
    return trace.get_tracer(SERVICE).start_as_current_span(
        "research", attributes={"harness.run": run}, record_exception=False, set_status_on_exception=False
    )
