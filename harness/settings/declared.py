"""All settings: one class for each group, joined in `Settings`.

To add a setting, declare it in its group and use it. Its name in the file, its environment variable, its check, its
line in `harness config` and (with `flag`) its option of `harness research` come from the declaration.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import platformdirs
from msgspec import Meta, Struct, field

from harness.settings.cache_settings import CacheSettings, KnowledgeSettings, LibrarySettings
from harness.settings.conversation_settings import VectorStoreSettings
from harness.settings.kinds import LOCAL, Joined, Secret
from harness.settings.model_settings import EmbeddingSettings, ModelSettings
from harness.settings.research_settings import FetchSettings, GatheringSettings, WritingSettings
from harness.settings.source_settings import EngineSettings, PageSettings

APP = "harness"


def default_data_dir() -> Path:
    """Return the platform's directory for the data of programs."""
    return platformdirs.user_data_path(APP, appauthor=False)


class StorageSettings(Struct, frozen=True, kw_only=True):
    """Settings of the database and of this program on this machine."""

    data_dir: Annotated[Path, LOCAL, Meta(description="folder of all data: harness.db, corpora/")] = field(
        default_factory=default_data_dir
    )
    store: Annotated[
        Secret | None,
        LOCAL,
        Meta(description="a team's database, postgresql://user@host/name; not set: harness.db in data_dir"),
    ] = None
    durability: Annotated[
        Literal["normal", "full"],
        Meta(description="what a power cut may lose: normal, the last writes; full, nothing, but writes are slower"),
    ] = "normal"
    token: Annotated[
        Secret | None,
        LOCAL,
        Meta(description="access token, which decides the tenant and the role; not set: the local user"),
    ] = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], LOCAL, Meta(description="least severe log message to show")
    ] = "warning"


class ServerSettings(Struct, frozen=True, kw_only=True):
    """Settings of the web server."""

    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-Proto `serve` believes"),
    ] = ()
    trace_collector: Annotated[
        str | None,
        LOCAL,
        Meta(description="OpenTelemetry collector for traces of `serve`, as http://127.0.0.1:4318; not set: none"),
    ] = None


class Settings(  # listed from the last base to the first
    ServerSettings,
    LibrarySettings,
    KnowledgeSettings,
    EmbeddingSettings,
    ModelSettings,
    WritingSettings,
    PageSettings,
    CacheSettings,
    FetchSettings,
    GatheringSettings,
    EngineSettings,
    StorageSettings,
    metaclass=Joined,
    frozen=True,
    kw_only=True,
):
    """The effective settings of one run. `harness config` shows the description of each field."""

    vector_store: Annotated[
        VectorStoreSettings, LOCAL, Meta(description="memory of conversations; a block of settings")
    ] = VectorStoreSettings()

    def __hash__(self) -> int:
        """Settings are keys, though one of them is a mapping."""
        values = (getattr(self, name) for name in self.__struct_fields__)
        return hash(tuple(frozenset(value.items()) if isinstance(value, dict) else value for value in values))


BLOCKS: Mapping[str, type[VectorStoreSettings]] = MappingProxyType({"vector_store": VectorStoreSettings})
"""Settings that are blocks of settings."""
