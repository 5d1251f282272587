"""Answers from an endpoint on loopback: streamed, bounded, without thoughts; and every kind of failure."""

import logging
import os
import socket
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InvalidInput, ModelError, ModelUnavailable
from harness.models.remote import chat_completions
from harness.models.remote.chat_completions import CompletionSettings, OpenAICompatible
from harness.ports import Completion, Message
from tests.models.endpoint import Endpoint, Reply, ended, endless, event, refusing, said, saying

ASKED: list[Message] = [{"role": "user", "content": "Größe?"}]
KEY = "sk-very-secret-0123456789"


def model(endpoint: Endpoint | str, **options: Any) -> OpenAICompatible:
    """Return a model at the endpoint, with short time limits and no retries unless `options` set them."""
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    key = {name: options.pop(name) for name in ("api_key", "key_variable") if name in options}
    settings = CompletionSettings(**{"timeout": 5.0, "total_timeout": 20.0, "retries": 0, **options})
    return OpenAICompatible("m", url, settings, **key)


# --- answers


def test_an_answer_comes_with_its_tokens(endpoint: Endpoint) -> None:
    """Text, wholeness and the endpoint's own numbers."""
    endpoint.answers(saying("Two", " metres", "."))
    assert model(endpoint).complete(ASKED) == Completion("Two metres.", True, 7, 3)


def test_the_listener_gets_text_while_the_rest_is_not_yet_there(endpoint: Endpoint) -> None:
    """`on_text` is called before the endpoint has finished, and what it got is the text."""
    heard: list[str] = []
    first = threading.Event()

    def body() -> Iterator[bytes]:
        yield said("a" * 300)
        assert first.wait(10), "the first text came only with the last"
        yield said(" end ") + ended()

    def on_text(text: str) -> None:
        heard.append(text)
        first.set()

    endpoint.answers(Reply(body))
    answer = model(endpoint).complete(ASKED, on_text=on_text)
    assert "".join(heard) == answer.text == "a" * 300 + " end"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(points=st.lists(st.integers(1, 44), max_size=8, unique=True).map(sorted))
def test_thoughts_are_left_out_wherever_the_stream_is_cut(endpoint: Endpoint, points: list[int]) -> None:
    """Tags that are split over events are tags, and the listener never hears a part of them."""
    text = "\n<think>Is it two?</think>\nTwo <b>metres</b>."
    ends = [0, *points, len(text)]
    endpoint.answers(saying(*(text[start:end] for start, end in pairwise(ends))))
    heard: list[str] = []
    assert model(endpoint).complete(ASKED, on_text=heard.append).text == "".join(heard) == "Two <b>metres</b>."


def test_a_model_that_begins_in_thought_is_remembered(endpoint: Endpoint) -> None:
    """A long thought that nothing opens is held back from the second answer on."""
    endpoint.answers(saying("hm " * 200, "</think>", "Two."))
    asked = model(endpoint)
    assert asked.complete(ASKED).text == "Two."
    heard: list[str] = []
    assert asked.complete(ASKED, on_text=heard.append).text == "".join(heard) == "Two."


def test_reasoning_in_a_field_of_its_own_is_no_text(endpoint: Endpoint) -> None:
    """`reasoning_content` is ignored, and so are events without choices or text."""
    thought = event(choices=[{"delta": {"role": "assistant", "content": None, "reasoning_content": "hm"}}])
    endpoint.answers(Reply(lambda: [b": ping\n\n", thought, event(choices=[]), said("Two."), ended()]))
    assert model(endpoint).complete(ASKED).text == "Two."


def test_the_text_is_clean(endpoint: Endpoint) -> None:
    """NUL, lone surrogates and overrides of direction do not come in, alone or in pieces."""
    heard: list[str] = []
    endpoint.answers(saying(" T\x00w", "o\ud800", "\udc00\u202e", " \n"))
    assert model(endpoint).complete(ASKED, on_text=heard.append).text == "".join(heard) == "Two"


# --- requests


def test_what_decides_the_answer_is_sent_and_is_in_the_parameters(endpoint: Endpoint) -> None:
    """Model, messages and parameters go out; the parameters hold neither key nor time-outs."""
    endpoint.answers(saying("x"))
    asked = model(endpoint, temperature=0.5, seed=7, max_tokens=99, api_key=KEY)
    asked.complete(ASKED)
    assert asked.parameters == {"temperature": 0.5, "seed": 7, "max_tokens": 99}
    assert endpoint.asked == [
        {
            "model": "m",
            "messages": ASKED,
            "stream": True,
            "stream_options": {"include_usage": True},
            **asked.parameters,
        }
    ]


def test_nothing_of_the_environment_goes_out(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, URLs, headers and proxies of the environment are not sent to this endpoint."""
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "leaked")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer leaked\nX-Leaked: leaked")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    endpoint.answers(saying("x"))
    model(endpoint).complete(ASKED)
    names = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
    assert set(endpoint.headers[0]) == names
    assert "leaked" not in str(endpoint.headers)


def test_the_key_goes_to_the_endpoint_and_nowhere_else(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """It is a bearer token; no representation, log, message or traceback shows it, even if the endpoint repeats it."""
    caplog.set_level(logging.DEBUG)
    endpoint.answers(refusing(400, f"bad {KEY}", x_echo=KEY), refusing(401, f"Incorrect API key: {KEY}"))
    asked = model(endpoint, api_key=KEY)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            asked.complete(ASKED)
        assert KEY not in "".join(traceback.format_exception(caught.value))
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text.replace(f"(b'x-echo', b'{KEY}')", "") + repr(asked) + str(asked.parameters)


def test_an_endpoint_that_wants_other_names_gets_them(endpoint: Endpoint) -> None:
    """`max_completion_tokens`, and no `stream_options`: learnt from two refusals, then known."""
    endpoint.answers(
        refusing(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refusing(422, "Extra inputs are not permitted: stream_options"),
        saying("x"),
    )
    asked = model(endpoint)
    assert asked.complete(ASKED).text == "x"
    asked.complete(ASKED)
    assert [set(body) & {"max_tokens", "max_completion_tokens", "stream_options"} for body in endpoint.asked] == [
        {"max_tokens", "stream_options"},
        {"max_completion_tokens", "stream_options"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]


@pytest.mark.parametrize(
    "url", ["", "m:8080", "ftp://h/v1", "http://", "http://u:p@h/v1", "https://h/v1?key=1", "http://h:x"]
)
def test_an_invalid_url_is_refused(url: str) -> None:
    """No request goes to a URL that is wrong or contains a secret, and the message does not repeat it."""
    with pytest.raises(InvalidInput, match="not a plain URL"):
        OpenAICompatible("m", url)


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel"])
def test_an_invalid_key_is_refused(key: str) -> None:
    """A key that no header can hold is an error that does not show it."""
    with pytest.raises(InvalidInput, match="correct HARNESS_LLM_API_KEY") as caught:
        OpenAICompatible("m", "http://h/v1", api_key=key)
    assert key not in str(caught.value)


# --- bounds


def test_an_endless_answer_is_cut_after_so_many_characters(endpoint: Endpoint) -> None:
    """Nothing beyond the limit is read, and the connection is closed."""
    endpoint.answers(endless(said("0123456789")))
    answer = model(endpoint, max_tokens=None, max_chars=1_005).complete(ASKED)
    assert answer == Completion("0123456789" * 100 + "01234", False)
    assert endpoint.gone.wait(10)


def test_an_endless_answer_is_cut_after_so_many_tokens(endpoint: Endpoint) -> None:
    """A connection to an endpoint that ignores `max_tokens` is closed when both counts exceed it."""
    endpoint.answers(endless(said("word ")))
    answer = model(endpoint, max_tokens=20).complete(ASKED)
    assert answer == Completion(" ".join(["word"] * 21), False)
    assert endpoint.gone.wait(10)


def test_an_endless_thought_is_no_answer(endpoint: Endpoint) -> None:
    """Thoughts count towards the bound; an answer of thoughts alone is an error."""
    endpoint.answers(endless(said("<think> hm")))
    with pytest.raises(ModelError, match="only thoughts; raise max_tokens or the time limit"):
        model(endpoint, max_tokens=20).complete(ASKED)


def test_a_drip_is_cut_when_time_is_up(endpoint: Endpoint) -> None:
    """The text within the total time is the answer if the stream does not end."""
    endpoint.answers(endless(said("drip "), lambda: endpoint.pause(0.02)))
    answer = model(endpoint, total_timeout=0.5).complete(ASKED)
    assert answer.text.startswith("drip drip")
    assert not answer.whole
    assert endpoint.gone.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [b": ping\n\n", b"d", event(choices=[])], ids=["comments", "a line", "empty events"])
def test_a_drip_of_nothing_ends_when_time_is_up(endpoint: Endpoint, piece: bytes) -> None:
    """Bytes that bring no text keep no time-out away."""
    endpoint.answers(endless(piece, lambda: endpoint.pause(0.02)))
    with pytest.raises(ModelUnavailable, match=r"took longer than 0\.5 s"):
        model(endpoint, total_timeout=0.5).complete(ASKED)
    assert endpoint.gone.wait(10)


def test_a_drip_of_headers_ends_when_time_is_up() -> None:
    """The deadline holds before the answer begins, too."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
                    while True:
                        connection.sendall(b"x")
                        threading.Event().wait(0.02)
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(ModelUnavailable, match="took longer"):
            model(f"http://127.0.0.1:{server.getsockname()[1]}", total_timeout=0.5).complete(ASKED)
        thread.join()


def test_an_endless_line_is_not_collected(endpoint: Endpoint) -> None:
    """Bytes are bounded, not only characters."""
    endpoint.answers(endless(b"x" * 65_536))
    with pytest.raises(ModelUnavailable, match="stopped in the middle"):
        model(endpoint, max_chars=10_000).complete(ASKED)
    assert endpoint.gone.wait(10)


def test_a_compressed_answer_is_refused(endpoint: Endpoint) -> None:
    """A few bytes could expand to gigabytes."""
    endpoint.answers(saying("x")._replace(headers={"content-encoding": "gzip"}))
    with pytest.raises(ModelError, match="compressed"):
        model(endpoint).complete(ASKED)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_the_endpoint_cut_is_not_whole(endpoint: Endpoint, reason: str) -> None:
    """The endpoint's own reason counts."""
    endpoint.answers(saying("Two", reason=reason))
    assert model(endpoint).complete(ASKED) == Completion("Two", False, 7, 3)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError("mine")])
def test_what_the_listener_raises_ends_the_request(endpoint: Endpoint, raised: Any) -> None:
    """Ctrl-C or an error comes through as it is, and the endpoint sees the connection close."""
    endpoint.answers(endless(said("word " * 100), lambda: endpoint.pause(0.01)))

    def on_text(_: str) -> None:
        raise raised

    with pytest.raises(raised if isinstance(raised, type) else type(raised)):
        model(endpoint).complete(ASKED, on_text=on_text)
    assert endpoint.gone.wait(10)
    assert len(endpoint.asked) == 1


# --- no answer


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoint, status: int) -> None:
    """After two refusals the third attempt succeeds."""
    endpoint.answers(refusing(status, "busy"), refusing(status, "busy"), saying("x"))
    assert model(endpoint, retries=2).complete(ASKED).text == "x"


@pytest.mark.parametrize("status", [429, 500])
def test_an_endpoint_that_stays_busy_is_unavailable(endpoint: Endpoint, status: int) -> None:
    """So many tries, then an error with the endpoint's words."""
    endpoint.answers(refusing(status, "come\nback"))
    with pytest.raises(ModelUnavailable, match=rf"cannot answer now \(HTTP {status}: come back\); try again later"):
        model(endpoint, retries=2).complete(ASKED)
    assert len(endpoint.asked) == 3


def test_a_pause_that_is_asked_for_is_made(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Retry-After` counts more than our own back-off."""
    waits: list[float] = []
    monkeypatch.setattr(chat_completions.time, "sleep", waits.append)
    endpoint.answers(refusing(429, "slow down", retry_after="7"), saying("x"))
    assert model(endpoint, retries=1).complete(ASKED).text == "x"
    assert waits == [7.0]


@pytest.mark.parametrize("pause", ["25", "31", "Sat, 01 Jan 2400 00:00:00 GMT"])
def test_a_pause_that_is_too_long_is_not_made(endpoint: Endpoint, pause: str) -> None:
    """A pause of over 30 s, or of more than the remaining time, is not waited for; the error mentions it."""
    endpoint.answers(refusing(429, "slow down", retry_after=pause))
    with pytest.raises(ModelUnavailable, match="asks to wait"):
        model(endpoint, retries=2).complete(ASKED)
    assert len(endpoint.asked) == 1


def test_nobody_listening_is_told_at_once(closed_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection names model and address, and is not tried again after a pause."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    url = f"http://127.0.0.1:{closed_port}/v1"
    with pytest.raises(ModelUnavailable, match=rf"m at {url} cannot be reached .*refused.*is it running"):
        model(url, retries=2).complete(ASKED)
    assert pauses == []


def test_an_unknown_host_is_reported() -> None:
    """A name that no server knows is unreachable."""
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        model("http://no-such-host.invalid/v1").complete(ASKED)


def test_broken_tls_is_reported(endpoint: Endpoint) -> None:
    """An endpoint without TLS gets no request."""
    with pytest.raises(ModelUnavailable, match=r"cannot be reached .*SSL"):
        model(endpoint.url.replace("http:", "https:")).complete(ASKED)
    assert not endpoint.asked


def test_silence_before_the_answer_is_reported(endpoint: Endpoint) -> None:
    """The time-out counts until the first token."""
    endpoint.answers(endless(b": ping\n\n", lambda: endpoint.pause(20)))
    with pytest.raises(ModelUnavailable, match=r"silent for 0\.2 s"):
        model(endpoint, timeout=0.2).complete(ASKED)


def test_silence_in_the_middle_is_told_and_not_tried_again(endpoint: Endpoint) -> None:
    """The time-out counts between tokens; who heard a part must not hear it twice."""
    endpoint.answers(endless(said("Two"), lambda: endpoint.pause(20)))
    with pytest.raises(ModelUnavailable, match=r"silent for 0\.2 s"):
        model(endpoint, timeout=0.2, retries=2).complete(ASKED)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("whole", [True, False], ids=["in order", "abruptly"])
def test_a_stream_that_breaks_off_is_no_answer(endpoint: Endpoint, *, whole: bool) -> None:
    """Half an answer is not passed off as one, and not asked for again."""
    endpoint.answers(Reply(lambda: [said("Two")], whole=whole))
    with pytest.raises(ModelUnavailable, match=r"stopped in the middle|cannot be reached"):
        model(endpoint, retries=2).complete(ASKED)
    assert len(endpoint.asked) == 1


def test_a_stream_that_breaks_off_before_the_first_word_is_asked_for_again(endpoint: Endpoint) -> None:
    """Nothing was heard, so nothing is heard twice."""
    endpoint.answers(Reply(list, whole=False), Reply(lambda: [event(error={"message": "busy"})]), saying("x"))
    assert model(endpoint, retries=2).complete(ASKED).text == "x"


def test_an_error_event_is_reported(endpoint: Endpoint) -> None:
    """Some endpoints begin to answer and then think better of it."""
    endpoint.answers(Reply(lambda: [said("Two"), event(error={"message": "out of memory"})]))
    with pytest.raises(ModelUnavailable, match="gave up: out of memory"):
        model(endpoint).complete(ASKED)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_where_it_is_set(endpoint: Endpoint, status: int) -> None:
    """Missing and wrong are two messages, both with the name of the variable."""
    endpoint.answers(refusing(status, "who are you"))
    with pytest.raises(ModelError, match=r"needs a key; set MY_KEY$"):
        model(endpoint, key_variable="MY_KEY", retries=2).complete(ASKED)
    with pytest.raises(ModelError, match=r"refuses the key: who are you; check MY_KEY$"):
        model(endpoint, key_variable="MY_KEY", api_key=KEY, retries=2).complete(ASKED)
    assert len(endpoint.asked) == 2


def test_an_unknown_model_is_reported(endpoint: Endpoint) -> None:
    """A model's name or an address may be wrong: both are named."""
    endpoint.answers(refusing(404, "The model does not exist"))
    with pytest.raises(ModelError, match=r"has no model 'm': The model does not exist; check .* /v1"):
        model(endpoint).complete(ASKED)


def test_a_refused_request_is_told_in_the_endpoints_words(endpoint: Endpoint) -> None:
    """One line, bounded, without control characters."""
    endpoint.answers(refusing(400, "context\n\x1b[31mtoo long " + "x " * 5_000))
    with pytest.raises(ModelError, match=r"refuses the request \(HTTP 400\): context \[31mtoo long x") as caught:
        model(endpoint, retries=2).complete(ASKED)
    assert len(str(caught.value)) < 400
    assert len(endpoint.asked) == 1


def test_no_redirection_is_followed(endpoint: Endpoint) -> None:
    """A key goes to the address it was given for."""
    endpoint.answers(refusing(307, "")._replace(headers={"location": endpoint.url.replace("v1", "v2")}))
    with pytest.raises(ModelError, match="redirects"):
        model(endpoint).complete(ASKED)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"data: {broken\n\n",
        b"data: [1, 2]\n\n",
        b'data: {"choices": "none"}\n\n',
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: \xff\xfe\n\n",
    ],
)
def test_garbage_is_no_answer(endpoint: Endpoint, body: bytes) -> None:
    """Data that only looks like a stream is a `ModelError`, never an empty answer."""
    endpoint.answers(Reply(lambda: [body]))
    with pytest.raises(ModelError, match="not a chat completion"):
        model(endpoint).complete(ASKED)


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_another_content_type_is_reported(endpoint: Endpoint, kind: str) -> None:
    """A web page is no model; the address is probably wrong."""
    endpoint.answers(Reply(lambda: [b"<html><body>Welcome!</body></html>"], content_type=kind))
    with pytest.raises(ModelError, match=f"answered with {kind}, not with an event stream; check the URL"):
        model(endpoint).complete(ASKED)


@pytest.mark.parametrize("text", ["", " \n", "\x00", "<think>hm</think>"])
def test_an_empty_answer_is_an_error(endpoint: Endpoint, text: str) -> None:
    """Nothing is not an answer."""
    endpoint.answers(saying(text))
    with pytest.raises(ModelError, match=r"answered with (nothing|only thoughts) \(stop\)"):
        model(endpoint).complete(ASKED)


def test_a_message_with_broken_unicode_is_reported(endpoint: Endpoint) -> None:
    """A lone surrogate cannot be sent."""
    with pytest.raises(ModelError, match="lone surrogate"):
        model(endpoint).complete([{"role": "user", "content": "\ud800"}])


# --- threads and forks


@pytest.mark.slow
def test_many_threads_may_ask_at_once(endpoint: Endpoint) -> None:
    """One model serves all threads."""
    endpoint.answers(saying("Two", "."))
    asked = model(endpoint)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: asked.complete(ASKED).text, range(24)))
    assert answers == ["Two."] * 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_may_ask(endpoint: Endpoint) -> None:
    """A child takes no connection over, and asks for itself."""
    endpoint.answers(saying("x"))
    asked = model(endpoint)
    asked.complete(ASKED)
    child = os.fork()
    if child == 0:
        os._exit(0 if asked.complete(ASKED).text == "x" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
