"""Group commit: the requests that arrive while a batch is processed form the next batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")


class GroupCommit(Generic[Item]):
    """Calls `work` with all waiting items at once, in order of arrival.

    This pays off if `work` takes hardly longer for a batch than for one item. All callers must run
    in one event loop.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Awaitable[None]]) -> None:
        self._work = work
        self._waiting: list[tuple[Sequence[Item], asyncio.Future[None]]] = []
        self._working: asyncio.Task[None] | None = None

    async def submit(self, items: Sequence[Item]) -> None:
        """Return when the items are processed; raise the error of `work` if their batch fails."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((items, done))
        if self._working is None:
            self._working = asyncio.create_task(self._drain())
        await done

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                await self._work([item for items, _ in batch for item in items])
            except Exception as raised:
                error = raised
            for _, done in batch:
                if done.done():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)
        self._working = None
