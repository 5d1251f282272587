"""Task files: YAML with plain values only, read as a struct, with the line of each problem."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from harness.errors import InvalidInput

MAX_FILE_BYTES = 100_000

_PLACE = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`")

T = TypeVar("T")


class _Loader(yaml.SafeLoader):
    """YAML loader for plain values only; rejects references, which can expand without limit, and duplicate fields."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark: Any = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="references (*name) are not read", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value!r} is there twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, kind: type[T]) -> tuple[T, yaml.Node]:
    """Return the task in a file, and its YAML node. The name of the file is its default id.

    Raises:
        InvalidInput: the file is invalid; the message has file and line.
    """
    node: yaml.Node | None = None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput(f"{path} is not a task: more than {MAX_FILE_BYTES:,} bytes")
        loader = _Loader(data.decode("utf-8"))
        node = loader.get_single_node()
        if node is None:
            raise InvalidInput(f"{path} is not a task: it is empty")
        document = loader.construct_document(node)
        if isinstance(document, dict):
            document.setdefault("id", path.stem)
        return msgspec.convert(document, kind), node
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `")
        raise InvalidInput(f"{place_of(path, node, place.rstrip('`'), problem)} is not a task: {problem}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidInput(f"{path}:{line} is not a task: {error.problem}") from error
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        problem = next(iter(str(error).splitlines()), type(error).__name__)
        raise InvalidInput(f"{path} is not a task: {problem}") from error


def place_of(path: Path, node: yaml.Node | None, place: str, problem: str = "") -> str:
    """Return the file and the line of the value at `place` (in msgspec's notation: `$.nuggets[1].says`)."""
    if node is None:
        return str(path)
    for name, index in _PLACE.findall(place):
        if isinstance(node, yaml.SequenceNode) and index:
            node = node.value[int(index)]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == name), node)
    if (unknown := _UNKNOWN.search(problem)) and isinstance(node, yaml.MappingNode):
        node = next((key for key, _ in node.value if key.value == unknown[1]), node)
    return f"{path}:{node.start_mark.line + 1}"
