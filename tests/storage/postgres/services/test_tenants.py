"""Two tenants of a team's database: each sees what it would see in a separate database, whatever the other does."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from harness.settings import Settings
from tests import test_app_identity as shared
from tests.storage.postgres.servers import Server


@pytest.fixture
def worlds(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every world of the shared tests on the server, which is emptied for each."""

    class World(shared.World):
        """One database, on the server."""

        def settings(self, folder: Path, empty: Path) -> Settings:
            """See `shared.World.settings`."""
            postgres.empty()
            return Settings(data_dir=folder, stale_if_error=0.0, store=postgres.url)

    monkeypatch.setattr(shared, "World", World)


@pytest.mark.slow
@pytest.mark.usefixtures("worlds")
@pytest.mark.parametrize("ticks", [0, 2, 3], ids=["fresh", "expired", "long expired"])
def test_whatever_one_tenant_does_the_other_sees_no_change(tmp_path: Path, ticks: int) -> None:
    """Every operation of the one, each followed by every look-up of the other."""
    looks = [("lab", looking, number) for looking in shared.LOOKING for number in range(2)]
    steps = [*shared.FILLED, ("tick", "", ticks)]
    for operation in shared.OPERATIONS:
        steps += [("mill", operation, 0), *looks]
    shared.check_isolation(tmp_path, tmp_path, steps)


@pytest.mark.slow
@pytest.mark.usefixtures("worlds")
@hypothesis_settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=shared.STEPS)
def test_no_sequence_of_calls_tells_of_another_tenant(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    """Nothing is returned, counted, refused or deleted differently."""
    folder = tmp_path_factory.mktemp("worlds")
    shared.check_isolation(folder, folder, [*shared.FILLED, *steps])
