"""Every setting, in one typed object: defaults < YAML file < environment < flags.

The only reader of the environment and of YAML. Every setting may stand in the file under its name, and in the
environment as `HARNESS_` and its name in capitals (lists with commas, mappings as `a=1,b=2`); `RESEARCH_CACHE` and
`SEMANTIC_CACHE_THRESHOLD` are historical forms without the prefix. `HARNESS_CONFIG` or `--config` names another file.
A key that nobody knows is an error. A block (`vector_store:`) is a mapping in the file; each of its settings is
`vector_store.enabled` in messages, and `HARNESS_VECTOR_STORE__ENABLED` in the environment.
"""

from harness.settings.declared import BLOCKS, Settings, VectorStoreSettings, default_data_dir
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
    setting_names,
)
from harness.settings.runs import BUNDLED, REACHING, resumed_settings, run_settings

__all__ = [
    "BLOCKS",
    "BUNDLED",
    "MAX_CONFIG_BYTES",
    "REACHING",
    "Described",
    "Loaded",
    "Settings",
    "VectorStoreSettings",
    "checked",
    "default_config_path",
    "default_data_dir",
    "is_secret",
    "key_in",
    "load",
    "read_mapping",
    "resumed_settings",
    "run_settings",
    "setting_names",
]
