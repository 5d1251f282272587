"""Tenants and roles of an app: what a token and a role allow, and that tenants are isolated."""

import inspect
import itertools
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from harness_evals.run import recorded_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from harness.app import App
from harness.cache.tool_cache import stored_by
from harness.core.entries import Entry, Hit
from harness.core.freshness import DAY, HOUR
from harness.core.pages import Page
from harness.core.tables import LIBRARY, TOOLS
from harness.errors import AccessDenied, HarnessError, InvalidInput, OfflineMiss
from harness.identity import LOCAL, Identity, Role, Tokens
from harness.ports import STORE_PARTS, Store
from harness.settings import Settings, is_secret, load
from harness.settings.mode import Mode
from harness.storage.guarded import guarded
from harness.storage.opening import DATABASE
from harness.storage.snapshots import write_snapshot
from harness.storage.sqlite.store import SqliteStore
from harness.storage.tables import TABLES
from tests.fakes import FakeClock, WordEmbedder
from tests.storage.entries import an_audit

ADA = Identity("lab", "ada", "admin", "a" * 16)
BOB = Identity("mill", "bob", "admin", "b" * 16)
EMBEDDER = WordEmbedder()


@pytest.fixture
def bench() -> Iterator[App]:
    """An app without a token, whose embedder needs no model."""
    with App(load().settings) as opened:
        opened.models.__dict__["embedder"] = EMBEDDER
        yield opened


def results(title: str, meaning: str = "Retrieval-Augmented Generation") -> list[dict[str, str]]:
    """Return results as an engine does, with what RAG means."""
    return [{"title": title, "href": "https://example.org", "body": f"What {meaning} (RAG) is. {title}"}]


def as_role(role: Role) -> Identity:
    """Return a user of the tenant `lab`."""
    return replace(ADA, role=role)


def never(*_: object) -> Any:
    """Fail: this must not be called."""
    raise AssertionError("a live call")


# --- identity


def test_without_a_token_it_is_the_local_tenant(bench: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an admin, on the store itself, without a lookup or a guard."""
    monkeypatch.setattr(Tokens, "verify", never)
    assert bench.identity == LOCAL
    assert bench.store is bench.databases.store
    bench.cache.searches.put("q", results("q"))
    assert bench.databases.store.admin.tenants() == ["default"]


def test_the_token_in_the_settings_decides_the_identity(bench: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """`HARNESS_TOKEN`: entries belong to its tenant, and no other tenant sees them."""
    made = bench.databases.tokens.create("lab", "ada", "writer")
    monkeypatch.setenv("HARNESS_TOKEN", made.text)
    with App(load().settings) as other:
        other.models.__dict__["embedder"] = EMBEDDER
        assert other.identity == Identity("lab", "ada", "writer", made.info.id)
        other.cache.searches.put("q", results("the lab's"))
    assert not isinstance(bench.cache.searches.find("q"), Hit)
    held = bench.serving(ADA).cache.searches.find("q")
    assert isinstance(held, Hit)


def test_an_invalid_token_opens_nothing(bench: App, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the cache, nor knowledge, nor the memory of agents; and it is not logged."""
    caplog.set_level(logging.DEBUG)
    text = bench.databases.tokens.create("lab", "ada", "writer").text
    text = text[:-1] + ("A" if text[-1] != "A" else "B")
    with App(replace(bench.settings, token=text)) as other:
        ways: list[Callable[[], object]] = [
            lambda: other.cache,
            lambda: other.store,
            lambda: other._semantics,
            lambda: other.knowledge,
            lambda: other.vector_cache("notes"),
            other.researcher,
        ]
        for way in ways:
            with pytest.raises(AccessDenied) as raised:
                way()
            assert text[10:] not in str(raised.value)
    assert text[-20:] not in caplog.text


def test_a_given_identity_overrides_the_token(bench: App) -> None:
    """A server has its own token, and serves many users."""
    made = bench.databases.tokens.create("mill", "bob", "admin")
    with App(replace(bench.settings, token=made.text), identity=ADA) as other:
        assert other.identity == ADA
        assert other.serving(BOB).identity == BOB


def test_tokens_expire_by_the_real_clock(bench: App) -> None:
    """Not by the time that an app is given for everything else."""
    made = bench.databases.tokens.create("lab", "ada", "reader", expires_days=1)
    with App(replace(bench.settings, token=made.text), Mode(at=9e9)) as later:
        assert later.identity.tenant == "lab"


def test_a_replay_needs_no_token(bench: App, tmp_path: Path) -> None:
    """A snapshot answers anyone who has the file."""
    file = tmp_path / "run.snapshot"
    write_snapshot(file, [])
    text = bench.databases.tokens.create("lab", "ada", "reader").text
    bench.store.admin.forget("lab")
    with App(replace(bench.settings, token=text), Mode(replay=file)) as replayed:
        assert replayed.identity == LOCAL
        with pytest.raises(OfflineMiss):
            replayed.cache.searches.answer("q", never)


def test_the_log_of_an_evaluation_has_no_secret() -> None:
    """It keeps the settings that decide results: no token, no key, no address with a password in it."""
    secret = [name for name in Settings.__struct_fields__ if is_secret(name)]
    assert {"token", "proxy"} <= {*secret}
    assert "hunter2" not in f"{recorded_settings(Settings(**dict.fromkeys(secret, 'hunter2')))}"


# --- one server, many users


def test_databases_models_and_connections_are_shared(bench: App) -> None:
    """The store, the embedder, the reader and the model; but not the services of a tenant."""
    ada, bob = bench.serving(ADA), bench.serving(BOB).serving(as_role("reader"))
    for name in ("databases.store", "models.embedder", "sources.web_reader", "models.language_model"):
        opened = attrgetter(name)
        assert opened(ada) is opened(bob) is opened(bench), name
    for name in ("store", "cache", "_semantics", "knowledge", "identity"):
        assert getattr(ada, name) is not getattr(bob, name), name


def test_settings_without_a_model_have_none(bench: App) -> None:
    """An app without a model lends none, although its lender has one."""
    with App(replace(bench.settings, model="writer")) as lender:
        assert lender.serving(ADA).models.language_model is lender.models.language_model is not None
        assert lender.serving(ADA, model=None).models.language_model is None


def test_an_app_does_not_close_what_it_borrowed(bench: App) -> None:
    """After one user leaves, the others continue, and the counts are stored."""
    with bench.serving(ADA) as ada:
        ada.cache.searches.answer("q", lambda *_: results("q"))
        reader = ada.sources.web_reader
    closed: list[str] = []
    reader.close = lambda: closed.append("reader")  # type: ignore[method-assign]
    again = bench.serving(ADA)
    assert again.cache.usage.total() == {"live": 1}
    again.close()
    assert not closed
    bench.close()
    assert closed == ["reader"]


def test_threads_open_everything_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if many users are served at the same moment."""
    opened: list[Path] = []
    make = SqliteStore.__init__

    def counted(self: SqliteStore, path: Path, **how: Any) -> None:
        opened.append(path)
        make(self, path, **how)

    monkeypatch.setattr(SqliteStore, "__init__", counted)
    with App(load().settings) as bench, ThreadPoolExecutor(8) as pool:
        benches = [bench.serving(replace(ADA, tenant=f"t{number}")) for number in range(32)]
        found = set(pool.map(lambda each: (id(each.databases.store), id(each.models.embedder)), benches))
        list(pool.map(lambda each: each.cache.searches.put("q", results("q")), benches[:4]))
    assert len(found) == len(opened) == 1


# --- roles


def test_a_reader_gets_entries_and_makes_no_live_call(bench: App) -> None:
    """Exactly and by meaning; a miss is an `AccessDenied`, and no engine, page or tool is called."""
    bench.serving(as_role("writer")).cache.searches.put("best practices for rag", results("kept"))
    cache = bench.serving(as_role("reader")).cache
    assert cache.searches.answer("best practices for rag", never).how == "exact"
    assert cache.searches.answer("Best practices for RAG ", never).how == "exact"
    for ask in (
        lambda: cache.searches.answer("something else", never),
        lambda: cache.tools.answer("web", "something else", never),
        lambda: cache.pages.answer("https://example.org/", PageOf("lab")),
    ):
        with pytest.raises(AccessDenied, match=r"nothing is cached for .*token of the role writer; ask an admin"):
            ask()


def test_offline_a_readers_miss_is_that_of_all(bench: App) -> None:
    """Another token would not help."""
    with (
        App(replace(bench.settings, offline=True), identity=as_role("reader")) as reader,
        pytest.raises(OfflineMiss, match="run it once online"),
    ):
        reader.cache.searches.answer("something else", never)


@pytest.mark.parametrize("read", [True, False])
def test_a_reader_may_not_refresh(bench: App, read: bool) -> None:
    """`--refresh` and `--no-cache` are live calls."""
    with App(bench.settings, Mode(read=read), identity=as_role("reader")) as reader:
        if read:
            assert reader.cache.policy.offline
        else:
            with pytest.raises(AccessDenied, match="role writer"):
                _ = reader.cache


def test_a_reader_changes_nothing(bench: App) -> None:
    """Not a byte of any row: no use is stored, no expired row deleted, nothing embedded or counted."""
    clock = FakeClock()
    writer, reader = bench.serving(as_role("writer")), bench.serving(as_role("reader"))
    for each in (bench, writer, reader):
        each._clock = clock
    fill(writer)
    store = bench.databases.store
    for table in ("search_cache", "knowledge"):  # as a database from before look-ups by meaning has them
        for row in list(store.listings.scan(table, "lab")):
            store.rows.put(table, "lab", replace(row, embedding=None, embedder=None))
    writer.close()
    before = everything(store, "lab")
    clock.advance(30 * HOUR)
    look_everywhere(reader)
    clock.advance(90 * DAY)
    look_everywhere(reader)
    reader.close()
    assert everything(store, "lab") == before


WRITING: dict[str, tuple[Role, Callable[[App], object]]] = {
    "put_search": ("writer", lambda bench: bench.cache.searches.put("q", results("q"))),
    "put_query": ("writer", lambda bench: bench.vector_cache("notes").put_query("q", {"a": 1})),
    "put_run": ("writer", lambda bench: bench.cache.runs.put("run", "q", "e", {})),
    "knowledge": ("writer", lambda bench: bench.knowledge.write("title", "content")),
    "sweep": ("writer", lambda bench: bench.cache.maintenance.sweep()),
    "clear": ("admin", lambda bench: bench.cache.maintenance.clear()),
    "forget": ("admin", lambda bench: bench.store.admin.forget(bench.identity.tenant)),
}


@pytest.mark.parametrize("role", ["reader", "writer", "admin"])
@pytest.mark.parametrize("name", WRITING)
def test_what_each_role_may_write(bench: App, name: str, role: Role) -> None:
    """A reader nothing, a writer everything except clearing, an admin that, too."""
    needed, write = WRITING[name]
    served = bench.serving(as_role(role))
    if served.identity.may(needed):
        write(served)
    else:
        with pytest.raises(AccessDenied, match=f"role {needed}"):
            write(served)


def test_a_reader_stores_no_tool_result(bench: App) -> None:
    """The error is clear, whether the cache or the store refuses."""
    with pytest.raises((AccessDenied, InvalidInput)):
        bench.serving(as_role("reader")).cache.tools.put("web", "q", {"a": 1})
    assert bench.databases.store.admin.tenants() == []


# --- the guarded store


METHODS = [
    f"{part}.{name}"
    for part, port in STORE_PARTS.items()
    for name, _ in inspect.getmembers(port, inspect.isfunction)
    if not name.startswith("_")
]


def parameters_of(method: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a method of the store, with `self`."""
    part, name = method.split(".")
    return inspect.signature(getattr(STORE_PARTS[part], name)).parameters


def arguments_for(name: str, tenant: str) -> dict[str, Any]:
    """Return arguments that the method takes."""
    row = Entry("k", "t", b"[]", 1.0, 9e9, 1.0, (10, "e", "{}"))
    given: dict[str, Any] = {
        "table": "search_cache", "tenant": tenant, "key": "k", "entry": row, "entries": [row],
        "instead_of": {"engine": "e"}, "where": {"engine": "e"}, "limit": 1, "scope": ("e", "{}"),
        "vector": EMBEDDER.embed(["t"])[0], "embedder": "e",
        "k": 1, "now": 1.0, "embedding": b"", "before": 1.0, "keys": ["k"], "keep": 1, "user": None, "shorts": ["s"],
        "day": "2026-11-22", "times": {"exact": 1}, "name": f"{tenant} lock", "wait": 0.0, "at_least": 0.0,
        "sweep_before": None, "expecting": None, "expired_at": None, "repair": False, "after": 0, "since": 0.0,
        "offset": 0, "moments": [1.0], "audit": an_audit("a", "b"), "origin": "user", "origins": ("user",),
        "created_after": 9e9, "terms": ["t"],
    }  # fmt: skip
    if "terms" in parameters_of(name):
        given["table"] = LIBRARY
    return {each: given[each] for each in list(parameters_of(name))[1:]}


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("name", METHODS)
def test_no_method_of_the_store_reaches_another_tenant(tmp_path: Path, name: str, by_name: bool) -> None:
    """Nor all of them at once, for any role, with arguments by position or by name."""
    arguments = arguments_for(name, "mill")
    parameters = parameters_of(name)
    places = [] if by_name else [key for key in arguments if parameters[key].kind is not inspect.Parameter.KEYWORD_ONLY]
    named = {key: value for key, value in arguments.items() if key not in places}
    with closing(SqliteStore(tmp_path / "harness.db")) as store, pytest.raises(AccessDenied):
        attrgetter(name)(guarded(store, ADA))(*[arguments[key] for key in places], **named)


@pytest.mark.parametrize("name", [name for name in METHODS if "tenant" in arguments_for(name, "lab")])
def test_an_admin_reaches_its_own(tmp_path: Path, name: str) -> None:
    """Every method that names a tenant works for it."""
    arguments = arguments_for(name, "lab")
    with closing(SqliteStore(tmp_path / "harness.db")) as store:
        found = attrgetter(name)(guarded(store, ADA))(**arguments)
        if isinstance(found, Iterator):
            list(found)


def test_a_guarded_store_has_no_other_attributes(tmp_path: Path) -> None:
    """Anything but the methods of a store (a path, a connection) is missing."""
    with closing(SqliteStore(tmp_path / "harness.db")) as store:
        seen = guarded(store, ADA)
        assert not hasattr(seen, "path")
        assert not hasattr(seen, "vectors")
        assert not hasattr(seen.rows, "_connections")
        with pytest.raises(AccessDenied):
            seen.close()
        with pytest.raises(AccessDenied, match="another's"), seen.locks.hold("mill q", 0.0):
            pass
        with seen.locks.hold("lab q", 0.0) as got:
            assert got
        assert guarded(store, LOCAL) is store


# --- no sequence of calls reveals one tenant to another


class PageOf:
    """A reader of pages whose text names the tenant that it reads for."""

    name = "reader-1"

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    def read(self, url: str, held: Page | None = None) -> Page:
        """See `PageReader.read`."""
        return Page(url, f"of {self._tenant}", f"a page read for {self._tenant}", "text/html")


QUERIES = ("best practices for rag", "best rag practices", "retries in http clients", "latest price of RAG")
URLS = ("https://example.org/a", "https://example.org/b")


FILLING = (
    "search", "page", "put_tool", "write_knowledge", "put_memory", "put_document", "put_run", "make_token",
)  # fmt: skip
LOOKING = (
    "search", "find", "explain", "page", "find_tool", "recent_tools", "look_up", "documents", "get_memory",
    "get_document", "runs", "select", "list_tokens", "stats",
)  # fmt: skip


def fill(bench: App) -> None:
    """Store something of every kind."""
    for operation in FILLING:
        OPERATIONS[operation](bench, 0)


def look_everywhere(bench: App) -> None:
    """Look up something of every kind."""
    for operation, argument in itertools.product(LOOKING, range(2)):
        outcome(bench, operation, argument)


def everything(store: Store, tenant: str) -> dict[str, list[Entry]]:
    """Return all rows of a tenant."""
    return {table: list(store.listings.scan(table, tenant)) for table in TABLES}


def plain(found: Any) -> Any:
    """Return the outcome of a lookup, with its type."""
    return (type(found).__name__, to_builtins(found))


def _search(bench: App, number: int) -> Any:
    tenant = bench.identity.tenant
    meaning = "Retrieval-Augmented Generation" if tenant == "lab" else "Random-Access Gardening"
    answer = bench.cache.searches.answer(QUERIES[number], lambda query, _: results(f"{query} for {tenant}", meaning))
    return answer.how, answer.value


def _empty(bench: App, number: int) -> Any:
    return bench.cache.searches.answer(QUERIES[number], lambda *_: []).value


def _page(bench: App, number: int) -> Any:
    answer = bench.cache.pages.answer(URLS[number % 2], PageOf(bench.identity.tenant), ttl=DAY)
    return answer.how, plain(answer.value)


def _tool(bench: App, number: int) -> Any:
    answer = bench.cache.tools.answer("web", QUERIES[number], lambda: {"by": bench.identity.tenant})
    return answer.how, answer.value


def _put_tool(bench: App, number: int) -> Any:
    data = {"of": bench.identity.tenant}
    return plain(bench.cache.tools.put("web", QUERIES[number], data, created_by=bench.identity.user))


def _put_document(bench: App, number: int) -> Any:
    return bench.vector_cache("notes").add_document(f"d{number}", f"{QUERIES[number]} of {bench.identity.tenant}. " * 9)


def _write_knowledge(bench: App, number: int) -> Any:
    content = f"known to {bench.identity.tenant}"
    written = bench.knowledge.write(QUERIES[number], content, source_url=URLS[number % 2], agent="scribe")
    return written.outcome, written.version


def _look_up(bench: App, number: int) -> Any:
    found = bench.knowledge.lookup(QUERIES[number], URLS[1] if number > 1 else None, limit=3)
    document = found.document
    return found.hit, found.found, document and (document.title, document.content)


def _documents(bench: App, _: int) -> Any:
    return [(each.title, each.content, len(bench.knowledge.history(each.id))) for each in bench.knowledge.list()]


def _forget_knowledge(bench: App, number: int) -> Any:
    return [bench.knowledge.delete(each.id) for each in bench.knowledge.list()[:number]]


def _stats(bench: App, _: int) -> Any:
    now = bench.cache.now
    tables = [
        to_builtins(bench.store.listings.stats(table, bench.identity.tenant, now, EMBEDDER.id)) for table in TABLES
    ]
    return (
        tables,
        plain(bench.cache.maintenance.stats()),
        bench.cache.usage.total(),
        bench.cache.usage.by_day(),
        [plain(each) for each in bench.vector_cache("notes").document_chunks("d0")],
    )


def _make_token(bench: App, number: int) -> Any:
    bench.databases.tokens.create(bench.identity.tenant, f"user{number}", "reader")
    return _list_tokens(bench, number)


def _list_tokens(bench: App, _: int) -> Any:
    return [(token.user, token.role) for token in bench.databases.tokens.list(bench.identity.tenant)]


def _clear_tools(bench: App, *, cache_type: str | None = None, created_by: str | None = None) -> Any:
    maintenance = bench.cache.maintenance
    return maintenance.delete(maintenance.select((TOOLS,), only=stored_by(cache_type, created_by)))


def _forget_user(bench: App, number: int) -> Any:
    user = bench.identity.user if number == 0 else f"user{number}"
    return bench.store.admin.forget(bench.identity.tenant, user)


OPERATIONS: dict[str, Callable[[App, int], Any]] = {
    "search": _search,
    "find": lambda bench, number: plain(bench.cache.searches.find(QUERIES[number])),
    "empty": _empty,
    "explain": lambda bench, number: plain(bench.cache.searches.explain(QUERIES[3 - number])),
    "page": _page,
    "tool": _tool,
    "put_tool": _put_tool,
    "find_tool": lambda bench, number: plain(bench.cache.tools.find("web", QUERIES[number])),
    "recent_tools": lambda bench, number: plain(bench.cache.tools.recent(number + 1)),
    "clear_tools": lambda bench, number: _clear_tools(bench, cache_type="web" if number else None),
    "clear_by_user": lambda bench, _: _clear_tools(bench, created_by=bench.identity.user),
    "put_memory": lambda bench, number: bench.vector_cache("notes").put_query(QUERIES[number], bench.identity.tenant),
    "get_memory": lambda bench, number: plain(bench.vector_cache("notes").get_query(QUERIES[number])),
    "put_document": _put_document,
    "get_document": lambda bench, number: plain(bench.vector_cache("notes").search_chunks(QUERIES[number])),
    "write_knowledge": _write_knowledge,
    "look_up": _look_up,
    "documents": _documents,
    "forget_knowledge": _forget_knowledge,
    "put_run": lambda bench, number: bench.cache.runs.put(f"run{number}", QUERIES[number], "e", {"n": number}),
    "runs": lambda bench, _: [(entry.key, entry.text) for entry in bench.cache.runs.all()],
    "stats": _stats,
    "select": lambda bench, number: plain(bench.cache.maintenance.select(query=QUERIES[number])),
    "sweep": lambda bench, _: bench.cache.maintenance.sweep(),
    "clear": lambda bench, _: bench.cache.maintenance.clear(),
    "make_token": _make_token,
    "list_tokens": _list_tokens,
    "forget_user": _forget_user,
    "forget": lambda bench, _: bench.store.admin.forget(bench.identity.tenant),
}
STEPS = st.lists(
    st.tuples(st.sampled_from(["lab", "mill", "tick"]), st.sampled_from(sorted(OPERATIONS)), st.integers(0, 3)),
    min_size=5,
    max_size=25,
)
FILLED = [(tenant, operation, number) for tenant in ("lab", "mill") for operation in FILLING for number in range(2)]


def outcome(bench: App, operation: str, argument: int) -> Any:
    """Return the result or the error of an operation."""
    try:
        return OPERATIONS[operation](bench, argument)
    except HarnessError as error:
        return error.code, str(error)


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that is copied, because making one takes longer."""
    path = tmp_path_factory.mktemp("empty") / DATABASE
    SqliteStore(path).close()
    return path


class World:
    """One database, and an app for each tenant."""

    def __init__(self, folder: Path, empty: Path, clock: FakeClock, *identities: Identity) -> None:
        folder.mkdir(parents=True)
        self.first = App(self.settings(folder, empty))
        self.first.models.__dict__["embedder"] = EMBEDDER
        self.benches = {identity.tenant: self.first.serving(identity) for identity in identities}
        for bench in self.benches.values():
            bench._clock = clock
            bench.databases.__dict__["tokens"] = Tokens(bench.databases.store, clock)

    def settings(self, folder: Path, empty: Path) -> Settings:
        """Return the settings of an empty database."""
        shutil.copy(empty, folder / DATABASE)
        return Settings(data_dir=folder, stale_if_error=0.0)

    def close(self) -> None:
        """Close everything."""
        for bench in self.benches.values():
            bench.close()
        self.first.close()


def play(folder: Path, empty: Path, steps: list[tuple[str, str, int]], tenants: set[str]) -> dict[str, list[Any]]:
    """Run the steps of these tenants in one database; return their outcomes by tenant."""
    clock = FakeClock()
    identities = [identity for identity in (ADA, BOB) if identity.tenant in tenants]
    seen: dict[str, list[Any]] = {tenant: [] for tenant in tenants}
    with closing(World(folder, empty, clock, *identities)) as world:
        for who, operation, argument in steps:
            if who == "tick":
                clock.advance((1.0, HOUR, 25 * HOUR, 8 * DAY)[argument])
            elif who in tenants:
                seen[who].append(outcome(world.benches[who], operation, argument))
    return seen


def check_isolation(folder: Path, empty: Path, steps: list[tuple[str, str, int]]) -> None:
    """Check that each tenant sees in a shared database what it would see in a separate one."""
    together = play(folder / "both", empty, steps, {"lab", "mill"})
    for tenant, other in (("lab", "mill"), ("mill", "lab")):
        alone = play(folder / tenant, empty, steps, {tenant})
        mine = [step for step in steps if step[0] == tenant]
        for step, here, there in zip(mine, together[tenant], alone[tenant], strict=True):
            assert here == there, step
        assert f"of {other}" not in f"{together[tenant]}"
        assert f"for {other}" not in f"{together[tenant]}"


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_sequence_of_calls_reveals_another_tenant(
    tmp_path_factory: pytest.TempPathFactory, empty_database: Path, steps: list[tuple[str, str, int]]
) -> None:
    """For any calls of two tenants in one database, each sees what it would see in a separate one: nothing is returned,
    counted, refused or deleted differently.
    """
    check_isolation(tmp_path_factory.mktemp("worlds"), empty_database, [*FILLED, *steps])


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_sequence_of_calls_reveals_another_tenant_at_length(
    tmp_path_factory: pytest.TempPathFactory, empty_database: Path, steps: list[tuple[str, str, int]]
) -> None:
    """The same, for many more sequences."""
    check_isolation(tmp_path_factory.mktemp("worlds"), empty_database, [*FILLED, *steps])


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [0, 2, 3], ids=["fresh", "expired", "long expired"])
def test_no_operation_of_one_tenant_changes_what_another_sees(tmp_path: Path, empty_database: Path, ticks: int) -> None:
    """Every operation of the one, each followed by every lookup of the other."""
    looks = [("lab", looking, number) for looking in LOOKING for number in range(2)]
    steps = [*FILLED, ("tick", "", ticks)]
    for operation in OPERATIONS:
        steps += [("mill", operation, 0), *looks]
    check_isolation(tmp_path, empty_database, steps)


def test_every_operation_works(tmp_path: Path, empty_database: Path) -> None:
    """An operation that always failed would make the tests above prove nothing."""
    clock = FakeClock()
    with closing(World(tmp_path / "world", empty_database, clock, ADA)) as world:
        fill(world.benches["lab"])
        for operation, run in OPERATIONS.items():
            run(world.benches["lab"], 0)
            assert operation


def test_an_equal_entry_of_another_tenant_does_not_answer(tmp_path: Path, empty_database: Path) -> None:
    """For every kind of entry."""
    with ExitStack() as stack:
        world = stack.enter_context(closing(World(tmp_path / "world", empty_database, FakeClock(), ADA, BOB)))
        fill(world.benches["lab"])
        bob = world.benches["mill"]
        looking = ("find", "find_tool", "look_up", "get_memory", "get_document", "documents", "runs", "recent_tools")
        before = {operation: outcome(bob, operation, 0) for operation in looking}
        assert "lab" not in f"{before}"
        assert world.first.databases.store.admin.tenants() == ["lab"]
        assert everything(world.first.databases.store, "mill") == {table: [] for table in TABLES}
