"""Capacity model: servers, storage, hit rate and latency from one team to 10,000 requests a second, 100 million entries
and 1 billion passages: `python -m benchmarks.scale_model`.

Unit costs are measured by `python -m benchmarks.unit_costs`; `--costs FILE` reads its JSON. Everything else is an
assumption, named in `Load` and `Machine`. Two simulations check the arithmetic, both with a fixed seed:

- hit rates: tenants and their questions by Zipf's law, several wordings of each question, lifetimes of entries. A
  request is an exact hit, a hit by meaning, or a miss, which stores an entry (`simulate_hits`);
- latency: a queue with random arrivals and service times for one application server, and one for one database shard
  (`simulate_queue`). Random routing makes all servers alike, so one of each suffices.
"""

import argparse
import heapq
import math
from pathlib import Path

import msgspec
import numpy as np
from tabulate import tabulate

from benchmarks.rows import entry_point

SEED = 20_261_127
DAY = 86_400.0
TERABYTE = 1e12
PASSAGE_LIFETIME = 8 * DAY
"""Seconds that a passage is held: a day with its answer, and `library_ttl`."""
SIMULATED = 100_000
"""Requests of a simulated queue."""


class UnitCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes and milliseconds of CPU for one of each. Defaults: measured on 27 November 2026 with Python 3.11 and
    PostgreSQL 18, on two cores that other jobs used, too.
    """

    entry_bytes: float = 1_870
    """A search with ten results, its indexes included."""
    entry_vector_bytes: float = 1_840
    """Its vector of 384 floats, in the row."""
    passage_bytes: float = 6_210
    """A passage of 150 words with its vector and word index."""
    hnsw_bytes: float = 2_050
    """A vector in an HNSW index, of tenants with more than 10,000."""
    hit_client_ms: float = 0.067
    hit_database_ms: float = 0.03
    hit_blocks: float = 3.0
    """Blocks of 8 kB that an exact hit reads, in memory or not."""
    store_client_ms: float = 0.64
    store_database_ms: float = 0.9
    store_wal_bytes: float = 2_130
    meaning_client_ms: float = 14.7
    """A look-up that is no exact hit: embedding, neighbours, verifier."""
    meaning_database_ms: float = 1.6
    passage_embed_ms: float = 72.0
    http_hit_ms: float = 6.3
    """CPU of the server for a cached search over HTTP, the look-up included."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Assumed hardware. `busy` is the highest planned load of a core: the rest is for bursts and a lost server."""

    server_cores: int = 16
    shard_cores: int = 16
    shard_ram: float = 128e9
    shard_disk: float = 4 * TERABYTE
    disk_full: float = 0.7
    """Highest planned share of a disk, and of the memory for indexes and rows."""
    busy: float = 0.5
    disk_read_ms: float = 0.2
    spare: int = 1
    """Servers that may be lost."""


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """A size of installation, and how its users are assumed to ask. `entries` and `passages` are held at once."""

    name: str
    requests: float
    """Searches a second, in the busiest hour."""
    entries: float
    passages: float
    tenants: int
    questions: int = 20_000
    """Different questions of one tenant."""
    tenant_skew: float = 0.8
    question_skew: float = 1.0
    wordings: int = 4
    served: float = 0.25
    """Share of rewordings that the cache serves by meaning: 18 to 30 % in `benchmarks.equivalence`."""
    volatile: float = 0.1
    """Share of questions about the present, whose entries live for an hour."""
    ttl: float = DAY
    volatile_ttl: float = 3_600.0
    engine_ms: float = 800.0
    """Time that a search engine takes to answer."""


LOADS = (
    Load(name="one team", requests=2, entries=1e5, passages=1e6, tenants=1),
    Load(name="a company", requests=100, entries=1e6, passages=1e7, tenants=100),
    Load(name="a service", requests=1_000, entries=1e7, passages=1e8, tenants=1_000),
    Load(name="the goal", requests=10_000, entries=1e8, passages=1e9, tenants=10_000),
)


# Hit rates ------------------------------------------------------------------------------------------------------------


class HitRates(msgspec.Struct, frozen=True):
    """Shares of the requests."""

    exact: float
    meaning: float

    @property
    def miss(self) -> float:
        """Share that is searched live."""
        return 1.0 - self.exact - self.meaning


KINDS = (HitRates(1.0, 0.0), HitRates(0.0, 1.0), HitRates(0.0, 0.0))
"""An exact hit, a hit by meaning, a miss."""


def zipf(count: int, skew: float) -> np.ndarray:
    """Return the shares of `count` ranks, which sum to 1."""
    weights = 1.0 / np.arange(1, count + 1) ** skew
    return np.asarray(weights / weights.sum())


def simulate_question(
    rates: np.ndarray, serves: np.ndarray, ttl: float, horizon: float, draw: np.random.Generator
) -> tuple[int, int, int]:
    """Simulate the requests of one question; return exact hits, hits by meaning, and misses.

    `rates` are requests a second of each wording, `serves[a, b]` says whether an entry of wording a answers b. While an
    entry is fresh, all requests of its wording are hits, so that they are counted by one draw. A hit by meaning is not
    stored.
    """
    expiry = np.zeros(len(rates))
    exact = meaning = misses = 0
    events = [(draw.exponential(1 / rate), wording) for wording, rate in enumerate(rates)]
    heapq.heapify(events)
    while events:
        now, wording = heapq.heappop(events)
        if now >= horizon:
            continue
        until = float(np.max(expiry * serves[:, wording]))
        if until > now:
            meaning += 1 + draw.poisson(rates[wording] * (min(until, horizon) - now))
        else:
            misses += 1
            until = expiry[wording] = now + ttl
            exact += draw.poisson(rates[wording] * (min(until, horizon) - now))
        heapq.heappush(events, (until + draw.exponential(1 / rates[wording]), wording))
    return exact, meaning, misses


def simulate_hits(load: Load, *, sample: int = 1_500, seed: int = SEED) -> HitRates:
    """Estimate the hit rates of a load from a sample of its questions, each drawn as often as it is asked."""
    draw = np.random.default_rng(seed)
    tenants = draw.choice(load.tenants, sample, p=zipf(load.tenants, load.tenant_skew))
    ranks = draw.choice(load.questions, sample, p=zipf(load.questions, load.question_skew))
    rates = (
        load.requests * zipf(load.tenants, load.tenant_skew)[tenants] * zipf(load.questions, load.question_skew)[ranks]
    )
    shares, totals = zipf(load.wordings, 1.0), np.zeros(2)
    for rate in rates:
        ttl = load.volatile_ttl if draw.random() < load.volatile else load.ttl
        horizon = max(10 * ttl, 60 / rate)
        serves = np.triu(draw.random((load.wordings, load.wordings)) < load.served, 1)
        exact, meaning, misses = simulate_question(rate * shares, serves | serves.T, ttl, horizon, draw)
        totals += np.array([exact, meaning]) / max(exact + meaning + misses, 1)
    return HitRates(*(totals / sample))


# Latency --------------------------------------------------------------------------------------------------------------


def simulate_queue(rate: float, services: np.ndarray, cores: int, draw: np.random.Generator) -> np.ndarray:
    """Return the time in the system, waiting included, of each request: random arrivals at `rate`, first come first
    served by `cores`. `services` are the service times, in the unit of `1 / rate`.
    """
    arrivals = np.cumsum(draw.exponential(1 / rate, len(services)))
    free = [0.0] * cores
    spent = np.empty(len(services))
    for at, (arrival, service) in enumerate(zip(arrivals, services, strict=True)):
        end = max(arrival, heapq.heappop(free)) + service
        heapq.heappush(free, end)
        spent[at] = end - arrival
    return spent


# Sizing ---------------------------------------------------------------------------------------------------------------


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A load with the hardware that it needs. `ttl_entries` are the entries that the lifetimes hold at this load."""

    load: Load
    hits: HitRates
    cores: float
    servers: int
    shards: int
    shard_limit: str
    storage: float
    index_memory: float
    reads: float
    wal: float
    ttl_entries: float
    hit_p50_ms: float
    hit_p99_ms: float
    miss_p99_ms: float


def request_ms(hits: HitRates, costs: UnitCosts) -> tuple[float, float]:
    """Return the mean milliseconds of CPU of one request: of the application server, and of the database."""
    searched = hits.meaning + hits.miss
    server = costs.http_hit_ms + searched * costs.meaning_client_ms + hits.miss * costs.store_client_ms
    database = costs.hit_database_ms + searched * costs.meaning_database_ms + hits.miss * costs.store_database_ms
    return server, database


def held_by_ttl(load: Load, hits: HitRates) -> float:
    """Return the entries that are fresh at once: misses a second times their lifetime (Little's law)."""
    lifetime = load.volatile * load.volatile_ttl + (1 - load.volatile) * load.ttl
    return load.requests * hits.miss * lifetime


def storage_bytes(load: Load, costs: UnitCosts) -> tuple[float, float]:
    """Return the bytes of all rows, and of the HNSW indexes if all tenants are large."""
    rows = load.entries * (costs.entry_bytes + costs.entry_vector_bytes) + load.passages * costs.passage_bytes
    return rows, (load.entries + load.passages) * costs.hnsw_bytes


def shards_needed(load: Load, database_ms: float, costs: UnitCosts, machine: Machine) -> tuple[int, str]:
    """Return the number of database shards and what limits it: CPU, disk, or memory for the vector indexes."""
    rows, index = storage_bytes(load, costs)
    needed = {
        "CPU": load.requests * database_ms / 1_000 / (machine.shard_cores * machine.busy),
        "disk": (rows + index) / (machine.shard_disk * machine.disk_full),
        "memory": index / (machine.shard_ram * machine.disk_full),
    }
    limit = max(needed, key=lambda name: needed[name])
    return max(1, math.ceil(needed[limit])), limit


def simulate_latency(
    load: Load, hits: HitRates, costs: UnitCosts, machine: Machine, servers: int, shards: int, cold: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the milliseconds that hits and misses take: at one server, at one shard, and at the search engine.

    A request runs on one core, so its CPU is its service time; it varies by an exponential distribution. `cold` is the
    share of blocks that are read from disk.
    """
    draw = np.random.default_rng(seed)
    kinds = draw.choice(3, SIMULATED, p=[hits.exact, hits.meaning, hits.miss])
    server = [request_ms(kind, costs)[0] for kind in KINDS]
    shard = [request_ms(kind, costs)[1] for kind in KINDS]
    spent = np.full(SIMULATED, costs.hit_blocks * cold * machine.disk_read_ms)
    for times, machines, cores in ((server, servers, machine.server_cores), (shard, shards, machine.shard_cores)):
        services = np.array(times)[kinds] * draw.exponential(1, SIMULATED)
        spent += simulate_queue(load.requests / machines / 1_000, services, cores, draw)
    missed = kinds == 2
    return spent[~missed], spent[missed] + load.engine_ms * draw.exponential(1, int(missed.sum()))


def plan(load: Load, costs: UnitCosts, machine: Machine, *, seed: int = SEED) -> Plan:
    """Size one load: simulate its hit rates, compute what it needs, and simulate its latency."""
    hits = simulate_hits(load, seed=seed)
    server_ms, database_ms = request_ms(hits, costs)
    new_passages = load.passages / PASSAGE_LIFETIME
    cores = (load.requests * server_ms + new_passages * costs.passage_embed_ms) / 1_000
    servers = math.ceil(cores / (machine.server_cores * machine.busy)) + machine.spare
    shards, limit = shards_needed(load, database_ms, costs, machine)
    rows, index = storage_bytes(load, costs)
    cold = max(0.0, 1 - shards * machine.shard_ram * machine.disk_full / (rows + index))
    found, missed = simulate_latency(load, hits, costs, machine, servers, shards, cold, seed)
    return Plan(
        load=load,
        hits=hits,
        cores=cores,
        servers=servers,
        shards=shards,
        shard_limit=limit,
        storage=rows + index,
        index_memory=index,
        reads=load.requests * costs.hit_blocks * cold,
        wal=load.requests * hits.miss * costs.store_wal_bytes,
        ttl_entries=held_by_ttl(load, hits),
        hit_p50_ms=float(np.percentile(found, 50)),
        hit_p99_ms=float(np.percentile(found, 99)),
        miss_p99_ms=float(np.percentile(missed, 99)),
    )


def shown(plans: list[Plan]) -> str:
    """Return the plans as two text tables: traffic and latency, machines and storage."""
    traffic = [
        (
            each.load.name,
            f"{each.load.requests:,.0f}",
            f"{each.load.tenants:,}",
            f"{each.hits.exact:.1%}",
            f"{each.hits.meaning:.1%}",
            f"{each.load.requests * each.hits.miss:,.1f}",
            f"{each.hit_p50_ms:.1f}",
            f"{each.hit_p99_ms:.1f}",
            f"{each.miss_p99_ms:,.0f}",
            f"{each.ttl_entries:,.0f}",
        )
        for each in plans
    ]
    machines = [
        (
            each.load.name,
            f"{each.load.entries:,.0f}",
            f"{each.load.passages:,.0f}",
            f"{each.cores:,.1f}",
            each.servers,
            f"{each.shards} ({each.shard_limit})",
            f"{each.storage / TERABYTE:,.3f}",
            f"{each.index_memory / 1e9:,.1f}",
            f"{each.reads:,.0f}",
            f"{each.wal / 1e6:,.2f}",
        )
        for each in plans
    ]
    first = (
        *("traffic", "requests/s", "tenants", "exact hits", "by meaning", "live calls/s"),
        *("hit p50 ms", "hit p99 ms", "miss p99 ms", "entries held by TTL"),
    )
    second = (
        *("machines", "entries", "passages", "cores", "servers", "shards (limit)"),
        *("storage TB", "HNSW GB", "disk reads/s", "WAL MB/s"),
    )
    right = ("left", *["right"] * 9)
    return "\n\n".join(
        tabulate(rows, headers=headers, colalign=right, disable_numparse=True)
        for rows, headers in ((traffic, first), (machines, second))
    )


@entry_point
def main() -> None:
    """Print the plans of all loads."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_model", description=__doc__)
    parser.add_argument("--costs", type=Path, metavar="FILE", help="JSON of `benchmarks.unit_costs --json`")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each load")
    given = parser.parse_args()
    costs = msgspec.json.decode(given.costs.read_bytes(), type=UnitCosts) if given.costs else UnitCosts()
    plans = [plan(load, costs, Machine()) for load in LOADS]
    if given.json:
        print("\n".join(msgspec.json.encode(each).decode() for each in plans))
    else:
        print(shown(plans))


if __name__ == "__main__":
    main()
