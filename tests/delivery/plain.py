"""A worker of Faust as it comes: `python -m tests.delivery.plain HOW SERVER TOPIC FILE`.

It writes the values it has handled into FILE, one a line. Its agent "fails" on the value 50, or
"holds" the value 10, with a second actor beside it that goes on.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import faust


def main(how: str, server: str, topic: str, file: str) -> None:
    """Run until killed."""
    app = faust.App(
        topic,
        broker=f"kafka://{server}",
        broker_commit_interval=0.2,
        processing_guarantee="at_least_once",
        stream_wait_empty=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        value_serializer="raw",
        web_enabled=False,
        datadir=f"{file}.d",
    )

    async def agent(stream: Any) -> None:
        with Path(file).open("a", buffering=1) as handled:
            async for event in stream.noack().events():
                if how == "fails" and event.value == b"50":
                    raise ValueError("50")
                if how == "holds" and event.value == b"10":
                    await asyncio.sleep(3600)
                handled.write(f"{event.value.decode()}\n")
                await stream.ack(event)

    app.agent(app.topic(topic, value_type=bytes), concurrency=2 if how == "holds" else 1)(agent)
    faust.Worker(app, quiet=True, loglevel="CRITICAL").execute_from_commandline()


if __name__ == "__main__":
    main(*sys.argv[1:])
