"""Loops over prompts, rules and code: what is tried, refused, kept without proof, confirmed and applied."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness_evals.applying import apply_settings
from harness_evals.confirming import confirm
from harness_evals.edits import edited
from harness_evals.journal import Options, read_journal
from harness_evals.loop import Budget, Loop, begin
from harness_evals.outcome import Cost, Outcome
from harness_evals.proposers import FromFile, Proposal, Proposer, Situation, Tried
from harness_evals.run import Job
from harness_evals.space import SURFACES, InvalidProposal, changed, checked_changes, code_of, surface_of
from msgspec.structs import replace

from harness.errors import InvalidInput, StoreBusy
from harness.settings import Settings, load
from tests.evals.stand_ins import (
    SPACE,
    a_fact_a_round,
    answering,
    experiments_of,
    fact_task,
    fact_tasks,
    from_file,
    loop,
    options,
    saying,
)

PLANNER = "harness/research/planner.py"


class Scripted(Proposer):
    """Proposer of a list of proposals, one for each past experiment; an error in it is raised."""

    def __init__(self, *proposals: Any) -> None:
        self.proposals = proposals
        self.seen: list[Situation] = []

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`."""
        self.seen.append(situation)
        made = len(situation.tried)
        if made >= len(self.proposals):
            return None
        found = self.proposals[made]
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Proposal) else Proposal(found)


class FakeTrial:
    """A trial whose check says what its text says after `fails:`."""

    def __init__(self, trials: "FakeTrials", root: Path, files: Mapping[str, str]) -> None:
        self.root = root
        self.files = files
        self._trials = trials

    def check(self) -> str:
        """See `Trial.check`."""
        return next((text.partition("fails:")[2] for text in self.files.values() if "fails:" in text), "")

    def keep(self, message: str) -> str:
        """See `Trial.keep`."""
        self._trials.messages.append(message)
        self._trials.kept = self.files
        return f"commit{len(self._trials.messages)}"

    def discard(self) -> None:
        """See `Trial.discard`."""
        self._trials.discarded.append(self.root)


class FakeTrials:
    """Source of fake trials."""

    def __init__(self) -> None:
        self.texts = {PLANNER: "first"}
        self.messages: list[str] = []
        self.discarded: list[Path] = []
        self.made: list[Path] = []
        self.restored: list[str] = []
        self.kept: Mapping[str, str] = {}
        self.files: dict[Path, Mapping[str, str]] = {}

    def trial(self, number: int, files: Mapping[str, str]) -> FakeTrial:
        """See `CodeTrials.trial`."""
        if other := files.keys() - self.texts.keys():
            raise InvalidProposal(f"{min(other)} is not declared")
        root = Path("trials") / f"{number}.{len(self.made)}"
        self.made.append(root)
        self.files[root] = {**self.kept, **files}
        return FakeTrial(self, root, self.files[root])

    def restore(self, commit: str) -> None:
        """See `CodeTrials.restore`."""
        self.restored.append(commit)


def a_loop(folder: Path, proposer: Any, facts: Any, code: FakeTrials | None = None, **rules: Any) -> Loop:
    """Return a loop over all surfaces."""
    return loop(folder, proposer, answering(facts), rules=options(surfaces=SURFACES, **rules), code=code)


# Verdicts without a test -------------------------------------------------------------------------------------------


def test_a_change_without_effect_is_inert_and_costs_no_share_of_alpha(tmp_path: Path) -> None:
    """Found by the first run of each task; the next experiment is judged as the first."""
    run: list[Job] = []

    def facts(job: Job) -> int:
        run.append(job)
        return 8 if job.settings.max_rounds == 1 else 3

    proposer = Scripted({"follow_ups": 4}, {"max_results": 5}, {"max_rounds": 1})
    made = a_loop(tmp_path, proposer, facts, experiments=3, repeats=2)
    first, second, third = experiments_of(made)
    assert [first.status, second.status, third.status] == ["inert", "inert", "keep"]
    assert first.delta is None
    assert "no effect" in first.reasons[0]
    assert sum(job.repeat // 1_000 == 1 for job in run) == 2 * 10
    assert sum(job.repeat // 1_000 == 3 for job in run) == 2 * 2 * (10 + 3)
    alone = a_loop(tmp_path / "alone", Scripted({"max_rounds": 1}), facts, experiments=3, repeats=2)
    assert experiments_of(alone)[0].reasons == third.reasons


def test_a_proposal_that_cannot_be_used_is_a_row_and_three_in_a_row_end_the_loop(tmp_path: Path) -> None:
    """With the reason; the proposer sees it."""
    bad = InvalidProposal("no JSON")
    proposer = Scripted(bad, {"max_rounds": 3}, bad, {PLANNER: "x"}, InvalidProposal("the third"), {"max_rounds": 2})
    made = a_loop(tmp_path, proposer, a_fact_a_round, experiments=9)
    found = experiments_of(made)
    assert [each.status for each in found] == ["invalid", "keep", "invalid", "invalid", "invalid"]
    assert found[0].reasons == ("no JSON",)
    assert "--surface code" in found[3].reasons[0]
    assert made.ended == "3 proposals in a row cannot be used; the last: the third"
    assert [each.status for each in read_journal(tmp_path).experiments] == [each.status for each in found]
    assert proposer.seen[-1].tried[0].reasons == ("no JSON",)


def test_the_rule_gain_keeps_what_is_not_shown_and_says_so(tmp_path: Path) -> None:
    """On five tasks, of which none is left to confirm on; the usual rule keeps nothing there."""
    five = [fact_task(f"T_{letter}") for letter in "ABCDE"]
    kept, strict = (
        experiments_of(
            loop(
                tmp_path / rule,
                Scripted({"max_rounds": 3}, {"max_rounds": 4}),
                answering(a_fact_a_round),
                tasks=five,
                rules=options(keep_rule=rule),
            )
        )
        for rule in ("gain", "significant")
    )
    assert [each.status for each in kept] == ["unconfirmed", "discard"]
    assert [each.status for each in strict] == ["inconclusive", "inconclusive"]
    assert kept[1].baseline == pytest.approx(kept[0].score)
    assert any("on others is not shown" in reason for reason in kept[0].reasons)
    assert any(reason.startswith("nuggets: 10 said more often, 0 less often") for reason in kept[0].reasons)
    journal = read_journal(tmp_path / "gain")
    assert (journal.best, journal.is_confirmed) == ({"max_rounds": 3}, False)


def test_the_objective_weighs_live_calls(tmp_path: Path) -> None:
    """A report as good with fewer calls is better."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            outcome = saying(job, 5)
            calls = job.settings.max_rounds
            yield job, replace(outcome, cost=Cost(calls, 0, 0.0), digests={"report": "5", "queries": str(calls)})

    def made(objective: str) -> Any:
        rules = options(objective=objective)
        return experiments_of(loop(tmp_path / objective[:4], Scripted({"max_rounds": 1}), run, rules=rules))[0]

    weighed, plain = made("quality - 0.01*live_calls"), made("")
    assert weighed.status == "keep"
    assert weighed.delta == pytest.approx(0.04)
    assert (plain.status, plain.delta) == ("discard", 0.0)


def test_tokens_are_counted_and_end_the_loop(tmp_path: Path) -> None:
    """The noise floor counts, too."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, replace(saying(job, a_fact_a_round(job)), cost=Cost(0, 100, 0.0))

    proposer = from_file(tmp_path, *({"max_rounds": n} for n in (4, 3, 2, 1)))
    made = loop(tmp_path / "loop", proposer, run, budget=Budget(tokens=20 * 100 + 1))
    assert len(experiments_of(made)) == 1
    assert made.ended == "the budget of tokens is spent"


# Prompts, rules and code -------------------------------------------------------------------------------------------


def test_targets_belong_to_surfaces() -> None:
    """And their texts become settings, but for code."""
    changes = {"max_rounds": 2, "prompts.plan": "Plan.", PLANNER: "pass"}
    assert [surface_of(each) for each in changes] == ["settings", "prompts", "code"]
    assert code_of(changes) == {PLANNER: "pass"}
    settings = changed(Settings(prompts={"write": "Write."}), changes)
    assert (settings.max_rounds, settings.prompts) == (2, {"write": "Write.", "plan": "Plan."})


@pytest.mark.parametrize(
    ("changes", "surfaces", "says"),
    [
        ({"prompts.plan": "x"}, ("settings",), "pass --surface prompts"),
        ({PLANNER: "x"}, ("settings", "prompts"), "pass --surface code"),
        ({"prompts.plan": 3}, SURFACES, "must be its whole new text"),
        ({"prompts.plan": " "}, SURFACES, "prompts"),
        ({"prompts.nothing": "x"}, SURFACES, "nothing"),
        ({"rules.nothing": "x"}, SURFACES, "nothing"),
        ({"prompts": {"plan": "x"}}, SURFACES, "cannot change prompts"),
        ({"max_rounds": 99}, SURFACES, "max_rounds"),
    ],
)
def test_what_may_not_change_is_refused(changes: Any, surfaces: Any, says: str) -> None:
    """In one line that names it."""
    with pytest.raises(InvalidInput, match=says) as refused:
        checked_changes(changes, "here", surfaces)
    assert len(str(refused.value).splitlines()) == 1


def test_edits_are_made_where_their_words_occur_once() -> None:
    """Otherwise nothing is changed."""
    texts = {"prompts.plan": "one two two"}
    changes = {"prompts.plan": [{"replace": "one", "with": "three"}], "max_rounds": 1}
    assert edited(changes, texts, "here", SURFACES) == {"prompts.plan": "three two two", "max_rounds": 1}
    for edit, says in (("two", "occurs 2 times"), ("four", "occurs 0 times"), ("", "not empty")):
        with pytest.raises(InvalidProposal, match=says):
            edited({"prompts.plan": [{"replace": edit, "with": ""}]}, texts, "here", SURFACES)
    with pytest.raises(InvalidProposal, match="no text"):
        edited({"prompts.other": [{"replace": "one", "with": ""}]}, texts, "here", SURFACES)
    with pytest.raises(InvalidProposal, match="more than"):
        edited({"prompts.plan": [{"replace": "one", "with": "x" * 200_001}]}, texts, "here", SURFACES)


def test_an_edited_rule_is_checked_when_it_is_made(tmp_path: Path) -> None:
    """Not before: an edit alone is no rule. One that makes an unusable rule is an invalid proposal."""
    file = tmp_path / "experiments.yaml"
    for new, usable in (("3", True), ("many", False)):
        change = {"rules.weights": [{"replace": "key_points: 4", "with": f"key_points: {new}"}]}
        file.write_text(yaml.safe_dump({"experiments": [{"change": change}]}))
        situation = Situation(targets={"rules.weights": "key_points: 4\n"})
        if usable:
            assert FromFile(file).propose(situation) == Proposal({"rules.weights": "key_points: 3\n"}, "entry 1")
        else:
            with pytest.raises(InvalidProposal, match="key_points"):
                FromFile(file).propose(situation)


def test_code_is_checked_tried_and_kept_as_a_commit(tmp_path: Path) -> None:
    """Baseline and candidate run in separate trials once code was kept; every trial is removed."""
    code = FakeTrials()

    def facts(job: Job) -> int:
        text = code.files[job.trial].get(PLANNER, "first") if job.trial else "first"
        return {"first": 3, "second": 6}.get(text, 1)

    proposer = Scripted(
        {PLANNER: "fails:test tests/core/test_text.py::test_words failed"},
        Proposal({PLANNER: "second"}, "plan better", "more nuggets"),
        {"tests/test_x.py": "pass"},
        {PLANNER: "third"},
    )
    made = a_loop(tmp_path, proposer, facts, code, experiments=9)
    found = experiments_of(made)
    assert [each.status for each in found] == ["crash", "keep", "invalid", "discard"]
    assert found[0].reasons == ("test tests/core/test_text.py::test_words failed",)
    assert (found[1].commit, found[1].idea) == ("commit1", "plan better")
    assert code.messages[0].startswith("Experiment 2: plan better\n\nmore nuggets\nkeep: score ")
    assert sorted(code.discarded) == sorted(code.made)
    assert proposer.seen[0].targets[PLANNER] == "first"
    assert proposer.seen[-1].targets[PLANNER] == "second"
    assert found[3].baseline == pytest.approx(found[1].score)
    held = read_journal(tmp_path)
    assert held.experiments[1].description == f"{PLANNER} (6 characters)"
    begun = held.begun, tmp_path, fact_tasks(), Settings(), proposer, answering(facts)
    with Loop(*begun, code=code):
        assert code.restored == ["commit1"]
        with pytest.raises(StoreBusy):
            Loop(*begun, code=code)
        assert code.restored == ["commit1"]  # copies that the other program uses stay


def test_a_proposer_sees_scores_and_what_reports_lack(tmp_path: Path) -> None:
    """They are those of the best state so far, with its reports."""
    proposer = Scripted({"max_rounds": 3}, {"max_rounds": 4})
    experiments_of(a_loop(tmp_path, proposer, a_fact_a_round, experiments=2))
    first, second = proposer.seen[0], proposer.seen[1]
    assert [len(each.tasks[0].missed) for each in (first, second)] == [7, 5]
    assert first.tasks[0].report.startswith("## Facts\nFact number 0 holds.")
    assert first.left == {"experiments": 2.0}
    assert {"prompts.plan", "rules.headings"} <= first.targets.keys()
    assert first.tasks[0].scores["nugget_vital"] == pytest.approx(0.3)


def test_a_loop_ends_when_its_program_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And does not continue with another one."""
    made = a_loop(tmp_path, Scripted({"max_rounds": 3}, {"max_rounds": 4}), a_fact_a_round)
    with made:
        for step in made.steps():
            if getattr(step, "number", 0) == 1:
                monkeypatch.setattr("harness_evals.loop.program_digest", lambda: "another")
    assert (len(made.experiments), made.ended.partition(",")[0]) == (1, "the program has changed")
    with pytest.raises(InvalidInput, match="the program has changed"):
        Loop(made.begun, tmp_path, fact_tasks(), Settings(), Scripted(), answering(a_fact_a_round))


def test_a_file_proposes_texts_and_edits(tmp_path: Path) -> None:
    """On top of the kept changes, with idea and hypothesis."""
    file = tmp_path / "experiments.yaml"
    change = {"prompts.plan": [{"replace": "Plan", "with": "Think"}], "max_rounds": 2}
    entries = [{"idea": "think", "hypothesis": "better", "change": change}, {"max_rounds": 3}]
    file.write_text(yaml.safe_dump({"experiments": entries}))
    proposer = FromFile(file)
    situation = Situation({"read_pages": 0}, targets={"prompts.plan": "Plan first."})
    first = proposer.propose(situation)
    assert first == Proposal(
        {"read_pages": 0, "prompts.plan": "Think first.", "max_rounds": 2}, "think (entry 1)", "better"
    )
    assert proposer.propose(situation) == Proposal({"read_pages": 0, "max_rounds": 3}, "entry 2")
    assert proposer.propose(situation) is None
    with pytest.raises(InvalidInput, match=r"lacks 'other \(entry 1\)', which this loop has tried; only add"):
        FromFile(file).propose(Situation(tried=[Tried({}, None, "discard", "other (entry 1)")]))
    with pytest.raises(InvalidInput, match="pass --surface prompts"):
        FromFile(file, ("settings",))


# After a loop ------------------------------------------------------------------------------------------------------


def _kept(folder: Path, tasks: int = 5) -> None:
    rules = options(keep_rule="gain")
    tune = [fact_task(f"T{n}") for n in range(tasks)]
    experiments_of(loop(folder, Scripted({"max_rounds": 3}), answering(a_fact_a_round), tasks=tune, rules=rules))


@pytest.mark.parametrize(("gain", "confirmed"), [(2, True), (0, False), (-1, False)])
def test_what_is_kept_is_tested_on_further_tasks(tmp_path: Path, gain: int, confirmed: bool) -> None:
    """Written to the journal; the same bytes again."""
    _kept(tmp_path)
    further = [fact_task(f"new{n}") for n in range(6)]
    run = answering(lambda job: 4 + gain * (job.settings.max_rounds == 3))
    found = confirm(read_journal(tmp_path), further, Settings(), run)
    assert found.confirmed is confirmed
    journal = read_journal(tmp_path)
    assert journal.confirmations == (found,)
    assert journal.is_confirmed is confirmed
    assert (tmp_path / "evals" / found.evaluations["candidate"]).exists()


def test_only_further_tasks_confirm(tmp_path: Path) -> None:
    """Enough of them; and only if something was kept."""
    _kept(tmp_path / "kept")
    journal = read_journal(tmp_path / "kept")
    run = answering(a_fact_a_round)
    with pytest.raises(InvalidInput, match="used T1; name other tasks"):
        confirm(journal, [fact_task("T1"), fact_task("new")], Settings(), run)
    with pytest.raises(InvalidInput, match="at least 5 tasks that no experiment used, not 1"):
        confirm(journal, [fact_task("new")], Settings(), run)
    experiments_of(loop(tmp_path / "none", Scripted({"max_rounds": 5}), run))
    with pytest.raises(InvalidInput, match="kept nothing"):
        confirm(read_journal(tmp_path / "none"), [fact_task(f"n{n}") for n in range(6)], Settings(), run)


def test_what_is_kept_goes_into_the_configuration(tmp_path: Path) -> None:
    """The settings that are there stay, and so do the earlier file and its permissions: it may hold secrets."""
    path = tmp_path / "config.yaml"
    path.write_text("max_results: 5\nprompts:\n  write: Write.\n")
    path.chmod(0o600)
    changes = {"max_rounds": 3, "chunk_tokens": (100, 200), "prompts.plan": "Plan.", PLANNER: "code"}
    said = apply_settings(path, changes)
    assert len(said) == 4
    settings = load(config=path).settings
    assert (settings.max_results, settings.max_rounds, settings.chunk_tokens) == (5, 3, (100, 200))
    assert settings.prompts == {"write": "Write.", "plan": "Plan."}
    assert load(config=tmp_path / "config.yaml.before").settings.max_rounds == Settings().max_rounds
    assert [each.stat().st_mode & 0o777 for each in (path, tmp_path / "config.yaml.before")] == [0o600, 0o600]
    assert apply_settings(path, {PLANNER: "code"}) == []


def test_an_objective_that_cannot_be_read_is_refused_at_once() -> None:
    """Before anything runs."""
    with pytest.raises(InvalidInput, match="objective"):
        begin(fact_tasks(), Settings(), SPACE, options(objective="quality - cost"), now=0.0)
    assert Options(1, 1, 0.1, 0.1, 1, "any", 1).surfaces == ("settings",)
