"""Pages of the Python API: signatures and docstrings of the public modules."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import harness.tools
import harness.vector_cache
import search_cache
from docs.generators.markdown import docstring, fence, page

TOOLS = ("cached_tool", "CachedTool", "default_app", "close_default_app")
"""Public names of `harness.tools`."""
WIDTH = 100
"""Columns of a signature on one line."""


def python_pages() -> dict[str, str]:
    """Return the pages of the Python API by path."""
    public = {
        search_cache: [name for name in search_cache.__all__ if name != "main"],
        harness.tools: TOOLS,
        harness.vector_cache: harness.vector_cache.__all__,
    }
    return {
        f"reference/python/{module.__name__}.md": page(
            module.__name__, docstring(module), *(_documented(module, name) for name in names)
        )
        for module, names in public.items()
    }


def _documented(module: ModuleType, name: str) -> str:
    """Return one public name: its signature and docstring, and those of its methods."""
    found = getattr(module, name)
    if not callable(found):
        return f"## {name}\n\n{fence(f'{name} = {found!r}', 'python')}"
    parts = [f"## {name}", fence(_signature(name, found), "python"), docstring(found)]
    if inspect.isclass(found):
        for own, method in _methods(found):
            parts += [f"### {name}.{own}", fence(_signature(own, method), "python"), docstring(method)]
    return "\n\n".join(filter(None, parts))


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class that have a docstring, inherited ones included."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("harness"):
            yield name, method


def _signature(name: str, found: Any) -> str:
    """Return a definition without a body, in one line or one line for each parameter; a struct with its fields."""
    if fields := getattr(found, "__struct_fields__", ()):
        types = {own: kind for base in reversed(found.__mro__) for own, kind in inspect.get_annotations(base).items()}
        return "\n".join([f"class {name}:", *(f"    {own}: {_name(types[own])}" for own in fields)])
    signature = inspect.signature(found)
    shown = [str(each) for each in signature.parameters.values() if each.name != "self"]
    kind = "class" if inspect.isclass(found) else "async def" if inspect.iscoroutinefunction(found) else "def"
    closing = "" if signature.return_annotation is signature.empty else f" -> {_name(signature.return_annotation)}"
    line = f"{kind} {name}({', '.join(_starred(signature, shown))}){closing}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {each},\n" for each in _starred(signature, shown))
    return f"{kind} {name}(\n{lines}){closing}"


def _starred(signature: inspect.Signature, shown: list[str]) -> list[str]:
    """Return the parameters with the star before those that need their names."""
    kinds = [each.kind for each in signature.parameters.values() if each.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        first = kinds.index(inspect.Parameter.KEYWORD_ONLY)
        return [*shown[:first], "*", *shown[first:]]
    return shown


def _name(annotation: Any) -> str:
    return inspect.formatannotation(annotation)
