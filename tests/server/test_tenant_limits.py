"""Fair shares of tenants."""

import anyio
import pytest

from harness.errors import TooManyRequests
from harness.server.tenant_limits import TenantLimits


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests as the server runs."""
    return "asyncio"


@pytest.mark.anyio
async def test_one_tenant_does_not_block_another() -> None:
    """Its third request waits, the other tenant's first does not."""
    limits, go, order = TenantLimits(most=2), anyio.Event(), list[str]()

    async def request(tenant: str, name: str) -> None:
        async with limits.slot(tenant):
            order.append(name)
            if tenant == "busy":
                await go.wait()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(request, "busy", f"busy {number}")
            await anyio.wait_all_tasks_blocked()
            assert limits.waiting == 1
            await request("other", "other")
            assert order == ["busy 0", "busy 1", "other"]
            go.set()
    assert order[-1] == "busy 2"
    assert limits.waiting == 0


@pytest.mark.anyio
async def test_a_cancelled_request_frees_its_place() -> None:
    """Whether it was served or waited."""
    limits = TenantLimits(most=1)
    for _ in range(3):
        with anyio.move_on_after(0.01):
            async with limits.slot("lab"), anyio.create_task_group() as group:
                group.start_soon(_wait, limits)
                await anyio.sleep_forever()
    with anyio.fail_after(1):
        async with limits.slot("lab"):
            assert limits.waiting == 0


async def _wait(limits: TenantLimits) -> None:
    async with limits.slot("lab"):
        raise AssertionError("two requests in one place")


@pytest.mark.anyio
async def test_a_place_can_be_freed_early() -> None:
    """And is freed once."""
    limits = TenantLimits(most=1)
    with anyio.fail_after(1):
        async with limits.slot("lab") as free:
            free()
            async with limits.slot("lab"):
                free()
                assert limits.waiting == 0


@pytest.mark.anyio
async def test_few_requests_may_wait() -> None:
    """More are refused, with a time to wait."""
    limits = TenantLimits(most=1, waiting=0)
    async with limits.slot("lab"):
        with pytest.raises(TooManyRequests, match="too many requests at once"):
            async with limits.slot("lab"):
                raise AssertionError("it was served")
        async with limits.slot("other"):
            pass
