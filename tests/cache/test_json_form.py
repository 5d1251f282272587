"""`json_form`: the form in which a result is stored and returned, hit or miss."""

import collections
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cache.json_form import Made, Uncached, json_form, made
from harness.errors import InvalidInput

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Colour(Enum):
    """An enum of texts."""

    RED = "red"


class Level(IntEnum):
    """An enum of numbers."""

    HIGH = 3


class Pair(NamedTuple):
    """A named tuple."""

    a: int
    b: int


@dataclass
class Place:
    """A dataclass that holds others."""

    name: str
    near: "list[Place]"


class Row(msgspec.Struct, rename="camel"):
    """A msgspec struct whose fields are named otherwise in JSON."""

    row_id: int


class Model(pydantic.BaseModel):
    """A pydantic model."""

    at: datetime
    tags: set[str] = set()


@pytest.mark.slow
@given(JSON)
def test_json_stays_as_it_is(value: Any) -> None:
    """Values and their types, at any depth."""
    assert repr(json_form(value)) == repr(value)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        (collections.deque([1]), [1]),
        ({"a": 1}.values(), [1]),
        (range(3), [0, 1, 2]),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        (Colour.RED, "red"),
        ({Colour.RED.value: Level.HIGH}, {"red": 3}),
        (Place("a", [Place("b", [])]), {"name": "a", "near": [{"name": "b", "near": []}]}),
        (Row(1), {"rowId": 1}),
        (Model(at=datetime(2026, 1, 2, tzinfo=UTC), tags={"x"}), {"at": "2026-01-02T00:00:00Z", "tags": ["x"]}),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array([[1.5, 2.0]]), [[1.5, 2.0]]),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (Path("a/b"), str(Path("a/b"))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_obvious_form_is_taken(value: Any, form: Any) -> None:
    """In lists and dicts, too; the result is plain JSON."""
    found = json_form([{"x": value}])
    assert repr(found) == repr([{"x": form}])
    assert json.loads(json.dumps(found)) == found


class Broken:
    """A model that cannot be dumped."""

    def model_dump(self, mode: str) -> Any:
        """Fail."""
        raise ZeroDivisionError


def nested(levels: int) -> list[Any]:
    """Return so many lists within each other."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def shared(times: int) -> list[Any]:
    """Return a small list that is 2^times values long when it is written out."""
    value: list[Any] = []
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), np.float32("nan"), np.array([1.0, np.nan]), Decimal("NaN"), b"bytes", {1, 2}, 1j,
        object(), {1: "a"}, {(1, 2): 3}, np.datetime64("2026-01-02"), np.array([object()]), Broken(), nested(200),
        Place, len, iter([1]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_without_a_form_are_refused(value: Any) -> None:
    """Values that would be returned as something else, or never end, at any depth."""
    with pytest.raises(InvalidInput):
        json_form([value])


def test_a_value_that_is_too_long_written_out_is_refused() -> None:
    """Small lists in each other, or one long text in many places: at most 16 MiB if no limit is given."""
    with pytest.raises(InvalidInput, match="at most 100,000 bytes"):
        json_form([shared(60)], 100_000)
    text = "a" * 2**20
    assert len(json_form([text] * 15)) == 15
    with pytest.raises(InvalidInput, match="at most 16,777,216 bytes"):
        json_form([text] * 16)


def test_a_value_that_contains_itself_is_refused() -> None:
    """As one that is too deep."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidInput, match="levels"):
        json_form(value)


def test_an_iterator_is_read_once() -> None:
    """Its values are a list, whether they can be stored or not."""
    assert made(islice(count(), 3), lambda form: json.dumps(form).encode()) == Made([0, 1, 2], b"[0, 1, 2]")
    found = object()
    assert made(iter([found]), lambda form: b"") == Uncached(
        [found], "object has no JSON form; return text, numbers, lists and dicts"
    )


def test_an_open_file_is_not_read(tmp_path: Path) -> None:
    """It is an iterator of lines, and more."""
    with (tmp_path / "file").open("w+") as file:
        held = made(file, lambda form: b"")
        assert isinstance(held, Uncached)
        assert held.value is file
