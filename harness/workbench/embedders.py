"""The embedders that settings name for conversations."""

import logging

from harness.embedders.available import FirstAvailable
from harness.embedders.minilm import MiniLM
from harness.embedders.openai_compatible import OpenAIEmbedder
from harness.errors import InvalidInput
from harness.ports import Embedder
from harness.settings import Settings, key_in

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_KEY = "OPENAI_API_KEY"
OLLAMA_URL = "http://127.0.0.1:11434/v1"
OLLAMA_MODEL = "nomic-embed-text"


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
