"""One of two embedders: chosen when something is first asked for, once, and with its own id."""

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openai import _base_client
from pytest_httpserver import HTTPServer

from harness.errors import EmbeddingError, InvalidInput
from harness.models.fallback_embedder import FirstAvailable
from harness.models.local.embedder import MiniLM
from harness.models.remote.embeddings import OpenAIEmbedder
from tests.models.test_embeddings import answering, embedder, rows

ROOT = Path(__file__).parents[2]
NOBODY = "http://127.0.0.1:1/v1"

FORKED_WHILE_CHOOSING = """
import os, signal, threading
from harness.models.fallback_embedder import FirstAvailable

class First:
    id = "first"
    asked, may_answer = threading.Event(), threading.Event()

    @property
    def dimension(self):
        self.asked.set()
        assert self.may_answer.wait(20)
        return 3

first = First()
either = FirstAvailable(first, None)
chooser = threading.Thread(target=lambda: either.id)
chooser.start()
first.asked.wait(20)
child = os.fork()
if not child:
    signal.alarm(20)  # a lock that the parent's thread holds is never freed here
    first.may_answer.set()
    os._exit(either.id != "first")
_, status = os.waitpid(child, 0)
first.may_answer.set()
chooser.join()
print(os.waitstatus_to_exitcode(status), either.id)
"""

FORKED_AFTERWARDS = """
import os
from harness.models.fallback_embedder import FirstAvailable

class First:
    id, asked = "first", 0

    @property
    def dimension(self):
        self.asked += 1
        return 3

first = First()
either = FirstAvailable(first, None)
either.id
child = os.fork()
if not child:
    os._exit(either.id != "first" or first.asked != 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Standing:
    """An embedder that can fail, and counts the reads of its dimension."""

    def __init__(self, name: str, failure: Exception | None = None) -> None:
        self.id = name
        self.failure = failure
        self.asked = 0
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`."""
        self.asked += 1
        assert self.may_answer.wait(10)
        if self.failure:
            raise self.failure
        return 3

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """See `Embedder.embed`."""
        if self.failure:
            raise self.failure
        return np.full((len(texts), 3), 3**-0.5, np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder.count_tokens`."""
        return [len(text) for text in texts]


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the messages to the user."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def together(ask: Callable[[], Any], count: int = 8) -> list[Any]:
    """Return the results of `ask` in `count` threads that start at the same time."""
    begin, got = threading.Barrier(count), list[Any]()

    def run() -> None:
        begin.wait()
        got.append(ask())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_base_client, "INITIAL_RETRY_DELAY", 0.01)


def test_nothing_is_requested_before_it_is_needed(httpserver: HTTPServer) -> None:
    """Making it, showing it, keeping it: no request."""
    asked = answering(httpserver, lambda texts: {"data": rows(texts)})
    either = FirstAvailable(embedder(httpserver), MiniLM())
    assert "openai:m@" in repr(either)
    assert not asked


@pytest.mark.parametrize(
    "need",
    [
        lambda either: either.id,
        lambda either: either.dimension,
        lambda either: either.failure,
        lambda either: either.embed(["a"]),
        lambda either: either.count_tokens(["a"]),
    ],
    ids=["id", "dimension", "failure", "embed", "count_tokens"],
)
@pytest.mark.parametrize("failure", [None, EmbeddingError("down")], ids=["up", "down"])
def test_the_first_use_of_any_member_chooses(need: Callable[[Any], Any], failure: Exception | None) -> None:
    """Every way in leads to the same choice, for all that is asked afterwards."""
    first = Standing("first", failure)
    either = FirstAvailable(first, Standing("second"))
    need(either)
    first.failure = None if failure else EmbeddingError("down")
    assert either.id == ("second" if failure else "first")
    assert either.failure is failure


def test_an_endpoint_that_answers_serves(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    """With its id, its dimension and its vectors, and one short text to learn that it is there."""
    asked = answering(httpserver, lambda texts: {"data": rows(texts)})
    endpoint = embedder(httpserver)
    either = FirstAvailable(endpoint, MiniLM())
    assert (either.id, either.dimension, either.failure) == (endpoint.id, 3, None)
    assert len(asked) == 1
    assert len(asked[0].get_data()) < 200
    np.testing.assert_array_equal(either.embed(["aa", "b"]), endpoint.embed(["aa", "b"]))
    assert either.count_tokens(["abcde"]) == [2]
    assert said(caplog) == []


def test_an_unreachable_endpoint_is_replaced_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """With its own id, dimension and vectors; the line says what failed and what to do."""
    either = FirstAvailable(OpenAIEmbedder("m", NOBODY, retries=0), MiniLM())
    assert (either.id, either.dimension) == (MiniLM.id, MiniLM.dimension)
    assert either.embed(["a"]).tobytes() == MiniLM().embed(["a"]).tobytes()
    assert either.count_tokens(["a cat"]) == [2]
    (line,) = said(caplog)
    assert "openai:m@127.0.0.1:1/v1 cannot be reached" in line
    assert "using the local embedding model instead; its vectors are separate" in line
    assert line.endswith("is it running?")
    assert line.count("\n") == 0


@pytest.mark.parametrize("answer", [{"data": []}, {"data": [{"index": 0, "embedding": [0.0]}]}, "no", {}])
def test_an_endpoint_of_something_else_does_not_serve(httpserver: HTTPServer, answer: object) -> None:
    """An endpoint that answers without vectors counts as unreachable."""
    answering(httpserver, lambda _: answer)
    assert FirstAvailable(embedder(httpserver), MiniLM()).id == MiniLM.id


def test_many_threads_make_one_choice(caplog: pytest.LogCaptureFixture) -> None:
    """One of them asks, the others wait for what it finds; it is said once."""
    first, second = Standing("first", EmbeddingError("down")), Standing("second")
    first.may_answer.clear()
    threading.Timer(0.1, first.may_answer.set).start()
    either = FirstAvailable(first, second)
    assert together(lambda: either.id) == ["second"] * 8
    assert first.asked == 1
    assert len(said(caplog)) == 1


def test_the_choice_stays_when_it_fails_later(caplog: pytest.LogCaptureFixture) -> None:
    """Its error is raised as it is: a vector of another model under its id would be wrong."""
    first, second = Standing("first"), Standing("second")
    either = FirstAvailable(first, second)
    either.embed(["a"])
    first.failure = EmbeddingError("gone")
    with pytest.raises(EmbeddingError, match=r"^gone$"):
        either.embed(["a"])
    assert either.id == "first"
    assert said(caplog) == []


def test_the_choice_stays_when_the_other_comes_back() -> None:
    """For the object's life its rows have one id."""
    first, second = Standing("first", EmbeddingError("down")), Standing("second")
    either = FirstAvailable(first, second)
    assert either.id == "second"
    first.failure = None
    assert either.id == "second"
    assert first.asked == 1


def test_other_errors_are_raised() -> None:
    """A wrong setting is an error, not hidden by the fallback."""
    first = Standing("first", InvalidInput("wrong"))
    either = FirstAvailable(first, Standing("second"))
    with pytest.raises(InvalidInput):
        either.id  # noqa: B018 - asking is what fails
    first.failure = None
    assert either.id == "first"


@pytest.mark.parametrize(
    ("program", "ending"), [(FORKED_WHILE_CHOOSING, "0 first"), (FORKED_AFTERWARDS, "0")], ids=["while", "after"]
)
def test_a_fork_neither_waits_nor_asks_again(program: str, ending: str) -> None:
    """The child keeps a choice; if the parent is still choosing, the child chooses itself."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert (ended.stdout.strip(), ended.stderr) == (ending, "")


def test_making_it_loads_no_heavy_library() -> None:
    """An exact hit never pays for vectors."""
    program = (
        "import sys; from harness.models.fallback_embedder import FirstAvailable as F; "
        "from harness.models.local.embedder import MiniLM; "
        "from harness.models.remote.embeddings import OpenAIEmbedder; "
        "F(OpenAIEmbedder('m', 'http://127.0.0.1:1/v1'), MiniLM()); "
        "print([m for m in ('onnxruntime', 'numpy', 'tokenizers', 'openai', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
