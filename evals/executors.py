"""Where tasks run: threads, processes, the workers of a Dask scheduler."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

from harness.errors import InvalidInput


@contextmanager
def threads(count: int) -> Iterator[Executor]:
    """Yield threads of this process; on leaving, what has not begun is given up, and nobody waits for the rest."""
    with _given_up(ThreadPoolExecutor(count, thread_name_prefix="task")) as executor:
        yield executor


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Yield other processes. One that is killed breaks the pool: `concurrent.futures.BrokenExecutor`.

    Raises:
        InvalidInput: less than one.
    """
    if count < 1:
        raise InvalidInput(f"tasks run in one process at least, not in {count}; pass --workers 1 or more")
    # spawned: a fork would take over what threads of this one hold at that moment
    with _given_up(ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))) as executor:
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
