"""Commands that run until they are stopped: worker, replica."""

from __future__ import annotations

from contextlib import suppress

import click

from recollect.cli.options import chosen, common
from recollect.cli.output import emit, say
from recollect.schemas.text_sanitising import pluralise


@click.command(epilog="Example: recollect worker --once")
@common
@click.option("--once", is_flag=True, help="Decide what is there and stop.")
@click.option("--member", metavar="NAME", help="On Kafka: keep the partitions over a restart.")
def worker(
    home: str | None, zone: str | None, as_json: bool, once: bool, member: str | None
) -> int:
    """Decide what is published, as it comes.

    It works in every zone until Ctrl-C. On Kafka any number of workers share the zones, each with
    a home of its own.
    """
    from recollect.operations.processes.worker_processes import work

    made, _ = chosen(home, zone)
    report = _Report(as_json, "decided", goes_on=not once)
    with suppress(KeyboardInterrupt):
        member = made.configuration.given("worker.member", member).value
        work(made, report, once=once, member=member)
    return 1 if report.failed else 0


@click.command(epilog="Example: recollect --home ~/replica replica")
@common
def replica(home: str | None, zone: str | None, as_json: bool) -> None:
    """Follow what workers on Kafka decide, and answer.

    It runs until Ctrl-C.
    """
    from recollect.streams.system.extras import needed

    with needed("kafka"):
        from recollect.operations.processes.replica_process import follow

    made, _ = chosen(home, zone)
    follow(made, _Report(as_json, "followed"))


class _Report:
    """Says what a long-running process does."""

    def __init__(self, as_json: bool, verb: str, *, goes_on: bool = True) -> None:
        """`goes_on`: what cannot be done now will be tried again."""
        self._goes_on = goes_on
        self._as_json = as_json
        self._verb = verb
        self._still: set[str] = set()

    @property
    def failed(self) -> bool:
        """Whether anything stands still."""
        return bool(self._still)

    def __call__(self, zone: str, moved: int | Exception) -> None:
        from recollect.schemas.errors import RecollectError
        from recollect.streams.ledger import LedgerUnavailable

        if isinstance(moved, Exception):
            if not (self._goes_on and isinstance(moved, LedgerUnavailable)):
                self._still.add(zone)
            where = f"zone {zone} stands still" if zone else "the ledger"
            kind = "" if isinstance(moved, RecollectError) else f"{type(moved).__name__}: "
            say(f"recollect: {where}: {kind}{moved}", err=True)
            return
        self._still.discard(zone)
        if self._as_json:
            emit({"zone": zone, self._verb: moved})
        else:
            say(f"{zone}: {self._verb} {pluralise(moved, 'record')}")


COMMANDS = (worker, replica)
