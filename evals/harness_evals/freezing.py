"""Freezing of a run: a task whose question is researched again without network, from the answers that the run used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct
from msgspec.structs import replace

from harness.app import App
from harness.cache.failures import error_code_message
from harness.core.entries import Entry
from harness.core.keys import page_key, search_key
from harness.core.pages import Page
from harness.core.tables import PAGES as PAGE_TABLE
from harness.core.tables import SEARCHES, UNANSWERED
from harness.core.text import clean, one_line
from harness.errors import InvalidInput, PageError, StoreError
from harness.research.gather import MAX_BODY_CHARS
from harness.research.page_reading import MAX_PAGE_CHARS
from harness.research.run_view import PastRun, past_run
from harness.settings import Settings
from harness.storage.files import replacing
from harness_evals.frozen_run import ANSWERS, MAX_BYTES, PAGES, FrozenAbout, FrozenAnswer, FrozenEngine, FrozenPage
from harness_evals.run import research_task
from harness_evals.task_app import empty_app
from harness_evals.tasks import RECORDED, TASK_SETTINGS, Nugget, Task

MAX_SUGGESTED = 10
MAX_NAMED = 5
"""Missing answers that an error names."""
MAX_TEXT = 2_000
"""Characters of any other text of a result, or of an error."""
_ID = re.compile("[A-Za-z0-9_-]{1,56}")
_NO_ID = re.compile("[^a-z0-9]+")


class FrozenFiles(Struct, frozen=True):
    """Task file of a frozen run, the folder of its answers, and the run's report as Markdown, `None` if it has none."""

    task: Path
    folder: Path
    report: str | None


class _Uses:
    """Answers that a run used, read from the cache. `missing` are those that are gone, or have changed since."""

    def __init__(self, app: App, record: Mapping[str, Any]) -> None:
        self._rows = app.store.rows
        self._tenant = app.identity.tenant
        self._uses = {(use["table"], use["asked"]): use for use in record["uses"] if use["how"] != "derived"}
        self.missing: list[str] = []

    def answer(self, table: str, key: str, name: str, error: str | None, empty: bool) -> Entry | str | None:
        """Return the row that answered, the error instead, or `None` for no results; note what is missing as `name`."""
        use = self._uses.get((table, key))
        if use is not None and use["how"] == "failed":
            return str(use["error"])
        if error is not None and use is None:
            return error
        if (UNANSWERED, key) in self._uses:
            return None
        entry = self._rows.get(table, self._tenant, use["served"] if use else key)
        if entry is not None and (use is None or sha256(entry.payload).hexdigest() == use["digest"]):
            return entry
        if not empty:
            self.missing.append(name)
        return None


def freeze(app: App, run: str, to: Path, *, name: str = "", nuggets: Sequence[str] = ()) -> FrozenFiles:
    """Write `tasks/NAME.yaml` and the folder `NAME` of the run's answers into the folder `to`; the default name is made
    of the question, or is the run's id if that has no letters for it.

    Raises:
        NotFound: there is no such run.
        InvalidInput: it cannot be frozen, its answers are no longer held, a name that is taken or unusable, or too many
            bytes.
        StoreError: the cache cannot be read, or the files cannot be written.
    """
    past, record = past_run(app.cache, run), app.cache.runs.get(run)
    _check(past, record)
    name = name or _NO_ID.sub("_", past.question.lower())[:40].strip("_") or past.run
    if not _ID.fullmatch(name) or name == "tasks":
        raise InvalidInput(f"the id {name!r:.60} must be 1 to 56 letters, digits, _ and -; choose another with --id")
    file, folder = to / "tasks" / f"{name}.yaml", to / name
    if taken := next((path for path in (file, folder) if path.exists()), None):
        raise InvalidInput(f"{taken} exists; choose another name with --id, or another folder with --to")
    uses = _Uses(app, record)
    about = FrozenAbout(run, tuple(FrozenEngine(each["name"], each["options"]) for each in record["engines"]))
    answers, pages = list(_answers(past, record, uses)), list(_pages(past, record, uses))
    if uses.missing:
        shown = "; ".join(uses.missing[:MAX_NAMED]) + ("; …" if len(uses.missing) > MAX_NAMED else "")
        raise InvalidInput(
            f"{len(uses.missing)} answers of the run {run} have changed or been deleted since: {shown}; research the "
            "question again, then freeze that run"
        )
    contents = {
        folder / ANSWERS: _lines([about, *answers]),
        folder / PAGES: _lines(pages),
        file: _task_text(past, record, name, nuggets).encode(),
    }
    for path, content in contents.items():
        _write(path, content)
    return FrozenFiles(file, folder, past.report.undated.markdown() if past.report else None)


def report_again(settings: Settings, task: Task) -> str | None:
    """Research a task in an empty cache, and return the report as Markdown; `None` if there is none.

    Raises:
        HarnessError: the error of the research.
    """
    with empty_app(replace(settings, research_cache=False, semantic=False, model=None), "evaluation") as app:
        report = research_task(app, task).report
        return report.undated.markdown() if report else None


def _check(past: PastRun, record: Mapping[str, Any]) -> None:
    """Check that a run can be repeated from its answers alone.

    Raises:
        InvalidInput: it cannot.
    """
    if past.state != "finished":
        raise InvalidInput(f"the run {past.run} is not finished; resume it with `harness research --resume {past.run}`")
    if past.model:
        raise InvalidInput(
            f"the run {past.run} was planned and written by {past.model}, whose answers cannot be frozen; research the "
            "question without a model, then freeze that run"
        )
    if past.reused:
        raise InvalidInput(
            f"the run {past.run} used passages that were read for earlier questions; research the question with "
            "--reuse off, then freeze that run"
        )
    if not any(each.searches for each in past.rounds):
        raise InvalidInput(f"the run {past.run} has no record of its searches; research the question again")
    if any(each["name"] == "library" for each in record["engines"]):
        raise InvalidInput(f"the run {past.run} searched the library, which cannot be frozen")


def _answers(past: PastRun, record: Mapping[str, Any], uses: _Uses) -> Iterator[FrozenAnswer]:
    """Yield the searches of a run, each once."""
    options = {each["name"]: each["options"] for each in record["engines"]}
    for each in record["engines"]:
        options |= {one["name"]: one["options"] for one in each["options"].get("alternatives", ())}
    done: set[tuple[str, str]] = set()
    for search in (each for round_ in past.rounds for each in round_.searches):
        if (search.engine, search.query) in done or search.engine not in options:
            continue
        done.add((search.engine, search.query))
        key = search_key(search.query, search.engine, options[search.engine])
        found = uses.answer(SEARCHES, key, f"the search {search.query!r}", search.error, not search.results)
        if isinstance(found, str):
            yield FrozenAnswer(search.engine, search.query, error=_bounded(found, MAX_TEXT))
        else:
            held = msgspec.json.decode(found.payload) if found is not None else []
            results = tuple(_result(each) for each in held[: record["max_results"]] if isinstance(each, dict))
            yield FrozenAnswer(search.engine, search.query, results)


def _pages(past: PastRun, record: Mapping[str, Any], uses: _Uses) -> Iterator[FrozenPage]:
    """Yield the pages of a run, each once."""
    for page in {each.url: each for round_ in past.rounds for each in round_.pages}.values():
        found = uses.answer(PAGE_TABLE, page_key(page.url, record["reader"]), f"the page {page.url}", page.error, False)
        if isinstance(found, Entry):
            held = msgspec.json.decode(found.payload, type=Page)
            starts = tuple(each for each in held.page_starts if each[0] < MAX_PAGE_CHARS)
            held = replace(held, text=held.text[:MAX_PAGE_CHARS], page_starts=starts)
            yield FrozenPage(page.url, held)
        else:
            reason = error_code_message(PageError(f"{page.url}: it was not read"))
            error = found or f"{reason['code']}: {reason['message']}"
            yield FrozenPage(page.url, error=_bounded(error, MAX_TEXT))


def _result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with bounded texts, and all that a research reads of it."""
    told = {**result, **{name: str(result.get(name) or "") for name in ("title", "href", "body")}}
    return {
        str(name)[:100]: _bounded(value, MAX_BODY_CHARS if name == "body" else MAX_TEXT)
        for name, value in told.items()
        if isinstance(value, str | int | float | list) or value is None
    }


def _bounded(value: Any, most: int) -> Any:
    return value[:most] if isinstance(value, str) else value


def _task_text(past: PastRun, record: Mapping[str, Any], name: str, nuggets: Sequence[str]) -> str:
    """Return the task file: valid as it is, with suggestions as comments."""
    settings = _changed(record)
    began = record.get("began") or past.created_at
    fields: dict[str, Any] = {
        "id": name,
        "question": past.question,
        "engine": f"{RECORDED}{name}",
        "at": datetime.fromtimestamp(int(began), UTC),
        "split": "tune",
        **({"structure": {"exactly": past.sections}} if past.sections else {}),
        **({"settings": settings} if settings else {}),
        **({"nuggets": [_nugget(each) for each in nuggets]} if nuggets else {}),
    }
    try:
        _ = msgspec.convert(fields, Task)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"the run {past.run} does not make a task: {error}; change --id or --nugget") from None
    text = f"# The run {past.run}, with the answers that it used. Add what a good answer says.\n"
    text += yaml.dump(fields, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)
    return text + "".join(f"# {line}\n" for line in _suggestions(past, has_nuggets=bool(nuggets)))


def _suggestions(past: PastRun, *, has_nuggets: bool) -> Iterator[str]:
    """Yield lines of YAML that the user may take over. Texts of the web are quoted on one line."""
    report = past.report
    if report is None:
        yield "The run wrote no report. If that is right:"
        yield "answerable: false"
        return
    yield "Sources that the report cites; keep those that answer the question:"
    yield "gold:"
    yield from (f"  - {_scalar(source.url)}" for source in report.sources)
    if has_nuggets:
        return
    yield "Sentences of the report; keep those that a good answer must say, in its shortest wording:"
    yield "nuggets:"
    for sentence in dict.fromkeys(one_line(each.sentence)[:500] for each in report.citations[:MAX_SUGGESTED]):
        yield f"  - {{says: {_scalar(sentence)}, importance: vital, aliases: [{_scalar(sentence)}]}}"


def _nugget(text: str) -> dict[str, Any]:
    try:
        _ = Nugget(text, "vital", (text,))
    except ValueError as error:
        raise InvalidInput(f"--nugget {text!r:.60} is not usable: {error}") from None
    return {"says": text, "importance": "vital", "aliases": [text]}


def _changed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run that decide its report and are not the defaults."""
    defaults = Settings()
    names = (name for name in TASK_SETTINGS if name in record and name != "reuse")
    stored = msgspec.json.decode(msgspec.json.encode({name: getattr(defaults, name) for name in names}))
    return {name: record[name] for name, default in stored.items() if record[name] != default}


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar on one line, in quotation marks; other lines and references cannot begin in it."""
    plain = clean(one_line(text), 4_000)
    return str(yaml.dump(plain, Dumper=_Dumper, allow_unicode=True, width=10**9, default_style='"')).strip()


class _Dumper(yaml.SafeDumper):
    """YAML dumper without references."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as PyYAML declares it
        return True


def _lines(structs: Sequence[Struct]) -> bytes:
    encoded = b"".join(msgspec.json.encode(each) + b"\n" for each in structs)
    if len(encoded) > MAX_BYTES:
        raise InvalidInput(f"the run's answers have {len(encoded):,} bytes; at most {MAX_BYTES:,} can be frozen")
    return encoded


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(f"cannot write {path} ({error.strerror or error}); choose another folder with --to") from error
