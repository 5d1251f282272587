"""Any embedding model behind an OpenAI-compatible endpoint."""

import base64
import binascii
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from harness.core.text import clean, shorten
from harness.errors import EmbeddingError, InvalidInput
from harness.ports import Vectors

if TYPE_CHECKING:  # openai takes a second to import, and numpy 0.1 s
    import httpx2
    from openai import OpenAI

MAX_DIMENSION = 16_384
MAX_WORDS = 200

_BYTES_PER_NUMBER = 32
_CHARS_PER_TOKEN = 4
_KEPT = ("host", "content-length", "content-type", "accept", "connection")


class OpenAIEmbedder:
    """The embedding model `model` at `endpoint`, as `http://127.0.0.1:8080/v1`. Safe for threads and after a fork.

    `dimension` is only checked, not asked for; when it is not given, one text is embedded to learn it where it is
    needed before anything else. `timeout` is the seconds of silence that are borne. At most `batch` texts go out
    together; the endpoint is trusted that a text's vector does not depend on the others, which most keep to within
    rounding: with `batch=1` it cannot. Requests are tried again up to `retries` times when the endpoint is unreachable
    or busy, after the pause that it asks for (two minutes at the most), else after a growing one.

    Raises:
        InvalidInput: `endpoint` is no address, or holds more than one; the key has characters that no key has.
    """

    def __init__(
        self,
        model: str,
        endpoint: str,
        *,
        dimension: int | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        batch: int = 64,
        key_variable: str = "HARNESS_EMBEDDING_API_KEY",
    ) -> None:
        self._model = model
        self._endpoint = _checked(endpoint)
        self._dimension = dimension
        self._key = (api_key or "").strip()
        self._key_variable = key_variable
        self._timeout = timeout
        self._retries = retries
        self._batch = batch
        self.id = f"openai:{model}@{self._endpoint.partition('://')[2]}"
        if not (self._key.isascii() and self._key.isprintable()) or " " in self._key:
            raise InvalidInput(f"the key for embeddings has characters that no key has; set {key_variable} anew")

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.id!r})"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; asks the endpoint, once, where that is not known yet."""
        if self._dimension is None:
            self.embed(["dimension"])
        return self._dimension or 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate how many tokens each text has, as its characters / 4, rounded up: the tokenizer is not known."""
        return [math.ceil(len(text) / _CHARS_PER_TOKEN) for text in texts]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        batches = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        with self._client() as client:
            return np.concatenate([self._embed(client, batch) for batch in batches])

    def _embed(self, client: "OpenAI", texts: Sequence[str]) -> Vectors:
        import httpx2
        import openai

        # not client.embeddings: it lets pass what is no answer
        body = {"model": self._model, "input": list(texts), "encoding_format": "base64"}
        try:
            answer = msgspec.convert(client.post("/embeddings", cast_to=object, body=body), _Answer)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise self._failure(error) from None  # the cause may hold what the endpoint said of the key
        except UnicodeEncodeError:
            raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from None
        except (ValueError, RecursionError):  # msgspec's own are ValueErrors
            raise self._unusable("something that is no list of embeddings") from None
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: "_Answer", count: int) -> Vectors:
        """Return the rows in the order of the texts, after checking every promise."""
        import numpy as np

        if sorted(each.index for each in answer.data) != list(range(count)):
            raise self._unusable(f"{len(answer.data)} embeddings for {count} texts, or wrongly numbered ones")
        rows = [self._row(each.embedding) for each in sorted(answer.data, key=lambda each: each.index)]
        wanted = self._dimension or len(rows[0])
        for row in rows:
            if len(row) != wanted or not 0 < wanted <= MAX_DIMENSION:
                raise self._unusable(f"vectors of {len(row)} numbers where {wanted} are expected")
        matrix = np.stack(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise self._unusable("vectors that have no direction (zeros, NaN or infinity)")
        self._dimension = wanted
        unit: Vectors = (matrix / lengths).astype(np.float32)
        return unit

    def _row(self, embedding: str | list[float]) -> Any:
        """Return the numbers as float64; some endpoints send lists although base64 was asked for."""
        import numpy as np

        if isinstance(embedding, list):
            return np.array(embedding, dtype=np.float64)
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
        except (binascii.Error, ValueError):
            raise self._unusable("vectors that are no float32 numbers in base64") from None

    # The endpoint ------------------------------------------------------------------------------------------------

    def _client(self) -> "OpenAI":
        """Return a client for one call, to be closed: threads share nothing, and a fork takes nothing over.

        Nothing of the environment reaches it: no key, address, header or proxy.
        """
        import httpx2
        from openai import OpenAI

        def plain(request: httpx2.Request) -> None:
            headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
            headers |= {"user-agent": "research-harness", "accept-encoding": "identity"}
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            request.headers = httpx2.Headers(headers)

        def bounded(response: httpx2.Response) -> None:
            response.stream = _bounded(response, _BYTES_PER_NUMBER * MAX_DIMENSION * self._batch)

        http = httpx2.Client(
            timeout=self._timeout,
            trust_env=False,
            follow_redirects=False,
            event_hooks={"request": [plain], "response": [bounded]},
        )
        return OpenAI(
            api_key="the hook has it",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=self._endpoint,
            timeout=self._timeout,
            max_retries=self._retries,
            http_client=http,
        )

    def _failure(self, error: Exception) -> EmbeddingError:
        import openai

        if isinstance(error, openai.APIStatusError):
            if error.status_code in {401, 403}:
                said = "refuses the key; check" if self._key else "wants a key, and none is set; set"
                return EmbeddingError(f"{self._endpoint} {said} {self._key_variable}")
            words = self._words(error.body)
            return EmbeddingError(f"{self.id} gave no embeddings (HTTP {error.status_code}: {words}); check both names")
        if isinstance(error, openai.APITimeoutError):
            return EmbeddingError(f"{self.id} was silent for {self._timeout:g} s; check it, or allow it more time")
        reason = self._words(str(error.__cause__ or error))
        return EmbeddingError(f"{self.id} cannot be reached ({reason}); is it running?")

    def _unusable(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"{self.id} answered with {what}; check that it is an embedding model")

    def _words(self, body: object) -> str:
        """Return the endpoint's own words in one line, without the key."""
        if isinstance(body, dict):
            body = body.get("message") or body.get("detail") or body
        text = clean(body, 100 * MAX_WORDS)
        return shorten(text.replace(self._key, "[key]") if self._key else text, MAX_WORDS) or "no words"


class _Embedding(Struct):
    embedding: str | list[float]
    index: int


class _Answer(Struct):
    data: list[_Embedding]


def _bounded(response: "httpx2.Response", bound: int) -> "httpx2.SyncByteStream":
    """Return the body of `response`, which fails when it is longer than `bound` bytes, or compressed."""
    import httpx2

    stream: Any = response.stream

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            left = bound
            if response.headers.get("content-encoding", "identity") != "identity":
                raise httpx2.ReadError("a compressed answer, which was not asked for", request=response.request)
            for piece in stream:
                left -= len(piece)
                if left < 0:
                    raise httpx2.ReadError("an answer that is too long", request=response.request)
                yield piece

        def close(self) -> None:
            stream.close()

    return Bounded()


def _checked(endpoint: str) -> str:
    """Return the address of an endpoint, without a slash at its end."""
    try:
        parts = urlsplit(endpoint.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "the endpoint is no plain address; write it as https://host/v1, without user, password, ? or #"
        )
    return endpoint.strip().rstrip("/")
