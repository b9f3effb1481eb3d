"""HTTP on a socket, with a bound on how long a client may send without asking anything."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def bounded_protocol(seconds: float) -> type[H11Protocol]:
    """Return the protocol that closes a connection that has no request at work for so long.

    The time begins with the connection, and later with the first byte that comes after an answer:
    of the next head, or of a body that was answered before it was whole. How long a body may take
    until then is the application's affair, which knows what is sent.
    """

    class Bounded(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            at_work = self.cycle is not None and not self.cycle.response_complete
            if at_work:
                self._end_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_timer()
            super().connection_lost(exc)

        def _end_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Bounded
