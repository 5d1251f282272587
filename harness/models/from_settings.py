"""The models that settings name."""

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.foreign_text import foreign_language
from harness.core.multilingual_vectors import LANGUAGES
from harness.errors import InvalidInput
from harness.models.fallback_embedder import FirstAvailable
from harness.models.local import multilingual
from harness.models.local.embedder import MiniLM
from harness.models.local.multilingual import Multilingual, UniversalEncoder
from harness.models.remote.forwarding import ForwardingEndpoint
from harness.ports import Embedder, LanguageDetector, LanguageModel, Reader, Verifier
from harness.settings import Settings, key_in
from harness.settings.extras import install_message, require_extra
from harness.storage.forks import cached_property

if TYPE_CHECKING:
    from harness.storage.opening import Replay

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_KEY = "OPENAI_API_KEY"
OLLAMA_URL = "http://127.0.0.1:11434/v1"
OLLAMA_MODEL = "nomic-embed-text"
SENTENCE_TRANSFORMERS = "sentence-transformers:"
"""Prefix of an `embedding_model` that names a model of that library."""
ENGLISH, MULTILINGUAL = "local:english", "local:multilingual"
"""Values of `embedding_model` that choose a local model."""


class Models:
    """The models that one app uses: each made at its first use, once. `base` has the models of other settings; those
    that both settings name are shared with it.
    """

    def __init__(self, settings: Settings, replay: "Replay | None" = None, base: "Models | None" = None) -> None:
        self.settings = settings
        self._replay = replay
        self._base = base

    def with_settings(self, settings: Settings) -> "Models":
        """Return the models for other settings."""
        return self if settings is self.settings else Models(settings, self._replay, self)

    def _sharing(self, *prefixes: str) -> "Models | None":
        """Return `base` if all settings whose names start with one of `prefixes` are the same there."""
        if self._base is None:
            return None
        mine, other = self.settings, self._base.settings
        names = (name for name in mine.__struct_fields__ if name.startswith(prefixes))
        return self._base if all(getattr(mine, name) == getattr(other, name) for name in names) else None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that the settings name (see `main_embedder`); it loads its weights at the first text. A replay
        uses the name of the embedder that made its vectors, if that is not a local one.

        Raises:
            InvalidInput: see `main_embedder`.
        """
        if (base := self._sharing("embedding_", "offline")) is not None:
            return base.embedder
        if self._replay is None:
            return main_embedder(self.settings)
        from harness.models.recorded_embedder import RecordedEmbedder

        name = self._replay.embedder or MiniLM.id
        local: dict[str, Embedder] = {MiniLM.id: MiniLM()}
        if multilingual.is_installed():
            local |= {Multilingual.id: Multilingual(), UniversalEncoder.id: UniversalEncoder()}
        return local.get(name) or RecordedEmbedder(name)

    def embedder_for(self, question: str) -> Embedder:
        """Return the embedder of one question and the texts that may answer it, whose vectors no other question needs:
        `embedder`, unless that one would compare a question in another language with no text in English.
        """
        self.check_language(question)
        if self._replay is None and isinstance(self.embedder, Multilingual) and foreign_language(question) in LANGUAGES:
            return UniversalEncoder()
        return self.embedder

    def check_language(self, question: str) -> None:
        """Log a warning, once per process, if the question's language is one that only the extra `[multilingual]`
        knows, and the extra is not installed.
        """
        if self.settings.embedding_model is None and self._replay is None and foreign_language(question) in LANGUAGES:
            _warn_of_extra()

    @cached_property
    def memory_embedder(self) -> Embedder:
        """The embedder of the chat memory: that of `vector_store.embedding_provider` if it answers, else the local one;
        without that setting, `embedder`.

        Raises:
            InvalidInput: see `memory_embedder`.
        """
        if self._base is not None:
            return self._base.memory_embedder
        if self._replay is not None or self.settings.vector_store.embedding_provider is None:
            return self.embedder
        return memory_embedder(self.settings)

    @property
    def verifier(self) -> Verifier | None:
        """The model that reads two questions before one gets the other's answer; `None` if it is switched off."""
        if not self.settings.verifier:
            return None
        from harness.models.local.cross_encoder import MiniLMVerifier

        return MiniLMVerifier()

    @property
    def reader(self) -> Reader:
        """The model that reads texts for a question; a replay uses the recorded thresholds."""
        from harness.models.local.reader import MiniLMReader

        run = None if self._replay is None else self._replay.run
        return MiniLMReader(calibration_file(self.settings), None if run is None else run.calibration)

    @property
    def language_detector(self) -> LanguageDetector:
        """The model that finds the language of a text."""
        from harness.models.local.language_detector import CompactLanguageDetector

        return CompactLanguageDetector()

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The language model, if one is set; for a replay, the recorded one.

        Raises:
            InvalidInput: the variable for its key is empty or missing.
        """
        if (base := self._sharing("model")) is not None:
            return base.language_model
        settings = self.settings
        if self._replay is not None and (run := self._replay.run) is not None:
            from harness.storage.recorded import RecordedModel

            recorded = run.model
            return None if recorded is None else RecordedModel(recorded.name, recorded.endpoint, recorded.parameters)
        if settings.model is None:
            return None
        from harness.models.remote.chat_completions import CompletionSettings, OpenAICompatible

        return OpenAICompatible(
            settings.model,
            settings.model_url,
            CompletionSettings(
                temperature=settings.model_temperature,
                max_tokens=settings.model_max_tokens,
                timeout=settings.model_timeout,
                total_timeout=settings.model_total_timeout,
                max_wait=settings.model_wait,
            ),
            api_key=key_in(settings.model_key_variable),
            key_variable=settings.model_key_variable or "OPENAI_API_KEY",
        )

    @cached_property
    def chat_endpoint(self) -> ForwardingEndpoint:
        """The endpoint of the language model, for requests of other programs.

        Raises:
            InvalidInput: the variable for its key is empty or missing, or `model_url` is not usable.
        """
        settings = self.settings
        times = (settings.model_timeout, settings.model_total_timeout)
        return _forwarding(settings.model_url, settings.model_key_variable, "model_key_variable", times)

    @cached_property
    def embedding_endpoint(self) -> ForwardingEndpoint:
        """The endpoint of the embedding model, for requests of other programs.

        Raises:
            InvalidInput: the variable for its key is empty or missing, or `embedding_url` is not usable.
        """
        settings = self.settings
        times = (settings.embedding_timeout, settings.embedding_timeout)
        return _forwarding(settings.embedding_url, settings.embedding_key_variable, "embedding_key_variable", times)


def _forwarding(url: str, key_variable: str | None, setting: str, times: tuple[float, float]) -> ForwardingEndpoint:
    """Return an endpoint for requests of other programs; `setting` is named where its key is missing, `times` are the
    seconds for a response to begin and to end.
    """
    timeout, total = times
    return ForwardingEndpoint(
        url, api_key=key_in(key_variable), key_variable=key_variable or setting, timeout=timeout, total_timeout=total
    )


@cache
def _warn_of_extra() -> None:
    if not multilingual.is_installed():
        log.warning("%s; until then words decide", install_message("multilingual"))


def calibration_file(settings: Settings) -> Path:
    """Return the path of the reader's thresholds that `harness cache calibrate` writes."""
    return settings.data_dir / "reading.json"


def main_embedder(settings: Settings) -> Embedder:
    """Return the embedder of everything but memories with another provider: a sentence-transformers model, the model
    behind the endpoint with the local one where that does not answer, or the local one. Offline no endpoint is asked,
    and no model is downloaded.

    Raises:
        InvalidInput: the extra that a model needs is not installed, no key where one is named, or an unusable address.
    """
    name = settings.embedding_model
    if name == ENGLISH:
        return MiniLM()
    if name == MULTILINGUAL and not multilingual.is_installed():
        raise InvalidInput(install_message("multilingual"))
    local = local_embedder()
    if name in {None, MULTILINGUAL}:
        return local
    if name.startswith(SENTENCE_TRANSFORMERS):
        return _sentence_transformers(name.removeprefix(SENTENCE_TRANSFORMERS), local_only=settings.offline)
    if settings.offline:
        log.debug("offline, %s is not asked: the local model serves", name)
        return local
    from harness.models.remote.embeddings import OpenAIEmbedder

    endpoint = OpenAIEmbedder(
        name,
        settings.embedding_url,
        api_key=key_in(settings.embedding_key_variable),
        key_variable=settings.embedding_key_variable or "embedding_key_variable",
        timeout=settings.embedding_timeout,
    )
    return FirstAvailable(endpoint, local)


def local_embedder() -> Embedder:
    """Return the local embedder: the one for all languages if the extra `[multilingual]` is installed."""
    return Multilingual() if multilingual.is_installed() else MiniLM()


def _sentence_transformers(model: str, *, local_only: bool) -> Embedder:
    """Return the embedder of a name or a folder. The library is looked for here and loaded with the first text: a later
    error is only logged by searches.
    """
    from harness.models.local.sentence_transformers import SentenceTransformers

    if not model:
        raise InvalidInput("which model? set embedding_model to sentence-transformers:NAME_OR_PATH")
    require_extra("sentence-transformers")
    folder = Path(model).expanduser()
    return SentenceTransformers(folder if folder.is_dir() else model, local_only=local_only)


def memory_embedder(settings: Settings) -> Embedder:
    """Return the embedder of the provider that `vector_store` names: the local one for `local`, and offline; else the
    model behind the provider's endpoint, with the local one where that does not answer.

    Raises:
        InvalidInput: no key where one is needed, an unusable address, or a model that a provider does not have.
    """
    block, local = settings.vector_store, local_embedder()
    if block.embedding_provider == "local":
        if block.embedding_model is not None:
            raise InvalidInput("vector_store.embedding_model is for openai and ollama; the provider local has its own")
        return local
    if settings.offline:
        log.debug("offline, %s is not asked: the local model serves memories", block.embedding_provider)
        return local
    openai = block.embedding_provider == "openai"
    variable = block.embedding_key_variable or (OPENAI_KEY if openai and block.embedding_url is None else None)
    from harness.models.remote.embeddings import OpenAIEmbedder

    endpoint = OpenAIEmbedder(
        block.embedding_model or (OPENAI_MODEL if openai else OLLAMA_MODEL),
        block.embedding_url or (OPENAI_URL if openai else OLLAMA_URL),
        dimension=block.embedding_dimensions,
        api_key=key_in(variable),
        key_variable=variable or "vector_store.embedding_key_variable",
        timeout=settings.embedding_timeout,
    )
    return FirstAvailable(endpoint, local)
