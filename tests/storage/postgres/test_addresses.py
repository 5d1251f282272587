"""Wrong addresses are reported at once, in one line, and without their password."""

import logging
import time
import traceback
from pathlib import Path

import psycopg
import pytest

from harness.errors import HarnessError, InvalidInput, StoreBusy, StoreError
from harness.storage.postgres.store import PostgresStore
from tests.storage.entries import TENANT
from tests.storage.postgres.places import a_database, address, make_user, run
from tests.storage.postgres.servers import Server

SECRET = "pa55-w0rd"  # noqa: S105 - looked for in messages


@pytest.fixture
def guarded(server: Server) -> str:
    """Return the name of a user who needs a password."""
    make_user(server, "guarded", f"LOGIN PASSWORD '{SECRET}'")
    rules = Path(str(psycopg.conninfo.conninfo_to_dict(server.url)["host"])) / "pg_hba.conf"
    if "guarded" not in rules.read_text():
        rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
        server.execute("SELECT pg_reload_conf()")
        time.sleep(0.3)
    return "guarded"


def refused(url: str, caplog: pytest.LogCaptureFixture, *, busy_seconds: float = 30) -> HarnessError:
    """Return how an address is refused: in under two seconds, in one line, nowhere with its secret."""
    caplog.set_level(logging.DEBUG)
    began = time.monotonic()
    with pytest.raises(HarnessError) as caught:
        PostgresStore(url, busy_seconds=busy_seconds)
    assert time.monotonic() - began < 2
    error = caught.value
    assert "\n" not in str(error)
    everything = [str(error), repr(error), caplog.text, *traceback.format_exception(error)]
    assert not [each for each in everything if SECRET in each]
    return error


@pytest.mark.parametrize("password", [f"{SECRET}-not", ""])
def test_a_wrong_password(server: Server, guarded: str, caplog: pytest.LogCaptureFixture, password: str) -> None:
    """The error names the user, and nothing is tried again."""
    error = refused(address(server, "postgres", guarded, password), caplog)
    assert type(error) is StoreError
    assert "password" in str(error)


def test_a_right_password_is_never_shown(server: Server, guarded: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in logs nor in the text of objects."""
    caplog.set_level(logging.DEBUG)
    with a_database(server, "guarded", owner=guarded):
        store = PostgresStore(address(server, "guarded", guarded, SECRET), busy_seconds=5)
        store.usage.add(TENANT, "2026-01-01", {"exact": 1})
        with store.locks.hold("q", 1):
            shown = [repr(store), repr(store._connections), repr(store.vectors), repr(store.locks)]
        with pytest.raises(StoreError) as caught:
            store._connections.run(TENANT, lambda each: each.execute("SELECT 1/0"))
        store.close()
    assert not [each for each in (*shown, caplog.text, *traceback.format_exception(caught.value)) if SECRET in each]


@pytest.mark.parametrize("user", ["nobody_of_that_name", "guarded"])
def test_a_database_or_a_user_that_does_not_exist(
    server: Server, guarded: str, caplog: pytest.LogCaptureFixture, user: str
) -> None:
    """The error names it."""
    error = refused(address(server, "no_such_database", user, SECRET), caplog)
    assert type(error) is StoreError
    assert "does not exist" in str(error)


def test_a_host_that_does_not_exist(caplog: pytest.LogCaptureFixture) -> None:
    """The error comes before a second attempt."""
    error = refused(f"postgresql://user:{SECRET}@no-such-host.invalid/x", caplog)
    assert type(error) is StoreError
    assert "host" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        f"mysql://user:{SECRET}@host/x",
        f"postgresql://user:{SECRET}@[::1/x",
        f"postgresql://user:{SECRET}@host:port/x",
        f"postgresql://user:{SECRET}@host/x?no_such_option=1",
        f"postgresql://user:{SECRET}%00@host/x",
        f"postgresql://user:{SECRET}\0@host/x",
        f"postgresql://user:{SECRET}\ud800@host/x",
        f"postgresql://user:{SECRET}@host:99999999/x",
        f"postgresql://user:half@{SECRET}@host/x",
    ],
)
def test_an_invalid_address(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Any mistake in it is an invalid input."""
    assert type(refused(url, caplog)) is InvalidInput


def test_a_server_that_is_not_there_is_waited_for(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """It may be starting: `StoreBusy`, when the time is over."""
    for place in (f"localhost:1/x?user=u&password={SECRET}", f"/x?host={tmp_path}&password={SECRET}"):
        error = refused(f"postgresql://{place}", caplog, busy_seconds=0.5)
        assert type(error) is StoreBusy
        assert "Connection refused" in str(error) or "No such file" in str(error)


def test_a_database_that_cannot_store_every_character(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """It is refused when it is prepared, not when the first such text is stored."""
    options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    with a_database(server, "latin", options=options) as url:
        error = refused(url, caplog)
        assert "UTF8" in str(error)
        assert run(url, "SELECT count(*) FROM pg_class WHERE relname LIKE 'harness%'") == [(0,)]
