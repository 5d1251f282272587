"""`harness token …` and `harness tenant …`, and what commands do for those who have a token."""

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import search_cache
from harness.app import App
from harness.cli.main import main
from harness.core.tables import TOKENS
from harness.identity import Tokens
from harness.settings import load
from harness.storage.snapshots import line_of, write_snapshot
from tests.cli.program import Program
from tests.fakes import MemoryStore

RESULTS = [{"title": "RAG pipelines", "href": "https://example.org/rag", "body": "Chunk, then rank."}]
COMMANDS = [("token",), ("token", "create"), ("token", "list"), ("token", "revoke"), ("tenant",), ("tenant", "list"),
            ("tenant", "delete")]  # fmt: skip


@pytest.fixture
def make(harness: Program) -> Callable[..., str]:
    """Make a token: its role, tenant and user."""

    def made(role: str, tenant: str = "lab", user: str = "ada", *more: str) -> str:
        ended = harness("token", "create", "--tenant", tenant, "--user", user, "--role", role, *more)
        assert ended.code == 0, ended
        [text] = ended.out.splitlines()
        return text

    return made


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Have commands use a token from now on, or none."""

    def used(token: str | None) -> None:
        search_cache.close()
        if token is None:
            monkeypatch.delenv("HARNESS_TOKEN", raising=False)
        else:
            monkeypatch.setenv("HARNESS_TOKEN", token)

    return used


def put(query: str) -> None:
    """Cache results for a query, as the user of the token."""
    search_cache.put(query, RESULTS)
    search_cache.close()


def id_of(token: str) -> str:
    """Return the id of a token."""
    return token.split(".")[1]


# --- the commands


def test_a_token_is_shown_once(harness: Program) -> None:
    """Standard output has only the token; standard error has the advice, without the token."""
    ended = harness("token", "create", "--tenant", "lab", "--user", "ada", "--role", "writer", "--name", "nightly job")
    assert ended.code == 0
    [text] = ended.out.splitlines()
    assert text.startswith("hrn_")
    assert "HARNESS_TOKEN" in ended.err
    assert text not in ended.err
    shown = harness("token", "list")
    for part in (id_of(text), "lab", "ada", "writer", "nightly job"):
        assert part in shown.out
    assert text.split(".")[2] not in f"{shown} {harness('token', 'list', '--json')}"


def test_a_token_as_json(harness: Program) -> None:
    """With everything that a list tells; until when, in seconds since the epoch."""
    told = harness(
        "token", "create", "--tenant", "lab", "--user", "ada", "--role", "reader", "--expires-days", "7", "--json", "-q"
    ).told
    text = told.pop("token")
    assert text.startswith("hrn_")
    assert told["id"] == id_of(text)
    assert 0 < told["expires_at"] - time.time() <= 7 * 86_400
    assert harness("token", "list", "--json").told == {"tokens": [told]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--tenant", "a b"), "the name of a tenant"),
        (("--user", ""), "the name of a user"),
        (("--role", "root"), "choose reader, writer, admin"),
        (("--expires-days", "0"), "1 to 3,650 days"),
    ],
)
def test_wrong_usage_of_create(harness: Program, wrong: tuple[str, str], said: str) -> None:
    """The message is one line, and no token is made."""
    usual = {"--tenant": "lab", "--user": "ada", "--role": "reader"} | dict([wrong])
    assert said in harness("token", "create", *[part for pair in usual.items() for part in pair]).one_line_error(2)
    assert harness("token", "list", "--json").told == {"tokens": []}


def test_a_revoked_token_opens_nothing_any_more(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None]
) -> None:
    """The next command is refused; a revoked or malformed id is an error, which does not repeat it."""
    text = make("writer")
    assert harness("token", "revoke", id_of(text)).code == 0
    assert "no token has the id" in harness("token", "revoke", id_of(text)).one_line_error(2)
    said = harness("token", "revoke", text).one_line_error(2)
    assert text not in said
    use(text)
    assert "harness token create" in harness("cache", "stats").one_line_error(7)


def test_tenants_are_counted(harness: Program, make: Callable[..., str], use: Callable[[str | None], None]) -> None:
    """Entries and tokens of each, in the order of names."""
    assert "no tenants yet" in harness("tenant", "list").out
    use(make("writer"))
    put("q")
    use(None)
    put("one")
    put("two")
    assert harness("tenant", "list", "--json").told["tenants"] == [
        {"tenant": "default", "entries": 2, "tokens": 0},
        {"tenant": "lab", "entries": 1, "tokens": 1},
    ]
    assert "lab" in harness("tenant", "list").out


def test_a_tenant_is_deleted_after_asking(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None]
) -> None:
    """With its tokens; those of other tenants stay."""
    text = make("writer")
    use(text)
    put("q")
    use(None)
    put("q")
    assert "nothing was deleted" in harness("tenant", "delete", "lab", stdin="n\n").err
    assert harness("tenant", "delete", "lab", stdin="y\n").code == 0
    told = harness("tenant", "list", "--json").told["tenants"]
    assert told == [{"tenant": "default", "entries": 1, "tokens": 0}]
    assert "no tenant 'lab' has entries" in harness("tenant", "delete", "lab", "--yes").one_line_error(2)
    use(text)
    assert harness("cache", "stats").code == 7


def test_a_user_is_deleted_with_their_tokens_alone(harness: Program, make: Callable[..., str]) -> None:
    """Their entries stay with the tenant."""
    make("writer"), make("reader", "lab", "eve")
    told = harness("tenant", "delete", "lab", "--user", "ada", "--yes", "--json").told
    assert told == {"tenant": "lab", "user": "ada", "deleted": 1}
    assert [token["user"] for token in harness("token", "list", "--json").told["tokens"]] == ["eve"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(harness: Program, command: tuple[str, ...]) -> None:
    """Every command and group shows how it is used."""
    ended = harness(*command, "--help")
    assert ended.code == 0
    assert "Example" in ended.out
    assert f"harness {' '.join(command)}" in ended.out


# --- with a token


def test_a_token_opens_its_tenants_cache_alone(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None]
) -> None:
    """Searches, counts and exports are the tenant's; the size of the file is all tenants', and is not told."""
    put("everybody's secret")
    use(make("admin"))
    assert harness("search", "everybody's secret", "--offline").code == 6
    put("q")
    assert harness("search", "q", "--offline").code == 0
    stats = harness("cache", "stats", "--json")
    assert (stats.tables["search_cache"]["total"], stats.told["size_bytes"]) == (1, None)
    assert "MB on disk" not in harness("cache", "stats").out
    assert harness("cache", "clear", "--yes").code == 0
    use(None)
    assert harness("search", "everybody's secret", "--offline").code == 0


def test_an_admin_administers_only_its_tenant(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None]
) -> None:
    """Tokens and entries of another one it neither makes, sees, counts nor deletes."""
    other = make("writer", "mill", "bob")
    use(make("admin"))
    assert [token["tenant"] for token in harness("token", "list", "--json").told["tokens"]] == ["lab"]
    assert [each["tenant"] for each in harness("tenant", "list", "--json").told["tenants"]] == ["lab"]
    assert make("reader", "lab", "eve").startswith("hrn_")
    assert "no token has the id" in harness("token", "revoke", id_of(other)).one_line_error(2)
    for command in (
        ("token", "create", "--tenant", "mill", "--user", "eve", "--role", "reader"),
        ("token", "list", "--tenant", "mill"),
        ("tenant", "delete", "mill", "--yes"),
        ("tenant", "delete", "nobody", "--yes"),
    ):
        assert "another tenant" in harness(*command).one_line_error(7)
    for command in (("cache", "expired", "--all-tenants"), ("cache", "verify")):
        assert "every tenant" in harness(*command).one_line_error(7)
    use(other)
    assert harness("cache", "stats").code == 0


ADMINS = [
    ("token", "create", "--tenant", "lab", "--user", "eve", "--role", "reader"), ("token", "list"),
    ("token", "revoke", "0" * 16), ("tenant", "list"), ("tenant", "delete", "lab", "--yes"),
    ("cache", "clear", "--yes"), ("cache", "expired"), ("cache", "reindex"),
]  # fmt: skip


@pytest.mark.parametrize("role", ["reader", "writer"])
@pytest.mark.parametrize("command", ADMINS)
def test_other_roles_cannot_administer(
    harness: Program, make: Callable[..., str], use: Callable[[str | None], None], role: str, command: tuple[str, ...]
) -> None:
    """The error names the role that is needed."""
    use(make(role))
    assert "role admin" in harness(*command).one_line_error(7)


def test_a_reader_reads(harness: Program, make: Callable[..., str], use: Callable[[str | None], None]) -> None:
    """A reader gets cached entries, sends no request and stores nothing."""
    reader = make("reader", "lab", "eve")
    use(make("writer"))
    put("q")
    use(reader)
    assert harness("search", "q").code == 0
    assert "role writer" in harness("search", "unheard of").one_line_error(7)
    assert "role writer" in harness("search", "q", "--refresh").one_line_error(7)
    with App(load().settings) as bench:
        assert not bench.cache.policy.write


def test_the_seed_command_asks_for_an_admin_too(
    harness: Program,
    make: Callable[..., str],
    use: Callable[[str | None], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`search_cache --clear` and `--expired`; what it tells is the tenant's alone."""
    put("everybody's")
    use(make("writer"))
    for flags, code in ((["--clear", "--yes"], 7), (["--expired"], 7), (["--json"], 0)):
        monkeypatch.setattr("sys.argv", ["search_cache", *flags])
        with pytest.raises(SystemExit) as ended:
            search_cache.main()
        assert int(ended.value.code or 0) == code
        told = capsys.readouterr().out
    assert json.loads(told)["size_bytes"] is None
    assert json.loads(told)["tables"]["search_cache"]["total"] == 0


def test_doctor_names_the_tenant(harness: Program, make: Callable[..., str], use: Callable[[str | None], None]) -> None:
    """Tenant, user and role; and counts that tenant's entries."""
    put("everybody's")
    text = make("reader")
    assert "default" in harness("doctor").out
    use(text)
    ended = harness("doctor", "--json")
    told = {finding["name"]: finding["told"] for finding in ended.told["findings"]}
    assert told["access"] == f"the token {id_of(text)}: ada, reader of lab"
    assert told["database"].startswith("0 entries")
    use(text[:-1])
    ended = harness("doctor")
    assert ended.code == 5
    assert "BROKEN  access: the token is not valid" in ended.out


# --- what is not let in


def test_an_imported_file_brings_no_token(harness: Program, tmp_path: Path) -> None:
    """A foreign snapshot with the row of a token, whose text its author knows, is refused."""
    store = MemoryStore()
    Tokens(store).create("default", "eve", "admin")
    file = tmp_path / "evil.snapshot"
    write_snapshot(file, [line_of(TOKENS, row) for row in store.listings.scan(TOKENS, "default")])
    assert "no such table" in harness("cache", "import", file).one_line_error(2)
    assert harness("token", "list", "--json").told == {"tokens": []}


@pytest.mark.slow
def test_no_command_shows_a_token(
    harness: Program,
    make: Callable[..., str],
    use: Callable[[str | None], None],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Valid, changed, revoked or malformed: not at --debug, with tracebacks, in `config`, or in a log."""
    caplog.set_level(logging.DEBUG)
    valid, revoked = make("reader"), make("reader")
    harness("token", "revoke", id_of(revoked))
    for text in (valid, valid[:-1] + "_", revoked, f"Bearer {valid}", "hunter2-hunter2"):
        secret = text.rpartition(".")[2]
        use(text)
        for command in (
            ("config",), ("config", "--json"), ("doctor",), ("cache", "stats"), ("cache", "clear", "--yes"),
            ("search", "unheard of"), ("token", "list"), ("tenant", "delete", "lab", "--yes"),
            ("token", "revoke", text),
        ):  # fmt: skip
            monkeypatch.setattr("sys.argv", ["harness", *command, "--debug"])
            with pytest.raises(SystemExit):
                main()
            out, err = capsys.readouterr()
            assert secret not in out + err, command
    assert "hunter2" not in caplog.text
    assert valid.rpartition(".")[2] not in caplog.text


def test_expired_of_all_tenants(harness: Program, make: Callable[..., str], use: Callable[[str | None], None]) -> None:
    """On demand: every tenant's, and how many of each."""
    for token in (None, make("writer"), make("writer", "mill", "bob")):
        use(token)
        search_cache.put("old", RESULTS, ttl=1e-6)
        search_cache.close()
    use(None)
    told = harness("cache", "expired", "--all-tenants", "--json").told
    assert told == {"selected": 3, "deleted": {"default": 1, "lab": 1, "mill": 1}}
    assert "deleted 0 expired entries" in harness("cache", "expired", "--all-tenants").out
