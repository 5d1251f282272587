"""One run of a task, for people and programs: scores, nuggets with the sentences that say them, sources,
rounds; and where two runs begin to differ. All texts are bounded and have no control characters.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from harness.core.text import clean, printable
from harness.errors import InvalidInput, NotFound
from harness.research.gathering import Search
from harness_evals.differences import Line, Piece, difference
from harness_evals.log import Entry, Log
from harness_evals.objective import Objective
from harness_evals.outcome import Cited, Cost, Outcome, Round, Stage
from harness_evals.promises import avoided, disagreement_shown, short_answer
from harness_evals.scorers import refused, structure, weights_for
from harness_evals.stages import task_of, text_of
from harness_evals.suite import differing_stage, last_entries
from harness_evals.tasks import Nugget, Task, comparable, is_said

MAX_TEXT = 10_000
MAX_SOURCES = 200
MAX_SENTENCES = 1_000
MAX_ROUNDS = 50
MAX_SEARCHES = 50
"""Bound for one round."""


class ScoreView(Struct, frozen=True):
    """One scorer's value (0..1), and its weight in the total of this task."""

    name: str
    value: float
    weight: float


class NuggetView(Struct, frozen=True):
    """A nugget, and the places of the sentences of the report that say it; none: it is missed. `problem`: why that is
    not known.
    """

    says: str
    vital: bool
    places: tuple[int, ...] = ()
    problem: str = ""


class SentenceView(Struct, frozen=True):
    """A sentence of the report. `number` is that of its source, 0 without one; `nuggets` are the places of those that
    it says.
    """

    section: str
    paragraph: int
    sentence: str
    quotation: str
    url: str
    number: int
    verified: bool
    nuggets: tuple[int, ...] = ()


class SourceView(Struct, frozen=True):
    """A source that was expected, found or cited. `rank` is its place among the found ones, from 1 (0: not found),
    `found_as` the URL with the same text that was found in its place, `cited` the number of sentences that cite it.
    """

    url: str
    expected: bool
    rank: int
    cited: int
    number: int = 0
    title: str = ""
    found_as: str = ""


class Demand(Struct, frozen=True):
    """Something else that the task asks of the report, in words, and whether the report meets it."""

    what: str
    met: bool


class TaskView(Struct, frozen=True):
    """One run of a task of an evaluation. `number` is that of the run, from 1 to `runs`. `known`: the task's
    requirements are known; otherwise nuggets and expected sources are empty because its file has changed or is gone.
    `objective` is the value of the evaluation's objective, `None` without one. `parts` are the questions of a stream,
    each as a separate run, without the evaluation's figures.
    """

    evaluation: str
    task: str
    question: str
    known: bool
    split: str
    engine: str
    answerable: bool
    nuggets: tuple[NuggetView, ...]
    demands: tuple[Demand, ...]
    sentences: tuple[SentenceView, ...]
    sources: tuple[SourceView, ...]
    limits: tuple[str, ...]
    rounds: tuple[Round, ...]
    stop_reason: str
    research_cache: str
    run: str
    cost: Cost
    error: str
    left_out: int = 0
    number: int = 1
    runs: int = 1
    total: float | None = None
    objective: float | None = None
    scores: tuple[ScoreView, ...] = ()
    parts: "tuple[TaskView, ...]" = ()

    @property
    def missed(self) -> tuple[NuggetView, ...]:
        """The nuggets that no sentence says."""
        return tuple(nugget for nugget in self.nuggets if not nugget.places)


class StageView(Struct, frozen=True):
    """First difference of two runs of a task. `stage` is the first stage whose bytes differ, "" if none does;
    `message` says why its text cannot be shown.
    """

    task: str
    number: int
    stage: Stage | None
    lines: tuple[Line, ...] = ()
    message: str = ""


def task_view(log: Log, task_id: str, number: int, data_dir: Path) -> TaskView:
    """Return run `number` (from 1) of a task of an evaluation.

    Raises:
        NotFound: the evaluation has no such task, or no such run.
        InvalidInput: the objective is not a formula.
    """
    objective = Objective(log.header.objective)
    entries = runs_of(log, task_id)
    entry, name = _numbered(entries, number, log, task_id), log.header.id
    task = task_of(data_dir, log.header.tasks[task_id])
    view = _view(entry.outcome, task, name)
    asked = task.parts if task else (None,) * len(entry.outcome.parts)
    return replace(
        view,
        number=number,
        runs=len(entries),
        total=entry.total,
        objective=objective.value(entry.total, entry.outcome.cost) if objective and entry.total is not None else None,
        scores=_scores(entry, task, log.header.weights),
        parts=tuple(_view(each, part, name) for each, part in zip(entry.outcome.parts, asked, strict=False)),
    )


def _view(outcome: Outcome, task: Task | None, name: str) -> TaskView:
    """Return what a run did, without the figures of its evaluation; of a stream, its parts hold the findings."""
    whole = not outcome.parts
    said = [comparable(cited.sentence) for cited in outcome.citations]
    nuggets = tuple(_nugget(nugget, said) for nugget in (task.nuggets if task else ()))
    return TaskView(
        name,
        _text(outcome.task),
        _text(task.title if task else ""),
        known=task is not None,
        split=task.split if task else "",
        engine=_text(task.engine or "") if task else "",
        answerable=task.answerable if task else True,
        nuggets=nuggets,
        demands=_demands(task, outcome) if task and whole and not outcome.error else (),
        sentences=_sentences(outcome, nuggets) if whole else (),
        sources=_sources(task, outcome) if whole else (),
        limits=tuple(_text(limit) for limit in outcome.limits[:MAX_ROUNDS]),
        rounds=tuple(_round(each) for each in outcome.rounds[:MAX_ROUNDS]),
        stop_reason=_text(outcome.stop_reason),
        research_cache=_text(outcome.research_cache),
        run=_text(outcome.run),
        cost=outcome.cost,
        error=_text(outcome.error),
        left_out=max(0, len(outcome.citations) - MAX_SENTENCES) if whole else 0,
    )


def stage_view(first: Log, second: Log, task_id: str, number: int, data_dir: Path) -> StageView:
    """Return the first stage in which run `number` (from 1) of a task differs between two evaluations, with the
    difference of its text.

    Raises:
        NotFound: one of them has no such task, or no such run.
    """
    one, other = (_numbered(runs_of(log, task_id), number, log, task_id).outcome for log in (first, second))
    if not one.digests or not other.digests:
        which = first if not one.digests else second
        return StageView(task_id, number, None, (), f"the run of {which.header.id} failed, so it has no stages")
    stage = differing_stage([one, other])
    if stage is None:
        return StageView(task_id, number, None)
    part = _differing_part(one, other, stage)
    if part is not None:
        one, other = one.parts[part], other.parts[part]
    texts = [text_of(data_dir, each.digests.get(stage, "")) for each in (one, other)]
    if texts[0] is None or texts[1] is None:
        return StageView(
            task_id, number, stage, (), f"the text of the stage {stage} is not stored; run the evaluation again"
        )
    where = () if part is None else (Line("left out", (Piece(f"question {part + 1} of the stream"),)),)
    return StageView(task_id, number, stage, (*where, *map(clean_line, difference(texts[0], texts[1]))))


def _differing_part(one: Outcome, other: Outcome, stage: Stage) -> int | None:
    """Return the first question of a stream with another text of a stage; `None` if there is none."""
    pairs = enumerate(zip(one.parts, other.parts, strict=False))
    return next((at for at, (a, b) in pairs if a.digests.get(stage) != b.digests.get(stage)), None)


def runs_of(log: Log, task_id: str) -> list[Entry]:
    """Return the last entry of each run of a task, in the order of the repeats.

    Raises:
        NotFound: the evaluation has no such task.
    """
    if task_id not in log.header.tasks:
        raise NotFound(f"{log.header.id} has no task {clean(task_id, 100)!r}; `harness eval show` lists them")
    found = [entry for entry in last_entries(log) if entry.outcome.task == task_id]
    return sorted(found, key=lambda entry: entry.outcome.repeat)


def _numbered(entries: Sequence[Entry], number: int, log: Log, task_id: str) -> Entry:
    if not 1 <= number <= len(entries):
        count = f"{len(entries)} run{'' if len(entries) == 1 else 's'}"
        raise NotFound(f"{log.header.id} has {count} of {task_id}, so none with number {number}")
    return entries[number - 1]


def _scores(entry: Entry, task: Task | None, weights: Mapping[str, float]) -> tuple[ScoreView, ...]:
    """Return the scores, those with the largest weight first."""
    shares = dict(weights)
    if task is not None:
        with suppress(InvalidInput):  # the scorers have changed since
            shares = weights_for(task, weights)
    found = [ScoreView(_text(name), value, shares.get(name, 0.0)) for name, value in (entry.scores or {}).items()]
    return tuple(sorted(found, key=lambda each: -each.weight))


def _nugget(nugget: Nugget, said: Sequence[str]) -> NuggetView:
    vital = nugget.importance == "vital"
    try:
        places = tuple(at for at, sentence in enumerate(said) if is_said(nugget, (sentence,)))
    except InvalidInput as error:  # its pattern takes too long
        return NuggetView(_text(nugget.says), vital, (), _text(error))
    return NuggetView(_text(nugget.says), vital, places)


def _demands(task: Task, outcome: Outcome) -> tuple[Demand, ...]:
    """Return what else the task asks; the scorers decide whether it is met."""
    found = list[tuple[str, float]]()
    if task.structure is not None:
        exactly = task.structure.exactly
        wanted = f"exactly {exactly}" if exactly is not None else f"at least {task.structure.at_least}"
        found.append((f"sections: {wanted}; the report has {len(outcome.sections)}", structure(task, outcome)))
    if task.short_answer:
        found.append((f"short answer: {' or '.join(task.short_answer)}", short_answer(task, outcome)))
    for sides in task.disagrees:
        asked = f"shows that sources disagree: {' and '.join(map(str, sides))}"
        found.append((asked, disagreement_shown(replace(task, disagrees=(sides,)), outcome)))
    found += [(f"does not say: {each}", avoided(replace(task, avoid=(each,)), outcome)) for each in task.avoid]
    if not task.answerable:
        found.append(("no report: the sources do not answer the question", refused(task, outcome)))
    return tuple(Demand(_text(what), score == 1) for what, score in found)


def _sentences(outcome: Outcome, nuggets: Sequence[NuggetView]) -> tuple[SentenceView, ...]:
    numbers = _numbers(outcome.citations)
    return tuple(
        SentenceView(
            _text(cited.section),
            cited.paragraph,
            _text(cited.sentence),
            "" if cited.quotation == cited.sentence else _text(cited.quotation),
            _text(cited.url),
            numbers.get(cited.url, 0),
            cited.verified,
            tuple(place for place, nugget in enumerate(nuggets) if at in nugget.places),
        )
        for at, cited in enumerate(outcome.citations[:MAX_SENTENCES])
    )


def _sources(task: Task | None, outcome: Outcome) -> tuple[SourceView, ...]:
    """Return the expected sources, then the other cited ones, then the others that were found."""
    ranks = {url: rank for rank, url in reversed(list(enumerate(outcome.sources, start=1)))}
    numbers, counts = _numbers(outcome.citations), dict[str, int]()
    for cited in outcome.citations:
        counts[cited.url] = counts.get(cited.url, 0) + 1
    gold = task.gold if task else ()
    found = []
    for url in gold:
        carriers = task.carriers(url) if task else {url}
        best = min((each for each in carriers if each in ranks), key=ranks.__getitem__, default=url)
        number = next((numbers[each] for each in (url, best) if each in numbers), 0)
        times = sum(counts.get(each, 0) for each in carriers)
        found.append(SourceView(url, True, ranks.get(best, 0), times, number, found_as="" if best == url else best))
    shown = {*gold, *(each.found_as for each in found)}
    others = sorted({*numbers, *ranks} - shown - {""}, key=lambda url: (numbers.get(url, 10**6), ranks.get(url, 10**6)))
    found += [SourceView(url, False, ranks.get(url, 0), counts.get(url, 0), numbers.get(url, 0)) for url in others]
    titles = dict(enumerate(outcome.titles, start=1))
    return tuple(
        replace(each, url=_text(each.url), title=_text(titles.get(each.number, "")), found_as=_text(each.found_as))
        for each in found[:MAX_SOURCES]
    )


def _numbers(citations: Sequence[Cited]) -> dict[str, int]:
    """Return the numbers of the cited sources, in the order of their first citation, as in the report."""
    urls = dict.fromkeys(cited.url for cited in citations if cited.url)
    return {url: number for number, url in enumerate(urls, start=1)}


def _round(made: Round) -> Round:
    searches = tuple(
        Search(_text(each.query), _text(each.engine), each.answered_by, each.results, _text(each.error) or None)
        for each in made.searches[:MAX_SEARCHES]
    )
    return Round(searches, made.pages, made.unread, made.live_calls, made.novelty, made.score)


def clean_line(line: Line) -> Line:
    """Return a line without control characters, with its spaces."""
    return Line(line.kind, tuple(Piece(printable(piece.text), piece.marked) for piece in line.pieces))


def _text(text: object) -> str:
    return clean(text, MAX_TEXT)
