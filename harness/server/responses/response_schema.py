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

    truncated: bool = Field(
        default=False, description="Whether more follows; then call again with `offset` set to `next_offset`."
    )
    total_chars: int = Field(default=0, description="Characters of the whole text.")
    next_offset: int | None = Field(default=None, description="Where the rest starts; null if nothing is left.")
