"""Settings of the language model and of the embedding model."""

from typing import Annotated

from msgspec import Meta, Struct

from harness.settings.kinds import LOCAL, REACHES, Seconds, flag


class ModelSettings(Struct, frozen=True, kw_only=True):
    """Settings of the language model."""

    model: Annotated[
        str | None,
        flag(metavar="NAME"),
        REACHES,
        Meta(description="language model that plans and writes reports; not set: reports are made of excerpts"),
    ] = None
    model_url: Annotated[
        str,
        flag(metavar="URL"),
        REACHES,
        Meta(min_length=1, description="OpenAI-compatible endpoint of the model, as http://127.0.0.1:11434/v1"),
    ] = "http://127.0.0.1:11434/v1"
    model_key_variable: Annotated[
        str | None, LOCAL, Meta(description="environment variable with the endpoint's key, as OPENAI_API_KEY")
    ] = None
    model_temperature: Annotated[float, Meta(ge=0, le=2, description="temperature of the model")] = 0.0
    model_max_tokens: Annotated[int, Meta(ge=16, le=100_000, description="maximum number of tokens of one answer")] = (
        2_048
    )
    model_timeout: Annotated[
        Seconds, Meta(gt=0, le=3_600, description="seconds to wait for the next words of the model")
    ] = 60.0
    model_wait: Annotated[
        Seconds,
        Meta(gt=0, le=3_600, description="seconds to wait until an answer of the model begins, retries included"),
    ] = 60.0
    model_total_timeout: Annotated[
        Seconds,
        Meta(gt=0, le=86_400, description="seconds of one answer of the model, and of all its answers in one research"),
    ] = 300.0
    served_models: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        LOCAL,
        Meta(
            description="models that programs may request of the server at /v1, besides model and embedding_model; *: "
            "any of the same endpoints"
        ),
    ] = ()


class EmbeddingSettings(Struct, frozen=True, kw_only=True):
    """Settings of the embedding model."""

    embedding_model: Annotated[
        str | None,
        flag(metavar="NAME"),
        REACHES,
        Meta(
            description="model behind embedding_url, or sentence-transformers:NAME_OR_PATH with the extra of that "
            "name; not set, or unreachable: the local MiniLM, and for other languages than English the local encoder "
            "of the extra [multilingual] if it is installed; local:english, local:multilingual: without it, with it"
        ),
    ] = None
    embedding_url: Annotated[
        str, REACHES, Meta(min_length=1, description="OpenAI-compatible endpoint of the embedding model")
    ] = "http://127.0.0.1:11434/v1"
    embedding_key_variable: Annotated[
        str | None, LOCAL, Meta(description="environment variable with that endpoint's key, as OPENAI_API_KEY")
    ] = None
    embedding_timeout: Annotated[
        Seconds, Meta(gt=0, le=3_600, description="seconds to wait for the embedding endpoint")
    ] = 30.0
