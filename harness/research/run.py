"""Research run from the question to the report; the result of each stage is recorded."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from harness.cache import Cache, ResearchContext
from harness.core.entries import Hit
from harness.core.keys import digest_of
from harness.core.question_language import question_language
from harness.errors import InvalidInput, ReaderError, StoreError
from harness.research.answered import answer_probability
from harness.research.budget import CHARS_A_TOKEN, budget_of
from harness.research.context_builder import ShownSource, cached_context
from harness.research.drafting import Writer
from harness.research.evidence import Evidence, cached_evidence
from harness.research.extractive_writer import write_report
from harness.research.fingerprint import Code
from harness.research.gather import Gatherer
from harness.research.gathering import Gathered, GatheredSource, Round
from harness.research.messages import message
from harness.research.model_for_run import model_outage
from harness.research.model_writer import excerpts_instead, rules_for, write_with_model
from harness.research.planner import Plan, with_parts
from harness.research.quotation_support import QuotationSupport
from harness.research.report import Report
from harness.research.report_limits import limits_of, remark_of
from harness.research.result import Research, ResearchCacheUse
from harness.research.rules import rules_of
from harness.research.run_record import Recorder, checked_run_id, finished, new_run_id
from harness.research.scoring import ChunkSet, RoundScorer
from harness.research.search import ranked_by
from harness.research.services import ResearchServices
from harness.research.solved_questions import Origin, SolvedQuestions
from harness.settings import FetchSettings, GatheringSettings, WritingSettings, values_of

log = logging.getLogger(__name__)

CHUNK_COLLECTION = "research"
"""Collection for the chunks of all researches: no chunk is embedded twice."""

LATER = frozenset(("rerank", "max_cost", "model_prices", "source_quality", "only_sites", "skip_sites"))
"""Settings that the fingerprint has only where they are set: older runs do not know them."""

UNREAD = "%s; until then a research does not check whether its sources answer the question"
"""Warning where the reader does not work."""

LEAST_CONTEXT = 200
RULES_TOKENS = 100
"""Approximate size of the writer's prompt besides its rules and the sources."""


class _Found(Struct, frozen=True):
    """A gathering, how the research cache was used for it, the question of the run that it comes from if not this one,
    and whether it was gathered `now`.
    """

    gathered: Gathered
    use: ResearchCacheUse
    origin: Origin | None = None
    now: bool = False


@dataclass(eq=False, repr=False)
class Researcher:
    """Researcher with one engine or several together. The same inputs give the same report, to the byte.

    `keep_research` controls reuse of whole researches, gathered contexts and solved questions; `None` reuses solved
    questions alone. `code` names the code that makes stored results.

    Each run is recorded stage by stage, so that a stopped run can be resumed at its last stage; `started_with` is
    stored with it for that purpose. `on_round` is called after each round that is gathered now, in the running thread;
    an exception from it ends the run, which can be resumed.
    """

    services: ResearchServices
    _: KW_ONLY
    writer: Writer
    gathering: GatheringSettings
    fetch: FetchSettings
    keep_research: bool | None
    code: Code
    on_round: Callable[[Round], None] | None = None
    started_with: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = self.writer.model.name if self.writer.model else ""
        self.writer = replace(self.writer, budget=budget_of(self.gathering, model, self.writer.answer_tokens))

    @property
    def engine(self) -> str:
        """The engines' names, joined by `+`."""
        return "+".join(engine.name for engine in self.services.engines)

    def run(self, question: str, *, sections: int | None = None, run: str = "") -> Research:
        """Plan, gather (or take the gathered context from the cache), find evidence, write. `sections` (1 or more) sets
        the number of sections. `run` is the id to record the run under, as made by `new_run_id` (an existing record is
        replaced); by default a new one.

        Raises:
            InvalidInput: an unusable question, or an id of another form.
            SearchError: every search of the first round failed.
            StoreError: the cache cannot be read.
            EmbeddingError: the embedder failed.
        """
        cache = self.services.cache.recording()
        run = checked_run_id(run or new_run_id(cache.now))
        recorder = Recorder(cache, run, self._about(question, sections))
        if self._reuses_solved and (solution := self._solved(cache).find(question)) is not None:
            recorder.about, recorder.before = self._about(solution.origin.question, sections), solution.uses
            found = _Found(solution.gathered, "solved", solution.origin)
            plan = replace(solution.plan, wanted=sections)
            with recorder.resumable():
                return self._finished(plan, found, self._chunk_set(plan, cache), cache, recorder)
        with recorder.resumable():
            plan = replace(self.services.planner.plan(question, cache), wanted=sections)
            recorder.keep("gathering")
            chunk_set = self._chunk_set(plan, cache)
            return self._finished(plan, self._found(plan, chunk_set, cache), chunk_set, cache, recorder)

    def resume(self, run: str, *, sections: int | None = None) -> Research:
        """Continue a stopped run without repeating the searches it finished. The report is the one that the run would
        have had. `sections` overrides the number requested before.

        Raises:
            InvalidInput: no such run, or an unreadable record.
            HarnessError: see `run`.
        """
        record = self.services.cache.runs.get(run)
        cache = self.services.cache.recording(began=record.get("began", record.get("created_at")))
        sections = sections or record.get("sections")
        about, uses = self._about(record["question"], sections), record.get("uses", ())
        recorder = Recorder(cache, run, about, before=uses, held=record)
        with recorder.resumable():
            plan = replace(self.services.planner.plan(record["question"], cache), wanted=sections)
            chunk_set = self._chunk_set(plan, cache)
            if "gathered" in record:
                found = _Found(_decoded(record["gathered"], run), "off")
            else:
                recorder.keep("gathering")
                found = self._found(plan, chunk_set, cache)
            return self._finished(plan, found, chunk_set, cache, recorder)

    def _finished(self, plan: Plan, found: _Found, chunk_set: ChunkSet, cache: Cache, recorder: Recorder) -> Research:
        gathered, ttl = found.gathered, self.fetch.ttl
        cache.resume_tokens(gathered.tokens, gathered.answer_tokens)
        plan = with_parts(plan, gathered.sub_questions) if gathered.sub_questions else plan
        encoded = msgspec.json.encode(gathered).decode()
        recorder.keep("writing", gathered=encoded)
        writing, evidence = self.writer.settings, self._evidence(plan, gathered, chunk_set, cache)
        report, shown = self._written(plan, evidence, chunk_set, cache) if evidence else (None, ())
        if report:
            rules = rules_of(writing.rules)
            least = rules.weights.further_below
            report = replace(
                report.with_pages(gathered.sources),
                limits=tuple(limits_of(plan, gathered, evidence, report, least)),
                remark=report.remark or remark_of(report, evidence, least),
                headings=dict(rules.headings),
            )
        if report and found.now and self._reuses_solved:  # a stopped run's gathering may be old by now
            self._solved(cache).admit(plan, gathered, evidence, report, ttl=ttl)
        if found.now and "live" in gathered.answered_by:
            chunk_set.tidy()
        answers = [] if found.use in {"solved", "hit"} else gathered.answered_by
        research = Research(
            plan,
            gathered,
            report,
            self.engine,
            live_calls=sum(answer != "cache" for answer in answers),
            cache_hits=sum(answer == "cache" for answer in answers),
            research_cache=found.use,
            answered=dict(Counter(use.how for use in cache.uses if use.how != "derived")),
            id="",
            origin=found.origin,
            evidence=tuple(evidence),
            shown=tuple(shown),
            writing=self.writer.settings,
            tokens=cache.tokens,
            model_outage=model_outage(cache.uses),
            by_words=any(ranked_by(engine) == "words" for engine in self.services.engines),
            at=cache.now,
        )
        result = finished(research)
        if gathered.stop_reason == "limit of time":  # so that a repeated run stops at the same point
            result["max_rounds"] = len(gathered.rounds)
        if research.model_outage:  # when the model is back, resuming rewrites only the report
            result["gathered"] = encoded
        return replace(research, id=recorder.keep("finished", **result))

    def _evidence(self, plan: Plan, gathered: Gathered, chunk_set: ChunkSet, cache: Cache) -> list[Evidence]:
        """Return the evidence. If the reader does not work, nothing is refused, with a warning in the log."""
        found = partial(
            cached_evidence,
            gathered.sources,
            chunk_set,
            cache,
            self.writer.settings,
            ttl=self.fetch.ttl,
            parts=plan.parts,
        )
        try:
            return found(reader=self.services.answering)
        except ReaderError as error:
            log.warning(UNREAD, error)
            return found()

    def _written(
        self, plan: Plan, evidence: Sequence[Evidence], chunk_set: ChunkSet, cache: Cache
    ) -> tuple[Report, Sequence[ShownSource]]:
        """Return the report and the context that the model was shown."""
        writer = self.writer
        if writer.model is None:
            return write_report(plan, evidence, writer.settings.rules), ()
        rules = RULES_TOKENS + len(rules_for(plan, writer.settings)) / CHARS_A_TOKEN
        left = min(writer.settings.context_tokens, writer.budget.prompt_tokens(cache) - rules)
        if left < LEAST_CONTEXT:
            remark = message(
                question_language(plan.question),
                "{spent}, too little is left for {model} to write; these are excerpts",
                spent=writer.budget.spent(cache),
                model=writer.model.name,
            )
            return excerpts_instead(plan, evidence, remark, writer.settings), ()
        shown = cached_context(evidence, chunk_set, cache, budget=int(left), ttl=self.fetch.ttl)
        support = QuotationSupport(self.services.answering, cache, self.fetch.ttl)
        report = write_with_model(plan, evidence, shown, writer.model, cache, writer=writer, support=support)
        return report, shown

    def _found(self, plan: Plan, chunk_set: ChunkSet, cache: Cache) -> _Found:
        """Gather through the search cache; with the research cache on, look there first and store there afterwards."""
        if not self.keep_research:
            return _Found(self._gather(plan, chunk_set, cache), "off", now=True)
        fingerprint = self._fingerprint()
        outcome = cache.researches.find(plan.question, plan.task_type, fingerprint=fingerprint)
        if isinstance(outcome, Hit):
            try:
                gathered = msgspec.json.decode(outcome.value.context, type=Gathered)
                return _Found(gathered, "hit", Origin(outcome.query, outcome.similarity, outcome.age))
            except msgspec.MsgspecError as error:
                log.warning("the cached research is unreadable (%s) and will be replaced", error)
        gathered = self._gather(plan, chunk_set, cache)
        late = any(use.how == "stale" for use in cache.uses) or gathered.stop_reason == "limit of time"
        late = late or bool(model_outage(cache.uses))
        if not gathered.sources or late or "failed" in gathered.answered_by:
            # half a context would be served as a whole one until it expires
            return _Found(gathered, "not stored", now=True)
        context = ResearchContext(
            msgspec.json.encode(gathered).decode(),
            [[search.query for search in round_.searches] for round_ in gathered.rounds],
            [round_.novelty for round_ in gathered.rounds],
        )
        try:
            ttl = self.fetch.ttl
            kept = cache.researches.put(plan.question, plan.task_type, context, ttl=ttl, fingerprint=fingerprint)
        except StoreError as error:
            log.error("the research is not cached: %s", error)  # noqa: TRY400 - one line; nothing is lost
            return _Found(gathered, "not stored", now=True)
        return _Found(gathered, "stored" if kept else "not stored", now=True)

    def _gather(self, plan: Plan, chunk_set: ChunkSet, cache: Cache) -> Gathered:
        scorer = RoundScorer(chunk_set, cache, ttl=self.fetch.ttl)
        services, reader = replace(self.services, cache=cache), self.services.answering

        def answered(sources: Sequence[GatheredSource], asked: Plan) -> float | None:
            return answer_probability(sources, chunk_set, cache, ttl=self.fetch.ttl, reader=reader, parts=asked.parts)

        rounds = Gatherer(services, scorer, self.gathering, self.fetch, self.writer.budget, answered, self.on_round)
        gathered = rounds.gather(plan)
        return replace(gathered, tokens=cache.tokens, answer_tokens=cache.answer_tokens)

    def _chunk_set(self, plan: Plan, cache: Cache) -> ChunkSet:
        return ChunkSet(
            plan.question,
            self.services.memory(f"{CHUNK_COLLECTION} {self.gathering.chunk_tokens} {self.code.chunks}".rstrip()),
            self.services.embedder,
            code=self.code,
            keep=cache.policy.write,
            ttl=self.fetch.ttl,
            progress=self.services.progress,
            rarity=self.services.rarity,
        )

    @property
    def _reuses_solved(self) -> bool:
        return self.keep_research is not False

    def _solved(self, cache: Cache) -> SolvedQuestions:
        """Return the solved questions of this fingerprint, which does not depend on the writing."""
        return SolvedQuestions(self.services.memory(f"solved {self._fingerprint()}"), cache)

    def _fingerprint(self) -> str:
        """Return a digest of everything that decides the gathering; the writing does not count."""
        code = {"code": self.code.gathering} if self.code.gathering else {}
        answering = self.services.answering
        read = {"answering": f"{answering.id} {answering.calibration}"} if answering else {}
        read |= {"evidence": self.code.evidence} if answering else {}
        inputs = {name: value for name, value in self._inputs().items() if name not in LATER or value}
        if self.gathering.max_cost is None:
            inputs.pop("model_prices", None)
        return digest_of({"planner": self.services.planner.version, **inputs, **read, **code})

    def _inputs(self) -> dict[str, Any]:
        """Return the inputs, besides the code, that decide which sources are gathered."""
        return {
            "engines": [{"name": engine.name, "options": dict(engine.options)} for engine in self.services.engines],
            "reader": self.services.reader.name,
            "embedder": self.services.embedder.id,
            **values_of(GatheringSettings, self.gathering),
        }

    def _about(self, question: str, sections: int | None) -> dict[str, Any]:
        """Return the settings of a run, so that it can be repeated."""
        model = self.writer.model
        described = model and {"name": model.name, "endpoint": model.endpoint, "parameters": dict(model.parameters)}
        return {
            **self.started_with,
            "question": question,
            "sections": sections,
            **self._inputs(),
            "research_cache": self.keep_research,
            "code": to_builtins(self.code),
            "calibration": to_builtins(self.services.answering.calibration) if self.services.answering else None,
            "model": described,
            **values_of(WritingSettings, self.writer.settings),
            "epoch": self.writer.epoch,
        }


def _decoded(gathered: str, run: str) -> Gathered:
    try:
        return msgspec.json.decode(gathered, type=Gathered)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"the record of the run {run} cannot be read ({error}); ask the question again") from error
