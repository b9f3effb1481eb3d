"""The work of one home, step by step, and how each step is done in spite of being killed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recollect.client import Memory
from schemas.events import Draft, Tick
from streams.agents.ticks import CLOSE_TURNS
from streams.failpoints import FAILPOINTS
from tests.kill.commands import Ended, Recollect, Wrong
from tests.kill.world import World

#: Deaths that no failpoint chose.
RANDOM = "at random moments"

HOUR_MS = 3_600_000

_APPEND = ("append.keys", "append.committed")
# Passed before the change records are in the topic: a death here is an attempt at the record,
# and a record that was tried three times is parked, which is right, but no crash of a machine.
_ATTEMPTS = ("commit.extracted", "commit.locked", "commit.evolved")
_COMMIT = (
    *("commit.read", *_ATTEMPTS, "commit.produced", "commit.accepted"),
    *("commit.memory", "commit.identity", "commit.embeddings"),
)
_ERASE = ("commit.keys_destroyed", "commit.purged")
_REBUILD = ("rebuild.written", "rebuild.switched")


@dataclass(frozen=True)
class Step:
    """A command that is run until it has succeeded.

    `passes`: the failpoints on its way. `settles`: looks at the run that succeeded. `before`
    is done before every run. `single`: it decides one record, so a count beyond 1 is never
    reached.
    """

    name: str
    arguments: tuple[str, ...]
    passes: tuple[str, ...]
    settles: Callable[[Ended], None] | None = None
    before: Callable[[Path], None] | None = None
    rebuilds: bool = False
    single: bool = False


def steps(world: World, files: Path) -> list[Step]:
    """Return the steps; the undisturbed home is given all that do not rebuild."""
    found = []
    for group, gone in zip("1234", world.forgotten, strict=True):
        names = [name for name in world.files if name.startswith(group)]
        paths = tuple(str(files / name) for name in names)
        lines = sum(world.expected[name][0] for name in names)
        refused = sum(world.expected[name][1] for name in names)
        if group == "3":
            # Published by one command, concluded by another.
            found.append(
                Step(
                    "publish 3",
                    ("ingest", *paths, "--no-wait", "--json"),
                    _APPEND,
                    _settled_import(lines, refused),
                )
            )
            found.append(Step("conclude 3", ("worker", "--once"), _COMMIT))
        else:
            found.append(
                Step(
                    f"ingest {group}",
                    ("ingest", *paths, "--json"),
                    (*_APPEND, *_COMMIT),
                    _settled_import(lines, refused),
                )
            )
        if group in "24":
            found.append(
                Step(
                    f"tick {group}",
                    ("worker", "--once"),
                    ("outbox.appended", *_COMMIT),
                    before=_tick(world.end_ms + int(group) * 3 * HOUR_MS),
                )
            )
        found.append(
            Step(
                f"forget {group}",
                ("forget", gone.source_id, "--platform", gone.platform),
                (*_APPEND, *_COMMIT, *_ERASE),
                single=True,
            )
        )
        level = {"1": "project", "2": "derive", "3": "fresh", "4": "index"}[group]
        again: tuple[str, ...] = ()
        if level != "index":
            again = (*_COMMIT[-3:], *_ERASE, *_REBUILD)
        if level in ("derive", "fresh"):
            again = (*_COMMIT, *_ERASE, *_REBUILD)
        found.append(Step(level, ("rebuild", "--level", level), again, rebuilds=True))
    last = (*_COMMIT[-3:], *_ERASE, *_REBUILD)
    found.append(Step("project again", ("rebuild", "--level", "project"), last, rebuilds=True))
    return found


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
            memory.publish(
                [
                    Draft(
                        platform="recollect",
                        occurred_at=at,
                        ingested_at=at,
                        payload=Tick(source_id=f"tick:{CLOSE_TURNS}:{at}", name=CLOSE_TURNS),
                    )
                ]
            )

    return publish


@dataclass
class Killer:
    """Chooses where to kill next, so that every place gets its share, and keeps count."""

    draw: random.Random
    each: int
    total: int
    hits: Counter[str] = field(default_factory=Counter)
    #: (failpoint, step) -> hits, for the table.
    where: Counter[tuple[str, str]] = field(default_factory=Counter)
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

    @property
    def content(self) -> bool:
        return not self.lacking and self.kills >= self.total

    def needs(self, step: Step) -> list[str]:
        """Return the places on a step's way that are to be hit still, the rarest first."""
        names = [name for name in (*step.passes, RANDOM) if self.hits[name] < self.quota(name)]
        if not names and not self.content and not self.lacking:
            names = [*step.passes, RANDOM]
        self.draw.shuffle(names)
        return sorted(names, key=lambda name: (name not in _RARE, self.hits[name]))

    def hit(self, name: str, step: Step) -> None:
        """Count a death."""
        self.hits[name] += 1
        self.where[name, step.name] += 1

    def add(self, other: Killer) -> None:
        """Count another's deaths as well."""
        self.hits.update(other.hits)
        self.where.update(other.where)
        self.survived += other.survived


# Few steps pass these, so a step that does is used for them first.
_RARE = frozenset({*_ERASE, *_REBUILD, "outbox.appended"})
# Of the deaths of one step: enough to batch many on one home, not all on one batch of records.
_MOST_KILLS = 9
_MOST_RANDOM = 2
_RANDOM_SHARE = 3


def do(recollect: Recollect, step: Step) -> float:
    """Do a step undisturbed; return its seconds."""
    if step.before:
        step.before(recollect.home)
    return _end(step, recollect.run(step.arguments), interrupted=False)


def do_killed(recollect: Recollect, step: Step, killer: Killer, seconds: float) -> None:
    """Do a step that is killed again and again, then let it end; it takes about `seconds`."""
    attempts = 0
    tried: Counter[str] = Counter()
    while sum(tried.values()) < _MOST_KILLS:
        names = [
            name
            for name in killer.needs(step)
            if not (name == RANDOM and tried[name] >= _MOST_RANDOM)
            and not (name in (*_ATTEMPTS, RANDOM) and step.single and attempts >= 2)
        ]
        if not names:
            break
        name = names[0]
        tried[name] += 1
        if step.before:
            step.before(recollect.home)
        if name == RANDOM:
            # Most of a short command is Python's start; what follows is the part to meet.
            moment = killer.draw.uniform(0.4, 1.0) * seconds
            ended = recollect.run(step.arguments, kill_after=moment)
        else:
            count = _count(name, step, attempts, killer.draw)
            ended = recollect.run(step.arguments, failpoint=f"{name}:{count}")
        attempts += name in (*_ATTEMPTS, RANDOM)
        if not ended.killed:
            killer.survived += 1
            _end(step, ended, interrupted=sum(tried.values()) > 1)
            return
        killer.hit(name, step)
    if step.before:
        step.before(recollect.home)
    _end(step, recollect.run(step.arguments), interrupted=bool(tried))


def _count(name: str, step: Step, attempts: int, draw: random.Random) -> int:
    """Return at which passing to die, so that other records are hit each time."""
    if step.single or name in ("outbox.appended", *_ERASE, *_REBUILD):
        return 1
    if name in _APPEND:
        return draw.randrange(1, 4)
    if name in _ATTEMPTS and attempts:
        # A batch that a death interrupted is gone through record by record: pass some, so that
        # no record is tried too often.
        return draw.randrange(2, 9)
    return draw.randrange(1, 3) if not attempts else draw.randrange(1, 9)


def _end(step: Step, ended: Ended, *, interrupted: bool) -> float:
    """Raise Wrong unless a step that ran to its end did what it should."""
    if step.arguments[0] == "forget" and interrupted and "holds no event" in ended.errors:
        # A run before had come far enough.
        return ended.seconds
    if ended.status != 0:
        raise Wrong(f"{step.name} ended with {ended.status}: {ended.errors or ended.output}")
    if step.settles:
        step.settles(ended)
    return ended.seconds
