"""Filters after the name of an engine for papers, questions or code: `NAME[:years=2020-2024][:open][:field=TEXT]`."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from harness.errors import InvalidInput

Filter: TypeAlias = Literal["years", "open", "field", "site", "kind"]

_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_YEARS = re.compile(rf"({_YEAR})?(-)?({_YEAR})?")
_WORD = re.compile(r"[\w .+#/-]{1,60}")


class Filters(Struct, frozen=True):
    """The first and last year (0: any), only what is free to read, and a field of research, site or kind."""

    since: int = 0
    until: int = 0
    open: bool = False
    field: str = ""
    site: str = ""
    kind: str = ""

    @property
    def options(self) -> Mapping[str, Any]:
        """The filters that are set, as options of an engine."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value}

    def years(self, since: str, until: str) -> list[str]:
        """Return the conditions for the years that are set. Each of the two patterns has `{}` in place of the year."""
        return [pattern.format(year) for pattern, year in ((since, self.since), (until, self.until)) if year]


NO_FILTERS = Filters()


def filters_of(engine: str, argument: str, allowed: tuple[Filter, ...]) -> Filters:
    """Read the filters of an engine.

    Raises:
        InvalidInput: a filter that this engine does not have, or a value of another form.
    """
    values: dict[str, Any] = {}
    for part in filter(None, argument.split(":")):
        name, _, value = (each.strip() for each in part.partition("="))
        if name not in allowed or name in values:
            raise InvalidInput(f"{engine} cannot be filtered by {part[:60]!r}; write {_usage(engine, allowed)}")
        if name == "open":
            usable = not value
            values["open"] = True
        elif name == "years":
            found = _YEARS.fullmatch(value)
            usable = bool(value) and found is not None and value != "-"
            if found is not None and usable:
                first, dash, last = found.groups()
                values["years"] = (int(first or 0), int(last or (0 if dash else first)))
                usable = not (first and last) or (bool(dash) and int(first) <= int(last))
        else:
            usable = _WORD.fullmatch(value) is not None
            values[name] = value
        if not usable:
            raise InvalidInput(f"{part[:60]!r} is not a filter of {engine}; write {_usage(engine, allowed)}")
    since, until = values.pop("years", (0, 0))
    return Filters(since=since, until=until, **values)


_EXAMPLES: Mapping[Filter, str] = MappingProxyType(
    {"years": "years=2020-2024", "open": "open", "field": "field=TEXT", "site": "site=NAME", "kind": "kind=NAME"}
)


def _usage(engine: str, allowed: tuple[Filter, ...]) -> str:
    return engine + "".join(f"[:{_EXAMPLES[name]}]" for name in allowed)
