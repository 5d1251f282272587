"""Digest of the code that makes a result: a result stored under it is not reused by other code.

The code is that of the modules named, and of every module of the same package that they import, directly or not. It is
compared as compiled: comments, docstrings, asserts and formatting do not count, the Python version does.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from types import CodeType

from msgspec import Struct

STOPS = ("harness.cache", "harness.errors", "harness.ports", "harness.settings", "harness.sources.http")
"""Imports that are not followed: how answers are stored and transported, and what is declared, does not change what is
made of them. Without them, nearly every edit would count.
"""


class _Module(Struct, frozen=True):
    """One module: a digest of its code, and the names that it may import."""

    digest: str
    imports: tuple[str, ...]


@cache
def source_digest(*roots: str) -> str:
    """Return 16 hexadecimal digits that name the code of the modules `roots` and of what they import. A root that does
    not exist is left out. Computed once per process; 1 ms a module. Where a module is installed without its source, its
    bytecode counts, docstrings included; without either, the version of this program does.
    """
    found: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found and _is_followed(name) and (module := _module(name)) is not None:
            found[name] = module.digest
            waiting += module.imports
    return sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


@cache
def _module(name: str) -> _Module | None:
    try:
        spec = find_spec(name)
    except (ModuleNotFoundError, ValueError):  # no package above it, or a script run as `__main__`
        return None
    if spec is None or spec.loader is None:
        return None
    code = _code(spec.loader, name)
    if code is None:
        return _Module(version("research-harness"), ())
    imports = dict.fromkeys(_imported(code, name.partition(".")[0]))
    return _Module(sha256(repr(_plain(code)).encode()).hexdigest(), tuple(imports))


def _code(loader: object, name: str) -> CodeType | None:
    """Return a module's code, compiled without docstrings where its source is there."""
    source = getattr(loader, "get_source", lambda _: None)(name)
    if source is not None:
        code: CodeType = compile(source, name, "exec", dont_inherit=True, optimize=2)
        return code
    compiled: CodeType | None = getattr(loader, "get_code", lambda _: None)(name)
    return compiled


def _imported(code: CodeType, package: str) -> Iterator[str]:
    """Yield what a module's code imports of a package: the names in it that begin as the package's do, and each with
    what is imported from it, which may be a module as well.
    """
    named = [name for name in code.co_names if f"{name}.".startswith(f"{package}.")]
    listed = [each for const in code.co_consts if isinstance(const, tuple) for each in const if isinstance(each, str)]
    yield from named
    for name in filter(_is_followed, named):
        if _is_package(name):
            yield from (f"{name}.{each}" for each in dict.fromkeys(listed))
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _imported(const, package)


def _is_followed(name: str) -> bool:
    return not any(f"{name}.".startswith(f"{stop}.") for stop in STOPS)


def _is_package(name: str) -> bool:
    spec = find_spec(name)
    return spec is not None and spec.submodule_search_locations is not None


def _plain(value: object) -> object:
    """Return code and constants as values whose `repr` is the same in every process and place."""
    if isinstance(value, CodeType):
        names: Sequence[object] = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        shape = (value.co_flags, value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount)
        return (value.co_name, value.co_code, value.co_exceptiontable, *names, *shape, _plain(value.co_consts))
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return value
