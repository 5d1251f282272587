"""Chat completions: cached ones at once, others from the endpoint, whole or as a stream."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial

import orjson
from anyio.to_thread import run_sync
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from harness.app import App
from harness.cache.lookup import Answer
from harness.cache.model_calls import ChatCache, ChatRequest, ForwardedRequest
from harness.core.chat_answers import ChatAnswer
from harness.core.entries import Hit
from harness.errors import HarnessError, InvalidInput, ModelRefused, ModelUnavailable
from harness.models.remote.forwarding import ForwardingEndpoint
from harness.server.error_payload import BUG, INTERNAL, error_payload, payload_of, status_of
from harness.server.llm_api.llm_errors import failure, refused
from harness.server.llm_api.llm_requests import SEMANTIC, Reuse, chat_request, fields_of, reuse_of
from harness.server.llm_api.model_threads import ModelThreads
from harness.server.llm_api.outcomes import age_of, count, outcome_headers, outcome_of
from harness.server.route_dependencies import RequestApp

log = logging.getLogger(__name__)

PATH = "/chat/completions"
STREAM = "text/event-stream"
DONE = "data: [DONE]\n\n"
NO_BUFFER = {"X-Accel-Buffering": "no"}
"""Reverse proxies pass on each chunk as it comes."""


class _Call(Struct, frozen=True):
    """One request, looked up: its cache, its row, and what to ask the endpoint."""

    chats: ChatCache
    request: ChatRequest
    endpoint: ForwardingEndpoint
    forwarded: ForwardedRequest


async def chat_response(request: Request, app: RequestApp) -> Response:
    """Answer a chat completion from the cache, else from the language model's endpoint.

    Raises:
        InvalidInput: the request is not usable.
        NotFound: the model is not served here.
        AccessDenied: a reader's request is not in the cache.
        ModelError: the endpoint does not answer, or refuses.
        OfflineMiss: offline, and it is not in the cache.
        StoreError: the cache cannot be read.
    """
    reuse, fields = reuse_of(request), await fields_of(request)
    call, held = await run_sync(_look_up, app, fields, reuse)
    if held is not None:
        _count(request, held)
        return _replayed(held)
    if call.request.streamed:
        return await _streamed(request, call, app.identity.tenant)
    whole = partial(call.endpoint.post, PATH, call.forwarded.fields)
    return _replayed(await _started(request, call, whole, app.identity.tenant))


def _look_up(app: App, fields: dict[str, object], reuse: Reuse) -> tuple[_Call, Answer[ChatAnswer] | None]:
    """Return the call, and the answer if it is cached."""
    forwarded = chat_request(app, fields)
    cache = app.cache if reuse.read else app.cache.refreshing(store=reuse.store)
    if reuse.by_meaning and cache.semantics is None:
        raise InvalidInput(f"answers by meaning are switched off (semantic: false); leave out {SEMANTIC}")
    row = cache.chats.request(forwarded, by_meaning=reuse.by_meaning, max_age=reuse.max_age)
    if reuse.read and reuse.max_age is not None and cache.chats.is_too_old(row):
        cache = cache.refreshing()
    call = _Call(cache.chats, row, app.models.chat_endpoint, forwarded)
    held = cache.chats.find(row)
    return call, Answer(held.value, held, held.found) if isinstance(held, Hit) else None


def _started(
    request: Request, call: _Call, live: Callable[[], bytes | Sequence[str]], tenant: str
) -> "asyncio.Task[Answer[ChatAnswer]]":
    """Start to answer in a thread; return its task. It is counted at its end, even if the client has left."""

    def ended(task: "asyncio.Task[Answer[ChatAnswer]]") -> None:
        if not task.cancelled():
            _count(request, None if task.exception() else task.result())

    threads: ModelThreads = request.app.state.model_threads
    task = threads.start(tenant, partial(call.chats.answer, call.request, live))
    task.add_done_callback(ended)
    return task


def _count(request: Request, answer: Answer[ChatAnswer] | None) -> None:
    """Count an answer, or an error."""
    if answer is None:
        count(request, "chat", "error", (0, 0))
    else:
        found = answer.value
        count(request, "chat", outcome_of(answer.how), (found.prompt_tokens, found.completion_tokens))


def _replayed(answer: Answer[ChatAnswer]) -> Response:
    """Return a whole answer, or all chunks of a stream at once."""
    found, headers = answer.value, outcome_headers(outcome_of(answer.how), age_of(answer))
    if not found.chunks:
        return Response(found.payload, headers=headers, media_type="application/json")
    return Response("".join(map(_event, found.chunks)) + DONE, headers=headers, media_type=STREAM)


async def _streamed(request: Request, call: _Call, tenant: str) -> Response:
    """Pass on the chunks as they come; if another request makes the same call, replay its chunks at the end."""
    loop = asyncio.get_running_loop()
    chunks = asyncio.Queue[str | None]()

    def put(chunk: str) -> None:
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    task = _started(request, call, partial(call.endpoint.stream, PATH, call.forwarded.fields, put), tenant)
    task.add_done_callback(lambda _: chunks.put_nowait(None))
    first = await chunks.get()
    if first is None:
        return _replayed(await task)
    headers = {**outcome_headers("miss", 0.0), **NO_BUFFER}
    return StreamingResponse(_events(first, chunks, task), headers=headers, media_type=STREAM)


async def _events(
    first: str, chunks: "asyncio.Queue[str | None]", task: "asyncio.Task[Answer[ChatAnswer]]"
) -> AsyncIterator[str]:
    chunk: str | None = first
    while chunk is not None:
        yield _event(chunk)
        chunk = await chunks.get()
    error = task.exception()
    if error is None and task.result().how == "stale":  # it cannot continue the chunks that were sent
        error = ModelUnavailable("the endpoint stopped in the middle of its answer; try again")
    yield DONE if error is None else _event(_failed(error))


def _event(data: str) -> str:
    return f"data: {data}\n\n"


def _failed(error: BaseException) -> str:
    """Return the last event of a stream that fails: the status was sent before."""
    if isinstance(error, ModelRefused):
        shown = refused(error)
    elif isinstance(error, HarnessError):
        shown = failure(status_of(error), payload_of(error))
    else:
        log.error("a stream failed", exc_info=error)
        shown = failure(500, error_payload(INTERNAL, BUG))
    return orjson.dumps(shown).decode()
