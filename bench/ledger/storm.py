"""The failure storm on three brokers: the injected faults, and whether events are lost.

python -m bench.ledger.storm [--seconds N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

import msgspec

from bench.kit.report import Report, Target, count, markdown
from tests.storm.figures import Figures

SECONDS = 120.0
_MAX_REASONS = 5


def run(*, seconds: float = SECONDS) -> Report:
    """Run the storm for this many seconds, and return its figures."""
    command = [sys.executable, "-m", "tests.storm", "--seconds", f"{seconds:g}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines()
    try:
        figures = msgspec.json.decode(lines[-1] if lines else "", type=Figures)
    except msgspec.DecodeError:
        raise SystemExit(f"the storm reported no figures:\n{done.stdout[-3000:]}") from None
    failed = [line.removeprefix("FAILED").strip() for line in lines if line.startswith("FAILED")]
    counts = {
        "seconds of damage": figures.seconds,
        "events": figures.events,
        "of them acknowledged by the brokers or a command, by the publishers' records": (
            figures.acknowledged
        ),
        "zones": figures.zones,
        "workers: SIGKILL": figures.kills,
        "workers: SIGSTOP, longer than their session": figures.stops,
        "brokers: SIGKILL": figures.broker_kills,
        "brokers: SIGSTOP, longer than their session": figures.broker_stops,
        "brokers: SIGKILL, and the disk is lost": figures.disks_lost,
        "two brokers at once: SIGSTOP, one is left in sync": figures.one_in_sync,
        "a partition changed its leader": figures.leader_changes,
        "an in-sync set shrank": figures.shrinks,
        "a clock jumped, by 90 s to 10 years": figures.clock_jumps,
    }
    rows = [[what, count(number) if number else "0"] for what, number in counts.items()]
    rows += [
        [f"a zone made no progress meanwhile: {why}", count(often)]
        for why, often in list(figures.stood_still.items())[:_MAX_REASONS]
    ]
    stopped = [f"{zone}: {why}" for zone, why in figures.zones_stopped.items()]
    return Report(
        "Storm",
        "Three workers and three brokers (replication 3, `min.insync.replicas` 2) run on one "
        "machine while processes are killed and stopped and clocks jump. The verifier, with code "
        "of its own, reads the topics and the workers' files and compares them with the "
        "publishers' records. Leader changes are counted in the controller's log.",
        ["what", "times"],
        rows,
        [
            Target("lost acknowledged events: 0", count(figures.lost), not figures.lost),
            Target("duplicated events: 0", count(figures.doubled), not figures.doubled),
            Target("zones that are stopped at the end: 0", "; ".join(stopped) or "0", not stopped),
            Target("all other checks pass", "; ".join(failed) or "yes", not failed),
        ],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.storm", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="duration of the storm [120]"
    )
    print(markdown(run(seconds=parser.parse_args(arguments).seconds)))


if __name__ == "__main__":
    main()
