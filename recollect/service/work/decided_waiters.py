"""Requests that wait until what they published is decided."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from recollect.service.http.problem_details import NOT_DECIDED, Refused

# Others may decide too: so often it is looked whether they did.
_LOOK_SECONDS = 0.25


class DecidedWaiters:
    """Requests that wait until a zone is decided up to a record."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: dict[str, set[asyncio.Event]] = {}

    def moved(self, zone: str) -> None:
        """Have those look who wait for a zone; any thread may call it."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, zone)

    def _wake(self, zone: str) -> None:
        for event in self._events.get(zone, ()):
            event.set()

    async def until(
        self, zone: str, number: int, decided: Callable[[], Awaitable[int]], seconds: float
    ) -> None:
        """Wait until `decided` is a record's number, or a later one.

        Raises:
            Refused: it was not within so many seconds.
        """
        event = asyncio.Event()
        self._events.setdefault(zone, set()).add(event)
        deadline = time.monotonic() + seconds
        try:
            while True:
                event.clear()
                if await decided() >= number:
                    return
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Refused(
                        NOT_DECIDED,
                        f"it is kept, and was not decided within {seconds:g} s; ask again, or see "
                        "GET status for what keeps it",
                        retry_after=1,
                    )
                try:
                    await asyncio.wait_for(event.wait(), min(left, _LOOK_SECONDS))
                except TimeoutError:
                    continue
        finally:
            waiting = self._events[zone]
            waiting.discard(event)
            if not waiting:
                del self._events[zone]
