"""Executors for tasks: threads, processes, Dask workers."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

from harness.errors import InvalidInput
from harness.settings.extras import require_extra
from harness_evals.isolation import IsolatedExecutor


def threads(count: int) -> AbstractContextManager[Executor]:
    """Return threads of this process; on exit, waiting tasks are cancelled and running ones abandoned."""
    return _abandoned(ThreadPoolExecutor(count, thread_name_prefix="task"))


def processes(count: int, *, seconds: float | None = None) -> AbstractContextManager[Executor]:
    """Return other processes; a process that dies, or is killed after `seconds` per task, is replaced."""
    if count < 1:
        raise InvalidInput(f"tasks need at least 1 process, not {count}; pass --workers 1 or more")
    return _abandoned(IsolatedExecutor(count, seconds=seconds))


@contextmanager
def dask(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield the workers of the Dask scheduler at `address`, and the number of tasks they run at once. They need this
    program and the same data directory. Dask itself moves the tasks of a lost worker to another.

    Raises:
        InvalidInput: the extra `[dask]` is not installed, or the address does not respond.
    """
    require_extra("dask")
    from distributed import Client

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address} ({error})") from error
    with client:
        at_once = sum(client.nthreads().values())
        if not at_once:
            raise InvalidInput(
                f"the Dask scheduler at {address} has no workers; start one with `dask worker {address}`"
            )
        with client.get_executor(pure=False) as executor:
            yield executor, at_once


@contextmanager
def _abandoned(executor: Executor) -> Iterator[Executor]:
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
