"""`/v1`: other programs' model calls through the cache, with OpenAI's own client and a real endpoint on loopback."""

import asyncio
import base64
import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from openai import OpenAI

from harness.app import App
from harness.core.tables import COMPLETIONS
from harness.errors import TooManyRequests
from harness.server.api.research_jobs import ResearchJobs
from harness.server.auth import Authenticator
from harness.server.llm_api.model_threads import ModelThreads
from harness.server.request_checks import HostNames, RequestChecks
from harness.server.routes import build_routes
from harness.settings import Settings
from tests.models.endpoint import Endpoint, Reply, ended, event, refusing, said, saying
from tests.server.conftest import served

pytestmark = pytest.mark.slow

KEY = "sk-of-the-endpoint"
QUESTION: Any = [{"role": "user", "content": "Say hello."}]
JSON = "application/json"
WHOLE: dict[str, Any] = {}
STREAMED: dict[str, Any] = {"stream": True}


@pytest.fixture
def settings(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a server in front of the endpoint."""
    monkeypatch.setenv("ENDPOINT_KEY", KEY)
    return Settings(
        data_dir=tmp_path / "data",
        model="small",
        model_url=endpoint.url,
        model_key_variable="ENDPOINT_KEY",
        embedding_model="vectors",
        embedding_url=endpoint.url,
        embedding_key_variable="ENDPOINT_KEY",
        semantic=False,
    )


@pytest.fixture
def program(address: str) -> Iterator[OpenAI]:
    """OpenAI's client of the server, which does not repeat requests."""
    with OpenAI(base_url=f"{address}/v1", api_key="unused", max_retries=0) as made:
        yield made


@pytest.fixture
def web(address: str) -> Iterator[httpx2.Client]:
    """A plain client of `/v1`."""
    with httpx2.Client(base_url=f"{address}/v1", timeout=20) as made:
        yield made


def completion(text: str = "Hello.", reason: str | None = "stop", **more: Any) -> Reply:
    """Reply with a whole chat completion, written as no JSON library would."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    body = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "small", "choices": [choice], **more}
    written = "  " + json.dumps({**body, "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}})
    return Reply(lambda: [written.encode()], content_type=JSON)


def embedding(endpoint: Endpoint, *, numbers: bool = False) -> Reply:
    """Reply with a vector for each text, made of its length."""

    def body() -> list[bytes]:
        texts = endpoint.asked[-1]["input"]
        vectors = [[len(text), 0.1, -1.5] for text in texts]
        written = [each if numbers else base64.b64encode(struct.pack("<3f", *each)).decode() for each in vectors]
        data = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(written)]
        usage = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
        return [json.dumps({"object": "list", "data": data[::-1], "model": "vectors-1", "usage": usage}).encode()]

    return Reply(body, content_type=JSON)


def chat(web: httpx2.Client, headers: dict[str, str] | None = None, **fields: Any) -> httpx2.Response:
    """Request a chat completion."""
    return web.post("/chat/completions", json={"model": "small", "messages": QUESTION, **fields}, headers=headers)


def counted(web: httpx2.Client, kind: str = "chat") -> dict[str, float]:
    """Return the metrics of model calls: the number of each outcome."""
    lines = web.get(str(web.base_url).replace("/v1/", "/metrics")).text.splitlines()
    found = (line.rsplit(" ", 1) for line in lines if line.startswith(f'harness_model_calls_total{{kind="{kind}"'))
    return {name.split('outcome="')[1].split('"')[0]: float(number) for name, number in found}


def age(app: App, seconds: float) -> None:
    """Make all entries older."""
    for row in app.store.listings.recent(COMPLETIONS, "default", 100):
        held = app.store.rows.get(COMPLETIONS, "default", row.key)
        assert held is not None
        times = {"created_at": held.created_at - seconds, "expires_at": held.expires_at - seconds}
        app.store.rows.put(COMPLETIONS, "default", msgspec.structs.replace(held, **times))


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[httpx2.Client, App]]:
    """Serve these settings; yield a client of `/v1` and the app."""
    with App(settings) as app, Authenticator(app, per_minute=60_000, alone=True) as authenticator:
        jobs = ResearchJobs(1)
        checks = RequestChecks(
            build_routes(jobs, authenticator), names=HostNames("127.0.0.1"), authenticator=authenticator
        )
        with served(checks) as address, httpx2.Client(base_url=f"{address}/v1", timeout=20) as web:
            yield web, app
        jobs.close()


# Whole answers -------------------------------------------------------------------------------------------------------


def test_the_second_request_is_free_and_gets_the_same_bytes(endpoint: Endpoint, web: httpx2.Client) -> None:
    """They are those of the endpoint's response, white space included."""
    endpoint.answers(completion(system_fingerprint="f-1", odd={"b": 1, "a": [None]}))
    first, second = chat(web, temperature=0.5), chat(web, temperature=0.5)
    assert first.content == second.content == next(iter(endpoint.replies[0].body()))
    assert (first.headers["x-harness-cache"], second.headers["x-harness-cache"]) == ("miss", "hit")
    assert second.headers["age"] == "0"
    assert "age" not in first.headers
    assert first.headers["content-type"] == second.headers["content-type"] == JSON
    assert len(endpoint.asked) == 1
    assert counted(web) == {"miss": 1.0, "hit": 1.0}


def test_openais_client_gets_the_same_answer(endpoint: Endpoint, program: OpenAI) -> None:
    """Its objects are equal."""
    endpoint.answers(completion("Hello."))
    answers = [program.chat.completions.create(model="small", messages=QUESTION, seed=1) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[1].choices[0].message.content == "Hello."
    assert answers[1].usage is not None
    assert answers[1].usage.total_tokens == 11
    assert len(endpoint.asked) == 1


def test_the_request_is_forwarded_whole_and_with_the_servers_key(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Every field, known or not; no header of the client."""
    endpoint.answers(completion())
    image = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    fields = {
        "messages": [{"role": "user", "content": image}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "response_format": {"type": "json_object"},
        "top_k": 40,
        "user": "ada",
        "metadata": {"run": "1"},
        "n": 1,
    }
    headers = {"Authorization": "Bearer sk-of-the-client", "OpenAI-Organization": "org", "Cookie": "a=b"}
    assert chat(web, headers, **fields).status_code == 200
    assert endpoint.asked == [{"model": "small", **fields}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert not {"openai-organization", "cookie"} & set(endpoint.headers[0])
    assert "sk-of-the-client" not in str(endpoint.headers)


def test_what_changes_the_answer_is_in_the_key(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Nothing else is."""
    endpoint.answers(completion())
    chat(web)
    for same in (
        {"user": "bob", "metadata": {"run": "2"}, "safety_identifier": "x", "prompt_cache_key": "y"},
        {"stream": False},
    ):
        assert chat(web, **same).headers["x-harness-cache"] == "hit", same
    for other in (
        {"temperature": 0.1},
        {"seed": 2},
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"response_format": {"type": "json_object"}},
        {"unknown_field": 1},
        {"messages": [{"role": "system", "content": "Say hello."}]},
        {"messages": [{"role": "user", "content": "say hello."}]},
    ):
        assert [chat(web, **other).headers["x-harness-cache"] for _ in range(2)] == ["miss", "hit"], other
    assert len(endpoint.asked) == 9


def test_the_order_of_fields_does_not_matter(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Two JSON objects with the same members have one key."""
    endpoint.answers(completion())
    for body in (
        '{"model":"small","messages":[{"role":"user","content":"é"}],"seed":1}',
        '{"seed": 1, "messages": [{"content": "\\u00e9", "role": "user"}], "model": "small"}',
    ):
        assert web.post("/chat/completions", content=body).status_code == 200
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("field", ["response_format", "tools", "guided_json"])
def test_the_order_of_members_in_a_schema_matters(endpoint: Endpoint, web: httpx2.Client, field: str) -> None:
    """A model fills in a schema in its order."""
    endpoint.answers(completion())
    names = ("reason", "answer")
    for order in (names, names[::-1]):
        schema = [{"properties": {name: {"type": "string"} for name in order}}]
        assert [chat(web, **{field: schema}).headers["x-harness-cache"] for _ in range(2)] == ["miss", "hit"]
    assert [list(each[field][0]["properties"]) for each in endpoint.asked] == [[*names], [*names[::-1]]]


def test_many_identical_requests_at_once_make_one_call(endpoint: Endpoint, web: httpx2.Client) -> None:
    """All others wait for its answer."""
    begun = threading.Event()

    def slowly() -> Iterator[bytes]:
        begun.set()
        endpoint.pause(0.3)
        yield from completion().body()

    endpoint.answers(Reply(slowly, content_type=JSON))
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda _: chat(web), range(10)))
    assert begun.is_set()
    assert len(endpoint.asked) == 1
    assert len({each.content for each in found}) == 1
    assert sorted(each.headers["x-harness-cache"] for each in found) == ["hit"] * 9 + ["miss"]


@pytest.mark.parametrize("reason", [None, "error"])
def test_an_unfinished_answer_is_passed_on_and_not_stored(
    endpoint: Endpoint, web: httpx2.Client, reason: str | None
) -> None:
    """Some endpoints answer with status 200 although the model failed."""
    endpoint.answers(completion("Hel", reason), completion("Hello."))
    assert [chat(web).json()["choices"][0]["message"]["content"] for _ in range(3)] == ["Hel", "Hello.", "Hello."]
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 12.0, "completion_tokens": 2}, 12),
        ({"prompt_tokens": 1.5}, 1),
        ({"prompt_tokens": None, "completion_tokens": "2"}, 0),
        ({"prompt_tokens": -5, "completion_tokens": 1e300}, 0),
        (None, 0),
        ([1], 0),
    ],
)
def test_fields_that_do_not_matter_may_have_any_form(
    endpoint: Endpoint, web: httpx2.Client, usage: Any, tokens: int
) -> None:
    """Token counts and indexes: the answer is passed on and stored; what is not a number of tokens counts as 0."""
    choice = {"index": "0", "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    endpoint.answers(Reply(lambda: [body], content_type=JSON))
    assert [chat(web).headers["x-harness-cache"] for _ in range(2)] == ["miss", "hit"]
    metrics = web.get(str(web.base_url).replace("/v1/", "/metrics")).text
    name = 'harness_model_tokens_total{direction="prompt",kind="chat",outcome="hit"}'
    assert f"{name} {float(tokens)}" in metrics


# Streams -------------------------------------------------------------------------------------------------------------


def test_a_stream_is_replayed_chunk_by_chunk(endpoint: Endpoint, program: OpenAI) -> None:
    """Tool calls and the usage at the end, too."""
    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a'}}
    pieces = [said("Hel"), event(choices=[{"index": 0, "delta": {"tool_calls": [call]}}]), said("lo."), ended()]
    endpoint.answers(Reply(lambda: pieces))

    def chunks() -> list[Any]:
        options: Any = {"include_usage": True}
        stream = program.chat.completions.create(model="small", messages=QUESTION, stream=True, stream_options=options)
        return list(stream)

    first, second = chunks(), chunks()
    assert len(first) == 5
    assert first == second
    assert first[-1].usage.total_tokens == 10
    assert endpoint.asked == [
        {"model": "small", "messages": QUESTION, "stream": True, "stream_options": {"include_usage": True}}
    ]


def test_chunks_arrive_as_they_come(endpoint: Endpoint, web: httpx2.Client) -> None:
    """The first one before the endpoint sends the second."""
    go_on = threading.Event()

    def slowly() -> Iterator[bytes]:
        yield said("Hel")
        assert go_on.wait(10)
        yield said("lo.") + ended()

    endpoint.answers(Reply(slowly))
    body = {"model": "small", "messages": QUESTION, "stream": True}
    with web.stream("POST", "/chat/completions", json=body) as response:
        assert response.headers["x-harness-cache"] == "miss"
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        assert json.loads(next(lines).removeprefix("data: "))["choices"][0]["delta"]["content"] == "Hel"
        go_on.set()
        rest = list(lines)
    assert [line for line in rest if line][-1] == "data: [DONE]"


def test_whole_and_streamed_answers_have_different_keys(endpoint: Endpoint, web: httpx2.Client) -> None:
    """And so have streams with and without usage: their chunks differ."""
    endpoint.answers(completion(), saying("Hello."), saying("Hello."))
    chat(web)
    assert chat(web, stream=True).headers["x-harness-cache"] == "miss"
    assert chat(web, stream=True, stream_options={"include_usage": True}).headers["x-harness-cache"] == "miss"
    for fields in (WHOLE, STREAMED):
        assert chat(web, **fields).headers["x-harness-cache"] == "hit"
    assert len(endpoint.asked) == 3


def test_an_expired_answer_never_continues_a_stream(settings: Settings, endpoint: Endpoint) -> None:
    """An expired answer, where one may be served, answers only if no chunk of another has been sent."""
    endpoint.answers(saying("old"), Reply(lambda: [said("Hel")], whole=False), refusing(503, "busy"))
    with serving(msgspec.structs.replace(settings, stale_if_error=3_600.0)) as (web, app):
        chat(web, stream=True)
        age(app, 30 * 86_400 + 60)
        broken, stale = chat(web, stream=True), chat(web, stream=True)
    assert "old" not in broken.text
    assert "model_unavailable" in broken.text
    assert "[DONE]" not in broken.text
    assert "old" in stale.text
    assert stale.headers["x-harness-cache"] == "stale"


def test_a_stream_whose_client_leaves_is_stored(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Whole: the next client gets all of it."""
    go_on = threading.Event()

    def slowly() -> Iterator[bytes]:
        yield said("Hel")
        go_on.wait(10)
        yield said("lo.") + ended()

    endpoint.answers(Reply(slowly))
    body = {"model": "small", "messages": QUESTION, "stream": True}
    with web.stream("POST", "/chat/completions", json=body) as response:
        next(response.iter_lines())
    go_on.set()
    second = chat(web, stream=True)
    assert second.headers["x-harness-cache"] == "hit"
    assert second.text.count("data: ") == 5
    assert "Hel" in second.text
    assert "lo." in second.text
    assert len(endpoint.asked) == 1
    assert counted(web) == {"miss": 1.0, "hit": 1.0}


def test_a_stream_that_breaks_off_is_not_stored(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Its client gets an error as the last event, and no end mark."""
    endpoint.answers(Reply(lambda: [said("Hel")], whole=False), saying("Hello."))
    first, second = chat(web, stream=True), chat(web, stream=True)
    assert "[DONE]" not in first.text
    last = json.loads(first.text.strip().split("\n\n")[-1].removeprefix("data: "))
    assert last["error"]["code"] == "model_unavailable"
    assert second.headers["x-harness-cache"] == "miss"
    assert "Hello." in second.text
    assert counted(web) == {"error": 1.0, "miss": 1.0}


def test_a_stream_without_a_finish_is_not_stored(endpoint: Endpoint, program: OpenAI) -> None:
    """An end mark alone does not make an answer whole; OpenAI's client raises."""
    endpoint.answers(Reply(lambda: [said("Hel") + b"data: [DONE]\n\n"]), saying("Hello."))
    with pytest.raises(openai.APIError, match="ended before the answer did"):
        list(program.chat.completions.create(model="small", messages=QUESTION, stream=True))
    assert len(list(program.chat.completions.create(model="small", messages=QUESTION, stream=True))) == 3


def test_a_stream_that_lacks_what_was_requested_is_passed_on_and_not_stored(
    endpoint: Endpoint, web: httpx2.Client
) -> None:
    """Fewer choices than `n`, or no token count: it may have been cut at a good place."""
    last = event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    cut = Reply(lambda: [said("Hello."), last])
    second = event(choices=[{"index": 1, "delta": {"content": "Hi."}, "finish_reason": "stop"}])
    for fields, whole in (
        ({"n": 2}, Reply(lambda: [said("Hello."), second, ended()])),
        ({"stream_options": {"include_usage": True}}, saying("Hello.")),
    ):
        endpoint.asked.clear()
        endpoint.answers(cut, whole)
        found = [chat(web, stream=True, **fields) for _ in range(3)]
        assert [each.headers["x-harness-cache"] for each in found] == ["miss", "miss", "hit"], fields
        assert all("Hello." in each.text for each in found)
        assert found[1].text == found[2].text


def test_a_stream_of_a_thinking_model_is_stored(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Its content is a list of parts, and an index may be a text."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hello."}]
    piece = event(choices=[{"index": "0", "delta": {"content": parts}}], usage={"prompt_tokens": 7.0})
    endpoint.answers(Reply(lambda: [piece, ended()]))
    found = [chat(web, stream=True) for _ in range(2)]
    assert [each.headers["x-harness-cache"] for each in found] == ["miss", "hit"]
    assert found[0].text == found[1].text


def test_an_error_in_a_stream_ends_it(endpoint: Endpoint, program: OpenAI) -> None:
    """With the endpoint's words."""
    endpoint.answers(Reply(lambda: [said("Hel") + event(error={"message": "out of memory", "type": "server_error"})]))
    with pytest.raises(openai.APIError, match="out of memory"):
        list(program.chat.completions.create(model="small", messages=QUESTION, stream=True))


def test_an_error_before_the_first_chunk_has_its_status(endpoint: Endpoint, program: OpenAI) -> None:
    """As if the endpoint had been asked itself."""
    endpoint.answers(refusing(400, "too long"))
    with pytest.raises(openai.BadRequestError, match="too long"):
        program.chat.completions.create(model="small", messages=QUESTION, stream=True)


def test_streams_at_once_make_one_call(endpoint: Endpoint, web: httpx2.Client) -> None:
    """The first gets the chunks as they come, the others afterwards; all the same."""

    def slowly() -> Iterator[bytes]:
        yield said("Hel")
        endpoint.pause(0.3)
        yield said("lo.") + ended()

    endpoint.answers(Reply(slowly))
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda _: chat(web, stream=True), range(10)))
    assert len(endpoint.asked) == 1
    assert len({each.text for each in found}) == 1


# Errors --------------------------------------------------------------------------------------------------------------


def test_errors_of_the_endpoint_pass_through(endpoint: Endpoint, program: OpenAI) -> None:
    """With status, words and `Retry-After`, without the key; never stored."""
    kinds: dict[int, type[openai.APIStatusError]] = {
        400: openai.BadRequestError,
        404: openai.NotFoundError,
        422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
        500: openai.InternalServerError,
        503: openai.InternalServerError,
    }
    endpoint.answers(*(refusing(each, f"no: {KEY} <b>x</b>", retry_after="7") for each in kinds), completion())
    for status, kind in kinds.items():
        with pytest.raises(kind) as caught:
            program.chat.completions.create(model="small", messages=QUESTION)
        assert caught.value.status_code == status
        assert caught.value.response.headers["retry-after"] == "7"
        assert caught.value.type == "invalid_request_error"
        assert KEY not in str(caught.value)
    assert program.chat.completions.create(model="small", messages=QUESTION).choices


def test_the_code_of_the_endpoints_error_passes_through(endpoint: Endpoint, program: OpenAI) -> None:
    """Programs compare it."""
    words = {"message": "too long", "type": "t", "code": "context_length_exceeded", "param": "messages"}
    endpoint.answers(Reply(lambda: [json.dumps({"error": words}).encode()], 400, JSON))
    with pytest.raises(openai.BadRequestError) as caught:
        program.chat.completions.create(model="small", messages=QUESTION)
    assert (caught.value.code, caught.value.param, caught.value.type) == ("context_length_exceeded", "messages", "t")


def test_a_refused_key_is_the_servers_problem(endpoint: Endpoint, program: OpenAI) -> None:
    """The client's token is fine: it does not get 401, and not the key."""
    endpoint.answers(*(refusing(each, f"Incorrect API key provided: {KEY}") for each in (401, 403)))
    for _ in range(2):
        with pytest.raises(openai.InternalServerError, match="ENDPOINT_KEY") as caught:
            program.chat.completions.create(model="small", messages=QUESTION)
        assert caught.value.status_code == 502
        assert KEY not in str(caught.value)


def test_garbage_of_the_endpoint_is_an_error(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Not stored, and not passed on, whole or streamed."""
    garbage = (b"<html>", b'["a list"]', b'{"choices": 1}', b'{"id": "x"}', b'{"choices": [NaN]}', b"\xff", b" ")
    for body in garbage:
        endpoint.answers(Reply(lambda body=body: [body], content_type=JSON))  # type: ignore[misc]
        for fields in (WHOLE, STREAMED):
            response = chat(web, **fields)
            assert response.status_code == 502, body
            assert response.json()["error"]["code"] == "model_error", body
    endpoint.answers(completion())
    assert chat(web).headers["x-harness-cache"] == "miss"


def test_an_endless_answer_is_cut_off(endpoint: Endpoint, web: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an error, whole or streamed."""
    monkeypatch.setattr("harness.models.remote.forwarding.MAX_ANSWER", 100_000)
    for reply, fields in (
        (Reply(lambda: [b'{"choices": "' + b"x" * 10_000] * 20, content_type=JSON), {}),
        (Reply(lambda: [said("x" * 10_000)] * 20), {"stream": True}),
        (Reply(lambda: [b"data: " + b"x" * 10_000] * 20), {"stream": True, "seed": 1}),
    ):
        endpoint.answers(reply)
        assert '"error"' in chat(web, **fields).text


def test_an_endpoint_that_is_down_is_an_error_at_once(settings: Settings, closed_port: int) -> None:
    """Status 502, in OpenAI's shape."""
    down = msgspec.structs.replace(settings, model_url=f"http://127.0.0.1:{closed_port}/v1")
    with serving(down) as (web, _):
        response = chat(web)
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "model_unavailable"


def test_errors_do_not_name_the_endpoints_address(
    settings: Settings, endpoint: Endpoint, closed_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Any tenant may read them; the log has the address."""
    down = msgspec.structs.replace(settings, model_url=f"http://127.0.0.1:{closed_port}/v1")
    with serving(down) as (web, _):
        texts = [chat(web).text, chat(web, stream=True).text]
    assert f"127.0.0.1:{closed_port}" in caplog.text
    replies = (
        refusing(401, "no"),
        Reply(lambda: [b"<html>"], content_type=JSON),
        Reply(lambda: [b"<html>"]),
        Reply(lambda: [b"x"], 302, JSON, {"location": "http://127.0.0.2/"}),
        Reply(lambda: [b"x"], headers={"content-encoding": "gzip"}),
        Reply(lambda: [b"{"], content_type=JSON, whole=False),
    )
    with serving(settings) as (web, _):
        for reply in replies:
            endpoint.answers(reply)
            texts += [chat(web).text, chat(web, stream=True).text]
            texts += [web.post("/embeddings", json={"model": "vectors", "input": "x"}).text]
    assert all('"error"' in each for each in texts)
    assert "127.0.0" not in "".join(texts)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/mcp", "/api/researches", "/login"])
def test_a_client_that_leaves_during_its_upload_is_no_bug(
    path: str, web: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says nothing about it, and the server goes on."""
    url = web.base_url
    with caplog.at_level(logging.DEBUG, logger="harness"):
        with socket.create_connection((url.host, url.port)) as gone:
            head = f"POST {path} HTTP/1.1\r\nHost: {url.host}:{url.port}\r\nContent-Length: 1000\r\n"
            kinds = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n"
            gone.sendall(f'{head}{kinds}{{"model": '.encode())
        end = time.monotonic() + 5
        while "the client left" not in caplog.text and time.monotonic() < end:
            time.sleep(0.01)
        assert web.get("/models").status_code == 200
    assert f"{path}: the client left before its request was complete" in caplog.text
    assert not [each for each in caplog.records if each.levelno > logging.INFO]


HOSTILE = (
    (b"{", "not JSON"),
    (b"[]", "JSON object"),
    (b'{"model": "small", "messages": [{"role": "user", "content": "\\ud800"}]}', "not JSON"),
    (b'{"model": "small", "messages": [{"role": "user", "content": NaN}]}', "not JSON"),
    (b'{"model": "small", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not JSON"),
    (b'{"model": "small", "x": ' + b"[" * 400 + b"]" * 400 + b', "messages": [{}]}', "not JSON"),
    (b'{"messages": []}', "model"),
    (b'{"model": 1, "messages": []}', "model"),
    (b'{"model": "small"}', "messages"),
    (b'{"model": "small", "messages": []}', "messages"),
    (b'{"model": "small", "messages": ["x"]}', "messages"),
    (b'{"model": "small", "messages": [{}], "stream": "yes"}', "stream"),
    (b'{"model": "small", "messages": [{}], "stream": 1}', "stream"),
    (b"\xff\xfe", "not JSON"),
    (b'{"model": "small", "messages": [{}], "seed": 18446744073709551616}', "64 bits"),
    (b'{"model": "small", "messages": [{}], "seed": -9223372036854775809}', "64 bits"),
    (b'{"model": "small", "messages": [{"x": [' + b"9" * 30 + b"]}]}", "64 bits"),
    (b"", "not JSON"),
)
"""Bodies, and what the message about each says."""


def test_hostile_requests_are_refused(endpoint: Endpoint, web: httpx2.Client) -> None:
    """With status 400 in OpenAI's shape; the endpoint is not asked."""
    for body, words in HOSTILE:
        response = web.post("/chat/completions", content=body)
        assert response.status_code == 400, body[:50]
        assert words in response.json()["error"]["message"], body[:50]
    assert not endpoint.asked


def test_other_requests_have_errors_in_openais_shape(web: httpx2.Client) -> None:
    """Too large, and paths that are not supported."""
    large = web.post("/chat/completions", content=b"x" * 3_000_000)
    assert large.status_code == 413
    assert "bytes" in large.json()["error"]["message"]
    for path in ("/completions", "/responses", "/../v1/audio"):
        missing = web.post(path, json={})
        assert missing.status_code == 404
        assert "/v1/chat/completions" in missing.json()["error"]["message"]


def test_a_request_from_another_site_is_refused(web: httpx2.Client) -> None:
    """A page in a browser cannot spend the server's money."""
    for headers in ({"Origin": "https://example.org"}, {"Sec-Fetch-Site": "cross-site"}):
        assert web.post("/chat/completions", json={}, headers=headers).status_code == 403


# Models --------------------------------------------------------------------------------------------------------------


def test_only_models_of_the_settings_are_served(endpoint: Endpoint, program: OpenAI) -> None:
    """The endpoint's key is the server's, and so is the bill."""
    assert [each.id for each in program.models.list()] == ["small", "vectors"]
    with pytest.raises(openai.NotFoundError, match="served_models"):
        program.chat.completions.create(model="expensive", messages=QUESTION)
    assert not endpoint.asked


@pytest.mark.parametrize(
    ("names", "listed"), [(("large",), ["small", "vectors", "large"]), (("*",), ["small", "vectors"])]
)
def test_more_models_may_be_served(
    settings: Settings, endpoint: Endpoint, names: tuple[str, ...], listed: list[str]
) -> None:
    """Named ones, or any; each with its own entries."""
    endpoint.answers(completion())
    with serving(msgspec.structs.replace(settings, served_models=names)) as (web, _):
        assert [each["id"] for each in web.get("/models").json()["data"]] == listed
        assert [chat(web, model=name).headers["x-harness-cache"] for name in ("large", "small", "large")] == [
            "miss",
            "miss",
            "hit",
        ]


def test_without_a_model_the_error_names_the_setting(tmp_path: Path) -> None:
    """In OpenAI's shape."""
    with serving(Settings(data_dir=tmp_path / "data", embedding_model="local:english")) as (web, _):
        response = chat(web)
        assert response.status_code == 404
        assert "model_url" in response.json()["error"]["message"]
        response = web.post("/embeddings", json={"model": "local:english", "input": "x"})
        assert response.status_code == 404
        assert "embedding_url" in response.json()["error"]["message"]
        assert web.get("/models").json()["data"] == []


# Reuse ---------------------------------------------------------------------------------------------------------------


def test_cache_control_is_honoured(endpoint: Endpoint, web: httpx2.Client) -> None:
    """`no-cache` asks again and stores, `no-store` does neither, `max-age` limits the age."""
    endpoint.answers(*(completion(str(number)) for number in range(9)))

    def said_with(control: str) -> str:
        found: str = chat(web, {"Cache-Control": control}).json()["choices"][0]["message"]["content"]
        return found

    assert [said_with(each) for each in ("", "", "no-cache", "", "no-store", "", "max-age=100", "max-age=0", "")] == [
        *"001121133"
    ]
    assert chat(web, {"Cache-Control": "max-age=x"}).status_code == 400
    assert chat(web, {"Cache-Control": "no-transform, max-age=60"}).headers["x-harness-cache"] == "hit"


def test_an_old_answer_says_how_old(settings: Settings, endpoint: Endpoint) -> None:
    """In seconds; it expires after 30 days, and may still answer where the settings allow it."""
    endpoint.answers(completion("old"), refusing(503, "busy"))
    with serving(msgspec.structs.replace(settings, stale_if_error=3_600.0)) as (web, app):
        chat(web)
        age(app, 90)
        assert chat(web).headers["age"] == "90"
        age(app, 30 * 86_400)
        late = chat(web)
        assert (late.status_code, late.headers["x-harness-cache"]) == (200, "stale")
        assert int(late.headers["age"]) == 90 + 30 * 86_400
        age(app, 7_200)
        assert chat(web).status_code == 503
        endpoint.answers(refusing(400, "too long"))
        assert chat(web).status_code == 400


@pytest.mark.slow
def test_meaning_counts_only_if_requested(settings: Settings, endpoint: Endpoint) -> None:
    """For the last message; everything else must be equal."""
    endpoint.answers(completion("Use sorted()."))
    asked = [{"role": "user", "content": "How do I sort a list in Python?"}]
    other = [{"role": "user", "content": "How can I sort a list in Python?"}]
    apart = [{"role": "user", "content": "How do I sort a list in Java?"}]
    on = {"X-Harness-Semantic": "true"}

    with serving(msgspec.structs.replace(settings, semantic=True)) as (web, _):

        def outcome(headers: dict[str, str] | None, **fields: Any) -> str:
            return str(chat(web, headers, **fields).headers["x-harness-cache"])

        assert outcome(on, messages=asked) == "miss"
        assert outcome(on, messages=asked) == "hit"
        assert outcome(on, messages=other) == "semantic"
        assert outcome(on, messages=apart) == "miss"
        assert outcome(None, messages=other) == "miss"
        assert outcome(on, messages=other, temperature=0.3) == "miss"
        assert outcome(on, messages=[{"role": "system", "content": "Be brief."}, *other]) == "miss"
        assert outcome({**on, "Cache-Control": "no-cache"}, messages=asked) == "miss"
        assert chat(web, {"X-Harness-Semantic": "maybe"}).status_code == 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("Write a short poem about love", "Write a poem about love"),
        ("Explain recursion in detail", "Explain recursion simply"),
        ("Convert to upper case: python", "Convert to upper case: Python"),
        ("Proofread: It's", "Proofread: Its"),
        ("Can you write a short poem about love?", "Can you write a poem about love?"),
        ("How does recursion work in detail?", "How does recursion work?"),
    ],
)
def test_a_task_is_never_answered_by_meaning(settings: Settings, endpoint: Endpoint, said: str, then: str) -> None:
    """Only its own answer is reused; the same for a question that asks for another form of answer."""
    endpoint.answers(completion())
    on = {"X-Harness-Semantic": "true"}
    with serving(msgspec.structs.replace(settings, semantic=True)) as (web, _):
        messages = [[{"role": "user", "content": text}] for text in (said, then, then)]
        found = [chat(web, on, messages=each).headers["x-harness-cache"] for each in messages]
    assert found == ["miss", "miss", "hit"]


def test_statistics_name_the_model(settings: Settings, endpoint: Endpoint) -> None:
    """Not the digest of the request, which rows that are compared by meaning have in the same column."""
    endpoint.answers(completion())
    asked = [{"role": "user", "content": "How do I sort a list in Python?"}]
    with serving(msgspec.structs.replace(settings, semantic=True)) as (web, app):
        chat(web, {"X-Harness-Semantic": "true"}, messages=asked)
        chat(web)
        days = app.cache.usage.details().sources
    assert [set(each) for each in days.values()] == [{(COMPLETIONS, "small")}]


def test_meaning_is_refused_where_it_is_switched_off(web: httpx2.Client) -> None:
    """And for embeddings."""
    on = {"X-Harness-Semantic": "true"}
    assert chat(web, on).status_code == 400
    assert web.post("/embeddings", json={"model": "vectors", "input": "x"}, headers=on).status_code == 400


def test_offline_only_the_cache_answers(settings: Settings, endpoint: Endpoint) -> None:
    """A miss is an error that OpenAI's client does not repeat."""
    endpoint.answers(completion())
    with serving(settings) as (web, _):
        chat(web)
    with serving(msgspec.structs.replace(settings, offline=True)) as (web, _):
        assert chat(web).headers["x-harness-cache"] == "hit"
        for fields in (WHOLE, STREAMED):
            missed = chat(web, seed=5, **fields)
            assert missed.status_code == 503
            assert missed.json()["error"]["code"] == "offline_miss"
            assert missed.headers["x-should-retry"] == "false"
        missed = web.post("/embeddings", json={"model": "vectors", "input": "x"})
        assert missed.json()["error"]["code"] == "offline_miss"
    assert len(endpoint.asked) == 1


def test_tenants_are_apart_and_readers_make_no_calls(
    endpoint: Endpoint, web: httpx2.Client, token: Callable[..., str], address: str
) -> None:
    """The token is the API key of OpenAI's client."""
    endpoint.answers(completion())
    tokens = {name: token(tenant, name, role) for tenant, name, role in (
        ("lab", "ada", "writer"), ("lab", "bob", "reader"), ("shop", "eve", "writer")
    )}  # fmt: skip
    by = {name: {"Authorization": f"Bearer {text}"} for name, text in tokens.items()}
    refused = chat(web, by["bob"])
    assert refused.status_code == 403
    assert "writer" in refused.json()["error"]["message"]
    assert chat(web, by["ada"]).headers["x-harness-cache"] == "miss"
    assert chat(web, by["bob"]).headers["x-harness-cache"] == "hit"
    assert chat(web, {**by["bob"], "Cache-Control": "no-cache"}).status_code == 403
    assert chat(web, by["eve"]).headers["x-harness-cache"] == "miss"
    assert all(each["authorization"] == f"Bearer {KEY}" for each in endpoint.headers)
    with OpenAI(base_url=f"{address}/v1", api_key=tokens["ada"], max_retries=0) as program:
        assert program.chat.completions.create(model="small", messages=QUESTION).choices
    with (
        OpenAI(base_url=f"{address}/v1", api_key="sk-wrong", max_retries=0) as program,
        pytest.raises(openai.AuthenticationError, match="token"),
    ):
        program.chat.completions.create(model="small", messages=QUESTION)
    assert len(endpoint.asked) == 2


def test_calls_are_limited_in_number(endpoint: Endpoint) -> None:
    """By tenant and altogether; a place is free again when its call ends."""
    gate = threading.Event()

    async def many() -> None:
        threads = ModelThreads(most=3, most_of_tenant=2)
        running = [threads.start("a", gate.wait), threads.start("a", gate.wait)]
        with pytest.raises(TooManyRequests):
            threads.start("a", gate.wait)
        running.append(threads.start("b", gate.wait))
        with pytest.raises(TooManyRequests):
            threads.start("b", gate.wait)
        gate.set()
        assert await asyncio.gather(*running) == [True] * 3
        assert await threads.start("a", lambda: 1) == 1

    asyncio.run(many())


# Embeddings ----------------------------------------------------------------------------------------------------------


def test_each_text_is_cached_alone(endpoint: Endpoint, program: OpenAI) -> None:
    """Only texts without a vector are sent, each once, and the vectors come in the order of the request."""
    endpoint.answers(embedding(endpoint))
    first = program.embeddings.create(model="vectors", input=["a", "bbb"])
    second = program.embeddings.create(model="vectors", input=["bbb", "cc", "a", "cc"])
    again = program.embeddings.create(model="vectors", input=["a", "bbb"])
    assert [each["input"] for each in endpoint.asked] == [["a", "bbb"], ["cc"]]
    assert [each.embedding[0] for each in second.data] == [3, 2, 1, 2]
    assert [each.index for each in second.data] == [0, 1, 2, 3]
    assert first == again
    assert first.model == "vectors-1"
    assert first.usage.total_tokens == 6


@pytest.mark.parametrize("numbers", [False, True])
def test_both_ways_to_write_numbers_have_one_entry(endpoint: Endpoint, web: httpx2.Client, numbers: bool) -> None:
    """Whichever the endpoint sends."""
    endpoint.answers(embedding(endpoint, numbers=numbers))

    def vector(**more: Any) -> Any:
        return web.post("/embeddings", json={"model": "vectors", "input": "four", **more}).json()["data"][0][
            "embedding"
        ]

    assert vector() == vector(encoding_format="float") == [4, 0.1, -1.5]
    assert base64.b64decode(vector(encoding_format="base64")) == struct.pack("<3f", 4, 0.1, -1.5)
    assert len(endpoint.asked) == 1
    assert counted(web, "embeddings") == {"miss": 1.0, "hit": 2.0}


def test_dimensions_and_tokens_are_in_the_key(endpoint: Endpoint, web: httpx2.Client) -> None:
    """`user` is not."""
    endpoint.answers(embedding(endpoint))

    def outcome(**fields: Any) -> str:
        return str(web.post("/embeddings", json={"model": "vectors", **fields}).headers["x-harness-cache"])

    assert outcome(input="ab") == "miss"
    assert outcome(input="ab", user="ada") == "hit"
    assert outcome(input="ab", dimensions=2) == "miss"
    assert outcome(input=[1, 2]) == "miss"
    assert outcome(input=[[1, 2], [3]]) == "miss"
    assert [each["input"] for each in endpoint.asked] == [["ab"], ["ab"], [[1, 2]], [[3]]]
    assert endpoint.asked[1]["dimensions"] == 2


def test_identical_batches_at_once_make_one_call(endpoint: Endpoint, web: httpx2.Client) -> None:
    """All get the same vectors."""

    def slowly() -> Iterator[bytes]:
        endpoint.pause(0.3)
        yield from embedding(endpoint).body()

    endpoint.answers(Reply(slowly, content_type=JSON))
    body = {"model": "vectors", "input": ["a", "bb"]}
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda _: web.post("/embeddings", json=body), range(10)))
    assert len(endpoint.asked) == 1
    assert len({each.content for each in found}) == 1


def test_cache_control_counts_for_embeddings(endpoint: Endpoint, web: httpx2.Client) -> None:
    """For each text."""
    endpoint.answers(embedding(endpoint))

    def outcome(control: str) -> str:
        body, headers = {"model": "vectors", "input": "ab"}, {"Cache-Control": control}
        return str(web.post("/embeddings", json=body, headers=headers).headers["x-harness-cache"])

    assert outcome("no-store") == "miss"
    assert outcome("") == "miss"
    assert outcome("max-age=60") == "hit"
    assert outcome("max-age=0") == "miss"
    assert outcome("no-cache") == "miss"
    assert outcome("") == "hit"
    assert len(endpoint.asked) == 4


def test_unusable_vectors_are_an_error(endpoint: Endpoint, web: httpx2.Client) -> None:
    """Missing, empty, not base64, half a number, NaN, another number of them."""
    request = {"model": "vectors", "input": "x"}
    for body in (
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "?"}]}',
        b'{"data": [{"index": 0, "embedding": "AAA="}]}',
        b'{"data": [{"index": 0, "embedding": "AADAfw=="}]}',
        b'{"data": [{"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e308]}]}',
        b'{"data": [{"index": 0, "embedding": [0, -3.5e38]}]}',
        b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}',
    ):
        endpoint.answers(Reply(lambda body=body: [body], content_type=JSON))  # type: ignore[misc]
        assert web.post("/embeddings", json=request).json()["error"]["code"] == "model_error", body
    endpoint.answers(embedding(endpoint))
    assert web.post("/embeddings", json=request).headers["x-harness-cache"] == "miss"


def test_many_texts_are_sent_in_parts(endpoint: Endpoint, web: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer has a limited size. Parts before one that fails are stored."""
    monkeypatch.setattr("harness.server.llm_api.embeddings.AT_ONCE", 2)
    endpoint.answers(embedding(endpoint), embedding(endpoint), refusing(429, "slow down"), embedding(endpoint))
    request = {"model": "vectors", "input": ["x" * (1 + number) for number in range(5)]}
    assert web.post("/embeddings", json=request).status_code == 429
    body = web.post("/embeddings", json=request).json()
    assert [len(each["input"]) for each in endpoint.asked] == [2, 2, 1, 1]
    assert [each["embedding"][0] for each in body["data"]] == [1, 2, 3, 4, 5]
    assert body["usage"]["prompt_tokens"] == 15


def test_an_answer_that_is_too_long_is_not_an_outage(
    endpoint: Endpoint, web: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do."""
    monkeypatch.setattr("harness.models.remote.forwarding.MAX_ANSWER", 100)
    endpoint.answers(embedding(endpoint))
    error = web.post("/embeddings", json={"model": "vectors", "input": ["a", "b", "c"]}).json()["error"]
    assert error["code"] == "model_error"
    assert "less at once" in error["message"]


@pytest.mark.parametrize("indexes", [(None, None), ("0", "1")])
def test_vectors_without_a_number_as_index_are_read(
    endpoint: Endpoint, web: httpx2.Client, indexes: tuple[Any, Any]
) -> None:
    """In the order that they have; a token count may have any form."""
    data = [{"embedding": [number], "index": index} for number, index in zip((1, 2), indexes, strict=True)]
    body = json.dumps({"data": data, "model": None, "usage": {"prompt_tokens": 4.0}}).encode()
    endpoint.answers(Reply(lambda: [body], content_type=JSON))
    found = web.post("/embeddings", json={"model": "vectors", "input": ["a", "b"]}).json()
    assert [each["embedding"] for each in found["data"]] == [[1.0], [2.0]]
    assert found["usage"]["prompt_tokens"] == 4


def test_unusable_texts_are_refused(endpoint: Endpoint, web: httpx2.Client) -> None:
    """The endpoint is not asked."""
    unusable: tuple[Any, ...] = (None, [], 7, [7.5], ["a", 1], [[]], {"a": 1}, ["x"] * 2_049)
    for given in unusable:
        response = web.post("/embeddings", json={"model": "vectors", "input": given})
        assert response.status_code == 400
        assert "input" in response.json()["error"]["message"]
    assert not endpoint.asked


def test_errors_for_embeddings_pass_through(endpoint: Endpoint, program: OpenAI) -> None:
    """With their status; never stored."""
    endpoint.answers(refusing(429, "slow down"), embedding(endpoint))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        program.embeddings.create(model="vectors", input="x")
    assert program.embeddings.create(model="vectors", input="x").data


# The cache -----------------------------------------------------------------------------------------------------------


def test_a_damaged_row_is_asked_for_again(endpoint: Endpoint, web: httpx2.Client, app: App) -> None:
    """And replaced."""
    endpoint.answers(completion())
    chat(web)
    (row,) = app.store.listings.recent(COMPLETIONS, "default", 10)
    held = app.store.rows.get(COMPLETIONS, "default", row.key)
    assert held is not None
    app.store.rows.put(COMPLETIONS, "default", msgspec.structs.replace(held, payload=b'{"a": 1}'))
    assert [chat(web).headers["x-harness-cache"] for _ in range(2)] == ["miss", "hit"]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchain_pays_once(endpoint: Endpoint, address: str) -> None:
    """For a whole answer, a stream with its chunks, and the vectors of texts."""
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from pydantic import SecretStr

    key = SecretStr("unused")
    model = ChatOpenAI(model="small", base_url=f"{address}/v1", api_key=key, max_retries=0)
    endpoint.answers(completion("Hello."), saying("Hel", "lo."), embedding(endpoint))
    answers = [model.invoke("Say hello.") for _ in range(2)]
    streams = [[chunk.content for chunk in model.stream("Say hello.")] for _ in range(2)]
    # otherwise the client counts tokens with a vocabulary that it downloads
    vectors = OpenAIEmbeddings(
        model="vectors", base_url=f"{address}/v1", api_key=key, max_retries=0, check_embedding_ctx_length=False
    )
    embedded = [vectors.embed_documents(["a", "bbb"]) for _ in range(2)]
    assert answers[0].content == answers[1].content == "Hello."
    assert "".join(map(str, streams[0])) == "Hello."
    assert streams[0] == streams[1]
    assert embedded[0] == embedded[1]
    assert [each[0] for each in embedded[0]] == [1, 3]
    assert len(endpoint.asked) == 3
