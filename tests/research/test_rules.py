"""Rules of planning and of reports: text files that settings replace, part of the fingerprint, stored with a run."""

import re
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from harness.app import App
from harness.cache import Cache
from harness.core.rules import HEADINGS, WEIGHTS, RuleName
from harness.core.text import STOP_WORDS
from harness.errors import InvalidInput
from harness.research import fingerprint, rules
from harness.research.document_blocks import fill
from harness.research.extractive_writer import write_report
from harness.research.fingerprint import code_of
from harness.research.model_planner import ModelPlanner
from harness.research.planner import ANSWER, DETAILS, FURTHER, KEY_POINTS, RulePlanner, make_plan
from harness.research.report import DISAGREEMENTS
from harness.research.reports import as_html
from harness.research.rules import rule_texts, rules_of, shipped_version, version_of_rules
from harness.research.saved_report import saved_research
from harness.settings import Settings, load, run_settings
from tests.cli.program import Program
from tests.fakes import MemoryStore
from tests.research.test_model_writer import Model
from tests.research.test_report_form import ONE, excerpt, headings, shape, written
from tests.research.test_reports import NOW, research
from tests.research.test_run import Library

NAMES: tuple[RuleName, ...] = get_args(RuleName)
QUESTION = "How many retries are there?"
TYPES = "counted: in numbers\n- how many*\nother: in detail\n"

# --- the files


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_a_file_that_says_what_it_does(name: RuleName) -> None:
    """In a comment at its beginning; lines are as short as those of code."""
    text = files(rules).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert rule_texts()[name] == text
    assert max(map(len, text.splitlines())) <= 120
    assert set(text) <= {*map(chr, range(32, 127)), "\n"}


def test_every_file_is_a_rule() -> None:
    """None is left over from another version."""
    assert {each.name for each in files(rules).iterdir() if each.name.endswith(".txt")} == {f"{n}.txt" for n in NAMES}


def test_the_files_name_all_that_can_be_replaced() -> None:
    """Shipped headings are their names, shipped stop words those of all other texts."""
    texts, found = rule_texts(), rules_of()
    assert [line.partition(":")[0] for line in texts["headings"].splitlines() if ":" in line[:40]][-9:] == [*HEADINGS]
    assert {ANSWER, KEY_POINTS, DETAILS, DISAGREEMENTS} < {*HEADINGS}
    assert found.headings == {}
    assert found.stop_words == STOP_WORDS
    assert [*found.weights.__struct_fields__] == [*WEIGHTS]
    assert [each.name for each in found.task_types] == ["enumerated", "best_practices", "research"]


# --- the setting


def test_a_file_replaces_a_rule(tmp_path: Path) -> None:
    """Texts have several lines; the other rules stay, and `harness config` shows the beginning."""
    config = tmp_path / "config.yaml"
    config.write_text("rules:\n  task_types: |\n    counted: in numbers\n    - how many*\n    other: in detail\n")
    loaded = load(config=config, environment={})
    assert loaded.settings.rules == {"task_types": TYPES}
    assert rule_texts(loaded.settings.rules)["weights"] == rule_texts()["weights"]
    [line] = [each for each in loaded.describe() if each.name == "rules"]
    assert line.value == "task_types=counted: in numbers - how many* other: in detail"
    assert all(name in line.help for name in NAMES)
    assert run_settings(loaded.settings)["rules"] == loaded.settings.rules


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: {task_type: 'a: b'}", "choose one of task_types, headings, stop_words, weights"),
        ("rules: {task_types: ' '}", "another form"),
        (f"rules: {{stop_words: {'a ' * 10_001}}}", "length <= 20000"),
        ("rules: {weights: 'key_points: 99'}", "weights, line 1: key_points must be a whole number from 0 to 50"),
        ("rules: {task_types: 'a: b\n\n  - (x+)+'}", "is that of all other questions"),
        ('rules: {headings: "Answer: \\e[2J"}', "control characters"),
    ],
)
def test_an_unusable_rule_is_refused_with_the_settings(tmp_path: Path, text: str, says: str) -> None:
    """In one line that names the setting and the file, before anything is asked."""
    config = tmp_path / "config.yaml"
    config.write_text(text)
    with pytest.raises(InvalidInput, match=r"^rules \(file .*config.yaml\) cannot be ") as caught:
        load(config=config, environment={})
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unusable_rule_that_no_setting_checked_is_refused_when_a_research_starts(tmp_path: Path) -> None:
    """A record, or a program, may bring one."""
    with (
        App(Settings(data_dir=tmp_path, rules={"weights": "all: 1"})) as app,
        pytest.raises(InvalidInput, match="weights, line 1: there is no 'all'"),
    ):
        app.researcher(question=QUESTION)


# --- planning


def test_task_types_decide_what_a_query_adds() -> None:
    """For the planner without a model, and for the one that replaces it."""
    plans = [
        planner.plan(question, Cache(MemoryStore()))
        for question in (QUESTION, "Retries?")
        for planner in (RulePlanner(rules={"task_types": TYPES}), ModelPlanner(Model(""), rules={"task_types": TYPES}))
    ]
    assert [(plan.task_type, plan.queries[-1]) for plan in plans] == [
        *[("counted", "retries in numbers")] * 2,
        *[("other", "retries in detail")] * 2,
    ]


def test_stop_words_are_left_out_of_every_query() -> None:
    """Queries of the first round, of later rounds, and the wider one."""
    planner = RulePlanner(rules={"stop_words": "the number of"})
    cache, question = Cache(MemoryStore()), "The number of very large retries"
    plan = planner.plan(question, cache)
    assert plan.queries[1] == "very large retries"
    passages = ["number retries very large jitter"] * 2
    assert planner.follow_ups(plan, plan.queries, passages, cache) == ("very large retries jitter",)
    assert planner.fallback(plan, plan.queries) == "retries"
    assert make_plan(question).queries[1] == "number large retries"


def test_rules_without_stop_words_still_plan() -> None:
    """Two queries at least, all different."""
    plan = RulePlanner(rules={"stop_words": "# None."}).plan("What is it", Cache(MemoryStore()))
    assert plan.queries == ("What is it", "what is it explained")


# --- versions


@pytest.mark.parametrize(
    ("replaced", "changes"),
    [
        ({"task_types": TYPES}, True),
        ({"stop_words": "a"}, True),
        ({"stop_words": f"# Others.\n\n{rule_texts()['stop_words']}"}, False),
        ({"headings": "Answer: In short"}, False),
        ({"weights": "key_points: 1"}, False),
    ],
)
def test_the_planner_depends_on_the_rules_of_planning(replaced: dict[RuleName, str], *, changes: bool) -> None:
    """Its version is part of the fingerprint of gathered passages; a comment and the form of a report are not."""
    assert (RulePlanner(rules=replaced).version != RulePlanner().version) is changes
    assert (ModelPlanner(Model(""), rules=replaced).version != ModelPlanner(Model("")).version) is changes
    assert bool(version_of_rules(replaced, *NAMES)) is (replaced.keys() != {"stop_words"} or changes)


def test_an_edited_file_counts_as_edited_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gathering with earlier files is not reused; a replay takes the name that its run has."""
    before = code_of(RulePlanner(), (), Library())
    monkeypatch.setattr(fingerprint, "shipped_version", lambda *_: "0" * 16)
    after = code_of(RulePlanner(), (), Library())
    assert after == replace(before, gathering=after.gathering, evidence=after.evidence)
    assert after.gathering != before.gathering
    assert after.evidence != before.evidence
    assert len({shipped_version(name) for name in NAMES}) == len(NAMES)


# --- reports


class Heads:
    """A document that keeps its headings."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def heading(self, text: str) -> None:
        """Keep a heading."""
        self.found.append(text)

    def __getattr__(self, name: str) -> object:
        """Take all else that a document has."""
        return lambda *_, **__: None


def test_headings_are_shown_in_every_form() -> None:
    """Key points and further passages stay lists, disagreements a table; text is never markup."""
    shown = {name: f"<b>{place}</b> {name}" for place, name in enumerate(HEADINGS)}
    report = written(quotation="Bread is baked")
    last = replace(report.citations[0], section=FURTHER)
    report = replace(report, citations=(*report.citations, last), headings=shown)
    order = [name for name in HEADINGS if name != "Figures"]
    markdown = report.markdown()
    assert headings(markdown.replace("\\", ""))[1:] == [shown[name] for name in order]
    assert f"## \\<b\\>1\\</b\\> {KEY_POINTS}\n\n- " in markdown
    assert f"## \\<b\\>3\\</b\\> {DISAGREEMENTS}\n\n| Source |" in markdown
    assert f"## \\<b\\>4\\</b\\> {FURTHER}\n\n- " in markdown
    saved, document = saved_research(replace(research()[0], report=report)), Heads()
    html = as_html(saved, NOW)
    of_page = [shown[name] for name in order if name != "Quotations"]
    assert [unescape(title) for title in re.findall("<h2>(.*?)</h2>", html)] == of_page
    assert "<b>" not in html
    fill(document, saved, NOW)  # type: ignore[arg-type]
    assert document.found[:-1] == [shown[name] for name in order]


def test_weights_place_the_excerpts() -> None:
    """The number of key points, and the least likelihood of the rest of the answer."""
    found = [excerpt(f"S{n}.", source=n, relevance=relevance) for n, relevance in enumerate([9, 8, 4, 3, 2])]
    sections = shape(write_report(ONE, found, {"weights": "key_points: 1\nanswer_share: 0.9"}))
    assert sections == {ANSWER: [["S0."]], KEY_POINTS: [["S1."]], DETAILS: [["S2."], ["S3."], ["S4."]]}
    assert shape(write_report(ONE, found))[ANSWER] == [["S0."], ["S1."]]
    wanted = shape(write_report(replace(ONE, wanted=2), found, {"weights": "answer_excerpts: 1"}))
    assert wanted[ANSWER] == [["S0."]]


# --- runs


def test_a_run_uses_and_records_its_rules(harness: Program, tmp_path: Path) -> None:
    """Queries and headings are those of the rules; a resumed run has them though the setting is gone, a run without
    them searches again, and JSON keeps the names of the sections.
    """
    folder, own = tmp_path / "notes", tmp_path / "own.yaml"
    folder.mkdir()
    (folder / "retries.md").write_text("# Retries\n\nThere are five retries after every failed attempt of a request.\n")
    own.write_text(f"rules:\n  headings: 'Answer: In short'\n  task_types: {TYPES!r}\n".replace("'", '"'))
    how = (QUESTION, "-e", f"corpus:{folder}", "--max-rounds", "1", "--json")
    first = harness("research", *how, "--config", str(own))
    assert first.code == 0, first.err
    assert first.told["plan"]["queries"][-1] == "retries in numbers"
    assert "\n## In short\n" in first.told["report"]
    assert first.told["citations"][0]["section"] == ANSWER
    own.unlink()
    again = harness("research", "--resume", first.told["run"], "--json")
    assert again.told["report"] == first.told["report"]
    other = harness("research", *how)
    assert other.told["plan"]["queries"][-1] == "retries overview"
    assert "\n## Answer\n" in other.told["report"]
    with App(Settings(data_dir=tmp_path / "data")) as app:
        record = app.cache.runs.get(first.told["run"])
    assert record["settings"]["rules"] == record["rules"] == {"headings": "Answer: In short", "task_types": TYPES}
    assert record["report"]["headings"] == {ANSWER: "In short"}
