"""The record of a run, kept stage by stage: what it was made with, what answered it, what it quotes."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import msgspec

from harness.cache import Cache
from harness.core.chunking import passages
from harness.core.citations import stands_in
from harness.errors import StoreError
from harness.research.gathered import Gathered
from harness.research.synthesis import Report

log = logging.getLogger(__name__)

State: TypeAlias = Literal["gathering", "writing", "finished"]


class Recorder:
    """Keeps the record of one run; where it cannot be kept, the run goes on without. `before` is what the run was
    answered with earlier, or what it rests on was.
    """

    def __init__(
        self, cache: Cache, run: str, about: Mapping[str, Any], *, before: Sequence[Mapping[str, str]] = ()
    ) -> None:
        self._cache = cache
        self._run = run if cache.policy.write else ""
        self.about = about
        self.before = before
        self._kept = False

    def keep(self, state: State, **more: Any) -> str:
        """Keep what is known by now; return the run's id, empty where it cannot be kept."""
        if not self._run:
            return ""
        uses = [*self.before, *msgspec.to_builtins(self._cache.uses)]
        record = {**self.about, "state": state, "uses": sorted(uses, key=_place), **more}
        engine = "+".join(each["name"] for each in self.about["engines"])
        try:
            self._cache.put_run(self._run, self.about["question"], engine, record)
        except StoreError as error:
            log.error("the run is not recorded: %s", error)  # noqa: TRY400 - one line; nothing else is lost
            self._run = ""
        self._kept = bool(self._run)
        return self._run

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Say how to go on, should the run be stopped after something was found."""
        try:
            yield
        except BaseException:
            if self._kept and any(use.how != "failed" for use in self._cache.uses):
                log.warning("nothing is lost: go on with `harness research --resume %s`", self._run)
            raise


def quoted_by(report: Report | None, gathered: Gathered) -> dict[str, list[str]]:
    """Return of each cited source the passages that the report quotes: they are kept with the run."""
    texts = {source.url: source.texts for source in gathered.sources}
    quoted: dict[str, list[str]] = {}
    for citation in report.quotations if report else ():
        held = quoted.setdefault(citation.url, [])
        passage = _passage_with(citation.quotation, texts.get(citation.url, ()))
        if passage and passage not in held:
            held.append(passage)
    return quoted


def _passage_with(quotation: str, texts: Sequence[str]) -> str:
    """Return the passage that holds a quotation, the whole text where it goes beyond a passage, or nothing."""
    for text in texts:
        if stands_in(quotation, [text]):
            cut = (passage.text for passage in passages(text))
            return next((passage for passage in cut if stands_in(quotation, [passage])), text)
    return ""


def _place(use: Mapping[str, str]) -> tuple[str, str]:
    return use["table"], use["asked"]
