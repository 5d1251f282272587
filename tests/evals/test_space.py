"""Search spaces: what experiments may change."""

from pathlib import Path

import pytest
from harness_evals.space import DEFAULT_SPACE, UNTOUCHABLE, changed, checked_space, every, read_space

from harness.errors import InvalidInput
from harness.settings import Settings


def space(folder: Path, text: str) -> Path:
    """Write a search space."""
    path = folder / "space.yaml"
    path.write_text(text)
    return path


def test_a_space_is_read_with_the_types_of_settings(tmp_path: Path) -> None:
    """Names in order, values with the types of settings: lists are tuples."""
    path = space(tmp_path, "max_rounds: [1, 2]\nchunk_tokens: [[100, 200], [200, 350]]\nttl: [5]\n")
    assert read_space(path) == {"max_rounds": (1, 2), "chunk_tokens": ((100, 200), (200, 350)), "ttl": (5.0,)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the search space of .* is empty"),
        ("max_round: [1]", "unknown setting 'max_round' .* did you mean 'max_rounds'"),
        ("max_rounds: [1, 900]", "max_rounds .* cannot be 900"),
        ("max_rounds: 2", "not a search space; write lines like"),
        ("max_rounds: []", "not a search space"),
        ("- max_rounds", "must hold `name: value` lines"),
        ("data_dir: [/tmp]", "an experiment cannot change data_dir"),
        ("research_cache: [false]", "an experiment cannot change research_cache"),
        ("max_rounds: [", "not valid YAML near line"),
        ("1: [2]", "unknown setting '1'"),
    ],
)
def test_an_invalid_space_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """In one line with the file."""
    with pytest.raises(InvalidInput, match=says) as refused:
        read_space(space(tmp_path, text))
    assert str(tmp_path) in str(refused.value)


def test_the_default_space_is_sound() -> None:
    """Each value is valid for its setting, and makes distinct, hashable settings."""
    assert checked_space(DEFAULT_SPACE, "the program") == DEFAULT_SPACE
    assert not DEFAULT_SPACE.keys() & UNTOUCHABLE
    made = {changed(Settings(), {name: value}) for name, values in DEFAULT_SPACE.items() for value in values}
    assert len(made) == sum(len(values) for values in DEFAULT_SPACE.values()) - len(DEFAULT_SPACE) + 1


def test_every_combination_is_there_once() -> None:
    """The last setting changes fastest."""
    found = list(every({"max_rounds": (1, 2), "read_pages": (0, 3)}))
    assert [tuple(each.values()) for each in found] == [(1, 0), (1, 3), (2, 0), (2, 3)]
