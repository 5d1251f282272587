"""Parts of all response models: example, times, short texts, paging fields."""

import time
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from harness.core.text import clean, one_line, shorten


def example(**values: Any) -> ConfigDict:
    """Return a model configuration with one example for the API description.

    The description leaves out `None` values, so give required fields a value.
    """
    return ConfigDict(json_schema_extra={"examples": [values]})


def iso(moment: float) -> str:
    """Return a time in seconds since the epoch as ISO 8601, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


Timestamp = Annotated[str, BeforeValidator(lambda moment: moment if isinstance(moment, str) else iso(moment))]
"""A time as ISO 8601, UTC; a model can be validated from seconds since the epoch."""


def short(text: object, limit: int = 300) -> str:
    """Return a text cleaned, on one line, and at most `limit` characters long."""
    return shorten(clean(one_line(str(text)[: 4 * limit]), 2 * limit), limit)


class Part(BaseModel):
    """Paging fields of a response that may be one part of a longer text."""

    truncated: Annotated[
        bool, Field(description="Whether more follows; then call again with `offset` set to `next_offset`.")
    ] = False
    total_chars: Annotated[int, Field(description="Characters of the whole text.")] = 0
    next_offset: Annotated[int | None, Field(description="Where the rest starts; null if nothing is left.")] = None
