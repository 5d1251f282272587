"""Settings: defaults < file < environment < flags; every value is checked and has an origin."""

import typing
from pathlib import Path
from types import MappingProxyType

import pytest

from harness.errors import InvalidInput
from harness.settings import (
    MAX_CONFIG_BYTES,
    Loaded,
    Settings,
    VectorStoreSettings,
    default_config_path,
    load,
    setting_names,
)

SECRET = "http://user:hunter2@proxy.example:3128"  # noqa: S105 - made up
NOTHING: typing.Final = MappingProxyType[str, str]({})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Path of a configuration file."""
    return tmp_path / "config.yaml"


def from_file(file: Path, text: str) -> Loaded:
    """Load a file of that text and nothing else."""
    file.write_text(text, encoding="utf-8")
    return load(config=file, environment=NOTHING)


def from_environment(**variables: str) -> Settings:
    """Load an environment and nothing else."""
    return load(environment=variables).settings


def refused(caught: pytest.ExceptionInfo[InvalidInput], *parts: str) -> None:
    """Check that a message is one line of bounded length that has all `parts`."""
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1_000
    for part in parts:
        assert part in message


# --- the order of the layers


def test_without_anything_the_defaults_hold() -> None:
    """No file, no variable, no flag: every setting has its default, and that origin."""
    loaded = load(environment=NOTHING)
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.origins.keys() == set(setting_names())


def test_the_file_wins_over_the_defaults(file: Path) -> None:
    """A value in the file is used, and its origin is the file."""
    loaded = from_file(file, "max_results: 7\n")
    assert loaded.settings.max_results == 7
    assert loaded.origins["max_results"] == f"file {file}"


def test_the_environment_wins_over_the_file(file: Path) -> None:
    """A variable is used rather than the file, and its name is the origin."""
    file.write_text("max_results: 7\nconcurrency: 2\n")
    loaded = load(config=file, environment={"HARNESS_MAX_RESULTS": "8"})
    assert (loaded.settings.max_results, loaded.settings.concurrency) == (8, 2)
    assert loaded.origins["max_results"] == "environment HARNESS_MAX_RESULTS"
    assert loaded.origins["concurrency"] == f"file {file}"


def test_a_flag_wins_over_everything(file: Path) -> None:
    """A flag is used rather than variable and file, and its origin is the flag."""
    file.write_text("max_results: 7\n")
    loaded = load({"max_results": 9}, config=file, environment={"HARNESS_MAX_RESULTS": "8"})
    assert loaded.settings.max_results == 9
    assert loaded.origins["max_results"] == "flag --max-results"


def test_a_flag_that_was_not_given_decides_nothing() -> None:
    """A flag of None leaves the layer below."""
    loaded = load({"max_results": None}, environment={"HARNESS_MAX_RESULTS": "8"})
    assert loaded.settings.max_results == 8
    assert loaded.origins["max_results"] == "environment HARNESS_MAX_RESULTS"


def test_an_empty_value_of_the_file_decides_nothing(file: Path) -> None:
    """`max_results:` without a value leaves the default."""
    loaded = from_file(file, "max_results:\n")
    assert loaded.settings.max_results == 10
    assert loaded.origins["max_results"] == "default"


def test_an_empty_variable_decides_nothing() -> None:
    """A variable set to nothing is not set."""
    loaded = load(environment={"HARNESS_MAX_RESULTS": "", "RESEARCH_CACHE": "", "HARNESS_CONFIG": ""})
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}


def test_zero_is_a_value(file: Path) -> None:
    """A zero in a higher layer wins over a number in a lower one."""
    file.write_text("min_novelty: 0.5\n")
    assert load({"min_novelty": 0.0}, config=file, environment=NOTHING).settings.min_novelty == 0.0


def test_false_is_a_value(file: Path) -> None:
    """A false in a higher layer wins over a true in a lower one."""
    file.write_text("research_cache: true\n")
    assert not load({"research_cache": False}, config=file, environment=NOTHING).settings.research_cache


# --- which file


def test_the_usual_file_is_read_when_it_exists() -> None:
    """Without --config, the file in the platform's configuration directory counts."""
    path = default_config_path()
    path.parent.mkdir(parents=True)
    path.write_text("max_results: 7\n")
    loaded = load(environment=NOTHING)
    assert loaded.settings.max_results == 7
    assert loaded.config_path == path


def test_the_usual_file_need_not_exist() -> None:
    """A configuration is optional; its path is known."""
    assert load(environment=NOTHING).config_path == default_config_path()


def test_a_variable_names_another_file(file: Path) -> None:
    """`HARNESS_CONFIG` takes the place of the usual file."""
    file.write_text("max_results: 7\n")
    loaded = load(environment={"HARNESS_CONFIG": str(file)})
    assert loaded.settings.max_results == 7
    assert loaded.config_path == file


def test_the_flag_for_the_file_wins_over_the_variable(file: Path, tmp_path: Path) -> None:
    """`--config` takes the place of `HARNESS_CONFIG`, which need not exist then."""
    file.write_text("max_results: 7\n")
    loaded = load(config=file, environment={"HARNESS_CONFIG": str(tmp_path / "missing.yaml")})
    assert loaded.settings.max_results == 7


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """A mistyped --config is an error."""
    with pytest.raises(InvalidInput) as caught:
        load(config=tmp_path / "missing.yaml", environment=NOTHING)
    refused(caught, "no such configuration file", str(tmp_path / "missing.yaml"), "harness config --path")


def test_a_variable_that_names_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A mistyped HARNESS_CONFIG is an error."""
    with pytest.raises(InvalidInput) as caught:
        load(environment={"HARNESS_CONFIG": str(tmp_path / "missing.yaml")})
    refused(caught, "no such configuration file", str(tmp_path / "missing.yaml"))


def test_a_folder_is_no_configuration_file(tmp_path: Path) -> None:
    """The message has the reason."""
    with pytest.raises(InvalidInput) as caught:
        load(config=tmp_path, environment=NOTHING)
    refused(caught, "cannot read the configuration file", str(tmp_path), "directory")


def test_an_unknown_home_is_an_error_of_the_harness() -> None:
    """A tilde with an unknown user's name has a message of one line, not a traceback of the standard library."""
    with pytest.raises(InvalidInput):
        load(environment={"HARNESS_CONFIG": "~no-such-user-here/config.yaml"})


def test_an_empty_file_decides_nothing(file: Path) -> None:
    """A file of comments is a configuration."""
    assert from_file(file, "# nothing yet\n").settings == Settings()


# --- variables of every type


def test_an_integer_from_the_environment() -> None:
    """Digits become a whole number."""
    assert from_environment(HARNESS_CONCURRENCY="2").concurrency == 2


@pytest.mark.parametrize(("text", "value"), [("3600", 3600.0), ("0.5", 0.5), ("1e3", 1000.0)])
def test_a_float_from_the_environment(text: str, value: float) -> None:
    """Seconds may be whole, broken, or written with an exponent."""
    assert from_environment(HARNESS_TTL=text).ttl == value


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("True", True), ("0", False), ("false", False), ("FALSE", False)]
)
def test_a_truth_value_from_the_environment(text: str, value: bool) -> None:
    """1 and true are true, 0 and false are false."""
    assert from_environment(HARNESS_RESEARCH_CACHE=text).research_cache is value


@pytest.mark.parametrize("text", ["duckduckgo,mojeek", " duckduckgo , mojeek ", "duckduckgo,,mojeek,"])
def test_a_list_from_the_environment(text: str) -> None:
    """Lists are written with commas; spaces and empty places do not matter."""
    assert from_environment(HARNESS_DDGS_BACKENDS=text).ddgs_backends == ("duckduckgo", "mojeek")


def test_a_choice_from_the_environment() -> None:
    """One of the words that a setting knows."""
    assert from_environment(HARNESS_DDGS_TIMELIMIT="w").ddgs_timelimit == "w"


@pytest.mark.parametrize("text", ["job_search=12,my-type=0.5", " my-type = 0.5 ,, job_search=12.0 "])
def test_a_mapping_from_the_environment(text: str) -> None:
    """Names and values; what is not named keeps its default."""
    expected = {"job_search": 12.0, "web_fetch": 1.0, "company_research": 168.0, "my-type": 0.5}
    assert from_environment(HARNESS_TOOL_TTL_HOURS=text).tool_ttl_hours == expected


def test_a_duration_may_name_its_unit(file: Path) -> None:
    """In the file and in the environment; a number keeps the unit of its setting."""
    file.write_text("ttl: 7d\npage_ttl: 90\npage_timeout: 1m\ntool_ttl_hours: {web_fetch: 30m}\n")
    environment = {"HARNESS_KNOWLEDGE_TTL_HOURS": "30d", "HARNESS_MAX_SECONDS": "1.5m", "HARNESS_STALE_IF_ERROR": "0.1"}
    found = load(config=file, environment=environment).settings
    assert (found.ttl, found.page_ttl, found.page_timeout) == (604_800, 90, 60)
    assert (found.knowledge_ttl_hours, found.max_seconds, found.stale_if_error) == (720, 90, 0.1)
    assert (found.tool_ttl_hours["web_fetch"], found.tool_ttl_hours["job_search"]) == (0.5, 24)
    with pytest.raises(InvalidInput, match=r"page_timeout .* cannot be '10m'"):
        load(environment={"HARNESS_PAGE_TIMEOUT": "10m"})


def test_a_mapping_from_the_file(file: Path) -> None:
    """As YAML writes one; a variable takes its place, and both are merged over the defaults."""
    text = "tool_ttl_hours:\n  my_type: 2\n"
    assert from_file(file, text).settings.tool_ttl_hours["my_type"] == 2.0
    loaded = load(config=file, environment={"HARNESS_TOOL_TTL_HOURS": "web_fetch=3"})
    assert loaded.settings.tool_ttl_hours == {"job_search": 24.0, "web_fetch": 3.0, "company_research": 168.0}
    (told,) = [each for each in loaded.describe() if each.name == "tool_ttl_hours"]
    assert told.value == "company_research=168, job_search=24, web_fetch=3"


@pytest.mark.parametrize("text", ["web_fetch", "web_fetch=", "web_fetch=soon", "web_fetch=0", "=3", "No Type=1"])
def test_a_mapping_that_is_none_is_refused(text: str) -> None:
    """With the variable, and what is wrong."""
    with pytest.raises(InvalidInput) as caught:
        load(environment={"HARNESS_TOOL_TTL_HOURS": text})
    refused(caught, "tool_ttl_hours", "HARNESS_TOOL_TTL_HOURS")


@pytest.mark.parametrize("text", ["tool_ttl_hours: 3\n", "tool_ttl_hours: [a]\n", "tool_ttl_hours: {1: 2}\n"])
def test_a_mapping_of_the_file_that_is_none_is_refused(file: Path, text: str) -> None:
    """Numbers, lists, names that are no names."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, text)
    refused(caught, "tool_ttl_hours", str(file))


def test_null_takes_a_choice_back(file: Path) -> None:
    """A variable can take back what the file has set."""
    file.write_text("ddgs_timelimit: w\n")
    loaded = load(config=file, environment={"HARNESS_DDGS_TIMELIMIT": "null"})
    assert loaded.settings.ddgs_timelimit is None
    assert loaded.origins["ddgs_timelimit"] == "environment HARNESS_DDGS_TIMELIMIT"


def test_null_takes_a_proxy_back(file: Path) -> None:
    """`null` unsets every optional setting: it is not the name of a proxy."""
    file.write_text(f"proxy: {SECRET}\n")
    assert load(config=file, environment={"HARNESS_PROXY": "null"}).settings.proxy is None


def test_a_path_from_the_environment_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative data directory is where we are now, whatever happens to the working directory later."""
    monkeypatch.chdir(tmp_path)
    assert from_environment(HARNESS_DATA_DIR="data/here").data_dir == tmp_path / "data" / "here"


def test_a_path_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`~` is the home directory where no shell has expanded it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert from_environment(HARNESS_DATA_DIR="~/data").data_dir == tmp_path / "data"


def test_the_historical_variable_still_works() -> None:
    """`RESEARCH_CACHE=1` turns the research cache on, and is its origin."""
    loaded = load(environment={"RESEARCH_CACHE": "1"})
    assert loaded.settings.research_cache is True
    assert loaded.origins["research_cache"] == "environment RESEARCH_CACHE"


def test_the_historical_variable_can_say_no() -> None:
    """`RESEARCH_CACHE=0` is off."""
    assert from_environment(RESEARCH_CACHE="0").research_cache is False


def test_the_new_name_wins_over_the_historical_one() -> None:
    """If both are set, the one with the prefix decides."""
    loaded = load(environment={"RESEARCH_CACHE": "1", "HARNESS_RESEARCH_CACHE": "0"})
    assert loaded.settings.research_cache is False
    assert loaded.origins["research_cache"] == "environment HARNESS_RESEARCH_CACHE"


def test_variables_of_other_programs_are_left_alone() -> None:
    """Without the prefix, a variable is none of ours."""
    assert from_environment(MAX_RESULTS="99", HARNES_TTL="1", PATH="/bin") == Settings()


# --- values of the file


def test_every_type_from_the_file(file: Path) -> None:
    """Numbers, truth values, lists, words and paths are written as YAML writes them."""
    loaded = from_file(
        file,
        "ttl: 3600\nresearch_cache: yes\nddgs_backends: [mojeek, duckduckgo]\nddgs_timelimit: m\n"
        "data_dir: /somewhere\nmin_novelty: 0.35\n",
    )
    assert loaded.settings == Settings(
        ttl=3600.0,
        research_cache=True,
        ddgs_backends=("mojeek", "duckduckgo"),
        ddgs_timelimit="m",
        data_dir=Path("/somewhere"),
        min_novelty=0.35,
    )


def test_a_list_in_the_file_may_be_written_with_commas(file: Path) -> None:
    """The form of the environment also works in the file."""
    assert from_file(file, "ddgs_backends: mojeek, duckduckgo\n").settings.ddgs_backends == ("mojeek", "duckduckgo")


# --- unknown keys


def test_an_unknown_key_in_the_file_names_the_nearest(file: Path) -> None:
    """The message has the nearest name and the file."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, "max_result: 7\n")
    refused(caught, "'max_result'", str(file), "did you mean 'max_results'?", "harness config")


def test_an_unknown_variable_names_the_nearest() -> None:
    """The message has the variable and the nearest name."""
    with pytest.raises(InvalidInput) as caught:
        from_environment(HARNESS_DDGS_BACKEND="mojeek")
    refused(caught, "HARNESS_DDGS_BACKEND", "did you mean 'ddgs_backends'?")


@pytest.mark.parametrize("key", ["7", "zzz", "true", '""', "[a]"])
def test_any_unknown_key_is_an_error_of_the_harness(file: Path, key: str) -> None:
    """Keys that are no names at all are refused like any other."""
    with pytest.raises(InvalidInput):
        from_file(file, f"{key}: 7\n")


def test_the_bare_prefix_is_an_error_of_the_harness() -> None:
    """A variable called HARNESS_ names no setting."""
    with pytest.raises(InvalidInput, match="HARNESS_"):
        load(environment={"HARNESS_": "x"})


def test_an_unknown_key_does_not_show_its_value(file: Path) -> None:
    """A mistyped name of a secret does not give the secret away."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"proxi: {SECRET}\n")
    assert "hunter2" not in str(caught.value)


# --- values out of range


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MAX_RESULTS", "0"),
        ("MAX_RESULTS", "101"),
        ("MAX_RESULTS", "-1"),
        ("MAX_RESULTS", "2.5"),
        ("MAX_RESULTS", "ten"),
        ("MAX_RESULTS", "9" * 100),
        ("TTL", "0"),
        ("TTL", "-1"),
        ("TTL", "nan"),
        ("TTL", "inf"),
        ("TTL", "1e300"),
        ("TTL", "1 day"),
        ("RESEARCH_CACHE", "maybe"),
        ("RESEARCH_CACHE", "2"),
        ("MAX_ROUNDS", "6"),
        ("MIN_NOVELTY", "1.01"),
        ("MIN_NOVELTY", "nan"),
        ("CONCURRENCY", "0"),
        ("SEARCH_TIMEOUT", "0"),
        ("SEARCH_TIMEOUT", "301"),
        ("DDGS_BACKENDS", ","),
        ("DDGS_REGION", "english"),
        ("DDGS_SAFESEARCH", "strict"),
        ("DDGS_TIMELIMIT", "decade"),
        ("LOG_LEVEL", "loud"),
        ("DATA_DIR", "a\0b"),
        ("DATA_DIR", "~no-such-user-here/data"),
    ],
)
def test_a_variable_out_of_range_is_an_error_with_its_origin(variable: str, value: str) -> None:
    """The message names the setting, the value and the variable that it came from."""
    with pytest.raises(InvalidInput) as caught:
        load(environment={f"HARNESS_{variable}": value})
    shown = [] if variable == "DDGS_BACKENDS" else [repr(value)]
    refused(caught, variable.lower(), f"environment HARNESS_{variable}", *shown)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("max_results: 0", "0"),
        ("max_results: [1]", "[1]"),
        ("ttl: .nan", "nan"),
        ("ttl: .inf", "inf"),
        ("ttl: 2026-11-21", "2026"),
        ("research_cache: maybe", "'maybe'"),
        ("ddgs_backends: []", "[]"),
        ("ddgs_backends: [1]", "[1]"),
        ("ddgs_backends: {a: b}", "{'a': 'b'}"),
        ("data_dir: 5", "5"),
        ("engine: 5", "5"),
    ],
)
def test_a_value_of_the_file_out_of_range_is_an_error_with_its_origin(file: Path, line: str, shown: str) -> None:
    """The message names the setting, the value and the file."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"{line}\n")
    refused(caught, line.partition(":")[0], f"file {file}", shown)


def test_a_flag_out_of_range_is_an_error_with_its_origin() -> None:
    """The message names the setting, the value and the flag."""
    with pytest.raises(InvalidInput) as caught:
        load({"max_results": 0}, environment=NOTHING)
    refused(caught, "max_results", "flag --max-results", "cannot be 0", ">= 1")


def test_a_value_that_a_higher_layer_replaces_is_checked_all_the_same(file: Path) -> None:
    """A wrong line in the file is an error even while it has no effect."""
    file.write_text("max_results: 0\n")
    with pytest.raises(InvalidInput):
        load({"max_results": 5}, config=file, environment=NOTHING)


def test_a_huge_value_is_not_repeated_whole(file: Path) -> None:
    """The message stays one line that a person can read."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"log_level: {'x' * 100_000}\n")
    refused(caught, "log_level")


def test_nested_anchors_are_not_written_out(file: Path) -> None:
    """A few lines that expand to a billion are refused at once (the `billion laughs`)."""
    text = "".join(f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(6))
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"ddgs_backends:\n{text}")
    refused(caught, "ddgs_backends")


# --- secrets


def test_a_secret_is_used_but_never_shown(file: Path) -> None:
    """`harness config` says that a proxy is set and where, not which."""
    loaded = from_file(file, f"proxy: {SECRET}\n")
    assert loaded.settings.proxy == SECRET
    [shown] = [line for line in loaded.describe() if line.name == "proxy"]
    assert (shown.value, shown.origin) == ("set (hidden)", f"file {file}")
    assert "hunter2" not in repr(loaded.describe())


def test_a_secret_that_is_not_set_is_shown_as_not_set() -> None:
    """Nothing is hidden where nothing is set."""
    [shown] = [line for line in load(environment=NOTHING).describe() if line.name == "proxy"]
    assert shown.value == "not set"


@pytest.mark.parametrize("layer", ["file", "flag"])
def test_a_refused_secret_is_not_shown(file: Path, layer: str) -> None:
    """An error about a secret has its name and origin, not its value."""
    file.write_text(f"proxy: [{SECRET!r}]\n" if layer == "file" else "")
    with pytest.raises(InvalidInput) as caught:
        load({"proxy": [SECRET]} if layer == "flag" else {}, config=file, environment=NOTHING)
    refused(caught, "proxy", layer)
    assert "hunter2" not in str(caught.value)


def test_invalid_yaml_does_not_show_a_secret(file: Path) -> None:
    """A syntax error next to a secret does not print its line."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"proxy: '{SECRET}\n")
    assert "hunter2" not in str(caught.value)


# --- description


def test_every_setting_is_described_in_order() -> None:
    """Output of `harness config`: each setting once, with a value, an origin and a help."""
    described = load(environment=NOTHING).describe()
    assert [line.name for line in described] == list(setting_names())
    assert all(line.value and line.origin and line.help for line in described)


@pytest.mark.parametrize(
    ("variable", "raw", "name", "shown"),
    [
        ("HARNESS_RESEARCH_CACHE", "1", "research_cache", "true"),
        ("HARNESS_MAX_RESULTS", "1", "max_results", "1"),
        ("HARNESS_MIN_NOVELTY", "0", "min_novelty", "0.0"),
        ("HARNESS_DDGS_BACKENDS", "a,b", "ddgs_backends", "a, b"),
        ("HARNESS_DATA_DIR", "/somewhere", "data_dir", "/somewhere"),
    ],
)
def test_values_are_shown_as_they_are_written(variable: str, raw: str, name: str, shown: str) -> None:
    """A shown value can be written back into the file."""
    [line] = [line for line in load(environment={variable: raw}).describe() if line.name == name]
    assert (line.value, line.origin) == (shown, f"environment {variable}")


# --- files that are no configuration


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("max_results: 7\nttl: [1, 2\nengine: ddgs\n", "line 3"),
        ("a: b: c\n", "line 1"),
        ("\tmax_results: 7\n", "line 1"),
        ("max_results: 7\n- 8\n", "line 2"),
        ("ttl: !!python/object/apply:os.system ['true']\n", "line 1"),
        ("ttl: *nowhere\n", "line 1"),
    ],
)
def test_invalid_yaml_names_its_line(file: Path, text: str, where: str) -> None:
    """The message has the place in the file and the remedy."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, text)
    refused(caught, str(file), "not valid YAML", where, "correct or remove it")


@pytest.mark.parametrize(
    "text",
    ["engine: 2026-13-45\n", "ttl: !!int ten\n", "ttl: " + "9" * 5_000 + "\n", "ttl: !!timestamp soon\n"],
    ids=["no date", "no number", "too many digits", "no time"],
)
def test_a_value_that_yaml_cannot_make_is_an_error_of_the_harness(file: Path, text: str) -> None:
    """A date that no calendar has is one line, not a traceback of the YAML library."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, text)
    refused(caught, str(file))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"caf\xe9: 1\n", b"a\0b", b"\x1b[31m: 1"])
def test_a_binary_file_is_an_error(file: Path, data: bytes) -> None:
    """A binary file in the place of the configuration is an error of the harness."""
    file.write_bytes(data)
    with pytest.raises(InvalidInput) as caught:
        load(config=file, environment=NOTHING)
    refused(caught, str(file), "not valid YAML")


@pytest.mark.parametrize(("text", "kind"), [("- max_results: 7\n", "list"), ("max_results\n", "str"), ("7\n", "int")])
def test_a_file_without_a_mapping_is_an_error(file: Path, text: str, kind: str) -> None:
    """For a list or a single word, the message has the expected form."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, text)
    refused(caught, str(file), "`name: value` lines", kind)


@pytest.mark.slow
def test_deeply_nested_yaml_is_an_error(file: Path) -> None:
    """A file that only nests ends in one line, not in a full stack."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, "[" * 5_000)
    refused(caught, str(file))


def test_a_huge_file_is_refused_unread(file: Path) -> None:
    """A file over the limit is an error."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, "# \n" * (MAX_CONFIG_BYTES // 3 + 1))
    refused(caught, str(file), f"larger than {MAX_CONFIG_BYTES:,} bytes")


def test_a_file_of_the_largest_size_is_read(file: Path) -> None:
    """The limit itself is allowed."""
    line = "max_results: 7\n"
    assert from_file(file, line + "#" * (MAX_CONFIG_BYTES - len(line))).settings.max_results == 7


# --- blocks


def test_a_block_is_a_mapping_in_the_file(file: Path) -> None:
    """Each of its settings has a separate value and origin."""
    loaded = from_file(file, "vector_store:\n  similarity_threshold: 0.5\n  retrieval_strategy: dynamic\n")
    block = loaded.settings.vector_store
    assert (block.similarity_threshold, block.retrieval_strategy, block.context_results) == (0.5, "dynamic", 5)
    assert loaded.origins["vector_store.similarity_threshold"] == f"file {file}"
    assert loaded.origins["vector_store.context_results"] == "default"


def test_a_variable_with_two_underscores_is_of_a_block(file: Path) -> None:
    """It wins over the file, like every variable."""
    file.write_text("vector_store:\n  enabled: true\n  context_results: 2\n")
    loaded = load(config=file, environment={"HARNESS_VECTOR_STORE__ENABLED": "false"})
    assert (loaded.settings.vector_store.enabled, loaded.settings.vector_store.context_results) == (False, 2)
    assert loaded.origins["vector_store.enabled"] == "environment HARNESS_VECTOR_STORE__ENABLED"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vector_store:\n  enabeld: false\n", ("'vector_store.enabeld'", "'vector_store.enabled'")),
        ("vector_store:\n  similarity_threshold: 2\n", ("vector_store.similarity_threshold", "2")),
        ("vector_store: on\n", ("vector_store", "`name: value` lines")),
        ("vector_store:\n  chunk_size: 5000\n", ("vector_store", "max_chunk_size (1500)", "chunk_size (5000)")),
        ("vector_store:\n  collection_name: ../x\n", ("vector_store.collection_name",)),
    ],
)
def test_what_a_block_cannot_have_is_refused(file: Path, text: str, told: tuple[str, ...]) -> None:
    """An unknown setting, a value out of range, no mapping, or sizes that do not fit: by its full name."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, text)
    refused(caught, *told)


def test_a_block_with_a_backend_and_a_dynamic_threshold_loads(file: Path) -> None:
    """`dynamic_threshold: true` chooses the strategy, with the usual thresholds."""
    loaded = from_file(
        file,
        "vector_store:\n  enabled: true\n  backend: chroma\n  dynamic_threshold: true\n  similarity_threshold: 0.7\n",
    )
    block = loaded.settings.vector_store
    assert loaded.origins["vector_store.retrieval_strategy"] == f"file {file}"
    assert (block.backend, block.retrieval_strategy, block.similarity_threshold) == ("chroma", "dynamic", 0.7)
    assert block.dynamic_thresholds == (0.5, 0.75)
    named = from_file(file, "vector_store:\n  dynamic_threshold: true\n  retrieval_strategy: dynamic\n")
    assert named.settings.vector_store.retrieval_strategy == "dynamic"
    off = from_file(file, "vector_store:\n  dynamic_threshold: false\n").settings.vector_store
    assert off.retrieval_strategy == VectorStoreSettings().retrieval_strategy


@pytest.mark.parametrize(("text", "thresholds"), [("0.4,0.6", (0.4, 0.6)), ("true", (0.5, 0.75))])
def test_a_dynamic_threshold_in_the_environment_is_two_numbers_or_true(
    text: str, thresholds: tuple[float, float]
) -> None:
    """Separated by a comma."""
    block = from_environment(HARNESS_VECTOR_STORE__DYNAMIC_THRESHOLD=text).vector_store
    assert block.dynamic_thresholds == thresholds
    assert block.retrieval_strategy == ("dynamic" if text == "true" else "hybrid")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("backend: pinecone", ("vector_store.backend", "'pinecone'", "choose one of sqlite, chroma")),
        (
            "dynamic_threshold: true\n  retrieval_strategy: hybrid",
            ("dynamic_threshold is true", "retrieval_strategy is hybrid", "leave one of them out"),
        ),
        (
            "dynamic_threshold: false\n  retrieval_strategy: dynamic",
            ("dynamic_threshold is false", "retrieval_strategy is dynamic"),
        ),
    ],
)
def test_an_unknown_backend_and_a_contradiction_are_refused(file: Path, text: str, told: tuple[str, ...]) -> None:
    """The message names the known backends, or both settings."""
    with pytest.raises(InvalidInput) as caught:
        from_file(file, f"vector_store:\n  {text}\n")
    refused(caught, *told)


def test_a_block_as_a_whole_is_no_variable() -> None:
    """HARNESS_VECTOR_STORE is refused, with a setting of the block named."""
    with pytest.raises(InvalidInput) as caught:
        from_environment(HARNESS_VECTOR_STORE="enabled=false")
    refused(caught, "'vector_store'", "'vector_store.")


def test_the_settings_of_a_block_are_described_one_by_one() -> None:
    """Each has a separate line, with its purpose."""
    described = {each.name: each for each in load(environment=NOTHING).describe()}
    assert described["vector_store.similarity_threshold"].value == "0.65"
    assert described["vector_store.path"].value == "not set"
    assert "vector_store" not in described
    assert described["vector_store.max_chunk_size"].help
