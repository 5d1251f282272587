"""Vectors from an OpenAI-compatible endpoint, or from the local model if it is unreachable; never mixed."""

import base64
import hashlib
import json
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from openai import _base_client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import search_cache
from harness.core.text import stems
from harness.models.local.embedder import MiniLM
from tests.cli.program import Program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KEY = "sk-very-secret-0123456789"
RESULTS = [{"title": "Caches", "href": "https://example.org/caches", "body": "Near is not equal."}]
STORED, ASKED = "semantic cache false positives", "false positives in semantic caches"
OTHER, OTHERWISE = "vector index recall", "recall of a vector index"
QUESTION = "How do retries use exponential backoff?"
WARNING = "using the local embedding model instead; its vectors are separate"


def vector(text: str) -> np.ndarray:
    """A vector of the text alone: the sum of its stems', so that texts are as similar as the words they share."""
    seeds = (list(hashlib.sha256(stem.encode()).digest()) for stem in sorted(stems(text)) or ["nothing"])
    return sum(np.random.default_rng(seed).standard_normal(256) for seed in seeds).astype("<f4")


class QuickServer(HTTPServer):
    """A server that stops at once; the library's checks only twice a second."""

    def thread_target(self) -> None:
        """See `HTTPServer`."""
        assert self.server is not None
        self.server.serve_forever(0.01)


class Endpoint:
    """An endpoint on loopback that can stop and restart, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.refusal: Response | None = None
        self._server = QuickServer()
        self.up()
        self.url: str = self._server.url_for("/v1")

    @property
    def id(self) -> str:
        """The name that its vectors go by."""
        return f"openai:stems@{self.url.partition('://')[2]}"

    def up(self) -> None:
        """Serve, at the same address as before."""
        self._server.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._answer)
        self._server.start()

    def down(self) -> None:
        """Stop serving; nothing listens at the address."""
        if self._server.is_running():
            self._server.stop()

    def _answer(self, request: Request) -> Response:
        self.asked.append(request)
        if self.refusal is not None:
            return self.refusal
        encoded = [base64.b64encode(vector(text)).decode() for text in json.loads(request.get_data())["input"]]
        data = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(encoded)]
        return Response(json.dumps({"object": "list", "data": data}), content_type="application/json")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint that the settings name; the default search engine is out of reach."""
    monkeypatch.setattr(_base_client, "INITIAL_RETRY_DELAY", 0.01)
    serving = Endpoint()
    monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", "stems")
    monkeypatch.setenv("HARNESS_EMBEDDING_URL", serving.url)
    monkeypatch.setenv("HARNESS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HARNESS_RATE_LIMIT_RETRIES", "0")
    yield serving
    serving.down()


def put(*queries: str) -> None:
    """Cache results for each of the queries, as a script does."""
    for query in queries:
        assert search_cache.put(query, RESULTS)
    search_cache.close()


def embedders(data: Path) -> dict[str, str | None]:
    """Return the embedder of each cached search."""
    with closing(sqlite3.connect(data / "harness.db")) as connection:
        return dict(connection.execute("SELECT query, embedder FROM search_cache"))


def no_socket(*_: object, **__: object) -> None:
    """Replace `socket.socket`."""
    raise AssertionError("a socket was opened")


# --- the endpoint serves


def test_its_vectors_find_by_meaning(harness: Program, endpoint: Endpoint, tmp_path: Path) -> None:
    """A row has its name, and another search with the same meaning is answered by that row; nothing is said."""
    put(STORED)
    assert embedders(tmp_path / "data") == {STORED: endpoint.id}
    ended = harness("search", ASKED, "--json", "-v")
    assert (ended.told["found"], ended.told["matched_query"]) == ("semantic", STORED)
    assert ended.told["similarity"] == pytest.approx(1.0)
    assert "warning" not in ended.err


def test_an_exact_hit_sends_no_request(harness: Program, endpoint: Endpoint) -> None:
    """Neither from the command line nor from a script; nor do the commands that show and clear the cache."""
    put(STORED)
    endpoint.asked.clear()
    assert harness("search", STORED, "--json").told["found"] == "exact"
    assert search_cache.get(STORED) == RESULTS
    search_cache.close()
    for command in (("cache", "verify"), ("cache", "expired"), ("cache", "runs"), ("cache", "clear", "--dry-run")):
        assert harness(*command).code == 0
    assert not endpoint.asked


@pytest.mark.parametrize(
    "program",
    [
        f"import search_cache as s; assert s.cached_search({STORED!r}, None)",
        "import search_cache, sys; sys.argv = ['search_cache', '--json']; search_cache.main()",
    ],
    ids=["exact hit", "maintenance"],
)
def test_an_exact_hit_imports_nothing_heavy(endpoint: Endpoint, program: str) -> None:
    """The client library takes a second to import."""
    put(STORED)
    endpoint.asked.clear()
    heavy = {"openai", "httpx2", "numpy", "onnxruntime"}
    check = f"import atexit, sys; atexit.register(lambda: print('IMPORTED', *sorted(set(sys.modules) & {heavy!r})))"
    command = [sys.executable, "-c", f"{check}\n{program}"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.splitlines()[-1].strip() == "IMPORTED"
    assert not endpoint.asked


def test_evidence_is_ranked_by_its_vectors(harness: Program, endpoint: Endpoint, notes: str) -> None:
    """A research sends it the sentences that may be quoted."""
    assert harness("research", QUESTION, "-e", notes).code == 0
    assert any(b"stop after five failed attempts" in request.get_data() for request in endpoint.asked)


# --- it is out of reach


def test_out_of_reach_the_local_model_serves(harness: Program, endpoint: Endpoint, tmp_path: Path) -> None:
    """Said once in a run, however many texts the run embeds; rows have the local model's name."""
    endpoint.down()
    put(STORED)
    assert embedders(tmp_path / "data") == {STORED: MiniLM.id}
    ended = harness("search", ASKED, "--json")
    assert (ended.code, ended.told["found"]) == (0, "semantic")
    warnings = [line for line in ended.err.splitlines() if line.startswith("warning: ")]
    (warning,) = [line for line in warnings if "using the local embedding model instead" in line]
    assert WARNING in warning
    assert f"{endpoint.id} cannot be reached" in warning


def test_a_research_says_it_once(harness: Program, endpoint: Endpoint, notes: str) -> None:
    """Though searches, meaning and evidence all need vectors, in several threads."""
    endpoint.down()
    ended = harness("research", QUESTION, "-e", notes)
    assert ended.code == 0
    assert ended.err.count(WARNING) == 1


def test_back_again_its_own_vectors_serve_and_no_others(harness: Program, endpoint: Endpoint, tmp_path: Path) -> None:
    """Rows that the local model embedded are not candidates until they are embedded again."""
    put(STORED)
    endpoint.down()
    put(OTHER)
    assert embedders(tmp_path / "data") == {STORED: endpoint.id, OTHER: MiniLM.id}
    assert harness("search", OTHERWISE, "--json").told["matched_query"] == OTHER
    assert harness("cache", "explain", ASKED, "--json").told["decision"] == "miss"
    endpoint.up()
    assert harness("search", ASKED, "--json").told["matched_query"] == STORED
    explained = harness("cache", "explain", OTHERWISE, "--json").told
    assert [each["query"] for each in explained["candidates"]] in ([], [STORED])
    assert explained["decision"] == "miss"
    assert harness("cache", "stats", "--json").tables["search_cache"]["unembedded"] == 1
    assert harness("cache", "reindex", "--json").told["embedded"] == 1
    assert embedders(tmp_path / "data") == {STORED: endpoint.id, OTHER: endpoint.id}
    assert harness("search", OTHERWISE, "--json").told["matched_query"] == OTHER


def test_doctor_names_the_embedder_in_use(harness: Program, endpoint: Endpoint) -> None:
    """The endpoint, or why it does not; and that the acceptance rule was made for other vectors."""

    def findings() -> dict[str, dict[str, str]]:
        return {each["name"]: each for each in harness("doctor", "--json").told["findings"]}

    found = findings()
    assert found["embedder"] == {"name": "embedder", "state": "ok", "told": endpoint.id}
    assert found["meaning"]["state"] == "weak"
    assert "harness cache calibrate" in found["meaning"]["told"]
    endpoint.down()
    found = findings()
    assert found["embedder"]["state"] == "weak"
    assert found["embedder"]["told"].startswith(
        f"{MiniLM.id} is used instead of stems: {endpoint.id} cannot be reached"
    )
    assert found["meaning"]["state"] == "ok"


def test_doctor_sends_no_request_offline(harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so."""
    monkeypatch.setenv("HARNESS_OFFLINE", "true")
    assert f"embedder: {MiniLM.id} (offline: stems is not used)" in harness("doctor").out
    assert not endpoint.asked


# --- no request is sent


def test_offline_sends_no_request(harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket is opened; the local model is used, which only `--debug` shows."""
    put(STORED)
    endpoint.asked.clear()
    monkeypatch.setattr(socket, "socket", no_socket)
    assert harness("search", STORED, "--offline", "--json").told["found"] == "exact"
    assert "'unheard of'" in harness("search", "unheard of", "--offline").one_line_error(6)
    told = "offline, stems is not asked: the local model serves"
    assert told not in harness("search", STORED, "--offline", "-v").err
    assert f"debug: {told}" in harness("search", STORED, "--offline", "--debug").err
    assert not endpoint.asked


def test_a_replay_sends_no_request(
    harness: Program, endpoint: Endpoint, notes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers of a run and the results from the endpoint's vectors give the same bytes."""
    first = harness("research", QUESTION, "-e", notes)
    assert (first.code, WARNING in first.err) == (0, False)
    (run,) = harness("cache", "runs", "--json").told["items"]
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", run["id"]).code == 0
    endpoint.asked.clear()
    monkeypatch.setattr(socket, "socket", no_socket)
    for setting in ("stems", ""):  # the setting of the replay has no effect
        monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", setting)
        replayed = harness("research", QUESTION, "--replay", file, "--data-dir", tmp_path / "empty")
        assert (replayed.code, replayed.out) == (0, first.out)
        assert WARNING not in replayed.err
    assert "monad" in harness("research", "what is a monad", "--replay", file).one_line_error(6)
    assert not endpoint.asked


# --- the key


def test_the_key_goes_to_the_endpoint_and_is_never_shown(
    harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the settings, nor in what the endpoint says of it, nor for `--debug`."""
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("HARNESS_EMBEDDING_KEY_VARIABLE", "MY_KEY")
    explain = ("cache", "explain", ASKED, "--debug")
    shown = [harness("config"), harness("config", "--json"), harness(*explain)]
    assert endpoint.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    for status in (401, 400):
        endpoint.refusal = Response(json.dumps({"error": {"message": f"no such key: {KEY}"}}), status)
        shown.append(harness(*explain))
    shown.append(harness("doctor", "--json"))
    assert "MY_KEY" in shown[0].out
    assert "refuses the key; check MY_KEY" in shown[3].err
    for ended in shown:
        assert KEY not in ended.out + ended.err


def test_a_variable_without_a_key_is_wrong_usage(
    harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named; doctor blames only what needs the embedder."""
    monkeypatch.setenv("HARNESS_EMBEDDING_KEY_VARIABLE", "MY_KEY")
    assert "variable MY_KEY holds no key" in harness("search", ASKED).one_line_error(2)
    broken = [each["name"] for each in harness("doctor", "--json").told["findings"] if each["state"] == "broken"]
    assert broken == ["embedder", "meaning", "languages"]
    assert harness("search", ASKED, "--offline").code == 6


def test_a_key_that_is_wanted_is_asked_for_by_the_settings_name(harness: Program, endpoint: Endpoint) -> None:
    """If no variable is set, the message names the setting for it."""
    endpoint.refusal = Response("who are you", 401)
    assert "needs a key; set embedding_key_variable" in harness("search", ASKED).err


@pytest.mark.parametrize(
    ("name", "value"),
    [("URL", "ftp://host/v1"), ("URL", "http://user:secret@host/v1"), ("TIMEOUT", "0"), ("TIMEOUT", "nan")],
)
def test_an_unusable_setting_is_wrong_usage(
    harness: Program, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """One line, and what it should be."""
    monkeypatch.setenv(f"HARNESS_EMBEDDING_{name}", value)
    assert "secret" not in harness("search", ASKED).one_line_error(2)
