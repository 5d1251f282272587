"""The memory built from settings: its store and embedder, and a start that reads nothing."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_httpserver import HTTPServer

from harness.app import App
from harness.errors import AccessDenied, InvalidInput
from harness.identity import Identity, Tokens
from harness.models.local.embedder import MiniLM
from harness.settings import Settings, VectorStoreSettings
from harness.storage.opening import DATABASE
from harness.storage.sqlite.store import SqliteStore
from tests.chat.said import said


def settings(folder: Path, **block: object) -> Settings:
    """Return settings with this block, in a temporary folder."""
    return Settings(data_dir=folder, vector_store=VectorStoreSettings(**block))  # type: ignore[arg-type]


def test_a_start_opens_and_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is opened by the first use, however large it is."""
    opened: list[Path] = []
    original = SqliteStore.__init__

    def noted(store: SqliteStore, path: Path, **options: object) -> None:
        opened.append(path)
        original(store, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "__init__", noted)
    with App(settings(tmp_path)) as app:
        assert app.chat_memory.writer.retry_journal() == 0
        assert opened == []
        app.chat_memory.writer.remember(said("e1", "hello"))
        assert opened == [tmp_path / DATABASE]


def test_memories_persist_to_the_next_session(tmp_path: Path) -> None:
    """They are in the common store, and the stats name its path."""
    with App(settings(tmp_path)) as app:
        app.chat_memory.writer.remember(said("e1", "my ferret is called Otto"))
    with App(settings(tmp_path)) as app:
        (match,) = app.chat_memory.search.context_for("what is the name of my ferret?")
        assert match.remembered.id == "e1"
        stats = app.chat_memory.listing.stats()
        assert stats.store_path == str(tmp_path / DATABASE)
        assert (stats.embedding_model, stats.embedding_dimension) == (MiniLM.id, 384)


def test_memories_can_have_a_separate_file(tmp_path: Path) -> None:
    """With `vector_store.path`, they are not in the common store."""
    file = tmp_path / "elsewhere" / "memory.db"
    file.parent.mkdir()
    with App(settings(tmp_path, path=file)) as app:
        app.chat_memory.writer.remember(said("e1", "hello"))
        assert app.chat_memory.listing.stats().store_path == str(file)
    assert file.exists()
    with App(settings(tmp_path)) as app:
        assert app.chat_memory.listing.stats().total_exchanges == 0


def test_a_disabled_memory_says_why(tmp_path: Path) -> None:
    """The message names the setting."""
    with App(settings(tmp_path, enabled=False)) as app, pytest.raises(InvalidInput) as caught:
        _ = app.chat_memory
    assert "vector_store.enabled is false" in str(caught.value)


def test_documents_are_in_the_data_directory(tmp_path: Path) -> None:
    """Unless the settings name another folder."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "pets.md").write_text("Otto is a ferret")
    with App(settings(tmp_path)) as app:
        assert app.chat_memory.writer.add_document("docs:pets").chunks == 1
    with (
        App(settings(tmp_path, documents_folder=tmp_path / "other")) as app,
        pytest.raises(InvalidInput, match="other"),
    ):
        app.chat_memory.writer.add_document("docs:pets")


@pytest.mark.parametrize("path", [None, "memory.db"])
def test_a_reader_stores_nothing(tmp_path: Path, path: str | None) -> None:
    """A read-only token reads its tenant's memory, in any file."""
    chosen = settings(tmp_path, path=None if path is None else tmp_path / path)
    with App(chosen, identity=Identity("lab", "ada", "writer", "1" * 16)) as app:
        app.chat_memory.writer.remember(said("e1", "ferret otto"))
    with App(chosen, identity=Identity("lab", "bob", "reader", "2" * 16)) as app:
        assert [each.remembered.id for each in app.chat_memory.search.query("ferret otto")] == ["e1"]
        with pytest.raises(AccessDenied):
            app.chat_memory.writer.remember(said("e2", "hello"))
    with App(chosen) as app:
        assert app.chat_memory.listing.stats().total_exchanges == 0


def test_a_token_in_the_settings_selects_the_tenant(tmp_path: Path) -> None:
    """The memory is that of the token's tenant."""
    store = SqliteStore(tmp_path / DATABASE)
    token = Tokens(store).create("lab", "ada", "writer").text
    store.close()
    with App(Settings(data_dir=tmp_path, token=token)) as app:
        app.chat_memory.writer.remember(said("e1", "hello"))
    with App(Settings(data_dir=tmp_path)) as app:
        assert app.chat_memory.listing.stats().total_exchanges == 0


# --- the embedder


def test_without_a_provider_the_common_embedder_is_used(tmp_path: Path) -> None:
    """One model in memory, not two."""
    with App(settings(tmp_path)) as app:
        assert app.models.memory_embedder is app.models.embedder


def test_the_local_provider_is_minilm(tmp_path: Path) -> None:
    """It has no other model."""
    with App(settings(tmp_path, embedding_provider="local")) as app:
        assert app.models.memory_embedder.id == MiniLM.id
    with (
        App(settings(tmp_path, embedding_provider="local", embedding_model="x")) as app,
        pytest.raises(InvalidInput, match="embedding_model"),
    ):
        _ = app.models.memory_embedder


def test_ollama_embeds_if_it_answers(tmp_path: Path, httpserver: HTTPServer) -> None:
    """At its endpoint, with the named model."""
    httpserver.expect_request("/v1/embeddings").respond_with_json(
        {"data": [{"index": 0, "embedding": [0.6, 0.8]}], "object": "list", "model": "nomic"}
    )
    block = {"embedding_provider": "ollama", "embedding_model": "nomic", "embedding_url": httpserver.url_for("/v1")}
    with App(settings(tmp_path, **block)) as app:
        app.chat_memory.writer.remember(said("e1", "hello"))
        stats = app.chat_memory.listing.stats()
    assert stats.embedding_model.startswith("openai:nomic@")
    assert (stats.embedding_dimension, stats.not_embedded) == (2, 0)


@pytest.mark.slow
def test_the_local_model_replaces_a_provider_that_does_not_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning says so, and nothing is lost."""
    block = {"embedding_provider": "ollama", "embedding_url": "http://127.0.0.1:9/v1"}
    with App(settings(tmp_path, **block)) as app:
        app.chat_memory.writer.remember(said("e1", "hello"))
        assert app.chat_memory.listing.stats().embedding_model == MiniLM.id
    assert caplog.text.count("using the local embedding model instead") == 1


def test_openai_needs_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable for the key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (
        App(settings(tmp_path, embedding_provider="openai")) as app,
        pytest.raises(InvalidInput, match="OPENAI_API_KEY"),
    ):
        _ = app.chat_memory


@pytest.mark.parametrize("backend", ["sqlite", "chroma"])
def test_a_backend_other_than_the_store_is_refused(tmp_path: Path, backend: str) -> None:
    """Memories of a PostgreSQL store never go elsewhere silently; both backends are a SQLite file."""
    team = replace(settings(tmp_path, backend=backend), store="postgresql://ada@127.0.0.1:1/lab")
    with (
        App(team) as app,
        pytest.raises(InvalidInput, match=f"backend is {backend}, but memories would go"),
    ):
        _ = app.chat_memory
    file = replace(team, vector_store=VectorStoreSettings(backend=backend, path=tmp_path / "own.db"))  # type: ignore[arg-type]
    with App(file) as app:
        assert app.chat_memory.settings.path == tmp_path / "own.db"
    with App(settings(tmp_path, backend=backend)) as app:
        app.chat_memory.writer.remember(said("e1", "hello"))
        assert app.chat_memory.listing.stats().store_path == str(tmp_path / DATABASE)
