"""Types of settings, and the notes that a declaration carries besides its bounds."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct, StructMeta, field

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Secret: TypeAlias = Annotated[str, Meta(extra={"secret": True})]
Seconds: TypeAlias = Annotated[float, Meta(extra={"unit": "s"})]
Hours: TypeAlias = Annotated[float, Meta(extra={"unit": "h"})]
"""Durations: as text they may name another unit, as 7d (see `harness.core.durations`)."""

LOCAL = Meta(extra={"local": True})
"""Belongs to the machine or to another service: not stored with a run."""

REACHES = Meta(extra={"reaches": True})
"""Decides which hosts and folders a run reads."""


def flag(*names: str, metavar: str = "") -> Meta:
    """Make the setting an option of `harness research`; `names` default to `--` and its name."""
    return Meta(extra={"flag": (names, metavar)})


def checked_by(check: Callable[[Any], None]) -> Meta:
    """Have `check` raise `InvalidInput` for a value of the right type that cannot be used."""
    return Meta(extra={"check": check})


class Joined(StructMeta):
    """Metaclass of a struct with the fields of several others, from the last base to the first; msgspec has none."""

    def __new__(cls, name: str, bases: tuple[Any, ...], namespace: dict[str, Any], **options: Any) -> Any:
        """Copy the fields of the bases, which stay bases for type checkers only."""
        types: dict[str, Any] = {}
        for base in reversed(bases):
            types |= base.__annotations__
            for own, default in zip(base.__struct_fields__, base.__struct_defaults__, strict=True):
                made = getattr(default, "factory", None)
                namespace.setdefault(own, default if made is None else field(default_factory=made))
        namespace["__annotations__"] = types | namespace["__annotations__"]
        return super().__new__(cls, name, (Struct,), namespace, **options)


def values_of(group: type[Struct], settings: Struct) -> dict[str, Any]:
    """Return the values of a group's settings by name, taken from `settings` that include the group."""
    return {name: getattr(settings, name) for name in group.__struct_fields__}
