"""A service on a real socket, and clients with tokens."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from recollect import Recollect
from recollect.home.access_tokens import AccessTokens
from recollect.home.settings.service_settings import ServiceSettings
from recollect.integrations import facades
from recollect.page import page_routes
from recollect.service import Application, create_app
from recollect.service.http.http_protocol import idle_timeout_protocol
from recollect.service.http.service_log import ServiceLog

EVERYTHING = ("read", "write", "forget", "admin")


class Served:
    """A running service, with its home and its log."""

    def __init__(self, url: str, home: Path, log: io.StringIO, app: Application) -> None:
        self.url = url
        self.home = home
        self.log = log
        self.app = app

    def client(
        self, zone: str | tuple[str, ...] = "a", rights: tuple[str, ...] = EVERYTHING, **said: Any
    ) -> httpx.Client:
        """Return a client with a token of its own."""
        zones = (zone,) if isinstance(zone, str) else zone
        made = AccessTokens(self.home).create(zones, rights, **said)
        return self.bare(Authorization=f"Bearer {made.token}")

    def bare(self, **headers: str) -> httpx.Client:
        """Return a client with these headers alone."""
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


@contextmanager
def served(home: Path, **settings: Any) -> Iterator[Served]:
    """Serve a home on a free port until the block ends."""
    log = io.StringIO()
    with Recollect(home, encoder="none") as opened:
        given = ServiceSettings(**settings)
        app = create_app(
            opened,
            given,
            log=ServiceLog(log),
            extra_routes=(page_routes.router(), *facades.routers()),
            tool_sets=facades.TOOL_SETS,
        )
        place = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=idle_timeout_protocol(given.request_seconds),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.01)
            yield Served(f"http://127.0.0.1:{place.getsockname()[1]}", home, log, app)
        finally:
            server.should_exit = True
            app.service.end_streams()
            thread.join(60)
            place.close()
        assert not thread.is_alive()
