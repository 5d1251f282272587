"""Every setting, in one typed object. Precedence: flags, environment, YAML file, defaults.

This package alone reads the environment and YAML. A setting has the same name in the file; in the environment it is
`HARNESS_` and the name in capitals (lists with commas, mappings as `a=1,b=2`). `RESEARCH_CACHE` and
`SEMANTIC_CACHE_THRESHOLD` also work without the prefix. `HARNESS_CONFIG` or `--config` names another file. An unknown
key is an error. A block (`vector_store:`) is a mapping in the file; messages call its settings `vector_store.enabled`,
and the environment `HARNESS_VECTOR_STORE__ENABLED`.
"""

from harness.settings.conversation_settings import VectorStoreSettings
from harness.settings.declared import BLOCKS, Settings, default_data_dir
from harness.settings.kinds import Joined, values_of
from harness.settings.loading import (
    MAX_CONFIG_BYTES,
    Described,
    Loaded,
    checked,
    default_config_path,
    is_secret,
    key_in,
    load,
    read_mapping,
    setting_groups,
    setting_names,
)
from harness.settings.recorded_run import AskedEngine, AskedModel, RecordedRun
from harness.settings.research_settings import FetchSettings, GatheringSettings, PromptName, WritingSettings
from harness.settings.runs import BUNDLED, reaching, resumed_settings, run_settings

__all__ = [
    "BLOCKS",
    "BUNDLED",
    "MAX_CONFIG_BYTES",
    "AskedEngine",
    "AskedModel",
    "Described",
    "FetchSettings",
    "GatheringSettings",
    "Joined",
    "Loaded",
    "PromptName",
    "RecordedRun",
    "Settings",
    "VectorStoreSettings",
    "WritingSettings",
    "checked",
    "default_config_path",
    "default_data_dir",
    "is_secret",
    "key_in",
    "load",
    "reaching",
    "read_mapping",
    "resumed_settings",
    "run_settings",
    "setting_groups",
    "setting_names",
    "values_of",
]
