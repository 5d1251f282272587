"""The embedders that settings name, for everything and for conversations."""

import logging
from pathlib import Path

from harness.errors import InvalidInput
from harness.models.fallback_embedder import FirstAvailable
from harness.models.local.embedder import MiniLM
from harness.models.remote.embeddings import OpenAIEmbedder
from harness.ports import Embedder
from harness.settings import Settings, key_in

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_KEY = "OPENAI_API_KEY"
OLLAMA_URL = "http://127.0.0.1:11434/v1"
OLLAMA_MODEL = "nomic-embed-text"
SENTENCE_TRANSFORMERS = "sentence-transformers:"
"""Prefix of an `embedding_model` that names a model of that library."""


def main_embedder(settings: Settings) -> Embedder:
    """Return the embedder of everything but memories with another provider: a sentence-transformers model, the model
    behind the endpoint with MiniLM where that does not answer, or MiniLM. Offline no endpoint is asked, and
    no model is downloaded.

    Raises:
        InvalidInput: the extra that a model needs is not installed, no key where one is named, or an unusable address.
    """
    name, local = settings.embedding_model, MiniLM()
    if name is None:
        return local
    if name.startswith(SENTENCE_TRANSFORMERS):
        return _sentence_transformers(name.removeprefix(SENTENCE_TRANSFORMERS), local_only=settings.offline)
    if settings.offline:
        log.debug("offline, %s is not asked: the local model serves", name)
        return local
    endpoint = OpenAIEmbedder(
        name,
        settings.embedding_url,
        api_key=key_in(settings.embedding_key_variable),
        key_variable=settings.embedding_key_variable or "embedding_key_variable",
        timeout=settings.embedding_timeout,
    )
    return FirstAvailable(endpoint, local)


def _sentence_transformers(model: str, *, local_only: bool) -> Embedder:
    """Return the embedder of a name or a folder. The library is looked for here and loaded with the first text: a later
    error is only logged by searches.
    """
    from importlib.util import find_spec

    from harness.models.local.sentence_transformers import NOT_INSTALLED, SentenceTransformers

    if not model:
        raise InvalidInput("which model? set embedding_model to sentence-transformers:NAME_OR_PATH")
    if find_spec("sentence_transformers") is None:
        raise InvalidInput(NOT_INSTALLED)
    folder = Path(model).expanduser()
    return SentenceTransformers(folder if folder.is_dir() else model, local_only=local_only)


def memory_embedder(settings: Settings) -> Embedder:
    """Return the embedder of the provider that `vector_store` names: MiniLM for `local`, and offline; else the model
    behind the provider's endpoint, with MiniLM where that does not answer.

    Raises:
        InvalidInput: no key where one is needed, an unusable address, or a model that a provider does not have.
    """
    block, local = settings.vector_store, MiniLM()
    if block.embedding_provider == "local":
        if block.embedding_model is not None:
            raise InvalidInput("vector_store.embedding_model is for openai and ollama; the provider local has its own")
        return local
    if settings.offline:
        log.debug("offline, %s is not asked: the local model serves memories", block.embedding_provider)
        return local
    openai = block.embedding_provider == "openai"
    variable = block.embedding_key_variable or (OPENAI_KEY if openai and block.embedding_url is None else None)
    endpoint = OpenAIEmbedder(
        block.embedding_model or (OPENAI_MODEL if openai else OLLAMA_MODEL),
        block.embedding_url or (OPENAI_URL if openai else OLLAMA_URL),
        dimension=block.embedding_dimensions,
        api_key=key_in(variable),
        key_variable=variable or "vector_store.embedding_key_variable",
        timeout=settings.embedding_timeout,
    )
    return FirstAvailable(endpoint, local)
