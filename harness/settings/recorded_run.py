"""Settings of a recorded run: part of its snapshot, used to repeat it."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from harness.core.reading_calibration import ReadingCalibration
from harness.settings.kinds import Joined
from harness.settings.research_settings import GatheringSettings, WritingSettings


class AskedEngine(Struct, frozen=True):
    """An engine that a run asked, with the options that its keys hold."""

    name: str
    options: dict[str, Any]


class AskedModel(Struct, frozen=True):
    """A language model that a run asked, with the parameters that its keys hold."""

    name: str
    endpoint: str
    parameters: dict[str, Any]


class RecordedRun(WritingSettings, GatheringSettings, metaclass=Joined, frozen=True, kw_only=True):
    """Settings of a recorded run, to repeat it."""

    question: str
    sections: Annotated[int, Meta(ge=1)] | None
    engines: Annotated[list[AskedEngine], Meta(min_length=1)]
    embedder: str
    reader: str
    research_cache: bool | None
    model: AskedModel | None
    epoch: str
    reading: bool = False
    """Older runs have none: there was no reader."""
    rerank: int = 0
    """Likewise."""
    reuse: Literal["passages", "off"] = "off"
    """Likewise: nothing was reused."""
    max_revisions: int = 0
    """Likewise."""
    source_quality: bool = False
    """Likewise: all sources had the same weight."""
    calibration: ReadingCalibration | None = None
    """The thresholds of the reader that it used."""
    code: dict[str, Annotated[str, Meta(max_length=100)]] = field(default_factory=dict)
    """Names the code that made the results it reused; older runs do not have it."""
