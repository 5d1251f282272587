"""The self-check in use: some hits by meaning are searched live, too; pairs that disagree never answer each other."""

import logging
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cache import Cache, Policy
from harness.cache.audit import CLOSING_SECONDS, MAX_WAITING, Auditor, compared, told_pair
from harness.core.audits import DISAGREES_BELOW, REFUSAL, Audit, addresses, overlap
from harness.core.calibration import interval
from harness.core.entries import Hit, Miss
from harness.core.keys import search_key
from harness.errors import EngineUnavailable, InvalidInput, RateLimited
from harness.ports import Store
from harness.storage.sqlite.store import SqliteStore
from tests.cache.stand_ins import Engine, semantics
from tests.cache.test_single_flight import Gate
from tests.fakes import FakeClock, MemoryStore

STORED, ASKED = "semantic cache false positives", "false positives semantic cache"
THIRD = "semantic cache for false positives"
DEADLINE = 30


def results(*places: int) -> list[dict[str, Any]]:
    """Return a result at each of the places."""
    return [{"title": "t", "href": f"https://example.org/{place}", "body": f"of {place}"} for place in places]


TEN, OTHERS = results(*range(10)), results(*range(10, 20))


class Audited:
    """A cache that answers by meaning, and its auditor."""

    def __init__(self, store: Store, rate: float = 1.0, **rest: Any) -> None:
        self.store = store
        self.auditor = Auditor(rate)
        self.cache = Cache(store, semantics=semantics(store), auditor=self.auditor, **rest)

    def ask(self, query: str, found: Any, **rest: Any) -> Any:
        """Search, and wait for the audit; return the answer."""
        answer = self.cache.search(query, found if callable(found) else Engine(found), **rest)
        self.auditor.close(DEADLINE)
        return answer


@pytest.fixture
def checked(store: SqliteStore, clock: FakeClock) -> Audited:
    """A cache that holds `STORED`, and audits every hit by meaning."""
    audited = Audited(store, clock=clock)
    audited.cache.put_search(STORED, TEN)
    return audited


@pytest.fixture
def gate() -> Iterator[Gate]:
    """An engine that answers when it may."""
    gate = Gate(TEN)
    yield gate
    gate.opened.set()


# --- what is compared


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("abcd", "abcd", 1.0),
        ("abcdefghij", "aklmnopqrs", 0.1),
        ("abcdefghij", "abklmnopqr", 0.2),
        ("abc", "cdefgh", 1 / 3),
        ("abc", "defgh", 0.0),
        ("ab", "abcdefgh", None),
        ("", "", None),
    ],
)
def test_the_overlap_is_the_share_of_the_shorter_list(one: str, other: str, share: float | None) -> None:
    """Whichever comes first; of fewer than three addresses nothing is said."""
    assert overlap(set(one), set(other)) == overlap(set(other), set(one)) == share


def test_addresses_are_compared_in_one_spelling() -> None:
    """Case of the host, tracking, fragments and doubles do not count; results without an address neither."""
    written = ["https://Example.org/a/?utm_source=x#top", "https://example.org/a", "", None]
    assert addresses([{"href": each} for each in written] + [{}]) == {"https://example.org/a"}


@pytest.mark.parametrize(("shared", "agreed"), [(DISAGREES_BELOW, True), (0.19999, False), (0.0, False), (1.0, True)])
def test_a_pair_disagrees_below_the_constant(shared: float, agreed: bool) -> None:
    """At it, it agrees."""
    told = Audit.of("a", "b", overlap=shared, similarity=1.0, probability=None, now=0.0)
    assert told.agreed is agreed


def test_an_audit_has_what_the_hit_told() -> None:
    """How alike the queries are, and how sure a verifier was."""
    served = Hit(TEN, "semantic", "b", 0.9, 0.0, 0.75)
    audit = compared("a", served, addresses(TEN), OTHERS, 5.0)
    assert audit == Audit.of("a", "b", overlap=0.0, similarity=0.9, probability=0.75, now=5.0)


# --- what an audit does


def test_an_audit_that_agrees_is_kept_and_changes_nothing(checked: Audited, clock: FakeClock) -> None:
    """The answer is the one by meaning; the evidence has both queries, and how alike results and queries are."""
    answer = checked.ask(ASKED, results(*range(5, 15)))
    assert (answer.how, answer.value) == ("semantic", TEN)
    (audit,) = checked.cache.audits()
    assert set(audit.queries) == {STORED, ASKED}
    assert (audit.overlap, audit.agreed, audit.probability, audit.created_at) == (0.5, True, None, clock.now)
    assert audit.similarity == pytest.approx(1.0)
    assert isinstance(checked.cache.get_search(THIRD), Hit)


def test_what_an_audit_brings_is_an_ordinary_row(checked: Audited) -> None:
    """It was paid for: the asked query is exact from now on, and the live call is counted."""
    live = results(*range(5, 15))
    checked.ask(ASKED, live)
    again = checked.ask(ASKED, Engine(EngineUnavailable("not asked")))
    assert (again.how, again.value) == ("exact", live)
    assert checked.cache.counted() == {"semantic": 1, "live": 1, "exact": 1}


def test_a_pair_that_disagrees_never_answers_again(checked: Audited, clock: FakeClock) -> None:
    """Either way round, and though the row that the audit brought is gone; also to another cache on the store."""
    checked.ask(ASKED, OTHERS)
    assert checked.cache.audited().disagreeing == 1
    checked.store.rows.delete("search_cache", "default", [search_key(ASKED)])
    other = Audited(checked.store, rate=0.0, clock=clock)
    for cache in (checked.cache, other.cache):
        assert isinstance(cache.get_search(ASKED.upper()), Miss)
    checked.store.admin.clear("search_cache", "default")
    checked.cache.put_search(ASKED, OTHERS)
    for cache in (checked.cache, other.cache):
        assert isinstance(cache.get_search(STORED), Miss)
        assert isinstance(cache.get_search(THIRD), Hit)  # who was not audited is answered


def test_the_refusal_holds_for_every_engine_and_number_of_results(checked: Audited) -> None:
    """What two queries ask does not depend on who is asked."""
    checked.ask(ASKED, OTHERS)
    checked.cache.put_search(STORED, TEN, engine="pubmed", options={"a": 1}, max_results=5)
    asked = checked.cache.get_search(ASKED, engine="pubmed", options={"a": 1}, max_results=3)
    assert isinstance(asked, Miss)
    assert isinstance(checked.cache.get_search(THIRD, engine="pubmed", options={"a": 1}, max_results=3), Hit)


def test_the_refusal_is_the_tenants_own(store: SqliteStore, checked: Audited, clock: FakeClock) -> None:
    """Another tenant's look-ups by meaning are as before."""
    checked.ask(ASKED, OTHERS)
    other = Cache(store, semantics=semantics(store, tenant="lab"), tenant="lab", clock=clock)
    other.put_search(STORED, TEN)
    assert isinstance(other.get_search(ASKED), Hit)


def test_the_refusal_is_explained(checked: Audited) -> None:
    """Among the candidates of the query, in words; what solved another question is refused alike."""
    checked.ask(ASKED, OTHERS)
    checked.store.rows.delete("search_cache", "default", [search_key(ASKED)])
    explained = checked.cache.explain(ASKED)
    assert [candidate.refusal for candidate in explained.candidates] == [REFUSAL]
    assert explained.shown(0.0)["candidates"][0]["refused"] == "an audit found other results"
    assert checked.cache.semantics is not None
    assert not checked.cache.semantics.accepts(STORED, ASKED, 1.0)
    assert checked.cache.semantics.accepts(STORED, THIRD, 1.0)


def test_only_the_results_that_were_asked_for_are_compared(checked: Audited) -> None:
    """Beyond `max_results` lists may differ."""
    checked.ask(ASKED, results(2, 1, 0, 13, 14), max_results=3)
    assert [audit.overlap for audit in checked.cache.audits()] == [1.0]


def test_what_the_caller_does_to_the_answer_changes_no_audit(checked: Audited, gate: Gate) -> None:
    """The addresses that were served are those of that moment."""
    checked.cache.search(ASKED, gate).value.clear()
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    assert [audit.overlap for audit in checked.cache.audits()] == [1.0]


# --- what is no evidence


@pytest.mark.parametrize(
    ("found", "counted"),
    [
        (EngineUnavailable("down"), "failed"),
        (RateLimited("slower"), "failed"),
        ([], "live"),
        (results(1, 2), "live"),
        ([{"title": "no address"}] * 10, "live"),
    ],
)
def test_what_says_nothing_is_not_kept(
    checked: Audited, caplog: pytest.LogCaptureFixture, found: Any, counted: str
) -> None:
    """A failure, no results, too few to compare: one line at level info, no evidence; the call counts as it was."""
    caplog.set_level(logging.INFO, logger="harness")  # a command may have set it before
    assert checked.ask(ASKED, found).how == "semantic"
    assert checked.cache.audits() == []
    assert any("audit" in record.message for record in caplog.records)
    assert all(record.levelno <= logging.INFO for record in caplog.records)
    assert checked.cache.counted() == {"semantic": 1, counted: 1}


def test_a_search_that_breaks_ends_no_worker(checked: Audited) -> None:
    """Whatever it raises, the next audit is made."""
    checked.ask(ASKED, ZeroDivisionError())
    checked.ask(ASKED, SystemExit(3))
    checked.ask(ASKED, TEN)
    assert checked.cache.audited().audited == 1


# --- when there is an audit


def test_chance_chooses_so_many(store: SqliteStore) -> None:
    """A hit is audited where the number drawn is below the rate; nothing is at rate 0, all is at 1."""
    drawn = iter([0.25, 0.249, 0.9, 0.0])
    auditor = Auditor(0.25, chance=lambda: next(drawn))
    assert [auditor.wants_one() for _ in range(4)] == [False, True, False, True]
    assert not any(Auditor(0.0).wants_one() for _ in range(100))
    assert all(Auditor(1.0).wants_one() for _ in range(100))


@pytest.mark.parametrize("rate", [-0.1, 1.01, float("nan")])
def test_a_rate_is_a_share(rate: float) -> None:
    """From 0 to 1."""
    with pytest.raises(InvalidInput, match="audit_rate"):
        Auditor(rate)


@pytest.mark.parametrize(
    ("policy", "how"),
    [
        (Policy(offline=True), "semantic"),
        (Policy(offline=True, replay=True), "semantic"),
        (Policy(write=False), "semantic"),
    ],
)
def test_where_nothing_may_be_searched_or_kept_nothing_is(store: SqliteStore, policy: Policy, how: str) -> None:
    """Offline, replaying, for a reader."""
    Cache(store, semantics=semantics(store)).put_search(STORED, TEN)
    engine = Engine(TEN)
    assert Audited(store, policy=policy).ask(ASKED, engine).how == how
    assert engine.calls == []


def test_exact_and_empty_answers_are_not_audited(checked: Audited) -> None:
    """There is nothing to doubt."""
    checked.ask("nothing at all", [])
    engine = Engine(TEN)
    assert [checked.ask(query, engine).how for query in (STORED, "nothing at all")] == ["exact", "no results"]
    assert engine.calls == []


def test_an_answer_does_not_wait_for_its_audit(checked: Audited, gate: Gate) -> None:
    """Nor do later ones."""
    began = time.monotonic()
    assert checked.cache.search(ASKED, gate).how == "semantic"
    assert checked.cache.search(THIRD, gate).how == "semantic"
    assert time.monotonic() - began < 2
    assert gate.asked.acquire(timeout=DEADLINE)
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    assert checked.cache.audited().agreeing == 2


def test_one_audit_is_made_at_a_time_and_few_wait(store: SqliteStore, gate: Gate) -> None:
    """Of those beyond them none is made; the thread ends with the last."""
    auditor = Auditor(1.0)
    done: list[int] = []

    def audit(number: int) -> None:
        gate("q", 1)
        done.append(number)

    auditor.begin(lambda: audit(-1))
    assert gate.asked.acquire(timeout=DEADLINE)
    for number in range(MAX_WAITING + 5):
        auditor.begin(lambda number=number: audit(number))
    assert sum(thread.name == "audit" for thread in threading.enumerate()) == 1
    gate.opened.set()
    auditor.close(DEADLINE)
    assert done == [-1, *range(MAX_WAITING)]
    until = time.monotonic() + DEADLINE
    while any(thread.name == "audit" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_who_asks_the_audited_query_meanwhile_waits_for_the_same_call(checked: Audited, gate: Gate) -> None:
    """An audit computes once, as any search does."""
    checked.cache.search(ASKED, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    found: list[Any] = []
    refreshing = checked.cache.refreshing()
    asker = threading.Thread(target=lambda: found.append(refreshing.search(ASKED, gate)))
    asker.start()
    time.sleep(0.1)
    gate.opened.set()
    asker.join(DEADLINE)
    checked.auditor.close(DEADLINE)
    assert gate.engine.calls == [ASKED]
    assert found[0].value == TEN


def test_a_recorded_run_tells_nothing_of_its_audits(checked: Audited, clock: FakeClock) -> None:
    """It is repeated with what it was served."""
    clock.advance(1)
    recording = checked.cache.recording()
    recording.search(ASKED, Engine(OTHERS))
    checked.auditor.close(DEADLINE)
    assert checked.cache.audited().disagreeing == 1
    assert [(use.how, use.asked, use.served) for use in recording.uses] == [
        ("semantic", search_key(ASKED), search_key(STORED))
    ]


# --- its end


def test_closing_waits_shortly_and_gives_up(checked: Audited, gate: Gate) -> None:
    """What has not begun is dropped, what is under way is left alone."""
    checked.cache.search(ASKED, gate)
    checked.cache.search(THIRD, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    began = time.monotonic()
    checked.auditor.close(0.2)
    assert 0.15 < time.monotonic() - began < 2
    gate.opened.set()
    until = time.monotonic() + DEADLINE
    while not checked.cache.audits():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert gate.engine.calls == [ASKED]
    assert 1 <= CLOSING_SECONDS <= 2


def test_closing_waits_for_nobody_elses_audits(store: SqliteStore, gate: Gate) -> None:
    """And drops none of them."""
    mine, other = Auditor(1.0), Auditor(1.0)
    done: list[str] = []
    mine.begin(lambda: gate("q", 1))
    mine.begin(lambda: done.append("mine"))
    assert gate.asked.acquire(timeout=DEADLINE)
    began = time.monotonic()
    other.close(DEADLINE)
    assert time.monotonic() - began < 2
    gate.opened.set()
    mine.close(DEADLINE)
    assert done == ["mine"]


def test_a_forked_child_begins_anew(checked: Audited, gate: Gate) -> None:
    """It waits for no audit of its parent, and makes its own."""
    checked.cache.search(ASKED, gate)
    assert gate.asked.acquire(timeout=DEADLINE)
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        checked.auditor.close(DEADLINE)
        waited = time.monotonic() - began
        checked.cache.search(THIRD, Engine(OTHERS))
        checked.auditor.close(DEADLINE)
        os._exit(0 if waited < 2 and checked.cache.audited().disagreeing == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    gate.opened.set()
    checked.auditor.close(DEADLINE)
    told = checked.cache.audited()
    assert (told.agreeing, told.disagreeing) == (1, 1)


# --- what is told of them


def test_the_share_that_disagrees_has_an_exact_interval(clock: FakeClock) -> None:
    """Pairs are counted, each once; clearing the cache leaves them, and clearing them is a thing of its own."""
    checked = Audited(MemoryStore(), clock=clock)
    checked.cache.put_search(STORED, TEN)
    for query, found in ((ASKED, TEN), (THIRD, OTHERS)):
        checked.ask(query, found)
    checked.cache.clear()
    told = checked.cache.audited()
    assert (told.audited, told.agreeing, told.disagreeing, told.wrong) == (2, 1, 1, interval(1, 2))
    assert checked.cache.clear_audits() == 2
    assert checked.cache.audited().wrong == interval(0, 0)


def test_an_audit_is_told_as_a_labelled_pair() -> None:
    """As `harness cache calibrate` reads it."""
    audit = Audit.of("b", "a", overlap=1 / 3, similarity=0.987654, probability=None, now=1_700_000_000.0)
    told = told_pair(audit)
    assert {told.pop("a"), told.pop("b")} == {"a", "b"}
    assert told == {
        "label": 1,
        "overlap": 0.3333,
        "similarity": 0.9877,
        "probability": None,
        "audited_at": "2023-11-14T22:13:20Z",
    }
