"""Budget of a research: what the model may cost, by tokens and by price."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cache import Cache
from harness.errors import InvalidInput, ModelUnavailable
from harness.models.local.tokenizer import rarity
from harness.ports import Completion, Message
from harness.research.budget import MILLION, Budget, budget_of
from harness.research.drafting import Writer
from harness.research.fingerprint import Code
from harness.research.model_planner import ModelPlanner
from harness.research.planner import RulePlanner
from harness.research.report import Report
from harness.research.result import Research
from harness.research.run import Researcher
from harness.research.services import ResearchServices
from harness.settings import FetchSettings, GatheringSettings, WritingSettings, load
from tests.cli.program import Program
from tests.fakes import MemoryStore
from tests.models.endpoint import Endpoint, saying
from tests.research.directed_embedder import DirectedEmbedder
from tests.research.test_run import Library, Scripted, memory_of, silent

QUESTION = "What does this passage say?"
PRICES = {"small": "2/10"}
"""2 for a million tokens of prompts, 10 for a million of answers."""
PLAN = (900 * 2 + 100 * 10) / MILLION
"""Cost of one plan of the model below."""
ANSWER = 200
"""Longest answer, in tokens."""


PLAIN = WritingSettings()


def passage(number: int) -> str:
    """Return a passage that is like the question, in its own direction."""
    return f"What this passage says has the similarity 0.5000 in direction {number} of all."


LONG = " ".join(f"{passage(number)} It goes on like this for many words and says little." for number in range(200))
TRUE = f'## Answer\nThis passage has the similarity 0.5000 in direction 1. [1: "{passage(1)}"]\n'
FALSE = f'Passages cure cancer. [1: "{passage(1)}"]\n'


class Counting:
    """A language model that plans a query a round, words a report, and counts a token for 4 characters; a plan takes
    900 tokens asked and 100 answered.
    """

    name, endpoint = "small", "http://127.0.0.1:9/v1"
    parameters: Mapping[str, Any] = {}

    def __init__(self, *answers: str | BaseException) -> None:
        self.answers = answers or (TRUE,)
        self.planned = 0
        self.told: list[Sequence[Message]] = []

    def complete(self, messages: Sequence[Message], *, schema: Any = None, on_text: Any = None) -> Completion:
        """See `LanguageModel.complete`."""
        content = messages[-1]["content"]
        if schema is not None:
            self.planned += 1
            return Completion(json.dumps({"queries": [f"query {len(content)}"]}), True, 900, 100)
        self.told.append(messages)
        answer = self.answers[min(len(self.told), len(self.answers)) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return Completion(answer, True, sum(len(each["content"]) for each in messages) // 4, len(answer) // 4)


def leader(
    cache: Cache,
    model: Counting | None,
    *,
    body: str = "",
    planning: bool = True,
    keep: bool | None = None,
    writing: WritingSettings = PLAIN,
    **gathering: Any,
) -> Researcher:
    """Return a researcher; its engine has a new page for every query, or one with this `body`."""
    engine = Scripted(lambda query: [_result(sum(map(ord, query)), body)])
    embedder: Any = DirectedEmbedder()
    planner = ModelPlanner(model) if model and planning else RulePlanner()
    services = ResearchServices(
        cache, (engine,), Library(), embedder, memory_of(cache, embedder), silent, rarity, planner=planner
    )
    limits = {"min_novelty": 0.0, "enough_score": 1.0, "read_pages": 0, "model_prices": PRICES, **gathering}
    return Researcher(
        services,
        writer=Writer(model, writing, ANSWER),
        gathering=GatheringSettings(**limits),
        fetch=FetchSettings(ttl=60, page_ttl=60),
        keep_research=keep,
        code=Code(),
    )


def _result(number: int, body: str) -> dict[str, str]:
    if body:
        return {"title": "Passages", "href": "https://example.org/1", "body": body}
    return {"title": "", "href": f"https://example.org/{number}", "body": passage(number)}


def ask(cache: Cache, model: Counting | None, **how: Any) -> Research:
    """Run a research."""
    return leader(cache, model, **how).run(QUESTION)


def fresh() -> Cache:
    """Return an empty cache."""
    return Cache(MemoryStore())


def report_of(found: Research) -> Report:
    """Return the report, which there must be."""
    assert found.report is not None
    return found.report


def cost(model: Counting) -> float:
    """Return what a model's answers have cost."""
    read = model.planned * 900 + sum(len(each["content"]) for told in model.told for each in told) // 4
    answers = [model.answers[min(number, len(model.answers) - 1)] for number in range(len(model.told))]
    written = model.planned * 100 + sum(len(str(answer)) // 4 for answer in answers)
    return (read * 2 + written * 10) / MILLION


# --- settings


def test_a_limit_without_a_price_says_what_to_set() -> None:
    """Before anything is asked, with the name of the model and an example."""
    model = Counting()
    with pytest.raises(InvalidInput) as caught:
        ask(fresh(), model, max_cost=1.0, model_prices={"other": "1/2"})
    assert str(caught.value).startswith("max_cost needs the price of small: set model_prices to small=0.25/2, ")
    assert (model.planned, model.told) == (0, [])


def test_without_a_model_there_is_no_limit() -> None:
    """Nor a price to set: nothing costs anything."""
    found = ask(fresh(), None, max_cost=1e-9, model_prices={}, max_rounds=2)
    assert found.gathered.stop_reason != "limit of cost"
    assert report_of(found).remark == ""
    assert budget_of(GatheringSettings(max_cost=1.0), "", 10) == Budget(None, None, (0.0, 0.0), 10)


def test_a_price_without_a_limit_changes_nothing() -> None:
    """The report is that of a research without prices."""
    assert (
        ask(fresh(), Counting(), max_rounds=2).report == ask(fresh(), Counting(), max_rounds=2, model_prices={}).report
    )


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ("0.25/2", (0.25, 2.0)),
        ("1/2", (1.0, 2.0)),
        ("0/0", (0.0, 0.0)),
        ("15.123456/999999", (15.123456, 999_999.0)),
    ],
)
def test_prices_are_those_of_a_million_tokens(prices: str, expected: tuple[float, float]) -> None:
    """Prices of prompts, and of answers."""
    loaded = load(environment={"HARNESS_MODEL_PRICES": f"a={prices}, b=7/8"}).settings
    assert loaded.model_prices == {"a": prices, "b": "7/8"}
    assert budget_of(loaded, "a", 1).prices == pytest.approx([each / MILLION for each in expected])
    assert budget_of(loaded, "b", 1).prices == pytest.approx((7 / MILLION, 8 / MILLION))


@pytest.mark.parametrize("price", ["1/2/3", "1", "", "-1/2", "1/-2", "a/b", "1/", "/2", "1e3/2", "nan/1", "1 / 2\n"])
def test_an_unusable_price_is_refused(price: str) -> None:
    """In one line that names the setting."""
    with pytest.raises(InvalidInput, match=r"^model_prices") as caught:
        load({"model_prices": {"small": price}}, environment={})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("most", ["much", "-1", "0", "-0.5", "nan", "1/2", "0.5 EUR"])
def test_an_unusable_limit_is_refused(most: str) -> None:
    """In one line that names the setting."""
    with pytest.raises(InvalidInput, match=r"^max_cost") as caught:
        load(environment={"HARNESS_MAX_COST": most})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("most", ["much", "-1", "0", "1/2/3"])
def test_an_unusable_flag_is_wrong_usage(harness: Program, most: str) -> None:
    """Exit code 2."""
    ended = harness("research", QUESTION, f"--max-cost={most}")
    assert ended.code == 2
    assert "max" in ended.err
    assert "cost" in ended.err


# --- arithmetic


class Spent:
    """A cache that has counted so many tokens."""

    def __init__(self, tokens: int, answer_tokens: int) -> None:
        self.tokens = tokens
        self.answer_tokens = answer_tokens


def budget(**how: Any) -> Budget:
    """Return a budget with the prices of these tests."""
    return Budget(**{"prices": (2 / MILLION, 10 / MILLION), "answer_tokens": ANSWER, **how})


def test_prompts_and_answers_have_their_own_price() -> None:
    """900 tokens of prompts and 100 of answers."""
    spent: Any = Spent(1_000, 100)
    assert budget().cost(spent) == pytest.approx(PLAN)


def test_what_is_left_leaves_room_for_the_longest_answer() -> None:
    """The cost that is left, less that of the answer, by the price of prompts."""
    spent: Any = Spent(1_000, 100)
    assert budget(max_cost=PLAN + 0.004).prompt_tokens(spent) == pytest.approx(1_000)
    assert budget(max_cost=PLAN + 0.002).prompt_tokens(spent) == pytest.approx(0)
    assert budget(max_cost=PLAN).prompt_tokens(spent) < 0


def test_of_two_limits_the_lower_one_counts() -> None:
    """Tokens or cost."""
    spent: Any = Spent(1_000, 100)
    assert budget(max_cost=PLAN + 0.004, max_tokens=1_000 + ANSWER + 10).prompt_tokens(spent) == pytest.approx(10)
    assert budget(max_cost=PLAN + 0.004, max_tokens=1_000_000).prompt_tokens(spent) == pytest.approx(1_000)


def test_without_a_limit_everything_is_allowed() -> None:
    """Whatever was spent."""
    spent: Any = Spent(10**12, 10**11)
    assert budget().prompt_tokens(spent) == math.inf
    assert budget().allows([{"role": "user", "content": "x" * 10**6}], spent)


def test_free_models_have_no_limit() -> None:
    """Zero prices: nothing is ever spent. Free prompts with dear answers still have one."""
    spent: Any = Spent(10**9, 10**8)
    assert budget(max_cost=0.01, prices=(0.0, 0.0)).prompt_tokens(spent) == math.inf
    assert budget(max_cost=0.01, prices=(0.0, 10 / MILLION)).prompt_tokens(spent) == -math.inf


def test_a_prompt_is_allowed_up_to_what_is_left() -> None:
    """At four characters a token."""
    spent: Any = Spent(0, 0)
    held = budget(max_tokens=ANSWER + 100)
    assert held.allows([{"role": "user", "content": "x" * 400}], spent)
    assert not held.allows([{"role": "user", "content": "x" * 401}], spent)
    assert not held.allows([{"role": "system", "content": "x" * 399}, {"role": "user", "content": "xx"}], spent)


def test_a_remark_names_the_limit_that_was_reached() -> None:
    """Not the other one."""
    spent: Any = Spent(1_000, 100)
    assert budget(max_tokens=1_000).spent(spent) == "1,000 of 1,000 tokens are spent"
    assert budget(max_cost=0.003).spent(spent) == "0.0028 of 0.003 are spent on the model"
    assert budget(max_cost=0.003, max_tokens=1_000_000).spent(spent) == "0.0028 of 0.003 are spent on the model"
    assert budget(max_cost=100.0, max_tokens=1_000).spent(spent) == "1,000 of 1,000 tokens are spent"


# --- rounds


@pytest.mark.parametrize(("plans", "rounds"), [(0.5, 1), (1.0, 1), (1.01, 2), (2.5, 3)])
def test_no_round_begins_after_the_cost(plans: float, rounds: int) -> None:
    """Each plan costs the same."""
    found = ask(fresh(), Counting(), max_cost=plans * PLAN)
    assert (found.gathered.stop_reason, len(found.gathered.rounds)) == ("limit of cost", rounds)


def test_answers_from_the_cache_cost_as_much() -> None:
    """So a second run stops where the first one did, with the same report, and pays nothing."""
    cache = fresh()
    first = ask(cache, Counting(), max_cost=2.5 * PLAN)
    model = Counting(ModelUnavailable("must not be asked"))
    second = ask(cache, model, max_cost=2.5 * PLAN)
    assert (model.planned, model.told) == (0, [])
    assert second.gathered.rounds[0].score == first.gathered.rounds[0].score
    assert (second.gathered.stop_reason, second.report) == (first.gathered.stop_reason, first.report)


def test_a_free_model_is_not_limited() -> None:
    """With prices of zero, another limit ends the rounds, and the model writes."""
    found = ask(fresh(), Counting(), max_cost=1e-9, model_prices={"small": "0/0"}, max_rounds=2)
    assert found.gathered.stop_reason == "limit of rounds"
    assert report_of(found).writer == "small"


@pytest.mark.parametrize("plans", [0.01, 0.5, 1.5, 2.01])
def test_planning_costs_at_most_one_plan_more_than_the_limit(plans: float) -> None:
    """The cost of a plan is known afterwards; then nothing more is asked."""
    model = Counting()
    found = ask(fresh(), model, max_cost=plans * PLAN)
    assert model.planned == math.ceil(plans)
    assert cost(model) <= (plans + 1) * PLAN
    assert report_of(found).writer == ""


@pytest.mark.parametrize(("most", "planned"), [(ANSWER, 0), (2 * ANSWER + 400, 1)])
def test_a_plan_that_cannot_be_paid_is_made_by_rules(most: int, planned: int, caplog: pytest.LogCaptureFixture) -> None:
    """With room for the longest answer; the log says what was spent."""
    model, limit = Counting(), budget(max_tokens=most)
    plan = ModelPlanner(model, budget=limit).plan(QUESTION, fresh().recording())
    assert model.planned == planned
    assert (plan == RulePlanner().plan(QUESTION, fresh())) is (planned == 0)
    assert ("0 of 200 tokens are spent, too little is left for it" in caplog.text) is (planned == 0)


# --- the report


def test_with_nothing_left_there_are_excerpts() -> None:
    """With a remark that says what was spent of what, without asking the model."""
    model = Counting()
    report = report_of(ask(fresh(), model, max_cost=PLAN))
    assert model.told == []
    assert report.writer == ""
    assert (
        report.remark
        == "0.0028 of 0.0028 are spent on the model, too little is left for small to write; these are excerpts"
    )
    assert report.verified == len(report.quotations) > 0


@pytest.mark.parametrize("room", [0.0205, 0.006, 0.004])
def test_a_lower_limit_shrinks_the_writers_context(room: float) -> None:
    """The whole research stays below the limit."""
    model = Counting()
    limit = PLAN + room
    found = ask(fresh(), model, body=LONG, max_rounds=1, max_cost=limit, writing=WritingSettings(max_revisions=0))
    assert report_of(found).writer == "small"
    [told] = model.told
    whole = Counting()
    ask(fresh(), whole, body=LONG, max_rounds=1, writing=WritingSettings(max_revisions=0))
    assert len(told[1]["content"]) <= len(whole.told[0][1]["content"])
    assert cost(model) <= limit


@pytest.mark.parametrize(
    "writing",
    [
        WritingSettings(max_revisions=0, prompts={"write": "Write well. " * 1_600}),
        WritingSettings(max_revisions=0, writer_style="Write well. " * 160),
    ],
    ids=["own prompt", "style"],
)
def test_a_long_prompt_of_ones_own_counts(writing: WritingSettings) -> None:
    """Rules may have 20,000 characters: they cost as much as sources do."""
    model = Counting()
    limit = PLAN + 0.006
    ask(fresh(), model, body=LONG, max_rounds=1, max_cost=limit, writing=writing)
    assert cost(model) <= limit


# --- revisions


def limited(most: float, *answers: str | BaseException, cache: Cache | None = None) -> tuple[Counting, Report]:
    """Write a report of a short page, planned by rules, with so much to spend."""
    model = Counting(*answers)
    return model, report_of(ask(cache or fresh(), model, planning=False, max_rounds=1, max_cost=most, body=passage(1)))


def test_a_revision_that_can_be_paid_is_made() -> None:
    """Within the limit."""
    model, report = limited(1.0, TRUE + FALSE, TRUE)
    assert (len(model.told), report.revisions) == (2, 1)


def test_a_revision_that_cannot_be_paid_is_not_begun() -> None:
    """The draft is the report; a little more is enough."""
    whole, _ = limited(1.0, TRUE + FALSE, TRUE)
    first, second = (sum(len(each["content"]) for each in told) // 4 for told in whole.told)
    drafted = (first * 2 + len(TRUE + FALSE) // 4 * 10) / MILLION
    needed = drafted + (second * 2 + ANSWER * 10) / MILLION
    model, report = limited(needed - 0.00001, TRUE + FALSE, TRUE)
    assert (len(model.told), report.revisions, report.writer) == (1, 0, "small")
    model, report = limited(needed + 0.00001, TRUE + FALSE, TRUE)
    assert (len(model.told), report.revisions) == (2, 1)


def test_revisions_never_cost_more_than_the_limit() -> None:
    """However many there may be: whatever the limit is."""
    drafts = [TRUE + "## Details\n" + FALSE * bad for bad in range(5, 0, -1)]
    assert max(map(len, drafts)) < 4 * ANSWER
    for most in (0.003, 0.004, 0.006, 0.01, 0.1):
        model = Counting(*drafts)
        writing = WritingSettings(max_revisions=5)
        ask(fresh(), model, planning=False, max_rounds=1, max_cost=most, body=passage(1), writing=writing)
        assert cost(model) <= most


def test_a_repeated_run_is_revised_within_the_same_limit() -> None:
    """Cached revisions count: the same bytes."""
    cache = fresh()
    _, first = limited(0.01, TRUE + FALSE, TRUE, cache=cache)
    model, second = limited(0.01, ModelUnavailable("must not be asked"), cache=cache)
    assert (second, model.told) == (first, [])
    assert second.revisions == 1


# --- resumed runs, and researches that are reused


def spent_in(record: dict[str, Any]) -> tuple[int, int]:
    """Return the tokens of a record's gathering, and those of them that the model wrote."""
    gathered = json.loads(record["gathered"])
    return gathered["tokens"], gathered["answer_tokens"]


def test_a_run_records_what_it_has_spent() -> None:
    """All tokens, and those of answers, when the writing begins."""
    cache, model = fresh(), Counting(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        ask(cache, model, max_rounds=3)
    [run] = cache.runs.all()
    record = cache.runs.get(run.key)
    assert (record["state"], *spent_in(record)) == ("writing", 3_000, 300)
    assert (record["max_cost"], record["model_prices"]) == (None, PRICES)


def test_a_resumed_run_counts_what_was_spent_before() -> None:
    """The report is the one that the run would have had."""
    limit = 3 * PLAN + 0.006
    how: Any = {"max_rounds": 3, "max_cost": limit, "body": "", "writing": WritingSettings(max_revisions=0)}
    whole = Counting()
    expected = report_of(ask(fresh(), whole, **how))
    cache, model = fresh(), Counting(KeyboardInterrupt(), TRUE)
    with pytest.raises(KeyboardInterrupt):
        ask(cache, model, **how)
    [run] = cache.runs.all()
    assert report_of(leader(cache, model, **how).resume(run.key)) == expected
    assert model.told[1:] == whole.told


def test_a_run_resumed_after_an_outage_counts_what_was_spent_before() -> None:
    """Its record has its tokens too: else the model may cost more than the limit."""
    cache, model = fresh(), Counting(ModelUnavailable("down"), TRUE)
    how: Any = {"max_rounds": 3, "max_cost": 3 * PLAN + 0.006, "writing": WritingSettings(max_revisions=0)}
    first = ask(cache, model, **how)
    assert first.model_outage == "down"
    record = cache.runs.get(first.id)
    assert spent_in(record) == (3_000, 300)
    again = leader(cache, model, **how).resume(first.id)
    assert again.tokens > 3_000


def test_a_solved_question_is_written_within_the_same_cost() -> None:
    """Answers cost what answers do, also those of the planning that is reused."""
    cache, model = fresh(), Counting()
    how: Any = {"max_rounds": 1, "enough_score": 0.4, "body": LONG, "writing": WritingSettings(max_revisions=0)}
    how |= {"max_cost": PLAN + 0.006}
    first = ask(cache, model, **how)
    again = ask(cache, model, **how)
    assert again.research_cache == "solved"
    assert report_of(again) == report_of(first)
    assert len(model.told) == 1


def test_a_cached_research_is_written_within_the_same_cost() -> None:
    """The queries of its later rounds were paid for as well, so the second report is the first."""
    cache, model = fresh(), Counting()
    how: Any = {"max_rounds": 3, "keep": True, "writing": WritingSettings(max_revisions=0), "body": ""}
    how |= {"max_cost": 3 * PLAN + 0.0032}
    first = ask(cache, model, **how)
    again = ask(cache, model, **how)
    assert (first.research_cache, again.research_cache) == ("stored", "hit")
    assert (report_of(again), len(model.told)) == (report_of(first), len(model.told[:1]))
    assert again.tokens == first.tokens


def test_the_limit_is_part_of_the_fingerprint_where_it_is_set() -> None:
    """Another limit may gather less; prices alone change nothing."""
    plain = leader(fresh(), Counting(), model_prices={})._fingerprint()
    assert leader(fresh(), Counting(), max_cost=1.0)._fingerprint() != plain
    assert leader(fresh(), Counting())._fingerprint() == plain


# --- the command


NOTE = "# Retries\n\nExponential backoff doubles the waiting time after every failed retry.\n"
QUERIES = '{"queries":["retries exponential backoff waiting time"]}'


def test_the_flag_limits_the_cost(harness: Program, endpoint: Endpoint, tmp_path: Path) -> None:
    """An endpoint counts 7 tokens asked and 3 answered; without a price, the error says what to set."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "retries.md").write_text(NOTE)
    how = ("-e", f"corpus:{tmp_path / 'notes'}", "--model", "m", "--model-url", endpoint.url, "--max-rounds", "1")
    asked = ("research", "How do retries use exponential backoff?", *how, "--json")
    endpoint.answers(saying(QUERIES))
    assert "set model_prices to m=" in harness(*asked, "--max-cost", "0.00001").one_line_error(2)
    assert endpoint.asked == []
    prices = tmp_path / "prices.yaml"
    prices.write_text("model_prices: {m: 1/1}\n")
    found = harness(*asked, "--max-cost", "0.00001", "--config", str(prices))
    assert found.code == 0, found.err
    assert (
        "0 of 1e-05 are spent on the model, too little is left for m to write; these are excerpts"
        in found.told["remark"]
    )
    assert endpoint.asked == [], "a plan, with its longest answer, costs more than the limit"
    assert "planned by rules" in found.err


def test_a_replayed_run_has_the_budget_of_the_run(
    harness: Program, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest answer was that of the run, whatever the setting is now."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "retries.md").write_text(NOTE)
    how = ("-e", f"corpus:{tmp_path / 'notes'}", "--model", "m", "--model-url", endpoint.url, "--max-rounds", "1")
    asked = ("research", "How do retries use exponential backoff?")
    worded = '## Answer\nThe waiting time doubles. [1: "doubles the waiting time after every failed retry"]\n'
    endpoint.answers(saying(QUERIES), saying(worded))
    with monkeypatch.context() as patched:
        patched.setenv("HARNESS_MODEL_MAX_TOKENS", "300")
        first = harness(*asked, *how, "--max-tokens", "2000", "--json").told
    assert first["model"] == "m"
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", first["run"]).code == 0
    replayed = harness(*asked, "--replay", file, "--data-dir", tmp_path / "empty", "--json")
    assert replayed.code == 0, replayed.err
    assert replayed.told["report"] == first["report"]
