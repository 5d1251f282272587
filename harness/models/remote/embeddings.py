"""Embedding models behind OpenAI-compatible endpoints."""

import base64
import binascii
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from harness.errors import EmbeddingError
from harness.models.remote.endpoint import checked_address, checked_key, words_of
from harness.ports import Vectors

if TYPE_CHECKING:  # openai takes a second to import, and numpy 0.1 s
    from openai import OpenAI

MAX_DIMENSION = 16_384

_BYTES_PER_NUMBER = 32
_CHARS_PER_TOKEN = 4


class OpenAIEmbedder:
    """Embedding model `model` at `endpoint`, such as `http://127.0.0.1:8080/v1`. Safe for threads and after a fork.

    `dimension` is checked, not requested; without it, one text is embedded when the dimension is needed first.
    `timeout` is the longest silence in seconds. A request has at most `batch` texts. A text's vector must not depend on
    the others of its batch; most endpoints keep that up to rounding, `batch=1` guarantees it. Requests are repeated up
    to `retries` times when the endpoint is unreachable or busy, after the pause that it asks for (at most two
    minutes), else after a growing one.

    Raises:
        InvalidInput: `endpoint` is not a plain URL, or the key has invalid characters.
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
        self._endpoint = checked_address(endpoint)
        self._dimension = dimension
        self._key = checked_key(api_key, "embeddings", key_variable)
        self._key_variable = key_variable
        self._timeout = timeout
        self._retries = retries
        self._batch = batch
        self.id = f"openai:{model}@{self._endpoint.partition('://')[2]}"

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.id!r})"

    @property
    def dimension(self) -> int:
        """Length of a vector; while unknown, one text is embedded to learn it."""
        if self._dimension is None:
            self.embed(["dimension"])
        return self._dimension or 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate how many tokens each text has, as its characters / 4, rounded up: the tokenizer is unknown."""
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

        # not client.embeddings: it does not check the response
        body = {"model": self._model, "input": list(texts), "encoding_format": "base64"}
        try:
            answer = msgspec.convert(client.post("/embeddings", cast_to=object, body=body), _Answer)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise self._failure(error) from None  # the cause may quote what the endpoint said about the key
        except UnicodeEncodeError:
            raise EmbeddingError("a text contains a lone surrogate (broken Unicode); re-encode it") from None
        except (ValueError, RecursionError):  # msgspec's own are ValueErrors
            raise self._unusable("something that is not a list of embeddings") from None
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: "_Answer", count: int) -> Vectors:
        """Return the rows in the order of the texts, all checked."""
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
            raise self._unusable("vectors without a direction (zeros, NaN or infinity)")
        self._dimension = wanted
        unit: Vectors = (matrix / lengths).astype(np.float32)
        return unit

    def _row(self, embedding: str | list[float]) -> Any:
        """Return the numbers as float64; some endpoints send lists instead of base64."""
        import numpy as np

        if isinstance(embedding, list):
            return np.array(embedding, dtype=np.float64)
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
        except (binascii.Error, ValueError):
            raise self._unusable("vectors that are not float32 numbers in base64") from None

    # The endpoint ------------------------------------------------------------------------------------------------

    def _client(self) -> "OpenAI":
        """Return a client for one call, to be closed: threads and forked children share none."""
        from harness.models.remote.connection import client_of
        from harness.sources.http.transport import Deadline, EndpointTransport

        max_bytes = _BYTES_PER_NUMBER * MAX_DIMENSION * self._batch
        transport = EndpointTransport(self._endpoint, self._key, Deadline(math.inf), max_bytes, whole=True)
        return client_of(self._endpoint, transport, timeout=self._timeout, retries=self._retries)

    def _failure(self, error: Exception) -> EmbeddingError:
        import openai

        if isinstance(error, openai.APIStatusError):
            if error.status_code in {401, 403}:
                problem = "refuses the key; check" if self._key else "needs a key; set"
                return EmbeddingError(f"{self._endpoint} {problem} {self._key_variable}")
            words = words_of(error.body, self._key)
            return EmbeddingError(
                f"{self.id} gave no embeddings (HTTP {error.status_code}: {words}); check the URL and the model"
            )
        if isinstance(error, openai.APITimeoutError):
            return EmbeddingError(f"{self.id} was silent for {self._timeout:g} s; check it, or allow it more time")
        reason = words_of(str(error.__cause__ or error), self._key)
        return EmbeddingError(f"{self.id} cannot be reached ({reason}); is it running?")

    def _unusable(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"{self.id} answered with {what}; check that it is an embedding model")


class _Embedding(Struct):
    embedding: str | list[float]
    index: int


class _Answer(Struct):
    data: list[_Embedding]
