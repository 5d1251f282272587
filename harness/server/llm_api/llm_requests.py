"""Requests to `/v1`: their JSON, the requested model, and the wishes of their headers about reuse."""

import json
import re
from typing import Any

import orjson
from msgspec import Struct
from starlette.requests import Request

from harness.app import App
from harness.cache.model_calls import ForwardedRequest
from harness.errors import InvalidInput, NotFound
from harness.settings import Settings

SEMANTIC = "X-Harness-Semantic"
ANY_MODEL = "*"
MAX_MODEL_CHARS = 200
MAX_SECONDS_DIGITS = 10
MAX_TEXTS = 2_048
"""Texts of one request for embeddings; OpenAI's own limit."""
LOCAL_MODELS = ("local:", "sentence-transformers:")
"""Beginnings of an `embedding_model` that no endpoint serves."""
INTEGERS = range(-(2**63), 2**64)
"""Integers that are sent on as they are."""
_LONG_NUMBER = re.compile(rb"\d{19}")


class Reuse(Struct, frozen=True):
    """Wishes of a request about reuse: whether the cache may be read and written, the oldest answer in seconds, and
    whether a message that means the same may answer.
    """

    read: bool = True
    store: bool = True
    max_age: float | None = None
    by_meaning: bool = False


def reuse_of(request: Request) -> Reuse:
    """Return the wishes in `X-Harness-Semantic` and in `Cache-Control`: `no-cache`, `no-store`, `max-age` (RFC 9111,
    5.2.1).

    Raises:
        InvalidInput: one of them has no valid value.
    """
    directives = [each.strip().lower() for each in request.headers.get("cache-control", "").split(",")]
    ages = [each.partition("=")[2].strip('" ') for each in directives if each.partition("=")[0].strip() == "max-age"]
    if any(not (age.isascii() and age.isdigit() and len(age) <= MAX_SECONDS_DIGITS) for age in ages):
        raise InvalidInput("max-age in Cache-Control is not a number of seconds; write it as max-age=3600")
    semantic = request.headers.get(SEMANTIC, "false").strip().lower()
    if semantic not in {"true", "false"}:
        raise InvalidInput(f"{SEMANTIC} is true or false")
    store = "no-store" not in directives
    return Reuse(
        read=store and "no-cache" not in directives,
        store=store,
        max_age=min(map(float, ages), default=None),
        by_meaning=semantic == "true",
    )


async def fields_of(request: Request) -> dict[str, Any]:
    """Return the body of a request as a JSON object with a `model`. NaN, lone surrogates and deep nesting are no JSON.

    Raises:
        InvalidInput: it is not one, or has an integer of more than 64 bits.
    """
    try:
        body = await request.body()
        fields = orjson.loads(body)
    except ValueError as error:
        raise InvalidInput(f"the body is not JSON: {error}") from None
    if _LONG_NUMBER.search(body):
        _check_integers(body)
    if not isinstance(fields, dict):
        raise InvalidInput("the body must be a JSON object, as OpenAI's API describes it")
    model = fields.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= MAX_MODEL_CHARS:
        raise InvalidInput(f"model must be a text of 1 to {MAX_MODEL_CHARS} characters")
    return fields


def chat_request(app: App, fields: dict[str, Any]) -> ForwardedRequest:
    """Return a checked request for a chat completion.

    Raises:
        InvalidInput: `messages` or `stream` is not usable.
        NotFound: the model is not served here.
    """
    _check_model(fields["model"], app.settings.model, app.settings, "model and model_url")
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        raise InvalidInput("messages must be a list of at least one object")
    if not isinstance(fields.get("stream"), bool | None):
        raise InvalidInput("stream must be true or false")
    return ForwardedRequest(app.models.chat_endpoint.address, fields)


def embedding_request(app: App, fields: dict[str, Any]) -> tuple[ForwardedRequest, list[Any]]:
    """Return a checked request for embeddings, and its texts, each a text or a list of token numbers.

    Raises:
        InvalidInput: `input` or `encoding_format` is not usable.
        NotFound: the model is not served here.
    """
    _check_model(fields["model"], _endpoint_model(app.settings), app.settings, "embedding_model and embedding_url")
    given = fields.get("input")
    texts = given if isinstance(given, list) and not _is_tokens(given) else [given]
    if not 0 < len(texts) <= MAX_TEXTS or not all(isinstance(each, str) or _is_tokens(each) for each in texts):
        raise InvalidInput(f"input must be a text or a list of 1 to {MAX_TEXTS:,} texts (or lists of token numbers)")
    if fields.get("encoding_format") not in (None, "float", "base64"):
        raise InvalidInput("encoding_format must be float or base64")
    rest = {name: value for name, value in fields.items() if name != "input"}
    return ForwardedRequest(app.models.embedding_endpoint.address, rest), texts


def model_names(settings: Settings) -> list[str]:
    """Return the models that may be requested, as far as the settings name them."""
    names = (settings.model, _endpoint_model(settings), *settings.served_models)
    return [name for name in dict.fromkeys(names) if name and name != ANY_MODEL]


def _check_integers(body: bytes) -> None:
    """Check the integers in JSON: orjson would change those of more than 64 bits to floats.

    Raises:
        InvalidInput: one has more than 64 bits, or the JSON is nested too deeply to check.
    """

    def check(digits: str) -> None:
        if len(digits) > len(str(INTEGERS[0])) or int(digits) not in INTEGERS:
            raise InvalidInput("an integer in the body has more than 64 bits; send it as a text or as a float")

    try:
        json.loads(body, parse_int=check)
    except RecursionError:
        raise InvalidInput("the body is not JSON that can be sent on: it is nested too deeply") from None


def _endpoint_model(settings: Settings) -> str | None:
    name = settings.embedding_model
    return None if name is None or name.startswith(LOCAL_MODELS) else name


def _check_model(name: str, configured: str | None, settings: Settings, names: str) -> None:
    """Check that a model may be requested: the key of the endpoint is the server's. `names` are the settings of it.

    Raises:
        NotFound: it may not.
    """
    served = settings.served_models
    if name == configured or name in served or ANY_MODEL in served:
        return
    if configured is None:
        raise NotFound(f"this server has no such model to ask; set {names} in its settings")
    raise NotFound(f"the model {name!r} is not served here; request {configured!r}, or add it to served_models")


def _is_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) is int for each in value)
