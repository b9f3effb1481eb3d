"""The server's HTTP protocol, with a timeout for connections that have no running request."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def idle_timeout_protocol(seconds: float) -> type[H11Protocol]:
    """Return a protocol that closes a connection after `seconds` without a running request.

    The timer starts on connecting. After a response it restarts at the next byte received, whether
    that begins a new request or continues a body that was answered early. The application limits
    the time for a body (`service_middleware`).
    """

    class IdleTimeoutProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_running = self.cycle is not None and not self.cycle.response_complete
            if is_running:
                self._cancel_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel_timer()
            super().connection_lost(exc)

        def _cancel_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return IdleTimeoutProtocol
