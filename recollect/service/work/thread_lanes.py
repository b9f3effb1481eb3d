"""Lanes: a few threads each for one kind of call, so that slow kinds do not hold up quick ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from recollect.service.http.problem_details import OVERLOADED, TIMED_OUT, Refused

T = TypeVar("T")

# After so long a client may try again.
_RETRY_SECONDS = 1


class ThreadLane:
    """Some threads, and how many calls may wait for one."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self.name = name
        self._most = threads + waiting
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"service-{name}")
        self._calls = 0

    @property
    def waiting(self) -> int:
        """How many calls wait for a thread."""
        return max(self._calls - self._threads, 0)

    async def run(self, work: Callable[[], T], seconds: float | None = None) -> T:
        """Return what `work` returns on one of the threads.

        What took longer than `seconds` is carried to its end, and nobody waits for it.

        Raises:
            Refused: too many wait already, or it took too long.
        """
        if self._calls >= self._most:
            raise Refused(OVERLOADED, "too many calls wait; try again", retry_after=_RETRY_SECONDS)
        self._calls += 1
        # In the caller's context: a span there belongs to the request's trace.
        there = partial(copy_context().run, work)
        future = asyncio.get_running_loop().run_in_executor(self._executor, there)
        future.add_done_callback(self._done)
        if seconds is None:
            return await future
        done, _ = await asyncio.wait((future,), timeout=seconds)
        if not done:
            future.cancel()
            raise Refused(
                TIMED_OUT,
                f"it was not done within {seconds:g} s; ask for less, or try again",
                retry_after=_RETRY_SECONDS,
            )
        return future.result()

    def close(self) -> None:
        """Wait for what is at work, and end the threads."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _done(self, future: asyncio.Future[T]) -> None:
        self._calls -= 1
        if not future.cancelled():
            # Nobody may have waited for it.
            future.exception()
