"""Evaluations and experiment loops as pages and as JSON, from real logs and journals."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from harness_evals import suite
from harness_evals.confirming import confirm
from harness_evals.executors import threads
from harness_evals.journal import JOURNAL, JournalWriter, read_journal
from harness_evals.outcome import STAGES, Outcome
from harness_evals.run import Job
from harness_evals.stages import keep, keep_task
from harness_evals.tasks import load_tasks
from lxml import etree, html
from starlette.testclient import TestClient

from harness.models.from_settings import Models
from harness.server.api import experiment_files
from harness.settings import Settings
from tests.evals.stand_ins import (
    a_fact_a_round,
    answering,
    experiments_of,
    fact_task,
    fact_tasks,
    from_file,
    loop,
    options,
    write_tasks,
)
from tests.evals.stand_ins import saying as said_by
from tests.fakes import WordEmbedder

PAGES = {"accept": "text/html"}
HOSTILE = "<script>alert(1)</script>"
Evaluate = Callable[..., str]


@pytest.fixture
def evaluate(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Run an evaluation in which each task reports so many facts, or (`None`) fails; return its id."""

    def run(
        facts: Mapping[str, int | None],
        *,
        now: float = 1_790_000_000.0,
        differs: str = "",
        repeats: int = 1,
        **changes: Any,
    ) -> str:
        def outcome(job: Job) -> Outcome:
            number = facts[job.task.id]
            if number is None:
                return Outcome(job.task.id, job.repeat, error=f"search_failed: {HOSTILE}")
            digests = {stage: "b" if stage == differs and job.repeat else "a" for stage in STAGES}
            return msgspec.structs.replace(said_by(job, number), digests={**digests, "report": str(number)})

        monkeypatch.setattr("harness_evals.run.run_apart", outcome)
        tasks, wanted = (
            [fact_task(name) for name in facts],
            suite.settings_for(msgspec.structs.replace(settings, **changes)),
        )
        header = suite.begin(tasks, wanted, repeats=repeats, now=now)
        path = settings.data_dir / "evals" / f"{header.id}.jsonl"
        with threads(1) as executor:
            suite.run(header, [], tasks, wanted, path, executor, at_once=1, on_outcome=lambda *_: None)
        return header.id

    return run


@pytest.fixture
def experimented(settings: Settings, tmp_path: Path) -> str:
    """The id of a loop: one change is kept, one is worse, one crashes."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            if job.settings.max_results == 20:
                yield job, Outcome(job.task.id, job.repeat, error=f"broken: {HOSTILE}")
            else:
                yield job, said_by(job, a_fact_a_round(job))

    folder = settings.data_dir / "autoresearch" / "20261122-101500-1a2b3c"
    proposer = from_file(tmp_path, {"max_rounds": 1}, {"max_rounds": 3}, {"max_results": 20})
    made = loop(folder, proposer, run, tasks=fact_tasks(), rules=options(experiments=3))
    statuses = [each.status for each in experiments_of(made)]
    assert statuses == ["keep", "discard", "crash"]
    return folder.name


def page(client: TestClient, address: str) -> Any:
    """Return a page, parsed; it must be valid."""
    answer = client.get(address, headers=PAGES)
    assert answer.status_code == 200, answer.text
    assert "<script>alert" not in answer.text
    parser = etree.HTMLParser(recover=False, huge_tree=False)
    try:
        etree.fromstring(answer.text, parser)
    except etree.XMLSyntaxError:
        unknown = {
            "header",
            "nav",
            "main",
            "footer",
            "section",
            "figure",
            "figcaption",
            "picture",
            "source",
            "bdi",
            "time",
        }
        unknown |= {"details", "summary", "article"}  # libxml2 knows HTML 4
        complaints = [each.message for each in parser.error_log]
        assert all(any(f"Tag {name} invalid" in each for name in unknown) for each in complaints), complaints
    root = html.fromstring(answer.text)
    assert len(root.findall(".//h1")) == 1
    assert all(each.find("caption") is not None for each in root.iter("table"))
    assert all(each.get("alt") for each in root.iter("img"))
    assert not [each for each in root.iter() if each.get("style") or each.get("onclick")]
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for table in root.iter("table"):
        widths = {sum(int(cell.get("colspan", "1")) for cell in row.findall("*")) for row in table.iter("tr")}
        assert len(widths) == 1, widths
    return root


def words(root: Any) -> str:
    """Return the text of a page, on one line."""
    return " ".join(root.find(".//main").text_content().split())


def test_empty_lists_say_how_to_start(client: TestClient) -> None:
    """Without charts and without empty tables."""
    root = page(client, "/experiments")
    assert "harness autoresearch" in words(root)
    assert "harness eval run" in words(root)
    assert not list(root.find(".//main").iter("img", "table", "button"))
    assert client.get("/api/experiments").json() == {
        "loops": [],
        "evaluations": [],
        "loops_in_all": 0,
        "evaluations_in_all": 0,
    }


def test_loops_and_evaluations_are_listed(client: TestClient, evaluate: Evaluate, experimented: str) -> None:
    """Newest first, with their scores; two evaluations can be selected for comparison."""
    first = evaluate({"a": 4, "b": 6})
    second = evaluate({"a": 5, "b": None}, now=1_790_100_000.0, repeats=2)
    payload = client.get("/api/experiments").json()
    assert [each["id"] for each in payload["evaluations"]] == [second, first]
    newer, older = payload["evaluations"]
    assert (older["tasks"], older["repeats"], older["finished"], older["crashes"]) == (2, 1, True, 0)
    assert (newer["crashes"], newer["live_calls"], newer["error"]) == (2, 2, None)
    assert older["began"] == "2026-09-21T14:13:20Z"
    assert older["mean"] > 0.5
    assert older["error"] > 0
    (listed,) = payload["loops"]
    assert (listed["id"], listed["experiments"], listed["kept"], listed["noise_floor"]) == (experimented, 3, 1, 0.0)
    root = page(client, "/experiments")
    checked = {
        each.get("name"): each.get("value")
        for each in root.findall(".//input[@type='radio']")
        if "checked" in each.attrib
    }
    assert checked == {"first": first, "second": second}
    assert root.find(".//form[@method='get']").get("action") == "/experiments/compare"
    for image in root.iter("img"):
        assert client.get(image.get("src")).headers["content-type"] == "image/svg+xml"


def test_a_chart_comes_in_four_looks(client: TestClient, experimented: str) -> None:
    """Light and dark, wide and narrow; the browser picks one without a script."""
    (picture,) = page(client, f"/experiments/loops/{experimented}").iter("picture")
    addresses = [each.get("srcset") or each.get("src") for each in picture.iter("source", "img")]
    looks = [address.partition("?")[2] for address in addresses]
    assert looks == ["dark=1&narrow=1", "dark=1&narrow=0", "dark=0&narrow=1", "dark=0&narrow=0"]
    assert len({client.get(each).content for each in addresses}) == 4


def test_a_loop_is_shown_completely(client: TestClient, experimented: str) -> None:
    """Experiments with verdicts and reasons, the kept settings as YAML, the first settings."""
    payload = client.get(f"/api/experiments/loops/{experimented}").json()
    kept, worse, crashed = payload["trials"]
    assert (kept["status"], worse["status"], crashed["status"]) == ("keep", "discard", "crash")
    assert kept["description"] == "max_rounds=1"
    assert kept["low"] <= kept["delta"] <= kept["high"]
    assert (crashed["score"], crashed["delta"]) == (None, None)
    assert payload["best"] == {"max_rounds": 1}
    assert payload["best_config"].endswith("max_rounds: 1\n")
    assert payload["rules"]["experiments"] == 3
    assert payload["loop"]["best_score"] == kept["score"]
    root = page(client, f"/experiments/loops/{experimented}")
    assert root.find(".//pre").text_content() == payload["best_config"].removeprefix("\n")
    tags = [each.text for each in root.findall(".//tbody//span[@class]") if "tag" in each.get("class")]
    assert tags == ["keep", "discard", "crash"]
    assert HOSTILE in words(root)
    assert "noise floor" in words(root)


def test_confirmations_are_shown(client: TestClient, experimented: str, settings: Settings) -> None:
    """Tasks, gain, interval and verdict; a state that was replaced since is named; both sides are evaluations."""
    folder = settings.data_dir / "autoresearch" / experimented
    further = [fact_task(f"new{number}") for number in range(6)]
    assert client.get(f"/api/experiments/loops/{experimented}").json()["confirmations"] == []
    assert "Confirmations" not in words(page(client, f"/experiments/loops/{experimented}"))
    found = confirm(read_journal(folder), further, Settings(), answering(a_fact_a_round))
    with JournalWriter(folder) as writer:
        writer.write(msgspec.structs.replace(found, experiments=0, confirmed=False, reasons=(HOSTILE,), evaluations={}))
    payload = client.get(f"/api/experiments/loops/{experimented}").json()
    shown, earlier = payload["confirmations"]
    assert (shown["confirmed"], shown["present"], payload["confirmed"]) == (True, True, True)
    assert (earlier["confirmed"], earlier["present"], earlier["evaluations"]) == (False, False, {})
    assert shown["tasks"] == [task.id for task in further]
    assert (shown["difference"], shown["low"], shown["high"]) == (found.difference, found.low, found.high)
    root = page(client, f"/experiments/loops/{experimented}")
    (section,) = root.findall(".//section[@aria-labelledby='confirmations']")
    first, second = (" ".join(" ".join(row.itertext()).split()) for row in section.find(".//tbody"))
    assert first.startswith(f"3 confirmed 6 +{found.difference:.3f} +{found.low:.3f} to +{found.high:.3f} ")
    assert all(task.id in first for task in further)
    assert "not confirmed earlier state" in second
    assert HOSTILE in second
    (link,) = [each.get("href") for each in section.iter("a")]
    assert client.get(link, headers=PAGES).status_code == 200


@pytest.mark.slow
def test_an_unconfirmed_state_says_what_tests_it(client: TestClient, experimented: str, settings: Settings) -> None:
    """With the command."""
    path = settings.data_dir / "autoresearch" / experimented / JOURNAL
    assert "autoresearch confirm" not in words(page(client, f"/experiments/loops/{experimented}"))
    path.write_text(path.read_text().replace('"status":"keep"', '"status":"unconfirmed"'))
    assert f"harness autoresearch confirm {experimented}" in words(page(client, f"/experiments/loops/{experimented}"))


def test_an_objective_is_shown(client: TestClient, evaluate: Evaluate, experimented: str, settings: Settings) -> None:
    """A column of the evaluation, and the formula; scores of a loop may then be far below 0. Impossible values are
    damage.
    """
    name = evaluate({"a": 4, "b": 6})
    assert client.get(f"/api/experiments/evaluations/{name}").json()["objective"] is None
    path = settings.data_dir / "evals" / f"{name}.jsonl"
    plain = path.read_text()
    path.write_text(plain.replace('"objective":""', '"objective":"quality - 3*live_calls"'))
    payload = client.get(f"/api/experiments/evaluations/{name}").json()
    wanted = {each["task"]: each["total"] - 3 * each["live_calls"] for each in payload["tasks"]}
    assert payload["objective"]["tasks"] == pytest.approx(wanted)
    assert min(wanted.values()) < 0
    shown = words(page(client, f"/experiments/evaluations/{name}"))
    assert "Objective: quality - 3*live_calls" in shown
    assert f"{payload['objective']['mean']:.3f}" in shown
    for formula in ("quality ** 2", "quality" + "*1000000" * 20 + "*quality"):
        path.write_text(plain.replace('"objective":""', f'"objective":"{formula}"'))
        assert client.get(f"/api/experiments/evaluations/{name}").status_code == 503
    journal = settings.data_dir / "autoresearch" / experimented / JOURNAL
    held = re.sub(r'"score":0\.\d+,"baseline"', '"score":-40.5,"baseline"', journal.read_text())
    journal.write_text(held)
    assert client.get(f"/api/experiments/loops/{experimented}").status_code == 503
    journal.write_text(held.replace('"objective":""', '"objective":"quality - 3*live_calls"'))
    assert client.get(f"/api/experiments/loops/{experimented}").json()["trials"][0]["score"] == -40.5
    assert "quality - 3*live_calls" in words(page(client, f"/experiments/loops/{experimented}"))


def test_an_evaluation_is_shown_completely(client: TestClient, evaluate: Evaluate) -> None:
    """Scores by task, means with errors, crashes, costs."""
    name = evaluate({"a": 4, "b": 6, "c": None}, max_rounds=2)
    payload = client.get(f"/api/experiments/evaluations/{name}").json()
    assert [each["task"] for each in payload["tasks"]] == ["a", "b", "c"]
    assert payload["tasks"][2]["total"] is None
    assert payload["tasks"][2]["errors"] == [f"search_failed: {HOSTILE}"]
    assert payload["means"]["total"] == pytest.approx((payload["tasks"][0]["total"] + payload["tasks"][1]["total"]) / 2)
    assert payload["errors"]["total"] > 0
    assert payload["changed_settings"] == ["corpus_meaning", "engine", "max_rounds"]
    root = page(client, f"/experiments/evaluations/{name}")
    assert HOSTILE in words(root)
    assert f"{payload['means']['total']:.3f}" in words(root)
    assert "1 crashes" in words(root)


def test_tasks_are_filtered_and_sorted(client: TestClient, evaluate: Evaluate) -> None:
    """By links and a form, without a script; a task's page knows its neighbours in that list."""
    name = evaluate({"a": 4, "b": 6, "c": None, "d": 10})
    address = f"/experiments/evaluations/{name}"

    def listed(query: str) -> list[str]:
        rows = page(client, f"{address}?{query}").find(".//tbody").findall("tr/th")
        return [each.text_content().split()[0] for each in rows]

    shown = {query: listed(query) for query in ("", "sort=total&down=1", "sort=nugget_vital", "sort=no_scorer")}
    assert list(shown.values()) == [
        ["a", "b", "c", "d"], ["d", "b", "a", "c"], ["a", "b", "d", "c"], ["a", "b", "c", "d"],
    ]  # fmt: skip
    tables = [page(client, f"{address}?show={show}").find(".//tbody") for show in ("failed", "low", "missed")]
    assert [[row.find("th").text_content().split()[0] for row in each] for each in tables] == [
        ["c"], ["a", "b", "c"], ["a", "b"],
    ]  # fmt: skip
    neighbours = page(client, f"{address}/tasks/b?sort=total&down=1").findall(".//a[@rel]")
    assert [(each.get("rel"), each.get("href")) for each in neighbours] == [
        ("prev", f"{address}/tasks/d?sort=total&down=1"),
        ("next", f"{address}/tasks/a?sort=total&down=1"),
    ]
    assert client.get(f"{address}?show=nothing", headers=PAGES).status_code == 400


def test_a_run_of_a_task_is_shown_completely(client: TestClient, evaluate: Evaluate, settings: Settings) -> None:
    """Nuggets lead to the marked sentences that say them; sources are expected, found, cited; a crash has its error."""
    keep_task(settings.data_dir, fact_task("a"))
    name = evaluate({"a": 4, "b": None}, repeats=2)
    payload = client.get(f"/api/experiments/evaluations/{name}/tasks/a?run=2").json()
    assert (payload["number"], payload["runs"], payload["known"]) == (2, 2, True)
    assert [bool(nugget["places"]) for nugget in payload["nuggets"]] == [True] * 4 + [False] * 6
    assert [(each["url"], each["expected"], each["rank"], each["cited"]) for each in payload["sources"]] == [
        ("gold", True, 1, 4)
    ]
    root = page(client, f"/experiments/evaluations/{name}/tasks/a?run=2")
    marked = [each.text_content() for each in root.iter("mark")]
    assert marked == [f"Fact number {n} holds." for n in range(4)]
    links = [each.get("href") for each in root.iter("a") if (each.get("href") or "").startswith("#sentence")]
    assert links == ["#sentence-0", "#sentence-1", "#sentence-2", "#sentence-3"]
    assert all(root.find(f".//*[@id='{link[1:]}']") is not None for link in links)
    assert HOSTILE in words(page(client, f"/experiments/evaluations/{name}/tasks/b"))
    assert "has changed since" in words(page(client, f"/experiments/evaluations/{name}/tasks/b"))
    for task, number in (("a", 3), ("x", 1), ("..%2fa", 1)):
        assert client.get(f"/api/experiments/evaluations/{name}/tasks/{task}?run={number}").status_code == 404


def test_a_task_is_compared_where_it_differs(client: TestClient, evaluate: Evaluate, settings: Settings) -> None:
    """The first stage that differs, its lines with the words that changed, both reports."""
    first, second = evaluate({"a": 4, "b": 3}), evaluate({"a": 5, "b": 3}, now=1_790_100_000.0)
    folder = settings.data_dir / "evals"
    for name, text in ((first, f"{HOSTILE} one two three"), (second, f"{HOSTILE} one 2 three")):
        digest = keep(settings.data_dir, {"report": text})["report"]
        path = folder / f"{name}.jsonl"
        path.write_text(re.sub(r'"report":"[45]"', f'"report":"{digest}"', path.read_text()))
    query = f"first={first}&second={second}&task="
    payload = client.get(f"/api/experiments/compare/task?{query}a").json()
    assert payload["stage"] == "report"
    marked = [piece["text"] for line in payload["lines"] for piece in line["pieces"] if piece["marked"]]
    assert marked == ["two", "2"]
    root = page(client, f"/experiments/compare/task?{query}a")
    assert [each.text_content() for each in (*root.iter("del"), *root.iter("ins"))] == ["two", "2"]
    assert "identical bytes" in words(page(client, f"/experiments/compare/task?{query}b"))
    assert client.get(f"/api/experiments/compare/task?{query}c").status_code == 404


def test_an_experiment_is_shown_with_its_arms(client: TestClient, experimented: str) -> None:
    """Verdict, reasons, what it changed, and the evaluations of both arms, which are pages like any other."""
    payload = client.get(f"/api/experiments/loops/{experimented}/experiments/1").json()
    assert (payload["status"], payload["numbers"]) == ("keep", [1, 2, 3])
    assert [(each["target"], each["before"], each["after"]) for each in payload["targets"]] == [("max_rounds", 5, 1)]
    arms = {arm: f"{experimented}:1:{arm}" for arm in ("baseline", "candidate")}
    assert payload["evaluations"] == arms
    for name in arms.values():
        assert client.get(f"/api/experiments/evaluations/{name}").json()["evaluation"]["id"] == name
        task = payload["task_scores"][0]["task"]
        assert client.get(f"/api/experiments/evaluations/{name}/tasks/{task}").json()["task"] == task
    root = page(client, f"/experiments/loops/{experimented}/experiments/1")
    links = [each.get("href") for each in root.iter("a")]
    assert f"/experiments/evaluations/{experimented}%3A1%3Acandidate" in links
    for address in links:
        if address.startswith("/experiments"):
            assert client.get(address, headers=PAGES).status_code == 200, address
    assert HOSTILE in words(page(client, f"/experiments/loops/{experimented}/experiments/3"))
    assert client.get(f"/api/experiments/loops/{experimented}/experiments/9").status_code == 404
    assert client.get(f"/api/experiments/evaluations/{experimented}:9:baseline").status_code == 404


def test_two_evaluations_are_compared_where_they_differ(client: TestClient, evaluate: Evaluate) -> None:
    """The difference, the first stage that differs in any repeat, and the changed settings."""
    first = evaluate({"a": 4, "b": 6, "c": 5, "d": 3}, repeats=2)
    second = evaluate({"a": 4, "b": 7, "c": 6, "e": 3}, now=1_790_100_000.0, repeats=2, differs="chunks", max_rounds=2)
    payload = client.get("/api/experiments/compare", params={"first": first, "second": second}).json()
    tasks = {each["task"]: each for each in payload["tasks"]}
    assert (payload["difference"]["tasks"], payload["message"]) == (3, "")
    assert payload["difference"]["low"] <= payload["difference"]["mean"] <= payload["difference"]["high"]
    assert tasks["b"]["difference"] > 0
    assert (tasks["a"]["difference"], tasks["a"]["stage"], tasks["a"]["compared"]) == (0, "chunks", True)
    assert (tasks["d"]["second"], tasks["d"]["compared"], tasks["d"]["stage"]) == (None, False, None)
    assert payload["changed"] == [{"name": "max_rounds", "first": 5, "second": 2}]
    address = f"/experiments/compare?first={first}&second={second}"
    root = page(client, address)
    assert "chunks" in words(root)
    assert "no runs to compare" in words(root)
    (image,) = root.iter("img")
    assert client.get(image.get("src")).status_code == 200
    same = words(page(client, f"/experiments/compare?first={first}&second={first}"))
    assert "identical bytes" in same
    assert "were the same" in same


def test_evaluations_with_one_common_task_are_shown(client: TestClient, evaluate: Evaluate) -> None:
    """Without an interval; the page says why."""
    first, second = evaluate({"a": 4, "b": 5}), evaluate({"a": 4, "c": 5}, now=1_790_100_000.0)
    payload = client.get("/api/experiments/compare", params={"first": first, "second": second}).json()
    assert payload["difference"] is None
    assert "have one measured task in common, a (+0.000)" in payload["message"]
    assert "have one measured task in common" in words(
        page(client, f"/experiments/compare?first={first}&second={second}")
    )


def test_a_damaged_file_hides_nothing_else(
    client: TestClient, evaluate: Evaluate, experimented: str, settings: Settings
) -> None:
    """Its row has a message; requested by name it is an error."""
    good = evaluate({"a": 4, "b": 6})
    log = settings.data_dir / "evals" / f"{HOSTILE.replace('/', '_')}.jsonl"
    log.write_text("no log\n")
    (settings.data_dir / "evals" / "folder.jsonl").mkdir()
    journal = settings.data_dir / "autoresearch" / experimented / JOURNAL
    bad = journal.parent.with_name("zz & co")
    bad.mkdir()
    (bad / JOURNAL).write_bytes(journal.read_bytes().replace(b'"number":2', b'"number":7'))
    payload = client.get("/api/experiments").json()
    messages = {each["id"]: each["message"] for each in (*payload["evaluations"], *payload["loops"])}
    assert messages[good] == messages[experimented] == ""
    assert "line 1: not a log line" in messages[log.stem]
    assert "is not a file" in messages["folder"] or "cannot read" in messages["folder"]
    assert "experiment 7 is not the next one" in messages["zz & co"]
    shown = words(page(client, "/experiments"))
    assert log.stem in shown
    assert "unreadable" in shown
    answer = client.get("/api/experiments/loops/zz%20%26%20co")
    assert (answer.status_code, answer.json()["code"]) == (503, "store_corrupt")


@pytest.mark.parametrize(
    "change",
    [
        (b'"total":', b'"total":1e300,"x":'),
        (b'"seconds":', b'"seconds":1e308,"x":'),
        (b'"began":', b'"began":1e300,"x":'),
    ],
    ids=["score", "cost", "time"],
)
def test_impossible_numbers_are_damage(
    client: TestClient, evaluate: Evaluate, settings: Settings, change: tuple[bytes, bytes]
) -> None:
    """Their sums would be infinite, or outside any calendar."""
    name = evaluate({"a": 4, "b": 6})
    path = settings.data_dir / "evals" / f"{name}.jsonl"
    path.write_bytes(path.read_bytes().replace(*change))
    (payload,) = client.get("/api/experiments").json()["evaluations"]
    assert "the file is damaged" in payload["message"]
    assert client.get(f"/api/experiments/evaluations/{name}").status_code == 503
    assert client.get("/experiments", headers=PAGES).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["20990101-000000-aaaaaa", "%2e%2e%2fevals", "..%2f..%2fetc%2fpasswd", "%00", "*", "20260921", "a%ed%a0%80"]
)
def test_a_url_is_never_used_as_a_path(client: TestClient, evaluate: Evaluate, experimented: str, name: str) -> None:
    """Only listed names are found."""
    evaluate({"a": 4, "b": 6})
    for kind in ("loops", "evaluations"):
        assert client.get(f"/api/experiments/{kind}/{name}").status_code == 404
        assert client.get(f"/charts/{kind}/{name}.svg").status_code == 404
    assert client.get("/api/experiments/compare", params={"first": name, "second": name}).status_code == 404


def test_file_names_that_are_not_utf8_are_cleaned(client: TestClient, settings: Settings) -> None:
    """Invalid bytes are dropped."""
    folder = settings.data_dir / "evals"
    folder.mkdir(parents=True)
    Path(os.fsdecode(os.fsencode(folder / "bad") + b"\xff\xfe.jsonl")).write_text("x\n")
    (payload,) = client.get("/api/experiments").json()["evaluations"]
    assert payload["id"] == "bad"
    assert "bad" in words(page(client, "/experiments"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    [
        "/experiments",
        "/experiments/loops/x",
        "/experiments/loops/x/experiments/1",
        "/experiments/evaluations/x/tasks/y",
        "/experiments/compare/task?first=x&second=y&task=z",
        "/experiments/compare?first=x&second=y",
        "/api/experiments",
        "/api/experiments/evaluations/x",
        "/charts/evaluations.svg",
        "/charts/loops/x.svg",
        "/charts/compare/x/y.svg",
    ],
)
def test_experiments_are_for_the_local_user_only(client: TestClient, token: Callable[..., str], address: str) -> None:
    """Not even for an admin's token."""
    answer = client.get(address, headers={"authorization": f"Bearer {token()}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")


def test_a_file_is_read_again_only_when_it_has_changed(
    client: TestClient, evaluate: Evaluate, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New lines of a running evaluation are seen at once."""
    read: list[Path] = []
    files = experiment_files.FileCache(lambda path: (read.append(path), experiment_files._read_evaluation(path))[1])
    monkeypatch.setattr("harness.server.api.experiments.evaluations", files)
    name = evaluate({"a": 4, "b": 6})
    for _ in range(3):
        client.get("/api/experiments")
    assert len(read) == 1
    path = settings.data_dir / "evals" / f"{name}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("ab") as file:
        file.write(lines[-1].replace(b'"live_calls":1', b'"live_calls":9'))
    (payload,) = client.get("/api/experiments").json()["evaluations"]
    assert (len(read), payload["live_calls"]) == (2, 11)


def test_a_too_large_file_is_not_read(client: TestClient, settings: Settings) -> None:
    """Its row says so."""
    folder = settings.data_dir / "evals"
    folder.mkdir(parents=True)
    with (folder / "large.jsonl").open("wb") as file:
        file.truncate(experiment_files.MAX_BYTES + 1)
    (payload,) = client.get("/api/experiments").json()["evaluations"]
    assert "larger than 32 MiB" in payload["message"]


def test_the_number_of_cached_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the most recently read ones."""
    monkeypatch.setattr("harness.server.api.experiment_files.MAX_CACHED", 2)
    read: list[str] = []
    files = experiment_files.FileCache(lambda path: read.append(path.name))
    for name in "abc":
        (tmp_path / name).touch()
    for name in "abcacb":
        files.get(tmp_path / name)
    assert read == ["a", "b", "c", "a", "b"]


def test_responses_match_their_description(client: TestClient, evaluate: Evaluate, experimented: str) -> None:
    """Responses and examples; times are text."""
    import jsonschema

    first, second = evaluate({"a": 4, "b": 6}), evaluate({"a": 5, "b": None}, now=1_790_100_000.0)
    payload = client.get("/api/openapi.json").json()
    for path, address in {
        "/api/experiments": "/api/experiments",
        "/api/experiments/loops/{id}": f"/api/experiments/loops/{experimented}",
        "/api/experiments/evaluations/{id}": f"/api/experiments/evaluations/{second}",
        "/api/experiments/compare": f"/api/experiments/compare?first={first}&second={second}",
        "/api/experiments/compare/task": f"/api/experiments/compare/task?first={first}&second={second}&task=a",
        "/api/experiments/evaluations/{id}/tasks/{task}": f"/api/experiments/evaluations/{second}/tasks/a",
        "/api/experiments/loops/{id}/experiments/{number}": f"/api/experiments/loops/{experimented}/experiments/1",
    }.items():
        responses = payload["paths"][path]["get"]["responses"]
        assert {"200", "400", "403", "404", "503"} <= responses.keys()
        name = responses["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        schema = {"$ref": f"#/components/schemas/{name}", "components": payload["components"]}
        jsonschema.validate(client.get(address).json(), schema)
        jsonschema.validate(payload["components"]["schemas"][name]["examples"][0], schema)
    assert payload["components"]["schemas"]["EvaluationRow"]["properties"]["began"]["anyOf"][0]["type"] == "string"


@pytest.mark.slow
def test_real_evaluations_differ_from_the_changed_stage_on(
    client: TestClient, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same settings give the same bytes; with fewer results the searches differ."""
    monkeypatch.setattr(Models, "embedder", WordEmbedder())
    tasks = load_tasks(["retries", "timeouts"], write_tasks(tmp_path / "suite"))
    names = []
    for number, changes in enumerate(({}, {}, {"max_results": 1})):
        # several rounds, so that follow-up queries differ
        wanted = suite.settings_for(msgspec.structs.replace(settings, enough_score=1.0, **changes))
        header = suite.begin(tasks, wanted, repeats=1, now=1_790_000_000.0 + number)
        path = settings.data_dir / "evals" / f"{header.id}.jsonl"
        with threads(1) as executor:
            suite.run(header, [], tasks, wanted, path, executor, at_once=1, on_outcome=lambda *_: None)
        names.append(header.id)
    first, again, other = names
    payload = [
        client.get("/api/experiments/compare", params={"first": first, "second": name}).json()
        for name in (again, other)
    ]
    same, changed = [{task["stage"] for task in each["tasks"] if task["compared"]} for each in payload]
    assert (same, changed) == ({None}, {"queries"})
