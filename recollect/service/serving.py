"""Serving: the application on a socket, until the process is told to end."""

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
from recollect.home.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.mcp_server import OWN_TOOL_SETS, ToolSets
from recollect.schemas.errors import HomeError
from recollect.service.application import Application, create_app
from recollect.service.http.http_protocol import bounded_protocol
from recollect.service.http.service_log import ServiceLog, take_over
from recollect.streams.system.extras import needed
from recollect.streams.system.open_files import raise_open_file_limit

# As long as calls that are at work may take when the process is told to end.
_GRACE_SECONDS = 30
_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 1_024
# A header that is longer is none.
_HEADER_BYTES = 65_536
# What a start leaves lives as long as the process: looking through it for garbage takes time.
_BEFORE_COLLECTING = 20_000


def serve(
    home: Home,
    settings: ServiceSettings,
    listening: Callable[[str], None],
    *,
    beside: Sequence[Router] = (),
    tool_sets: ToolSets = OWN_TOOL_SETS,
) -> None:
    """Answer until SIGTERM or SIGINT; then finish what is at work.

    On the embedded ledger it decides what is published; on Kafka it follows what workers decide, as
    a replica. `listening` is called with the URL. `beside`, `tool_sets`: as for `create_app`.

    Raises:
        HomeError: the address cannot be listened at.
    """
    raise_open_file_limit()
    log = ServiceLog()
    with take_over(log), _followed(home, log), Recollect(home, count_accesses=True) as opened:
        app = create_app(opened, settings, log=log, beside=beside, tool_sets=tool_sets)
        _serve(app, settings, listening)


def _followed(home: Home, log: ServiceLog) -> AbstractContextManager[None]:
    if not on_kafka(home):
        return nullcontext()
    with needed("kafka"):
        from recollect.operations.processes.replica_process import followed_meanwhile

    return followed_meanwhile(home, log.worker)


def _serve(app: Application, settings: ServiceSettings, listening: Callable[[str], None]) -> None:
    place = _listen(settings)
    host, port = place.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    server = _Server(
        uvicorn.Config(
            app,
            loop="uvloop" if _has_uvloop() else "asyncio",
            http=bounded_protocol(settings.request_seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        ),
        lambda: listening(f"http://{shown}:{port}"),
    )
    # uvicorn raises them again when it is done; then the home is still to be closed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BEFORE_COLLECTING)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[place])


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def _listen(settings: ServiceSettings) -> socket.socket:
    """Return a socket that is bound; whoever asks for what is taken is told."""
    try:
        found = socket.getaddrinfo(
            settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM
        )
        family, kind, protocol, _, address = found[0]
        place = socket.socket(family, kind, protocol)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(address)
        place.listen(_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "that is no address"
        raise HomeError(
            f"{settings.host!r} port {settings.port} cannot be listened at ({reason}); "
            "give another --port, or stop who has it"
        ) from None
    return place


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return False
    return True
