"""Where tasks run: threads, processes, the workers of a Dask scheduler."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from harness.errors import InvalidInput
from harness_evals.isolation import IsolatedExecutor


@contextmanager
def threads(count: int) -> Iterator[Executor]:
    """Yield threads of this process; on leaving, what has not begun is given up, and nobody waits for the rest."""
    with _given_up(ThreadPoolExecutor(count, thread_name_prefix="task")) as executor:
        yield executor


@contextmanager
def processes(count: int, *, seconds: float | None = None) -> Iterator[Executor]:
    """Yield other processes; another one takes the place of one that is killed, as is what takes longer than `seconds`.

    Raises:
        InvalidInput: less than one.
    """
    if count < 1:
        raise InvalidInput(f"tasks run in one process at least, not in {count}; pass --workers 1 or more")
    with _given_up(IsolatedExecutor(count, seconds=seconds)) as executor:
        yield executor


@contextmanager
def dask(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield the workers of the Dask scheduler at `address`, and how many tasks they run at once. They need this program
    and the same data directory. Dask itself gives the tasks of a worker that is lost to another.

    Raises:
        InvalidInput: Dask is not installed, or nobody answers at this address.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InvalidInput("Dask is not installed; pip install 'research-harness[dask]'") from error
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
def _given_up(executor: Executor) -> Iterator[Executor]:
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
