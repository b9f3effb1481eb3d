"""Lanes: a thread pool for each kind of call, so that slow calls do not delay fast ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from recollect.service.http.problem_details import OVERLOADED, TIMED_OUT, Refused

T = TypeVar("T")

# The Retry-After of rejected calls.
_RETRY_SECONDS = 1


class ThreadLane:
    """A thread pool with a bounded queue."""

    def __init__(self, name: str, threads: int, max_waiting: int) -> None:
        """`max_waiting`: the maximum number of calls waiting for a thread."""
        self.name = name
        self._max_calls = threads + max_waiting
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"service-{name}")
        self._calls = 0

    @property
    def waiting(self) -> int:
        """The number of waiting calls."""
        return max(self._calls - self._threads, 0)

    async def run(self, work: Callable[[], T], seconds: float | None = None) -> T:
        """Run `work` on a thread and return its result.

        A call that takes longer than `seconds` runs to its end, but its result is dropped.

        Raises:
            Refused: too many calls are waiting, or `seconds` have passed.
        """
        if self._calls >= self._max_calls:
            raise Refused(
                OVERLOADED, "too many calls are waiting; try again", retry_after=_RETRY_SECONDS
            )
        self._calls += 1
        # Run in the caller's context, so that the spans belong to the request's trace.
        in_context = partial(copy_context().run, work)
        future = asyncio.get_running_loop().run_in_executor(self._executor, in_context)
        future.add_done_callback(self._done)
        if seconds is None:
            return await future
        done, _ = await asyncio.wait((future,), timeout=seconds)
        if not done:
            future.cancel()
            raise Refused(
                TIMED_OUT,
                f"the call did not end within {seconds:g} s; ask for less, or try again",
                retry_after=_RETRY_SECONDS,
            )
        return future.result()

    def close(self) -> None:
        """Wait for running calls, and end the threads."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _done(self, future: asyncio.Future[T]) -> None:
        self._calls -= 1
        if not future.cancelled():
            # Mark the exception as retrieved, since the caller may have timed out.
            future.exception()
