"""The work of one home, step by step, and how each step is done in spite of being killed."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recollect.schemas.events import Tick
from recollect.streams.agents.turn_closer import CLOSE_TURNS
from recollect.streams.publishing.commands import command, publish_commands
from recollect.streams.system.failpoints import FAILPOINTS
from tests.kill.commands import Ended, Recollect, Wrong
from tests.kill.power import PowerCut
from tests.kill.world import World
from tests.memory import Memory

#: Deaths that no failpoint chose.
RANDOM = "at random moments"

HOUR_MS = 3_600_000

_MAKE = ("ledger.begun", "ledger.made")
_APPEND = ("append.keys", "append.committed")
# Passed before the change records are in the topic: a death here is an attempt at the record,
# and a record that was tried three times is parked, which is right, but no crash of a machine.
_ATTEMPTS = ("commit.extracted", "commit.locked", "commit.projected")
_COMMIT = (
    *("commit.read", *_ATTEMPTS, "commit.produced", "commit.accepted"),
    *("commit.memory", "commit.identity", "commit.embeddings"),
)
_ERASE = ("commit.keys_destroyed", "commit.purged")
# When every generation is rid of it.
_SETTLE = ("purge.done",)
_REBUILD = ("rebuild.written", "rebuild.switched")
_RESTORE = (
    *("restore.staged", "restore.erased"),
    *("restore.committed", "restore.emptied", "restore.placed"),
)


@dataclass(frozen=True)
class Step:
    """A command that is run until it has succeeded.

    `kind`: what work it is. `passes`: the failpoints on its way. `settles`: looks at the run
    that succeeded. `before` is done before every run. `single`: it decides one record, so that
    each place is passed once. `forgets`: which of the world's events it erases.
    """

    kind: str
    name: str
    arguments: tuple[str, ...]
    passes: tuple[str, ...]
    settles: Callable[[Ended], None] | None = None
    before: Callable[[Path], None] | None = None
    rebuilds: bool = False
    single: bool = False
    forgets: int | None = None


def steps(world: World, files: Path) -> list[Step]:
    """Return the steps; the undisturbed home is given all that do not rebuild.

    Some rebuilds lie between an event and its erasure, so that a kept generation holds it too;
    some lie behind, so that they pass erasures.
    """
    return [
        *_imports(world, files, "1", first=True),
        _rebuild("project", _COMMIT[-3:]),
        _forget(world, "1"),
        *_imports(world, files, "2"),
        _ticked(world, "2"),
        _forget(world, "2"),
        _rebuild("derive", (*_COMMIT, *_ERASE)),
        *_imports(world, files, "3", apart=True),
        _rebuild("fresh", (*_COMMIT, *_ERASE)),
        _forget(world, "3"),
        *_imports(world, files, "4"),
        _ticked(world, "4"),
        _rebuild("index"),
        _backup(files.parent / "backup"),
        _forget(world, "4"),
        _restore(files.parent / "backup"),
        _rebuild("project", (*_COMMIT[-3:], *_ERASE), " again"),
    ]


def _imports(
    world: World, files: Path, group: str, *, first: bool = False, apart: bool = False
) -> list[Step]:
    """Return the import of a group's files.

    `first`: it makes the ledger. `apart`: published by one command, then decided.
    """
    names = [name for name in world.files if name.startswith(group)]
    paths = tuple(str(files / name) for name in names)
    settles = _settled_import(
        sum(world.expected[name][0] for name in names),
        sum(world.expected[name][1] for name in names),
    )
    ingest = ("ingest", *paths, "--json")
    if not apart:
        passes = (*(_MAKE if first else ()), *_APPEND, *_COMMIT)
        return [Step("import", f"ingest {group}", ingest, passes, settles)]
    return [
        Step("import", f"publish {group}", (*ingest, "--no-wait"), _APPEND, settles),
        Step("decide", f"decide {group}", ("worker", "--once"), _COMMIT),
    ]


def _ticked(world: World, group: str) -> Step:
    """Return the step that closes turns which were never completed."""
    return Step(
        "tick",
        f"tick {group}",
        ("worker", "--once"),
        (*_COMMIT, "outbox.appended"),
        before=_tick(world.end_ms + int(group) * 3 * HOUR_MS),
        single=True,
    )


def _forget(world: World, group: str) -> Step:
    index = int(group) - 1
    gone = world.forgotten[index]
    return Step(
        "forget",
        f"forget {group}",
        ("forget", *gone.chosen_by),
        (*_APPEND, *_COMMIT, *_ERASE, *_SETTLE),
        single=True,
        forgets=index,
    )


def _rebuild(level: str, commits: tuple[str, ...] = (), suffix: str = "") -> Step:
    # What makes a chain of its own says in the ledger that it counts.
    switches = ("rebuild.announced",) if level in ("derive", "fresh") else ()
    return Step(
        "derive" if level == "fresh" else level,
        level + suffix,
        ("rebuild", "--level", level),
        (*commits, *switches, *_REBUILD) if commits else (),
        rebuilds=True,
    )


def _backup(path: Path) -> Step:
    return Step(
        "backup",
        "backup",
        ("backup", str(path)),
        ("backup.copied",),
        before=lambda home: shutil.rmtree(path, ignore_errors=True),
    )


def _restore(path: Path) -> Step:
    """Return the step that restores what was backed up before the last erasure."""
    return Step("restore", "restore", ("restore", str(path)), _RESTORE)


def _settled_import(lines: int, refused: int) -> Callable[[Ended], None]:
    def look(ended: Ended) -> None:
        counts = ended.json()
        told = (counts["read"], counts["rejected"], counts["new"] + counts["duplicate"])
        if told != (lines, refused, lines - refused):
            raise Wrong(f"of {lines} lines {refused} are to be refused, but ingest says {counts}")

    return look


def _tick(at: int) -> Callable[[Path], None]:
    """Return what puts a tick into the ledger, as a service does, but at a time of its own."""

    def publish(home: Path) -> None:
        with Memory(home) as memory:
            tick = Tick(source_id=f"tick:{CLOSE_TURNS}:{at}", name=CLOSE_TURNS)
            publish_commands(memory.node.ledger, memory.zone, [command(tick, at, ingested_at=at)])

    return publish


@dataclass
class Killer:
    """Chooses where to kill next, so that every place gets its share, and keeps count.

    `thorough`: at every place in every kind of work, whatever else is asked for. `power`: what
    cuts the power after a death, so that WALs are lost as well.
    """

    draw: random.Random
    each: int
    total: int
    thorough: bool = False
    power: PowerCut | None = None
    hits: Counter[str] = field(default_factory=Counter)
    #: (place, kind of work) -> hits
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: How often a command that was to be killed came to its end first.
    survived: int = 0

    @property
    def kills(self) -> int:
        return sum(self.hits.values())

    def quota(self, name: str) -> int:
        """Return how often a place is to be hit; a random moment may be any place, or none."""
        return self.each * (_RANDOM_SHARE if name == RANDOM else 1)

    @property
    def lacking(self) -> list[str]:
        """The places that have not been hit often enough."""
        return [name for name in (*FAILPOINTS, RANDOM) if self.hits[name] < self.quota(name)]

    def lacking_pairs(self, todo: list[Step]) -> list[tuple[str, str]]:
        """Return the places in kinds of work where nothing has died yet."""
        pairs = {(name, step.kind): None for step in todo for name in step.passes}
        return [pair for pair in pairs if self.thorough and not self.pairs[pair]]

    def content(self, todo: list[Step]) -> bool:
        """Return whether enough has died."""
        return not self.lacking and not self.lacking_pairs(todo) and self.kills >= self.total

    def needs(self, step: Step) -> list[str]:
        """Return the places on a step's way that are to be hit still, in the order of the way."""
        names = [
            name
            for name in (*step.passes, RANDOM)
            if self.hits[name] < self.quota(name)
            or (self.thorough and name != RANDOM and not self.pairs[name, step.kind])
        ]
        if not names and not self.lacking and self.kills < self.total:
            names = [RANDOM, *(name for name in step.passes if self.draw.random() < 0.5)]
        return names

    def hit(self, name: str, step: Step) -> None:
        """Count a death."""
        self.hits[name] += 1
        self.pairs[name, step.kind] += 1

    def add(self, other: Killer) -> None:
        """Count another's deaths as well."""
        self.hits.update(other.hits)
        self.pairs.update(other.pairs)
        self.survived += other.survived


# Of the deaths of one step: enough to batch many on one home.
_MAX_KILLS = 15
_MAX_RANDOM = 2
_RANDOM_SHARE = 3
# Two attempts at one record and the batch it came in; the next one would park it.
_MAX_ATTEMPTS = 2


def do(recollect: Recollect, step: Step) -> float:
    """Do a step undisturbed; return its seconds."""
    if step.before:
        step.before(recollect.home)
    return _end(step, recollect.run(step.arguments))


def do_killed(recollect: Recollect, step: Step, killer: Killer, seconds: float) -> float:
    """Do a step that is killed again and again, then let it end; it takes about `seconds`.

    Return how long the run that ended took.
    """
    attempts = 0
    tried: Counter[str] = Counter()
    last = -1
    while sum(tried.values()) < _MAX_KILLS:
        name = _next(step, killer, tried, attempts, last)
        if name is None:
            break
        tried[name] += 1
        if step.before:
            step.before(recollect.home)
        if name == RANDOM:
            moment = killer.draw.uniform(0.0, 1.0) * seconds
            ended = recollect.run(step.arguments, kill_after=moment)
        else:
            count = _count(name, step, attempts, killer.draw)
            ended = recollect.run(step.arguments, failpoint=f"{name}:{count}")
            last = max(last, FAILPOINTS.index(name))
        attempts += name in (*_ATTEMPTS, RANDOM)
        if not ended.killed:
            killer.survived += 1
            return _end(step, ended)
        killer.hit(name, step)
        if killer.power is not None:
            killer.power.cut(recollect.home)
    if step.before:
        step.before(recollect.home)
    return _end(step, recollect.run(step.arguments))


def _next(step: Step, killer: Killer, tried: Counter[str], attempts: int, last: int) -> str | None:
    """Return where to die next in a step; None: nowhere."""
    for name in killer.needs(step):
        possible = tried[name] < (_MAX_RANDOM if name == RANDOM else killer.each)
        if step.single:
            possible &= name == RANDOM or _ahead(name, last)
            possible &= name not in (*_ATTEMPTS, RANDOM) or attempts < _MAX_ATTEMPTS
        if possible:
            return name
    return None


def _ahead(name: str, last: int) -> bool:
    """Return whether the one record's way still leads past a place after a death at `last`."""
    at = FAILPOINTS.index(name)
    if last == FAILPOINTS.index("commit.produced"):
        # What stands in the topic is not decided again.
        return at > FAILPOINTS.index("commit.accepted")
    return at > last or (at == last and name in _AGAIN)


# Passed again by the run after a death there.
_AGAIN = frozenset(
    {
        *("append.keys", "commit.read", "commit.keys_destroyed"),
        *("commit.memory", "commit.identity", "purge.done", "outbox.appended"),
    }
)


def _count(name: str, step: Step, attempts: int, draw: random.Random) -> int:
    """Return at which passing to die, so that other records are hit each time."""
    if name in (
        "outbox.appended",
        "backup.copied",
        *_MAKE,
        *_ERASE,
        *_SETTLE,
        *_REBUILD,
        *_RESTORE,
    ):
        return 1
    if step.single:
        # A command that forgets decides what is there first, which passes these two as well.
        ahead = name in ("commit.read", "commit.extracted") and step.forgets is not None
        return draw.randrange(1, 4) if ahead and not attempts else 1
    if name in _APPEND:
        return draw.randrange(1, 4)
    if name in _ATTEMPTS and attempts:
        # A batch that a death interrupted is gone through record by record: pass some, so that
        # no record is tried too often.
        return draw.randrange(2, 9)
    return draw.randrange(1, 9) if attempts else draw.randrange(1, 3)


def _end(step: Step, ended: Ended) -> float:
    """Raise Wrong unless a step that ran to its end did what it should."""
    if ended.status != 0:
        raise Wrong(f"{step.name} ended with {ended.status}: {ended.errors or ended.output}")
    if step.settles:
        step.settles(ended)
    return ended.seconds
