"""Long-running commands: worker, replica."""

from __future__ import annotations

from contextlib import suppress

import click

from recollect.cli.options import common_options, home_and_zone
from recollect.cli.output import print_json, print_line
from recollect.schemas.text_sanitising import pluralise


@click.command(epilog="Example: recollect worker --once")
@common_options
@click.option("--once", is_flag=True, help="Process pending events, then exit.")
@click.option(
    "--member",
    metavar="NAME",
    help="On Kafka: a fixed name, under which the worker keeps its partitions across restarts.",
)
def worker(
    home: str | None, zone: str | None, as_json: bool, once: bool, member: str | None
) -> int:
    """Process events as they arrive in the ledger.

    Runs until Ctrl-C, for all zones; --zone has no effect. On Kafka the zones are distributed over
    any number of workers, each with its own home.
    """
    from recollect.operations.processes.worker_processes import work

    selected, _ = home_and_zone(home, zone)
    report = _Report(as_json, "decided", retries=not once)
    with suppress(KeyboardInterrupt):
        member = selected.configuration.resolve("worker.member", member).value
        work(selected, report, once=once, member=member)
    return 1 if report.failed else 0


@click.command(epilog="Example: recollect --home ~/replica replica")
@common_options
def replica(home: str | None, zone: str | None, as_json: bool) -> None:
    """Run a read replica of a ledger on Kafka.

    Runs until Ctrl-C, for all zones; --zone has no effect. The replica copies the workers' results
    into files of its own, from which it answers queries.
    """
    from recollect.streams.system.extras import needed

    with needed("kafka"):
        from recollect.operations.processes.replica_process import follow

    selected, _ = home_and_zone(home, zone)
    follow(selected, _Report(as_json, "followed"))


class _Report:
    """Prints the progress of a long-running process."""

    def __init__(self, as_json: bool, verb: str, *, retries: bool = True) -> None:
        """`retries`: the process retries while the ledger is unavailable."""
        self._retries = retries
        self._as_json = as_json
        self._verb = verb
        self._stopped: set[str] = set()

    @property
    def failed(self) -> bool:
        """Whether any zone has stopped."""
        return bool(self._stopped)

    def __call__(self, zone: str, progress: int | Exception) -> None:
        from recollect.schemas.errors import RecollectError
        from recollect.streams.ledger import LedgerUnavailable

        if isinstance(progress, Exception):
            if not (self._retries and isinstance(progress, LedgerUnavailable)):
                self._stopped.add(zone)
            where = f"zone {zone} has stopped" if zone else "the ledger"
            kind = "" if isinstance(progress, RecollectError) else f"{type(progress).__name__}: "
            print_line(f"recollect: {where}: {kind}{progress}", err=True)
            return
        self._stopped.discard(zone)
        if self._as_json:
            print_json({"zone": zone, self._verb: progress})
        else:
            print_line(f"{zone}: {self._verb} {pluralise(progress, 'record')}")


COMMANDS = (worker, replica)
