"""The capacity model: its simulations agree with known formulas, and its sums are right."""

import math
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from benchmarks.scale_model import (
    DAY,
    LOADS,
    HitRates,
    Load,
    Machine,
    UnitCosts,
    held_by_ttl,
    plan,
    request_ms,
    shards_needed,
    shown,
    simulate_hits,
    simulate_question,
    simulate_queue,
    storage_bytes,
    zipf,
)

SCALE_PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "scale.md"
SMALL = Load(name="small", requests=10, entries=1e3, passages=1e4, tenants=3, questions=100)


def draw() -> np.random.Generator:
    """Return a generator with a fixed seed."""
    return np.random.default_rng(7)


@pytest.mark.parametrize("rate", [0.1, 1.0, 5.0])
def test_the_hits_of_one_wording_follow_the_formula(rate: float) -> None:
    """Random requests and a fixed lifetime T: the share of hits is rT / (1 + rT)."""
    exact, meaning, misses = simulate_question(np.array([rate]), np.zeros((1, 1), bool), 1.0, 4_000.0, draw())
    assert meaning == 0
    assert exact / (exact + misses) == pytest.approx(rate / (1 + rate), abs=0.02)
    assert exact + misses == pytest.approx(4_000 * rate, rel=0.08)


def test_wordings_that_answer_each_other_are_like_one() -> None:
    """If every entry answers every wording, there are as many misses as for one wording with the sum of the rates."""
    serves = ~np.eye(4, dtype=bool)
    exact, meaning, misses = simulate_question(np.full(4, 0.5), serves, 1.0, 4_000.0, draw())
    assert misses / (exact + meaning + misses) == pytest.approx(1 / 3, abs=0.02)
    assert meaning > 0


def test_wordings_that_do_not_answer_each_other_have_no_hits_by_meaning() -> None:
    """Nothing is served by meaning where the decision refuses all pairs."""
    _, meaning, _ = simulate_question(np.full(4, 0.5), np.zeros((4, 4), bool), 1.0, 400.0, draw())
    assert meaning == 0


def test_more_traffic_and_longer_lifetimes_give_more_hits() -> None:
    """The hit rates of a load move in the expected directions, and its shares sum to 1."""
    usual = simulate_hits(SMALL, sample=300)
    assert usual.exact + usual.meaning + usual.miss == pytest.approx(1)
    assert simulate_hits(structs.replace(SMALL, requests=0.01), sample=300).miss > usual.miss
    assert simulate_hits(structs.replace(SMALL, ttl=600.0), sample=300).miss > usual.miss
    assert simulate_hits(structs.replace(SMALL, served=0.0), sample=300).meaning == 0


def test_the_queue_agrees_with_erlangs_formula() -> None:
    """With exponential service times, the mean time in the system is that of an M/M/c queue."""
    cores, rate, service = 4, 3.0, 1.0
    load = rate * service
    waiting = load**cores / math.factorial(cores) / (1 - load / cores)
    waiting /= sum(load**n / math.factorial(n) for n in range(cores)) + waiting
    expected = service + waiting * service / (cores - load)
    random = draw()
    spent = simulate_queue(rate, random.exponential(service, 200_000), cores, random)
    assert spent.mean() == pytest.approx(expected, rel=0.03)


def test_an_idle_queue_adds_no_waiting() -> None:
    """Requests that never meet take their service time."""
    services = np.full(500, 1.0)
    assert simulate_queue(0.0001, services, 2, draw()) == pytest.approx(services)


def test_shares_of_ranks_follow_zipfs_law() -> None:
    """The second rank has half of the first one's share, and all shares sum to 1."""
    shares = zipf(100, 1.0)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] / shares[1] == pytest.approx(2)


def test_a_request_costs_the_sum_of_its_parts() -> None:
    """A miss pays for the look-up by meaning and for storing; an exact hit for neither."""
    costs = UnitCosts(
        http_hit_ms=1,
        meaning_client_ms=10,
        store_client_ms=100,
        hit_database_ms=2,
        meaning_database_ms=20,
        store_database_ms=200,
    )
    assert request_ms(HitRates(1, 0), costs) == (1, 2)
    assert request_ms(HitRates(0, 1), costs) == (11, 22)
    assert request_ms(HitRates(0, 0), costs) == (111, 222)
    assert request_ms(HitRates(0.5, 0.25), costs) == (31, 62)


def test_storage_is_the_sum_of_rows_and_indexes() -> None:
    """Entries and passages have vectors; both are in the indexes."""
    costs = UnitCosts(entry_bytes=10, entry_vector_bytes=5, passage_bytes=2, hnsw_bytes=3)
    assert storage_bytes(SMALL, costs) == (1e3 * 15 + 1e4 * 2, 1.1e4 * 3)


def test_the_scarcest_part_decides_the_shards() -> None:
    """CPU, disk and memory each can be the limit."""
    costs, machine = UnitCosts(entry_bytes=10, entry_vector_bytes=0, passage_bytes=0, hnsw_bytes=1), Machine()
    few = structs.replace(SMALL, requests=1, entries=1e10, passages=0)
    assert shards_needed(few, 0.1, costs, machine) == (1, "memory")
    assert shards_needed(structs.replace(few, requests=100_000), 0.4, costs, machine) == (5, "CPU")
    large = structs.replace(costs, entry_bytes=1e4)
    assert shards_needed(structs.replace(few, entries=1e9), 0.1, large, machine) == (4, "disk")


def test_entries_held_follow_littles_law() -> None:
    """Misses a second times their lifetime."""
    load = structs.replace(SMALL, requests=10, volatile=0.0)
    assert held_by_ttl(load, HitRates(0.5, 0.25)) == 2.5 * DAY


@pytest.mark.slow
def test_the_page_shows_what_the_command_prints() -> None:
    """The tables of the page are those of `python -m benchmarks.scale_model`, which gives the same each time."""
    printed = shown([plan(load, UnitCosts(), Machine()) for load in LOADS])
    assert printed in SCALE_PAGE.read_text(encoding="utf-8")
