"""The command that moves a home's ledger: promote."""

from __future__ import annotations

import time
from functools import partial

import click
import msgspec

from recollect.cli.common import chosen, common, emit, progress, say
from recollect.promoting import promote as move


@click.command(epilog="Example: recollect promote --to kafka://localhost:9092")
@common
@click.option(
    "--to",
    "url",
    metavar="URL",
    required=True,
    help="kafka://host:port[,host:port][/prefix], where no other ledger is.",
)
def promote(home: str | None, zone: str | None, as_json: bool, url: str) -> None:
    """Move the home's ledger, with all zones, to Kafka.

    Every offset stays as it is, so nothing is rebuilt. Interrupted, it goes on where it was when
    it is called again. Set RECOLLECT_LEDGER to the URL afterwards.
    """
    made, _ = chosen(home, zone)
    started = time.monotonic()
    moved = move(made, url, partial(progress, "moving"))
    seconds = round(time.monotonic() - started, 3)
    if as_json:
        emit({**msgspec.structs.asdict(moved), "seconds": seconds})
    else:
        say(
            f"moved {moved.events} events, {moved.changes} changes, {moved.recordings} recordings "
            f"and {moved.keys} keys in {seconds} s"
        )
        say(f"from now on set RECOLLECT_LEDGER={moved.to}")


COMMANDS = (promote,)
