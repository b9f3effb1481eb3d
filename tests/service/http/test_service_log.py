"""What libraries log stands in the service's log, as one JSON object a line, and quotes nothing."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.service.http.service_log import ServiceLog, take_over
from tests.service.work.test_serve import recollect, serving, token

CANARY = "qxcanaryword"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the service's log gets of this process meanwhile."""
    stream = io.StringIO()
    with take_over(ServiceLog(stream)):
        yield stream


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_message_is_told_as_the_code_has_it_and_never_filled_in(log: io.StringIO) -> None:
    for name in ("mcp.server.runner", "uvicorn.error", "recollect.anything"):
        logger = logging.getLogger(name)
        logger.warning("something is wrong")
        logger.warning("dropped %r: malformed", CANARY)
        logger.warning(f"dropped {CANARY}")
        try:
            raise ValueError(CANARY)
        except ValueError:
            logger.exception("a handler raised")
        logger.info("nothing happened")
        logger.warning(RuntimeError(CANARY))
    assert CANARY not in log.getvalue()
    told = lines(log.getvalue())
    assert [line.get("message") for line in told[:5]] == [
        *("something is wrong", "dropped %r: malformed", None, "a handler raised", None)
    ]
    assert told[3]["error"] == "ValueError"
    assert all(__file__ in line["places"][0] for line in told)
    assert len(told) == 15


def test_what_nobody_waits_for_in_the_event_loop_is_told(log: io.StringIO) -> None:
    async def fails() -> None:
        raise ValueError(CANARY)

    async def forgotten() -> None:
        task = asyncio.create_task(fails())
        await asyncio.sleep(0)
        del task

    asyncio.run(forgotten())
    (line,) = lines(log.getvalue())
    assert (line["logger"], line["error"]) == ("asyncio", "ValueError")
    assert CANARY not in log.getvalue()


def test_a_service_writes_nothing_but_objects_to_its_standard_error(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert recollect(home, "init", "--encoder", "none").returncode == 0
    asked = {"Authorization": f"Bearer {token(home, '--zone', 'a', '--rights', 'read,write')}"}
    with serving(home) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as place:
            place.sendall(f"{CANARY} HTTP\r\n\r\n".encode())
            assert b"400" in place.recv(1_000)
        for body in (f'{{"jsonrpc": "2.0", "method": "{CANARY}"}}', CANARY, "[]"):
            httpx.post(f"{url}/mcp", content=body, headers=asked, timeout=60)
        process.terminate()
        _, written = process.communicate(timeout=60)
    assert CANARY not in written
    assert {"library", "request"} <= {line["event"] for line in lines(written)}


def test_what_cannot_be_written_breaks_nobody_and_the_log_is_given_back() -> None:
    before, stream = logging.getLogger().handlers, io.StringIO()
    stream.close()
    with take_over(ServiceLog(stream)):
        logging.getLogger("recollect.anything").warning("something is wrong")
    assert logging.getLogger().handlers is before
