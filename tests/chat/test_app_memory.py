"""The memory as the settings make it: its store, its embedder, and that a start reads nothing of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_httpserver import HTTPServer

from harness.app import DATABASE, App
from harness.errors import AccessDenied, InvalidInput
from harness.identity import Identity, Tokens
from harness.models.local.embedder import MiniLM
from harness.settings import Settings, VectorStoreSettings
from harness.storage.sqlite.store import SqliteStore
from tests.chat.said import said


def settings(folder: Path, **block: object) -> Settings:
    """Return settings with this block, in a folder of their own."""
    return Settings(data_dir=folder, vector_store=VectorStoreSettings(**block))  # type: ignore[arg-type]


def test_a_start_opens_and_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is remembered: the store is opened by the first use, and not before."""
    opened: list[Path] = []
    original = SqliteStore.__init__

    def noted(store: SqliteStore, path: Path, **options: object) -> None:
        opened.append(path)
        original(store, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "__init__", noted)
    with App(settings(tmp_path)) as app:
        assert app.remembering.writer.retry_journal() == 0
        assert opened == []
        app.remembering.writer.remember(said("e1", "hello"))
        assert opened == [tmp_path / DATABASE]


def test_what_is_remembered_is_there_in_the_next_session(tmp_path: Path) -> None:
    """In the store of everything else, and its stats say where that is."""
    with App(settings(tmp_path)) as app:
        app.remembering.writer.remember(said("e1", "my ferret is called Otto"))
    with App(settings(tmp_path)) as app:
        (match,) = app.remembering.search.context_for("what is the name of my ferret?")
        assert match.remembered.id == "e1"
        stats = app.remembering.listing.stats()
        assert stats.store_path == str(tmp_path / DATABASE)
        assert (stats.embedding_model, stats.embedding_dimension) == (MiniLM.id, 384)


def test_another_file_may_hold_it(tmp_path: Path) -> None:
    """`vector_store.path`: what is there is not in the store of everything else."""
    file = tmp_path / "elsewhere" / "memory.db"
    file.parent.mkdir()
    with App(settings(tmp_path, path=file)) as app:
        app.remembering.writer.remember(said("e1", "hello"))
        assert app.remembering.listing.stats().store_path == str(file)
    assert file.exists()
    with App(settings(tmp_path)) as app:
        assert app.remembering.listing.stats().total_exchanges == 0


def test_disabled_says_why(tmp_path: Path) -> None:
    """With the setting that says so."""
    with App(settings(tmp_path, enabled=False)) as app, pytest.raises(InvalidInput) as caught:
        _ = app.remembering
    assert "vector_store.enabled is false" in str(caught.value)


def test_documents_lie_in_the_data_directory(tmp_path: Path) -> None:
    """Unless the settings name another folder."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "pets.md").write_text("Otto is a ferret")
    with App(settings(tmp_path)) as app:
        assert app.remembering.writer.add_document("docs:pets").chunks == 1
    with (
        App(settings(tmp_path, documents_folder=tmp_path / "other")) as app,
        pytest.raises(InvalidInput, match="other"),
    ):
        app.remembering.writer.add_document("docs:pets")


@pytest.mark.parametrize("path", [None, "memory.db"])
def test_a_reader_remembers_nothing(tmp_path: Path, path: str | None) -> None:
    """A token that may only read reads its own tenant's memory, in whatever file it is."""
    chosen = settings(tmp_path, path=None if path is None else tmp_path / path)
    with App(chosen, identity=Identity("lab", "ada", "writer", "1" * 16)) as app:
        app.remembering.writer.remember(said("e1", "ferret otto"))
    with App(chosen, identity=Identity("lab", "bob", "reader", "2" * 16)) as app:
        assert [each.remembered.id for each in app.remembering.search.query("ferret otto")] == ["e1"]
        with pytest.raises(AccessDenied):
            app.remembering.writer.remember(said("e2", "hello"))
    with App(chosen) as app:
        assert app.remembering.listing.stats().total_exchanges == 0


def test_a_token_in_the_settings_says_whose_memory_it_is(tmp_path: Path) -> None:
    """Its tenant's."""
    store = SqliteStore(tmp_path / DATABASE)
    token = Tokens(store).create("lab", "ada", "writer").text
    store.close()
    with App(Settings(data_dir=tmp_path, token=token)) as app:
        app.remembering.writer.remember(said("e1", "hello"))
    with App(Settings(data_dir=tmp_path)) as app:
        assert app.remembering.listing.stats().total_exchanges == 0


# --- the embedder


def test_without_a_provider_the_embedder_is_that_of_everything_else(tmp_path: Path) -> None:
    """One model in memory, not two."""
    with App(settings(tmp_path)) as app:
        assert app.memory_embedder is app.embedder


def test_the_local_provider_is_minilm(tmp_path: Path) -> None:
    """And it has no other model."""
    with App(settings(tmp_path, embedding_provider="local")) as app:
        assert app.memory_embedder.id == MiniLM.id
    with (
        App(settings(tmp_path, embedding_provider="local", embedding_model="x")) as app,
        pytest.raises(InvalidInput, match="embedding_model"),
    ):
        _ = app.memory_embedder


def test_ollama_makes_the_vectors_where_it_answers(tmp_path: Path, httpserver: HTTPServer) -> None:
    """At its endpoint, by the model that is named."""
    httpserver.expect_request("/v1/embeddings").respond_with_json(
        {"data": [{"index": 0, "embedding": [0.6, 0.8]}], "object": "list", "model": "nomic"}
    )
    block = {"embedding_provider": "ollama", "embedding_model": "nomic", "embedding_url": httpserver.url_for("/v1")}
    with App(settings(tmp_path, **block)) as app:
        app.remembering.writer.remember(said("e1", "hello"))
        stats = app.remembering.listing.stats()
    assert stats.embedding_model.startswith("openai:nomic@")
    assert (stats.embedding_dimension, stats.not_embedded) == (2, 0)


@pytest.mark.slow
def test_where_the_provider_does_not_answer_the_local_model_serves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said, once, and nothing is lost."""
    block = {"embedding_provider": "ollama", "embedding_url": "http://127.0.0.1:9/v1"}
    with App(settings(tmp_path, **block)) as app:
        app.remembering.writer.remember(said("e1", "hello"))
        assert app.remembering.listing.stats().embedding_model == MiniLM.id
    assert caplog.text.count("the local model serves instead") == 1


def test_openai_needs_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that is to hold it is named."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (
        App(settings(tmp_path, embedding_provider="openai")) as app,
        pytest.raises(InvalidInput, match="OPENAI_API_KEY"),
    ):
        _ = app.remembering


@pytest.mark.parametrize("backend", ["sqlite", "chroma"])
def test_a_backend_that_the_store_is_not_is_refused(tmp_path: Path, backend: str) -> None:
    """Memories of a PostgreSQL store are not silently elsewhere; both backends are a SQLite file."""
    team = replace(settings(tmp_path, backend=backend), store="postgresql://ada@127.0.0.1:1/lab")
    with (
        App(team) as app,
        pytest.raises(InvalidInput, match=f"backend is {backend}, but memories would go"),
    ):
        _ = app.remembering
    file = replace(team, vector_store=VectorStoreSettings(backend=backend, path=tmp_path / "own.db"))  # type: ignore[arg-type]
    with App(file) as app:
        assert app.remembering.settings.path == tmp_path / "own.db"
    with App(settings(tmp_path, backend=backend)) as app:
        app.remembering.writer.remember(said("e1", "hello"))
        assert app.remembering.listing.stats().store_path == str(tmp_path / DATABASE)
