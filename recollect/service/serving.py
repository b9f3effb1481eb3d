"""Serving the application on a socket until SIGTERM or SIGINT."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

import uvicorn
from litestar import Router

from recollect.home.home_directory import Home
from recollect.home.ledgers import on_kafka
from recollect.home.settings.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.mcp_server import OWN_TOOL_SETS, ToolSets
from recollect.schemas.errors import HomeError
from recollect.service.application import Application, create_app
from recollect.service.http.http_protocol import idle_timeout_protocol
from recollect.service.http.service_log import ServiceLog, take_over
from recollect.streams.system.extras import needed
from recollect.streams.system.open_files import raise_open_file_limit

# How long calls may continue after SIGTERM or SIGINT, in seconds.
_GRACE_SECONDS = 30
_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 1_024
_MAX_HEADER_BYTES = 65_536
# The garbage collector runs less often, and objects made during startup are frozen, since they live
# as long as the process.
_GC_THRESHOLD = 20_000


def serve(
    home: Home,
    settings: ServiceSettings,
    listening: Callable[[str], None],
    *,
    extra_routes: Sequence[Router] = (),
    tool_sets: ToolSets = OWN_TOOL_SETS,
) -> None:
    """Serve a home until SIGTERM or SIGINT, then finish the running calls.

    On the embedded ledger, the service decides published events; on Kafka, it follows the workers
    as a replica. `listening` is called with the URL. `extra_routes`, `tool_sets`: as for
    `create_app`.

    Raises:
        HomeError: the service cannot listen on the address.
    """
    raise_open_file_limit()
    log = ServiceLog()
    with take_over(log), _follow(home, log), Recollect(home, count_accesses=True) as opened:
        app = create_app(opened, settings, log=log, extra_routes=extra_routes, tool_sets=tool_sets)
        _serve(app, settings, listening)


def _follow(home: Home, log: ServiceLog) -> AbstractContextManager[None]:
    """Return a context manager that keeps a home on Kafka up to date with what workers decide."""
    if not on_kafka(home):
        return nullcontext()
    with needed("kafka"):
        from recollect.operations.processes.replica_process import following

    return following(home, log.zone_stopped)


def _serve(app: Application, settings: ServiceSettings, listening: Callable[[str], None]) -> None:
    listener = _listen(settings)
    host, port = listener.getsockname()[:2]
    url_host = f"[{host}]" if ":" in host else host
    server = _Server(
        uvicorn.Config(
            app,
            loop="uvloop" if _has_uvloop() else "asyncio",
            http=idle_timeout_protocol(settings.request_seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        ),
        lambda: listening(f"http://{url_host}:{port}"),
        app.service.end_streams,
    )
    # uvicorn handles signals only while it runs, and raises them again when it ends. A signal
    # before must stop it too, and one after must not end this process before the home is closed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.stop)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that calls `listening` once it accepts connections, `ending` once it stops.

    Without `ending`, responses without an end would delay the stop by the grace period.
    """

    def __init__(
        self, config: uvicorn.Config, listening: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._listening, self._ending = listening, ending

    def stop(self, *_: object) -> None:
        """Let the server end, as soon as it has started if it has not yet."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


def _listen(settings: ServiceSettings) -> socket.socket:
    """Return a listening socket; raise HomeError if the address is invalid or taken."""
    try:
        addresses = socket.getaddrinfo(
            settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM
        )
        family, kind, protocol, _, address = addresses[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is not a valid address"
        raise HomeError(
            f"cannot listen on {settings.host!r} port {settings.port} ({reason}); give another "
            "port, or stop the program that uses it"
        ) from None
    return listener


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return False
    return True
