"""A whole research with a language model: it plans and words, code checks; and what happens when it misbehaves."""

from pathlib import Path
from typing import Any

import pytest

from harness.models.remote.chat_completions import OpenAICompatible
from harness.ports import Completion
from tests.cli.program import Program
from tests.models.conftest import serve_smollm
from tests.models.endpoint import Endpoint, Reply, endless, refusing, said, saying
from tests.research.steps import outlined

QUESTION = "How do retries use exponential backoff?"
NOTE = (
    "# Retries\n\nRetries use exponential backoff and stop after five failed attempts.\n\n"
    "Exponential backoff doubles the waiting time after every failed retry.\n"
)
QUERIES = '{"queries":["retries exponential backoff waiting time"]}'
JITTER = "Jitter spreads the attempts of many clients over time."
WORDED = '## Recommendations\nThe waiting time doubles. [1: "doubles the waiting time after every failed retry"]\n'
SHORT = "300"
"""Tokens of an answer of the small model, which seldom ends by itself."""


@pytest.fixture
def notes(tmp_path: Path) -> str:
    """The engine for a note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "retries.md").write_text(NOTE)
    return f"corpus:{folder}"


@pytest.fixture
def planning(endpoint: Endpoint) -> Endpoint:
    """An endpoint that plans once, asks for nothing more, and words a report."""
    endpoint.answers(saying(QUERIES), saying(QUERIES), saying(WORDED))
    return endpoint


def test_a_model_plans_and_words_and_code_checks(harness: Program, notes: str, planning: Endpoint) -> None:
    """Its query is searched as well as the question; its sentence quotes the source verbatim."""
    how = ("-e", notes, "--model", "scripted", "--model-url", planning.url, "--max-rounds", "2", "--json")
    told = harness("research", QUESTION, *how).told
    asked = {search["query"] for round_ in told["rounds"] for search in round_["searches"]}
    assert "retries exponential backoff waiting time" in asked
    assert (told["model"], told["quotations_verified"], told["quotations"]) == ("scripted", 1, 1)
    assert told["citations"][0]["sentence"] == "The waiting time doubles."
    again = harness("research", QUESTION, *how).told
    assert (again["report"], again["live_calls"]) == (told["report"], 0)


def test_a_model_writes_a_report_in_steps(harness: Program, notes: str, endpoint: Endpoint, tmp_path: Path) -> None:
    """Resumed or replayed from its snapshot, it is the same, and nothing is asked."""
    (tmp_path / "notes" / "jitter.md").write_text(f"# Jitter\n\n{JITTER}\n\nJitter is random.\n")
    outline = outlined(
        ("How retries use exponential backoff", "Backoff?", [1, 2]), ("What jitter is", "Jitter?", [1, 2])
    )
    backoff = "Retries use exponential backoff and stop after five failed attempts."
    texts = ["".join(f'{text} [{number}: "{text}"]\n' for number in (1, 2)) for text in (backoff, JITTER, backoff)]
    endpoint.answers(saying(QUERIES), saying(outline), *map(saying, texts))
    how = ("-e", notes, "--model", "scripted", "--model-url", endpoint.url, "--max-rounds", "1", "--json")
    asked = "How do retries use exponential backoff, and what is jitter?"
    told = harness("research", asked, *how).told
    assert [asked["messages"][0]["content"].split(".")[0] for asked in endpoint.asked[1:4]] == [
        "You plan the sections of a report that answers a question from sources, and from nothing else",
        *["You write one section of a report from sources, and from nothing else"] * 2,
    ]
    assert {"## How retries use exponential backoff", "## What jitter is"} <= set(told["report"].splitlines())
    calls = len(endpoint.asked)
    file = tmp_path / "run.snapshot"
    assert harness("cache", "export", file, "--run", told["run"]).code == 0
    assert harness("research", "--resume", told["run"], "--json").told["report"] == told["report"]
    replayed = harness("research", asked, "--replay", file, "--data-dir", tmp_path / "empty", "--json").told
    assert (replayed["report"], len(endpoint.asked)) == (told["report"], calls)


@pytest.mark.parametrize(
    "worded",
    [
        saying("no report at all"),
        saying('## Answer\nIt is magic. [1: "no one has ever written these words anywhere"]\n'),
        saying("\x00\x1b[2J\ufffd" * 50),
        endless(said("word ")),
    ],
    ids=["garbage", "invented", "control", "endless"],
)
def test_whatever_a_model_answers_there_is_a_report(
    harness: Program, notes: str, endpoint: Endpoint, worded: Reply
) -> None:
    """Excerpts are used, every quotation of them verified, and the reason is given."""
    endpoint.answers(saying("not a plan"), worded)
    how = ("-e", notes, "--model", "scripted", "--model-url", endpoint.url, "--max-rounds", "1", "--json")
    ended_ = harness("research", QUESTION, *how)
    assert ended_.told["quotations_verified"] == ended_.told["quotations"] > 0
    assert "excerpts" in ended_.told["remark"]
    assert "planned by rules" in ended_.err


@pytest.mark.parametrize(
    "failing",
    [
        Reply(lambda: [said("The ")], whole=False),
        refusing(429, "slow down", retry_after="0"),
        refusing(500, "boom"),
    ],
    ids=["breaks off", "429", "500"],
)
def test_a_model_that_fails_leaves_a_report_of_excerpts(
    harness: Program, notes: str, endpoint: Endpoint, failing: Reply
) -> None:
    """It is tried a few times, the reason is clear, and the run can be resumed when the model is back."""
    endpoint.answers(saying(QUERIES), *[failing] * 3)
    how = ("-e", notes, "--model", "scripted", "--model-url", endpoint.url, "--max-rounds", "1")
    fallen_back = harness("research", QUESTION, *how)
    assert fallen_back.code == 0
    assert "these are excerpts" in fallen_back.out
    assert "warning: the model is unavailable: " in fallen_back.err
    [run] = harness("runs", "--json").told["items"]
    assert f"--resume {run['id']}" in fallen_back.err
    endpoint.answers(saying(WORDED))
    resumed = harness("research", "--resume", run["id"], "--json").told
    assert (resumed["model"], resumed["run"]) == ("scripted", run["id"])


@pytest.mark.slow
def test_a_silent_model_is_waited_for_once(
    harness: Program, notes: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its total wait is bounded by `model_wait`; the planner, the follow-up queries and the writer do not add up."""
    monkeypatch.setenv("HARNESS_MODEL_WAIT", "0.6")
    endpoint.answers(endless(b": still there\n\n", lambda: endpoint.pause(30)))
    how = ("-e", notes, "--model", "scripted", "--model-url", endpoint.url, "--max-rounds", "2", "--json")
    fallen_back = harness("research", QUESTION, *how)
    assert fallen_back.told["quotations_verified"] > 0
    assert "excerpts" in fallen_back.told["remark"]
    assert "planned by rules" in fallen_back.err
    assert len(endpoint.asked) == 1


@pytest.mark.slow
def test_a_slow_model_is_waited_for_once(
    harness: Program, notes: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that answers word by word, without end, takes `model_total_timeout` at most; then rules and excerpts."""
    monkeypatch.setenv("HARNESS_MODEL_TOTAL_TIMEOUT", "0.6")
    endpoint.answers(endless(said("drip "), lambda: endpoint.pause(0.02)))
    how = ("-e", notes, "--model", "scripted", "--model-url", endpoint.url, "--max-rounds", "2", "--json")
    fallen_back = harness("research", QUESTION, *how)
    assert fallen_back.told["quotations_verified"] > 0
    assert "has taken 1 s in this run; allow it more with model_total_timeout" in fallen_back.told["remark"]
    assert len(endpoint.asked) == 1


@pytest.mark.full
def test_a_small_model_leads_a_whole_research(
    harness: Program, notes: str, smollm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plans, writes and streams; quotations are checked, or excerpts are used. Repeated, it costs nothing."""
    monkeypatch.setenv("HARNESS_MODEL_MAX_TOKENS", SHORT)
    how = ("-e", notes, "--model", "smollm2", "--model-url", smollm, "--max-rounds", "2", "--json")
    told = harness("research", QUESTION, *how).told
    assert told["report"]
    assert told["model"] == "smollm2" or "excerpts" in told["remark"]
    again = harness("research", QUESTION, *how).told
    assert (again["report"], again["live_calls"]) == (told["report"], 0)
    assert again["answered"].get("live", 0) == 0


@pytest.mark.full
def test_a_small_model_that_is_killed_leaves_a_run_to_resume(
    harness: Program, notes: str, smollm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after its first answer: the error says so; with the model back, the run goes on."""
    monkeypatch.setenv("HARNESS_MODEL_MAX_TOKENS", SHORT)
    served, complete = serve_smollm(), OpenAICompatible.complete

    def complete_and_die(model: OpenAICompatible, *prompt: Any, **more: Any) -> Completion:
        try:
            return complete(model, *prompt, **more)
        finally:
            served.kill()

    how = ("-e", notes, "--model", "smollm2", "--max-rounds", "1")
    with monkeypatch.context() as patched:
        patched.setattr(OpenAICompatible, "complete", complete_and_die)
        fallen_back = harness("research", QUESTION, *how, "--model-url", served.url)
    assert fallen_back.code == 0
    assert "these are excerpts" in fallen_back.out
    assert "warning: the model is unavailable: " in fallen_back.err
    [run] = harness("runs", "--json").told["items"]
    assert f"--resume {run['id']}" in fallen_back.err
    resumed = harness("research", "--resume", run["id"], "--model-url", smollm, "--json")
    assert resumed.told["run"] == run["id"]
    assert "the model is unavailable" not in resumed.err
