"""Monitoring of a server: `/healthz`, `/readyz` and `/metrics`."""

import logging
import threading
import time
from typing import Self

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from harness.core.tables import LIBRARY, TOKENS
from harness.errors import AccessDenied, HarnessError
from harness.identity import LOCAL
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.metrics import CONTENT_TYPE, Metrics
from harness.server.route_dependencies import RequestApp
from harness.server.tenant_limits import TenantLimits

log = logging.getLogger(__name__)

EVERY_SECONDS = 10.0
"""Seconds between two updates of the counts."""
PASSAGES_EVERY = 60.0
"""Seconds between two counts of the library's passages, which read an index of the whole table."""

router = APIRouter(include_in_schema=False)


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def healthy() -> dict[str, str]:
    """Return a constant: the server is up. Needs neither a worker thread nor the database."""
    return {"status": "ok"}


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def ready(request: Request) -> Response:
    """Return whether requests can be served: the database can be read, and the server is not stopping. The reason for
    status 503 is in the log: anyone may ask.
    """
    monitor: Monitor = request.app.state.monitor
    is_ready = await run_sync(monitor.is_ready)
    return JSONResponse({"status": "ok" if is_ready else "unavailable"}, 200 if is_ready else 503)


@router.get("/metrics")
def metrics(request: Request, app: RequestApp) -> Response:
    """Return the metrics for Prometheus. They are about all tenants: for the local user, or an admin of its tenant."""
    if app.identity.tenant != LOCAL.tenant or not app.identity.may("admin"):
        raise AccessDenied(f"metrics are about every tenant: use a token of the tenant {LOCAL.tenant}, role admin")
    monitor: Monitor = request.app.state.monitor
    monitor.update()
    return Response(monitor.metrics.text(), media_type=CONTENT_TYPE)


class Monitor:
    """Thread that stores the counts of the open apps and updates the gauges every few seconds. Use it as a context
    manager.
    """

    def __init__(
        self, metrics: Metrics, *, authenticator: Authenticator, researches: ResearchJobs, limits: TenantLimits
    ) -> None:
        self.metrics = metrics
        self._authenticator = authenticator
        self._researches = researches
        self._limits = limits
        self._passages, self._counted_at = 0, -PASSAGES_EVERY
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor")

    def update(self) -> None:
        """Store the counts of the open apps and update the gauges."""
        self._authenticator.own.tallies.flush()
        self.metrics.set_gauges(
            researches_running=self._researches.number, requests_waiting=self._limits.waiting,
            library_passages=self._library_passages(),
        )  # fmt: skip

    def is_ready(self) -> bool:
        """Return whether the database can be read and the server is not stopping."""
        if self._researches.closing:
            return False
        try:
            self._authenticator.own.databases.store.rows.get(TOKENS, LOCAL.tenant, "")
        except HarnessError as error:
            log.warning("not ready: %s", error)
            return False
        return True

    def _library_passages(self) -> int:
        if (now := time.monotonic()) - self._counted_at >= PASSAGES_EVERY:
            self._counted_at = now
            store = self._authenticator.own.databases.store
            try:
                tenants = store.admin.tenants()
                self._passages = sum(store.listings.stats(LIBRARY, each, time.time()).total for each in tenants)
            except HarnessError as error:
                log.debug("the library could not be counted: %s", error)
        return self._passages

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            try:
                self.update()
            except Exception:  # a bug must not end the thread without a word
                log.exception("the metrics could not be updated")

    def __enter__(self) -> Self:
        self._authenticator.own.tallies.on_answers = self.metrics.count_answers
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()
        self._thread.join()
