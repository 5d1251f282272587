"""Fixtures for every test: nothing of the developer's own settings or data is ever read or written."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

import search_cache
from harness.models.local import multilingual
from harness.models.local.embedder import MiniLM
from harness.ports import Store
from harness.storage.sqlite import connections
from harness.storage.sqlite.store import SqliteStore
from tests.cli.program import Program
from tests.fakes import FakeClock, MemoryStore, WordEmbedder
from tests.models.endpoint import Endpoint

ROOT = Path(__file__).parents[1]

hypothesis_settings.register_profile("tests", deadline=None, max_examples=30)  # timings are measured in benchmarks/
hypothesis_settings.register_profile("thorough", deadline=None, max_examples=300)  # --hypothesis-profile=thorough
hypothesis_settings.load_profile("tests")


def pytest_configure() -> None:
    """Keep the compiled tests, whatever the environment says: compiling all takes each worker 20 seconds."""
    sys.dont_write_bytecode = False


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of PostgreSQL where they are not asked for: they import what `make test` does not install."""
    wanted = "not postgres" not in config.option.markexpr
    return None if wanted or collection_path.name != "postgres" else True


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Give each test a new data directory and a (missing) configuration directory."""
    for variable in list(os.environ):
        if variable.startswith("HARNESS_") or variable == "RESEARCH_CACHE":
            monkeypatch.delenv(variable)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # each process of a test would compile the program
    monkeypatch.setenv("HARNESS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HARNESS_CORPUS_MEANING", "0")  # embedding a corpus takes half a minute
    monkeypatch.setenv("HARNESS_READING", "0")  # reading takes half a second a research; tests of it switch it on
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(multilingual, "is_installed", lambda: False)  # an extra; tests of it switch it on
    yield
    search_cache.close()
    for each in list(connections._all):  # Python 3.13 warns of connections that are not closed
        each.reopen()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this working tree."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment in which the wheel is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    installed = folder / "bin" / "python"
    subprocess.run([installed, "-m", "pip", "install", "-q", "--no-deps", wheel], check=True)
    return installed


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program `harness`, in this process."""
    return Program(capsys, monkeypatch)


@pytest.fixture
def clock() -> FakeClock:
    """A fake clock."""
    return FakeClock()


@pytest.fixture
def embedder() -> WordEmbedder:
    """Return an embedder with one token per word."""
    return WordEmbedder()


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    """The real embedder, loaded once."""
    return MiniLM()


@pytest.fixture
def closed_port() -> int:
    """Return a local port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that does as told."""
    serving = Endpoint()
    yield serving
    serving.stop()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store: one in memory, and one in a file."""
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "harness.db")
    yield opened
    opened.close()
