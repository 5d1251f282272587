"""One research, led from the question to the report; what each stage has come to is kept."""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness.cache import Cache, ResearchContext
from harness.core.citations import stands_in
from harness.core.entries import Hit
from harness.core.keys import digest_of
from harness.errors import InvalidInput, StoreError
from harness.ports import Embedder, LanguageModel, PageReader, Progress, SearchEngine
from harness.research.evidence import Evidence, cached_evidence
from harness.research.gather import Gathered, Gatherer, Lifetimes, Limits
from harness.research.planner import Plan, Planner
from harness.research.synthesis import Report, write_report
from harness.research.writing import write_with_model

log = logging.getLogger(__name__)

ResearchCacheUse: TypeAlias = Literal["off", "hit", "stored", "not stored"]
State: TypeAlias = Literal["gathering", "writing", "finished"]


class Research(Struct, frozen=True):
    """A finished research. Without a report, nothing that answers was found.

    `live_calls` counts the searches and pages that were answered from outside (or failed) in this run, `cache_hits`
    those that the cache answered, `answered` all answers by how (`exact`, `semantic`, `stale`, `no results`, `live`,
    `failed`). With a whole research from the cache, `gathered` tells how it was gathered at the time. `id` names the
    run; empty when it was not recorded.
    """

    plan: Plan
    gathered: Gathered
    report: Report | None
    engine: str
    live_calls: int
    cache_hits: int
    research_cache: ResearchCacheUse
    answered: dict[str, int]
    id: str


class Writing(Struct, frozen=True):
    """Who words the report: a language model, or nobody, and then it is made of excerpts. `strict` leaves out what has
    no quotation that stands; `epoch` tells repetitions apart that are meant to differ; `on_text` is told the text as it
    comes.
    """

    model: LanguageModel | None = None
    strict: bool = False
    epoch: str = ""
    on_text: Callable[[str], None] | None = None


class Researcher:
    """Leads researches with one engine, or several together. The same inputs give the same report, to the byte.

    Each run is recorded stage by stage: one that was stopped, by whatever, is resumed where it was.
    """

    def __init__(
        self,
        cache: Cache,
        engines: Sequence[SearchEngine],
        reader: PageReader,
        embedder: Embedder,
        *,
        planner: Planner,
        writing: Writing,
        limits: Limits,
        lifetimes: Lifetimes,
        keep_research: bool,
        progress: Progress,
    ) -> None:
        self._cache = cache
        self._engines = tuple(engines)
        self._reader = reader
        self._embedder = embedder
        self._planner = planner
        self._writing = writing
        self._limits = limits
        self._lifetimes = lifetimes
        self._keep_research = keep_research
        self._progress = progress

    @property
    def engine(self) -> str:
        """The engines' names, joined by `+`."""
        return "+".join(engine.name for engine in self._engines)

    def run(self, question: str) -> Research:
        """Plan, gather (or take the gathered context from the research cache), find evidence, write.

        Raises:
            InvalidInput: an unusable question.
            SearchError: every search of the first round failed.
            ModelUnavailable: the language model does not answer.
            StoreError: the cache cannot be read.
            EmbeddingError: the embedder failed.
        """
        cache = self._cache.recording()
        started = time.strftime("%Y%m%d-%H%M%S", time.gmtime(cache.now))
        recorder = _Recorder(cache, f"{started}-{secrets.token_hex(3)}", self._about(question))
        with recorder.resumable():
            plan = self._planner.plan(question, cache)
            recorder.keep("gathering")
            gathered, use = self._gathered(plan, cache)
            return self._finished(plan, gathered, use, cache, recorder)

    def resume(self, run: str) -> Research:
        """Go on with a run that was stopped; what it had gathered is not asked for again.

        Raises:
            InvalidInput: no such run, or a record that cannot be read.
            HarnessError: see `run`.
        """
        record = self._cache.get_run(run)
        cache = self._cache.recording()
        recorder = _Recorder(cache, run, self._about(record["question"]), before=record.get("uses", ()))
        with recorder.resumable():
            plan = self._planner.plan(record["question"], cache)
            if "gathered" not in record:
                recorder.keep("gathering")
                gathered, use = self._gathered(plan, cache)
            else:
                gathered, use = _decoded(record["gathered"], run), "off"
            return self._finished(plan, gathered, use, cache, recorder)

    def _finished(
        self, plan: Plan, gathered: Gathered, use: ResearchCacheUse, cache: Cache, recorder: "_Recorder"
    ) -> Research:
        recorder.keep("writing", gathered=msgspec.json.encode(gathered).decode())
        self._progress("reading", 0, 1)
        evidence = cached_evidence(plan.question, gathered.sources, self._embedder, cache, ttl=self._lifetimes.searches)
        self._progress("reading", 1, 1)
        report = self._written(plan, evidence, cache) if evidence else None
        answers = [] if use == "hit" else gathered.answered_by
        return Research(
            plan,
            gathered,
            report,
            self.engine,
            live_calls=sum(answer != "cache" for answer in answers),
            cache_hits=sum(answer == "cache" for answer in answers),
            research_cache=use,
            answered=dict(Counter(use.how for use in cache.uses)),
            id=recorder.keep("finished", quoted=_quoted(report, gathered), **_stopped_by_time(gathered)),
        )

    def _written(self, plan: Plan, evidence: Sequence[Evidence], cache: Cache) -> Report:
        writing = self._writing
        if writing.model is None:
            return write_report(plan, evidence)
        return write_with_model(
            plan,
            evidence,
            writing.model,
            cache,
            strict=writing.strict,
            epoch=writing.epoch,
            on_text=writing.on_text,
        )

    def _gathered(self, plan: Plan, cache: Cache) -> tuple[Gathered, ResearchCacheUse]:
        """Gather through the search cache; with the research cache on, look there first and store there after."""
        if not self._keep_research:
            return self._gather(plan, cache), "off"
        fingerprint = self._fingerprint()
        outcome = cache.get_research(plan.question, plan.task_type, fingerprint=fingerprint)
        if isinstance(outcome, Hit):
            try:
                return msgspec.json.decode(outcome.value.context, type=Gathered), "hit"
            except msgspec.MsgspecError as error:
                log.warning("the cached research is unreadable (%s) and will be replaced", error)
        gathered = self._gather(plan, cache)
        if not gathered.sources or "failed" in gathered.answered_by:
            return gathered, "not stored"  # half a context would pass for the whole one until it expires
        context = ResearchContext(
            msgspec.json.encode(gathered).decode(),
            [[search.query for search in round_.searches] for round_ in gathered.rounds],
            [round_.novelty for round_ in gathered.rounds],
        )
        try:
            ttl = self._lifetimes.searches
            kept = cache.put_research(plan.question, plan.task_type, context, ttl=ttl, fingerprint=fingerprint)
        except StoreError as error:
            log.error("the research is not cached: %s", error)  # noqa: TRY400 - one line; nothing is lost
            return gathered, "not stored"
        return gathered, "stored" if kept else "not stored"

    def _gather(self, plan: Plan, cache: Cache) -> Gathered:
        return Gatherer(
            self._planner,
            cache,
            self._engines,
            self._reader,
            self._limits,
            lifetimes=self._lifetimes,
            progress=self._progress,
        ).gather(plan)

    def _fingerprint(self) -> str:
        """Name everything that decides what is gathered; how a report is written from it does not count."""
        return digest_of({"planner": self._planner.version, **self._gathering()})

    def _gathering(self) -> dict[str, Any]:
        limits = self._limits
        return {
            "engines": [{"name": engine.name, "options": dict(engine.options)} for engine in self._engines],
            "reader": self._reader.name,
            "max_rounds": limits.max_rounds,
            "min_novelty": limits.min_novelty,
            "max_results": limits.max_results,
            "read_pages": limits.read_pages,
            "max_live_calls": limits.max_live_calls,
        }

    def _about(self, question: str) -> dict[str, Any]:
        """Tell what a run is made with, so that it can be made again."""
        model = self._writing.model
        told = model and {"name": model.name, "endpoint": model.endpoint, "parameters": dict(model.parameters)}
        return {
            "question": question,
            **self._gathering(),
            "research_cache": self._keep_research,
            "model": told,
            "strict": self._writing.strict,
            "epoch": self._writing.epoch,
        }


class _Recorder:
    """Keeps the record of one run; where it cannot be kept, the run goes on without."""

    def __init__(
        self, cache: Cache, run: str, about: Mapping[str, Any], *, before: Sequence[Mapping[str, str]] = ()
    ) -> None:
        self._cache = cache
        self._run = run if cache.policy.write else ""
        self._about = about
        self._before = before
        self._kept = False

    def keep(self, state: State, **more: Any) -> str:
        """Keep what is known by now; return the run's id, empty where it cannot be kept."""
        if not self._run:
            return ""
        uses = [*self._before, *msgspec.to_builtins(self._cache.uses)]
        record = {**self._about, "state": state, "uses": sorted(uses, key=_place), **more}
        engine = "+".join(each["name"] for each in self._about["engines"])
        try:
            self._cache.put_run(self._run, self._about["question"], engine, record)
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


def _quoted(report: Report | None, gathered: Gathered) -> dict[str, list[str]]:
    """Return of each cited source the passages that the report quotes: they are kept with the run."""
    passages = {source.url: source.passages for source in gathered.sources}
    quoted: dict[str, list[str]] = {}
    for citation in report.quotations if report else ():
        standing = (text for text in passages.get(citation.url, ()) if stands_in(citation.quotation, [text]))
        held = quoted.setdefault(citation.url, [])
        if (passage := next(standing, None)) is not None and passage not in held:
            held.append(passage)
    return quoted


def _stopped_by_time(gathered: Gathered) -> dict[str, int]:
    """Tell the rounds instead of the time: made again, the run is to stop where it stopped."""
    return {"max_rounds": len(gathered.rounds)} if gathered.stop_reason == "limit of time" else {}


def _decoded(gathered: str, run: str) -> Gathered:
    try:
        return msgspec.json.decode(gathered, type=Gathered)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"the record of the run {run} cannot be read ({error}); ask the question again") from error


def _place(use: Mapping[str, str]) -> tuple[str, str]:
    return use["table"], use["asked"]
