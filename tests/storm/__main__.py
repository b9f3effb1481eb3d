"""Three workers and three brokers under load, while all of them are killed and stopped, a broker
loses its disk, a single one is left in sync, the group is rebalanced, and clocks jump.

python -m tests.storm                      two minutes
python -m tests.storm --quick              half a minute: each damage once, perhaps
python -m tests.storm --seconds 3600       longer
python -m tests.storm --seed 5 --keep DIR  another storm, whose files stay

The last line is a JSON object of the figures.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.broker.cluster import Cluster, History
from tests.kill.__main__ import code_times
from tests.kill.checks import Checks
from tests.kill.commands import Wrong
from tests.storm.damage.chaos import Chaos
from tests.storm.damage.clocks import Clock
from tests.storm.damage.fleet import Fates, Fleet
from tests.storm.damage.outages import Outages
from tests.storm.figures import Figures, reasons
from tests.storm.load import Commands, Counts, Inbox
from tests.storm.process import BROKERS, Recollect
from tests.storm.verification.homes import compare, compare_with_truth, look_for, wait_for_homes
from tests.storm.verification.topics import read_topics
from tests.storm.verification.truth import UNADDRESSED, Notes, Truth
from tests.storm.verification.verifier import (
    Ledger,
    decode,
    doubled,
    lacking,
    lost,
    stopped,
    verify,
)
from tests.storm.world import World

_LOOK_SECONDS = 3.0
# After the damage the workers finish what they have put off; on a busy machine that takes long, but
# so long without anything that is done, and it never will be.
_IDLE_SECONDS = 120.0
# Zones whose files are replayed in every home.
_ZONES_COMPARED = 3
# Workers that were started so often have had occasion to pass every place; a slow machine starts
# them less often.
_ENOUGH_STARTS = 50
_QUICK_SECONDS = 30.0
# Until the homes hold what the ledger does, daily passes of quiet zones included.
_HOMES_SECONDS = 120.0


@dataclass
class Storm:
    """What a storm leaves behind, for those who look at it."""

    directory: Path
    seed: int
    checks: Checks = field(default_factory=Checks)
    counts: Counts = field(default_factory=Counts)
    fates: Fates = field(default_factory=Fates)
    ledger: Ledger = field(default_factory=Ledger)
    truth: Truth = field(default_factory=Truth)
    acts: Counter[str] = field(default_factory=Counter)
    outages: Counter[str] = field(default_factory=Counter)
    history: History = field(default_factory=lambda: History.of(()))
    raged: float = 0.0
    drained: float = 0.0

    @property
    def notes(self) -> Path:
        """The file of what was acknowledged."""
        return self.directory / "notes.jsonl"

    def __post_init__(self) -> None:
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._story = (self.directory / "story.txt").open("w")

    def say(self, what: str) -> None:
        """Tell the story, with times."""
        line = f"{time.monotonic() - self._began:7.1f}  {what}"
        with self._lock:
            self._story.write(line + "\n")
            self._story.flush()


def run(directory: Path, *, seconds: float, workers: int, seed: int, rate: float) -> Storm:
    """Let a storm rage in a directory, then look at what is left."""
    (directory / "logs").mkdir(parents=True)
    # That a client finds no broker is what the storm is for.
    logging.basicConfig(filename=directory / "logs" / "storm.log", level=logging.WARNING)
    storm = Storm(directory, seed)
    checks, code = storm.checks, code_times()
    with Cluster(directory / "brokers", BROKERS) as cluster:
        url = f"kafka://{cluster.address}"
        storm.say(f"the brokers are at {cluster.address}")
        with Fleet(directory, url, random.Random(f"fleet {seed}"), storm.say) as fleet:
            storm.fates = fleet.fates
            commands = _rage(storm, fleet, cluster, url, seconds, workers, rate)
            _drain(storm, cluster)
            if commands.settle():
                _drain(storm, cluster)

            def read_ends() -> dict[str, int]:
                storm.ledger = decode(read_topics(cluster.address))
                return {name: len(zone.accepted) for name, zone in storm.ledger.zones.items()}

            kept = [each.recollect.home for each in fleet.workers]
            wait_for_homes(kept, read_ends, _HOMES_SECONDS, checks)
            fleet.retire()
            verify(storm.ledger, storm.truth, checks)
            homes = [each.recollect for each in fleet.workers]
        tokens = storm.truth.forgotten.values()
        look_for(tokens, [home.home for home in homes], checks)
        compare_with_truth([home.home for home in homes], storm.truth, checks)
        fresh = Recollect(directory / "fresh", url)
        fresh.ask("init", "--encoder", "none")
        homes += [fresh, Recollect(directory / "commands", url)]
        compare(homes, _zones_to_compare(storm), checks)
        look_for(tokens, [fresh.home], checks)
        storm.history = cluster.history()
    checks.same("brokers: nobody led who might not hold everything", storm.history.unclean, 0)
    # Homes that were filled by different code differ, and no storm is to blame.
    checks.same("the code stayed as it was while this ran", code_times(), code)
    checks.note("no worker ends but by the storm", "; ".join(storm.fates.unasked[:4]))
    checks.note("no worker says what none may say", "; ".join(storm.fates.bad[:4]))
    return storm


def _rage(
    storm: Storm,
    fleet: Fleet,
    cluster: Cluster,
    url: str,
    seconds: float,
    workers: int,
    rate: float,
) -> Commands:
    """Do damage under load; return what gave the commands."""
    notes = Notes(storm.notes)
    home = Recollect(storm.directory / "commands", url, Clock(storm.directory / "commands.clock"))
    home.ask("init", "--encoder", "none")
    for _ in range(workers):
        fleet.add()
    world = World(storm.seed)
    inbox = Inbox(cluster.address, world, notes, storm.counts, storm.seed)
    commands = Commands(url, home, world, inbox, notes, storm.counts, storm.seed, storm.say)
    inbox.rate = rate
    inbox.start()
    commands.start()
    chaos = Chaos(fleet, random.Random(f"chaos {storm.seed}"), storm.say)
    draw = random.Random(f"outages {storm.seed}")
    outages = Outages(cluster, draw, storm.say, fleet.brokers_away)
    outages.start()
    try:
        chaos.run(seconds, commands.begin_late)
    finally:
        storm.acts, storm.raged, storm.outages = chaos.acts, chaos.seconds, outages.acts
        chaos.settle()
        for what, thread in (("outages", outages), ("inbox", inbox), ("commands", commands)):
            try:
                thread.end()
                storm.checks.note(f"load: the {what} did what they should")
            except Exception as error:
                storm.checks.note(f"load: the {what} did what they should", repr(error))
            storm.say(f"the {what} are over")
    for arm in chaos.missing:
        enough = sum(worker.starts for worker in fleet.workers) >= _ENOUGH_STARTS
        storm.checks.note(f"some worker had to {arm.what}", "none did" if enough else "")
    return commands


def _drain(storm: Storm, cluster: Cluster) -> None:
    """Let the workers finish."""
    began = moved = time.monotonic()
    before = storm.drained
    storm.truth = Truth.read(storm.notes)
    lacked: dict[str, int] = {}
    while True:
        storm.ledger = decode(read_topics(cluster.address))
        lacks = lacking(storm.ledger, storm.truth)
        storm.say(f"lacking: {lacks or 'nothing'}")
        if lacks != lacked:
            lacked, moved = lacks, time.monotonic()
        if not lacks or time.monotonic() - moved > _IDLE_SECONDS:
            break
        time.sleep(_LOOK_SECONDS)
    storm.drained = before + time.monotonic() - began
    wrong = f"for {_IDLE_SECONDS:.0f} s nothing was done, and they lack {lacks}" if lacks else ""
    storm.checks.note("the workers finish when nothing disturbs them", wrong)


def _zones_to_compare(storm: Storm) -> list[str]:
    """Return zones of all kinds: the largest, those that forgot, the one of the unaddressed."""
    sizes = {name: len(zone.accepted) for name, zone in storm.ledger.zones.items()}
    forgot = {zone for zone, _, _ in storm.truth.forgotten}
    first = sorted(sizes, key=lambda zone: (zone != UNADDRESSED, zone not in forgot, -sizes[zone]))
    chosen = [*first[: _ZONES_COMPARED - 1], *sorted(sizes, key=lambda zone: -sizes[zone])]
    return list(dict.fromkeys(chosen))[:_ZONES_COMPARED]


def figures(storm: Storm) -> Figures:
    """Return the figures of a storm."""
    why, often = reasons((storm.directory / "logs").glob("worker-*.log"))
    ends, outages, history = storm.fates.ends, storm.outages, storm.history
    return Figures(
        seconds=round(storm.raged, 1),
        events=sum(len(zone.accepted) for zone in storm.ledger.zones.values()),
        acknowledged=len(storm.truth.said),
        kills=ends["SIGKILL"] + ends["failpoint"],
        stops=ends["SIGSTOP"],
        broker_kills=outages["SIGKILL"],
        broker_stops=outages["SIGSTOP"],
        disks_lost=outages["disk lost"],
        one_in_sync=outages["one left in sync"],
        leader_changes=history.leader_changes,
        shrinks=history.shrinks,
        unclean=history.unclean,
        clock_jumps=storm.acts["clock"]
        + storm.counts.inbox["jumps of its clock"]
        + storm.counts.commands["jumps of its clock"],
        lost=len(lost(storm.ledger, storm.truth)),
        doubled=len(doubled(storm.ledger)),
        zones=len(storm.ledger.zones),
        zones_stopped={
            zone: f"{lacks}; {why.get(zone, 'no worker says why')}"
            for zone, lacks in stopped(storm.ledger).items()
        },
        stood_still=dict(often.most_common()),
    )


def summary(storm: Storm) -> str:
    """Return what a storm did, and what it met."""
    zones, fates = storm.ledger.zones.values(), storm.fates
    hits = sorted(fates.hits.items(), key=lambda item: item[0])
    voids = sum(len(zone.void) for zone in zones), sum(len(zone.void_changes) for zone in zones)
    lines = [
        f"{sum(len(zone.accepted) for zone in zones)} events in {len(storm.ledger.zones)} zones, "
        f"{sum(len(zone.decided) for zone in zones)} change records "
        f"({sum(zone.fragments for zone in zones)} fragments)",
        f"void: {voids[0]} events, {voids[1]} changes",
        f"inbox: {_told(storm.counts.inbox)}",
        f"commands: {_told(storm.counts.commands)}; {len(storm.counts.retried)} tried again",
        f"workers ended: {_told(fates.ends)}",
        f"besides: {_told(storm.acts)}",
        f"brokers: {_told(storm.outages)}; {_told(storm.history._asdict())}",
        "failpoints: " + ", ".join(f"{arm.what} {count}" for arm, count in hits),
        f"{storm.raged:.0f} s of damage, {storm.drained:.0f} s until all was done",
    ]
    return "\n".join(lines)


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items())) or "none"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a storm; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.storm", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seconds", type=float, default=120.0, help="of damage, at least [120]")
    parser.add_argument(
        "--quick", dest="seconds", action="store_const", const=_QUICK_SECONDS, help="the same, 30"
    )
    parser.add_argument("--workers", type=int, default=3, help="[3]")
    parser.add_argument("--seed", type=int, default=1, help="[1]")
    parser.add_argument("--rate", type=float, default=15.0, help="records a second [15]")
    parser.add_argument("--keep", type=Path, help="a new directory for all files, which stays")
    chosen = parser.parse_args(arguments)
    if "RECOLLECT_FAILPOINT" in os.environ:
        raise SystemExit("RECOLLECT_FAILPOINT is set, which would kill this test; unset it")
    began = time.monotonic()
    directory = chosen.keep or Path(tempfile.mkdtemp(prefix="recollect-storm-"))
    directory.mkdir(parents=True, exist_ok=True)
    try:
        storm = run(
            directory,
            seconds=chosen.seconds,
            workers=chosen.workers,
            seed=chosen.seed,
            rate=chosen.rate,
        )
    except Wrong as error:
        print(f"FAILED  {error}; the files are in {directory}")
        return 1
    found = figures(storm)
    print(f"\n{summary(storm)}\n")
    for what, wrong in storm.checks.failed:
        print(f"FAILED  {what}: {wrong}")
    if storm.checks.failed:
        print(
            f"again: python -m tests.storm --seed {chosen.seed} --seconds {chosen.seconds:g} "
            f"--workers {chosen.workers} --rate {chosen.rate:g}; the files are in {directory}"
        )
    elif chosen.keep is None:
        shutil.rmtree(directory)
    print(f"{time.monotonic() - began:.0f} s, seed {chosen.seed}")
    print(f"{storm.checks.passed} passed, {len(storm.checks.failed)} failed")
    print(found.line)
    print(msgspec.json.encode(found).decode())
    return 1 if storm.checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
