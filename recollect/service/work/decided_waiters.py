"""Requests that wait until events are decided."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from recollect.service.http.problem_details import NOT_DECIDED, Refused

# Polling is needed, since other processes do not notify this one of their decisions.
_POLL_SECONDS = 0.25


class DecidedWaiters:
    """The requests that wait until a zone is decided up to a record."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: dict[str, set[asyncio.Event]] = {}
        #: Whether the service is ending.
        self.closed = False

    def close(self) -> None:
        """Wake all requests, since the service ends; any thread may call this."""
        self.closed = True
        for zone in list(self._events):
            self.notify(zone)

    def notify(self, zone: str) -> None:
        """Wake the requests that wait for a zone; any thread may call this."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, zone)

    def _wake(self, zone: str) -> None:
        for event in self._events.get(zone, ()):
            event.set()

    async def wait_until(
        self, zone: str, number: int, decided: Callable[[], Awaitable[int]], seconds: float
    ) -> None:
        """Wait until `decided` returns `number` or more.

        Raises:
            Refused: `seconds` have passed.
        """
        deadline = time.monotonic() + seconds
        with self._listening(zone) as event:
            while True:
                event.clear()
                if await decided() >= number:
                    return
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise Refused(
                        NOT_DECIDED,
                        f"the events are stored, but were not processed within {seconds:g} s; wait "
                        "again, or see GET status for the reason",
                        retry_after=1,
                    )
                with suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), min(remaining, _POLL_SECONDS))

    async def wait_for_news(self, zone: str, seconds: float) -> None:
        """Wait until more of a zone is decided in this process, or `seconds` have passed."""
        with self._listening(zone) as event, suppress(TimeoutError):
            if not self.closed:
                await asyncio.wait_for(event.wait(), seconds)

    @contextmanager
    def _listening(self, zone: str) -> Iterator[asyncio.Event]:
        event = asyncio.Event()
        self._events.setdefault(zone, set()).add(event)
        try:
            yield event
        finally:
            waiting = self._events[zone]
            waiting.discard(event)
            if not waiting:
                del self._events[zone]
