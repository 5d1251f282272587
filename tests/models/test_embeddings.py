"""Vectors from an endpoint on loopback, and every unusable response."""

import base64
import json
import logging
import socket
import struct
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from openai import _base_client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.errors import EmbeddingError, InvalidInput
from harness.models.remote.embeddings import OpenAIEmbedder

KEY = "sk-very-secret-0123456789"


def vector(text: str) -> list[float]:
    """A vector of the text alone, of three numbers."""
    return [float(len(text)), 1.0, float(text.count("a"))]


def encoded(numbers: Sequence[float]) -> str:
    """The numbers as endpoints send them."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def rows(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The embeddings of texts, as an endpoint numbers them."""
    return [{"object": "embedding", "index": n, "embedding": encoded(vector(text))} for n, text in enumerate(texts)]


def answering(server: HTTPServer, answer: Callable[[list[str]], object]) -> list[Request]:
    """Let `server` answer with what `answer` makes of the texts; return the requests."""
    asked: list[Request] = []

    def handle(request: Request) -> Response:
        asked.append(request)
        made = answer(json.loads(request.get_data())["input"])
        return made if isinstance(made, Response) else Response(json.dumps(made), content_type="application/json")

    server.expect_request("/v1/embeddings", method="POST").respond_with_handler(handle)
    return asked


def embedder(server: HTTPServer, **options: Any) -> OpenAIEmbedder:
    """An embedder that asks `server`."""
    return OpenAIEmbedder("m", server.url_for("/v1"), **{"timeout": 5.0, "retries": 0, **options})


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_base_client, "INITIAL_RETRY_DELAY", 0.01)


def test_each_text_gets_a_unit_vector(httpserver: HTTPServer) -> None:
    """Rows have the order of the texts, for any order of the response, and unit length."""
    answering(httpserver, lambda texts: {"data": rows(texts)[::-1]})
    vectors = embedder(httpserver).embed(["aa", "b"])
    assert vectors.dtype == np.float32
    expected = [np.array(vector(text)) / np.linalg.norm(vector(text)) for text in ("aa", "b")]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_lists_of_numbers_do_as_well(httpserver: HTTPServer) -> None:
    """Some endpoints do not know base64."""
    answering(httpserver, lambda texts: {"data": [{"index": n, "embedding": vector(t)} for n, t in enumerate(texts)]})
    np.testing.assert_allclose(np.linalg.norm(embedder(httpserver).embed(["aa"]), axis=1), 1.0, atol=1e-6)


def test_the_id_names_model_and_endpoint(httpserver: HTTPServer) -> None:
    """Vectors of two endpoints are never compared; a slash at the end makes no other endpoint."""
    assert OpenAIEmbedder("m", "https://host:1/v1/").id == "openai:m@host:1/v1"


def test_texts_go_out_in_batches(httpserver: HTTPServer) -> None:
    """No request has more texts than the limit, and the rows keep their order."""
    asked = answering(httpserver, lambda texts: {"data": rows(texts)})
    texts = ["a" * n for n in range(1, 6)]
    model = embedder(httpserver, batch=2)
    np.testing.assert_array_equal(model.embed(texts), np.concatenate([model.embed([text]) for text in texts]))
    assert [len(json.loads(request.get_data())["input"]) for request in asked[:3]] == [2, 2, 1]


def test_the_dimension_is_asked_for_once(httpserver: HTTPServer) -> None:
    """If it was not given and nothing was embedded yet."""
    asked = answering(httpserver, lambda texts: {"data": rows(texts)})
    model = embedder(httpserver)
    assert model.dimension == model.dimension == 3
    assert model.embed([]).shape == (0, 3)
    assert len(asked) == 1


def test_a_given_dimension_is_not_asked_for(httpserver: HTTPServer) -> None:
    """A table can be made while the endpoint is down."""
    assert embedder(httpserver, dimension=3).dimension == 3
    assert not httpserver.log


def test_tokens_are_estimated(httpserver: HTTPServer) -> None:
    """Four characters a token, rounded up, without asking."""
    assert embedder(httpserver).count_tokens(["", "a", "abcd", "abcde"]) == [0, 1, 1, 2]
    assert not httpserver.log


def test_nothing_of_the_environment_goes_out(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, URLs, headers and proxies of the environment are not sent to this endpoint."""
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "leaked")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leaked: leaked")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    asked = answering(httpserver, lambda texts: {"data": rows(texts)})
    embedder(httpserver).embed(["a"])
    assert "authorization" not in asked[0].headers
    assert "leaked" not in str(asked[0].headers)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "0 embeddings for 2 texts"),
        (rows(["a"]), "1 embeddings for 2 texts"),
        (rows(["a", "b", "c"]), "3 embeddings for 2 texts"),
        ([*rows(["a"]), *rows(["b"])], "wrongly numbered"),
        ([{"index": n, "embedding": encoded([1.0, 2.0])} for n in range(2)], "vectors of 2 numbers where 3 are"),
        ([{"index": n, "embedding": encoded([0.0, 0.0, 0.0])} for n in range(2)], "without a direction"),
        ([{"index": n, "embedding": encoded([1.0, float("nan"), 0.0])} for n in range(2)], "without a direction"),
        ([{"index": n, "embedding": encoded([1.0, float("inf"), 0.0])} for n in range(2)], "without a direction"),
        ([{"index": n, "embedding": [1e308, 1e308, 1e308]} for n in range(2)], "without a direction"),
        ([{"index": n, "embedding": "?!"} for n in range(2)], "base64"),
        ([{"index": n, "embedding": "abcd"} for n in range(2)], "base64"),
        ([{"index": n, "embedding": "ä"} for n in range(2)], "base64"),
        ([{"index": n, "embedding": ""} for n in range(2)], "vectors of 0 numbers"),
        ([{"index": n, "embedding": ["x"]} for n in range(2)], "not a list of embeddings"),
        ([{"index": n} for n in range(2)], "not a list of embeddings"),
        ("none", "not a list of embeddings"),
    ],
)
def test_an_unusable_response_is_refused(httpserver: HTTPServer, data: object, problem: str) -> None:
    """A wrong vector is worse than none."""
    answering(httpserver, lambda _: {"data": data})
    with pytest.raises(EmbeddingError, match=problem):
        embedder(httpserver, dimension=3).embed(["a", "b"])


def test_a_model_does_not_change_its_dimension(httpserver: HTTPServer) -> None:
    """The dimension of the first response holds for the next."""
    lengths = iter((3, 4))
    answering(httpserver, lambda _: {"data": [{"index": 0, "embedding": [1.0] * next(lengths)}]})
    model = embedder(httpserver)
    model.embed(["a"])
    with pytest.raises(EmbeddingError, match="vectors of 4 numbers where 3 are expected"):
        model.embed(["a"])


@pytest.mark.parametrize(
    "body", ["", "<html></html>", "[1]", "[" * 100_000, '{"data": [{"index": 0, "embedding": [NaN]}]}']
)
def test_garbage_is_refused(httpserver: HTTPServer, body: str) -> None:
    """Any garbage with status 200."""
    answering(httpserver, lambda _: Response(body, content_type="application/json"))
    with pytest.raises(EmbeddingError, match=r"not a list of embeddings|without a direction"):
        embedder(httpserver).embed(["a"])


def test_an_answer_that_is_too_long_is_not_read(httpserver: HTTPServer) -> None:
    """The limit is the size of the largest vectors of a batch."""
    answering(httpserver, lambda _: Response(b"x" * 1_000_000, content_type="application/json"))
    with pytest.raises(EmbeddingError, match="too long"):
        embedder(httpserver, batch=1).embed(["a"])


def test_a_compressed_answer_is_refused(httpserver: HTTPServer) -> None:
    """A few bytes may expand to gigabytes."""
    answering(httpserver, lambda _: Response(b"x", headers={"content-encoding": "gzip"}))
    with pytest.raises(EmbeddingError, match="compressed"):
        embedder(httpserver).embed(["a"])


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(httpserver: HTTPServer, status: int) -> None:
    """The third attempt returns the vectors."""
    refusals = [Response("busy", status), Response("busy", status)]
    answering(httpserver, lambda texts: refusals.pop() if refusals else {"data": rows(texts)})
    assert embedder(httpserver, retries=2).embed(["a"]).shape == (1, 3)


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_a_refusal_quotes_the_endpoint(httpserver: HTTPServer, status: int) -> None:
    """Status and reason in one line."""
    answering(
        httpserver, lambda _: Response(json.dumps({"error": {"message": "no such\nmodel " + "x " * 500}}), status)
    )
    with pytest.raises(EmbeddingError, match=rf"gave no embeddings \(HTTP {status}: no such model x") as caught:
        embedder(httpserver).embed(["a"])
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_where_it_is_set(httpserver: HTTPServer, status: int) -> None:
    """A missing and a wrong key have different messages."""
    answering(httpserver, lambda _: Response("who are you", status))
    with pytest.raises(EmbeddingError, match=r"needs a key; set HARNESS_EMBEDDING_API_KEY"):
        embedder(httpserver).embed(["a"])
    with pytest.raises(EmbeddingError, match=r"refuses the key; check HARNESS_EMBEDDING_API_KEY"):
        embedder(httpserver, api_key=KEY).embed(["a"])


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """No representation, log, message or traceback shows it, even if the endpoint repeats it."""
    caplog.set_level(logging.DEBUG)
    asked = answering(httpserver, lambda _: Response(json.dumps({"error": f"bad {KEY}"}), 400))
    model = embedder(httpserver, api_key=KEY)
    with pytest.raises(EmbeddingError, match=r"bad \[key\]") as caught:
        model.embed(["a"])
    assert asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text + repr(model) + "".join(traceback.format_exception(caught.value))


def test_a_closed_port_is_reported() -> None:
    """A refused connection is reported with the name of the endpoint."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EmbeddingError, match=rf"openai:m@127\.0\.0\.1:{port} cannot be reached .*refused"):
        OpenAIEmbedder("m", f"http://127.0.0.1:{port}", retries=1).embed(["a"])


def test_silence_is_reported(httpserver: HTTPServer) -> None:
    """The time-out is in the message."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(EmbeddingError, match=r"silent for 0\.2 s"):
            OpenAIEmbedder("m", url, timeout=0.2, retries=0).embed(["a"])


def test_broken_unicode_is_reported(httpserver: HTTPServer) -> None:
    """A lone surrogate cannot be sent."""
    with pytest.raises(EmbeddingError, match="lone surrogate"):
        embedder(httpserver).embed(["\ud800"])


@pytest.mark.parametrize("url", ["", "h:1", "ftp://h", "http://u:p@h", "http://h?key=1"])
def test_an_invalid_url_is_refused(url: str) -> None:
    """No request goes to a URL that is wrong or contains a secret."""
    with pytest.raises(InvalidInput, match="not a plain URL"):
        OpenAIEmbedder("m", url)
