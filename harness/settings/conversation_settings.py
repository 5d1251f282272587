"""Settings of conversations and their memory."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from msgspec import Meta, Struct

from harness.errors import InvalidInput
from harness.settings.kinds import Weight

if TYPE_CHECKING:  # chunking needs modules that take long to import
    from harness.core.chunking import Chunking

DYNAMIC_THRESHOLDS = (0.5, 0.75)


class VectorStoreSettings(Struct, frozen=True, kw_only=True):
    """The block `vector_store`: settings of the memory of conversations."""

    enabled: Annotated[bool, Meta(description="remember conversations and look them up")] = True
    backend: Annotated[
        Literal["sqlite", "chroma"] | None,
        Meta(
            description="sqlite or chroma: memories in a SQLite file, beyond 10,000 vectors with a Chroma index next "
            "to it; not set: in the store"
        ),
    ] = None
    path: Annotated[Path | None, Meta(description="a separate SQLite file for memories; not set: the store")] = None
    collection_name: Annotated[
        str,
        Meta(
            pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
            description="collection of memories that are looked up together",
        ),
    ] = "conversations"
    context_results: Annotated[int, Meta(ge=0, le=50, description="maximum number of memories added to a question")] = 5
    search_context_window: Annotated[
        int,
        Meta(ge=0, le=20, description="earlier exchanges to add to the query for memories; 0: only the question"),
    ] = 3
    retrieval_strategy: Annotated[
        str,
        Meta(
            pattern="^[a-z0-9][a-z0-9_-]{0,63}$",
            description="how to find memories: default (cosine), dynamic, hybrid (also by words), or an installed one",
        ),
    ] = "hybrid"
    similarity_threshold: Annotated[
        float, Meta(ge=0, le=1, description="smallest similarity of a memory, for the strategy default")
    ] = 0.65
    similarity_floor: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="smallest similarity of a memory for every strategy; a memory with the question's rarest word "
            "and most of the others is used in any case",
        ),
    ] = 0.15
    dynamic_threshold: Annotated[
        tuple[Weight, Weight] | bool,
        Meta(
            description="smallest similarity at the start of a conversation and when it is long, for the strategy "
            "dynamic; true chooses that strategy"
        ),
    ] = DYNAMIC_THRESHOLDS
    dynamic_messages: Annotated[
        int, Meta(ge=1, le=10_000, description="messages after which a conversation is long, for the strategy dynamic")
    ] = 20
    embedding_provider: Annotated[
        Literal["openai", "ollama", "local"] | None,
        Meta(description="provider of the vectors of memories; not set: the main embedder"),
    ] = None
    embedding_model: Annotated[str | None, Meta(description="model of that provider, as nomic-embed-text")] = None
    embedding_url: Annotated[
        str | None, Meta(description="OpenAI-compatible endpoint; not set: the provider's own")
    ] = None
    embedding_key_variable: Annotated[
        str | None, Meta(description="environment variable with its key; not set: OPENAI_API_KEY for openai")
    ] = None
    embedding_dimensions: Annotated[
        Annotated[int, Meta(ge=1, le=16_384)] | None, Meta(description="dimensions of a vector; others are an error")
    ] = None
    chunking_strategy: Annotated[
        Literal["truncate", "fixed_size", "semantic", "hybrid"], Meta(description="how to cut long texts into chunks")
    ] = "hybrid"
    chunk_size: Annotated[int, Meta(ge=50, le=20_000, description="target size of a chunk in characters")] = 1_000
    chunk_overlap: Annotated[
        int, Meta(ge=0, le=10_000, description="characters that a chunk repeats from the one before")
    ] = 100
    max_chunk_size: Annotated[int, Meta(ge=50, le=50_000, description="maximum number of characters of a chunk")] = (
        1_500
    )
    preserve_sentence_boundaries: Annotated[bool, Meta(description="cut between sentences where possible")] = True
    documents_folder: Annotated[
        Path | None, Meta(description="folder of docs:NAME; not set: documents in data_dir")
    ] = None
    redact: Annotated[
        tuple[str, ...],
        Meta(description="regular expressions of text to mask before storing; keys and tokens are always masked"),
    ] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the block with the given settings. `dynamic_threshold: true` chooses the strategy `dynamic`.

        Raises:
            InvalidInput: another strategy is also given.
        """
        strategy, dynamic = given.get("retrieval_strategy"), given.get("dynamic_threshold")
        if dynamic is True and strategy is None:
            return cls(**{**given, "retrieval_strategy": "dynamic"})
        if isinstance(dynamic, bool) and strategy is not None and dynamic is not (strategy == "dynamic"):
            raise InvalidInput(
                f"dynamic_threshold is {str(dynamic).lower()}, but retrieval_strategy is {strategy}; "
                "leave one of them out"
            )
        return cls(**given)

    @property
    def dynamic_thresholds(self) -> tuple[float, float]:
        """Smallest similarity at the start of a conversation and when it is long."""
        return DYNAMIC_THRESHOLDS if isinstance(self.dynamic_threshold, bool) else self.dynamic_threshold

    def chunking(self) -> "Chunking":
        """Return the chunking of long texts.

        Raises:
            InvalidInput: the sizes do not fit one another.
        """
        from harness.core.chunking import Chunking

        return Chunking(
            self.chunking_strategy,
            self.chunk_size,
            self.chunk_overlap,
            self.max_chunk_size,
            self.preserve_sentence_boundaries,
        )
