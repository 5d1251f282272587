"""Embeddings: each text has its own cached vector, and only texts without one are sent to the endpoint."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import msgspec
import orjson
from anyio.to_thread import run_sync
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from harness.app import App
from harness.cache.lookup import Answer
from harness.cache.model_calls import EmbeddedText, EmbeddingRequest, ForwardedRequest
from harness.core.chat_answers import tokens_in
from harness.errors import HarnessError, InvalidInput, ModelError
from harness.models.remote.forwarding import ForwardingEndpoint
from harness.server.llm_api.llm_requests import SEMANTIC, Reuse, embedding_request, fields_of, reuse_of
from harness.server.llm_api.model_threads import ModelThreads
from harness.server.llm_api.outcomes import age_of, count, outcome_headers, outcome_of
from harness.server.route_dependencies import RequestApp

PATH = "/embeddings"
MAX_DIMENSION = 16_384
FLOAT32 = "<f4"
"""Numbers of a vector in base64."""

AT_ONCE = 64
"""Texts of one call. An answer has at most 8 MiB: 6,000 numbers for each text, or 24,000 in base64."""

Found = dict[str, Answer[EmbeddedText]]


class _Vector(Struct):
    embedding: str | list[float]
    index: Any = None


class _Response(Struct):
    data: list[_Vector]
    model: Any = ""
    usage: Any = None


class _Wanted(Struct, frozen=True):
    """One request: `rows` has the lookup of each text, `found` the cached vectors, and `work` makes the others."""

    rows: Sequence[EmbeddingRequest]
    found: Found
    work: Callable[[], Found] | None


async def embeddings_response(request: Request, app: RequestApp) -> Response:
    """Answer with the vectors of texts from the cache, and of the others from the embedding model's endpoint.

    Raises:
        HarnessError: see `chat_response`.
    """
    reuse, fields = reuse_of(request), await fields_of(request)
    if reuse.by_meaning:
        raise InvalidInput(f"{SEMANTIC} is for chat completions; leave it out")
    wanted = await run_sync(_look_up, app, fields, reuse)
    found = wanted.found
    if wanted.work is not None:
        threads: ModelThreads = request.app.state.model_threads
        try:
            found = {**found, **await threads.start(app.identity.tenant, wanted.work)}
        except HarnessError:
            count(request, "embeddings", "error", (0, 0))
            raise
    answers = [found[each.key] for each in wanted.rows]
    body = await run_sync(_body, [each.value for each in answers], fields.get("encoding_format") != "base64")
    hows = {outcome_of(each.how) for each in found.values()}
    outcome = next(each for each in ("miss", "stale", "hit") if each in hows)
    for how in hows:  # a request with new and cached texts counts as both
        tokens = sum(each.value.tokens for each in found.values() if outcome_of(each.how) == how)
        count(request, "embeddings", how, (tokens, 0))
    headers = outcome_headers(outcome, max(map(age_of, answers)))
    return Response(body, headers=headers, media_type="application/json")


def _look_up(app: App, fields: dict[str, Any], reuse: Reuse) -> _Wanted:
    forwarded, texts = embedding_request(app, fields)
    cache = app.cache if reuse.read else app.cache.refreshing(store=reuse.store)
    rows = cache.embeddings.requests(forwarded, texts)
    found = cache.embeddings.find(rows, reuse.max_age) if reuse.read else {}
    missing = {row.key: (row, text) for row, text in zip(rows, texts, strict=True) if row.key not in found}
    if not missing:
        return _Wanted(rows, found, None)
    if reuse.read and reuse.max_age is not None:  # rows that are too old must not answer
        cache = cache.refreshing()

    def work() -> Found:
        """Return the missing vectors, from as many calls as they need; what one call brings is stored at once."""
        made: Found = {}
        keys = list(missing)
        for part in (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)):
            live = partial(_embed, app.models.embedding_endpoint, forwarded, {key: missing[key][1] for key in part})
            made |= cache.embeddings.compute({key: missing[key][0] for key in part}, live)
        return made

    return _Wanted(rows, found, work)


def _embed(
    endpoint: ForwardingEndpoint, forwarded: ForwardedRequest, texts: Mapping[str, Any]
) -> dict[str, EmbeddedText]:
    """Return the vector of each text, by key, from one call.

    Raises:
        ModelError: see `ForwardingEndpoint.post`; the answer is not one vector for each text.
    """
    given = list(texts.values())
    body = {**forwarded.fields, "input": given, "encoding_format": "base64"}
    try:
        answer = msgspec.json.decode(endpoint.post(PATH, body), type=_Response)
    except msgspec.MsgspecError:
        raise ModelError(
            "the model endpoint answered with something that is not a list of embeddings; check it"
        ) from None
    vectors = _in_order(answer.data)
    if len(vectors) != len(given) or not all(map(_is_usable, vectors)):
        raise ModelError("the model endpoint answered with other embeddings than one usable vector for each text")
    tokens = _shares(tokens_in(answer.usage, "prompt_tokens"), [len(text) for text in given])
    model = answer.model if isinstance(answer.model, str) and answer.model else forwarded.model
    return {
        key: EmbeddedText(each.embedding, model, count) for key, each, count in zip(texts, vectors, tokens, strict=True)
    }


def _in_order(vectors: list[_Vector]) -> list[_Vector]:
    """Return the vectors by index, or in the order given if none has one; those with other indexes are left out."""
    if all(each.index is None for each in vectors):
        return vectors
    places = {str(each.index): each for each in vectors}
    return [places[str(place)] for place in range(len(vectors)) if str(place) in places]


def _is_usable(vector: _Vector) -> bool:
    """Return whether a vector is a list of numbers that float32 can hold, or finite float32 numbers in base64."""
    import numpy as np

    found = vector.embedding
    if isinstance(found, list):
        return 0 < len(found) <= MAX_DIMENSION and max(map(abs, found)) <= float(np.finfo(FLOAT32).max)
    try:
        numbers = np.frombuffer(base64.b64decode(found, validate=True), dtype=FLOAT32)
    except (binascii.Error, ValueError):
        return False
    return 0 < len(numbers) <= MAX_DIMENSION and bool(np.isfinite(numbers).all())


def _shares(tokens: int, lengths: Sequence[int]) -> list[int]:
    """Return the tokens of each text, in proportion to its length; they add up to `tokens`."""
    total = sum(lengths) or 1
    ends = [tokens * before // total for before in accumulate(lengths)]
    return [end - start for start, end in pairwise([0, *ends])]


def _body(vectors: Sequence[EmbeddedText], numbers: bool) -> bytes:
    """Return the response: vectors as numbers, or as float32 in base64."""
    import numpy as np

    def written(embedding: str | list[float]) -> Any:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding), dtype=FLOAT32) if numbers else embedding
        return embedding if numbers else base64.b64encode(np.array(embedding, dtype=FLOAT32).tobytes()).decode()

    tokens = sum(each.tokens for each in vectors)
    data = [
        {"object": "embedding", "index": place, "embedding": written(each.embedding)}
        for place, each in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    body = {"object": "list", "data": data, "model": vectors[0].model, "usage": usage}
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
