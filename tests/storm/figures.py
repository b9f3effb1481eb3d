"""The figures of a storm: what it did, and what came of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

_STANDS = re.compile(r"zone (\S+) has stopped: (.+)")
# What differs between two stops for the same reason.
_PARTICULAR = re.compile(r"kafka://\S+|\d+(\.\d+)+(:\d+)?|\d+")


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a storm. `seconds` are those of damage; kills and stops are of processes."""

    seconds: float
    events: int
    acknowledged: int
    kills: int
    stops: int
    broker_kills: int
    broker_stops: int
    disks_lost: int
    #: How often a single broker was left in sync.
    one_in_sync: int
    #: How often a partition was given another leader, and how often an in-sync set shrank.
    leader_changes: int
    shrinks: int
    #: How often one was made leader that may not have held everything.
    unclean: int
    clock_jumps: int
    lost: int
    doubled: int
    zones: int
    #: Zones that stand still in the end, and why.
    zones_stopped: Mapping[str, str]
    #: How often a worker said that a zone stood still meanwhile, by the reason.
    stood_still: Mapping[str, int]

    @property
    def line(self) -> str:
        """The figures in a line."""
        stopped = "; ".join(f"{zone}: {why}" for zone, why in self.zones_stopped.items())
        return (
            f"{self.events} events ({self.acknowledged} acknowledged) in {self.zones} zones, "
            f"workers: {self.kills} kills, {self.stops} stops; "
            f"brokers: {self.broker_kills} kills, {self.broker_stops} stops, "
            f"{self.disks_lost} disks lost, {self.one_in_sync} times one in sync; "
            f"{self.leader_changes} leader changes, {self.shrinks} in-sync sets shrank, "
            f"{self.clock_jumps} jumps of clocks: "
            f"lost {self.lost}, doubled {self.doubled}, "
            f"zones stopped {len(self.zones_stopped)}{stopped and f' ({stopped})'}"
        )


def reasons(logs: Iterable[Path]) -> tuple[dict[str, str], Counter[str]]:
    """Return why each zone stood still the last time, and how often any did for each reason."""
    last: dict[str, str] = {}
    often: Counter[str] = Counter()
    for log in sorted(logs, key=lambda path: path.stat().st_mtime):
        for zone, why in _STANDS.findall(log.read_text(errors="replace")):
            last[zone] = why
            often[_PARTICULAR.sub("…", why)[:80]] += 1
    return last, often
