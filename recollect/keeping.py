"""The side of a memory that is kept in order: its state, rebuilds, proofs, parked records."""

from __future__ import annotations

import apsw
import msgspec

from projections.events.event_queries import event_count
from projections.generations import Generation
from projections.memory.memory_queries import dead_letters
from recollect.opened import counted, unix_ms
from recollect.writing import Writing
from schemas.changes import DeadLetter
from schemas.errors import Damaged, IntegrityError, OtherHistory
from schemas.events import Drop, Retry
from streams.ledger import EVENTS, partition_of
from streams.lifecycle import rebuilding, reclaiming, verifying
from streams.lifecycle.rebuilding import Level, Rebuilt
from streams.lifecycle.reclaiming import Reclaimed
from streams.lifecycle.verifying import Verification
from streams.projecting.projector import Progress
from streams.publishing.commands import drawn_id
from streams.reading.heads import Expected

# What the first touch of a damaged file may raise.
_DAMAGE = (Damaged, IntegrityError, apsw.CorruptError, apsw.NotADBError, apsw.SQLError)

#: So long without a step, though there is work, and the zone's files have stopped moving.
STALLED_SECONDS = 60.0


class ModelStatus(msgspec.Struct, frozen=True):
    """How far a read model is: the running number of its last record."""

    model: str
    watermark: int


class Status(msgspec.Struct, frozen=True):
    """What a zone holds. `lag` is how many ledger records are not concluded yet.

    `lag_seconds` is how long the first of those has been in the ledger, `moved_seconds_ago` when
    the files last moved; None where nobody noted it. `stalled`: there is work, and nobody does it.
    `head` names the ledger's end.
    """

    zone: str
    generation: str
    events: int
    facts: int
    entities: int
    observations: int
    dead_letters: int
    lag: int
    lag_seconds: float | None
    moved_seconds_ago: float | None
    stalled: bool
    models: list[ModelStatus]
    encoder: str | None
    head: str


class Keeping(Writing):
    """Says how a zone is, and makes again what is derived."""

    def status(self) -> Status:
        """Return what the zone holds and how far it is."""
        encoder = self._gateway.model
        if not self.exists():
            return Status(
                self.zone, "", 0, 0, 0, 0, 0, 0, 0.0, None, False, [], encoder, self.head()
            )
        if not self._followed:
            self._node.project_turns(self.zone)
        lag_seconds = self._lag_seconds()
        moved = self._node.journal.moved(self.zone)
        moved_ago = (unix_ms() - moved.at) / 1_000 if moved.at else None
        generation = self._node.current(self.zone)
        with self._node.open(self.zone, generation) as files:
            marks = {model.name: model.watermark().number for model in files.all}
            counts = counted(files)
            return Status(
                zone=self.zone,
                generation=generation.name,
                events=event_count(files.events.connection),
                facts=counts["facts"],
                entities=counts["entities"],
                observations=counts["observations"],
                dead_letters=len(dead_letters(files.memory.connection)),
                lag=marks["events"] - marks["memory"],
                lag_seconds=lag_seconds,
                moved_seconds_ago=moved_ago,
                stalled=min(lag_seconds or 0, moved_ago or 0) > STALLED_SECONDS,
                models=[ModelStatus(name, number) for name, number in marks.items()],
                encoder=generation.encoder,
                head=self.head(),
            )

    def _lag_seconds(self) -> float | None:
        """Return how long the first record that is not concluded has waited; 0: there is none."""
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            mark = files.memory.watermark()
        ledger, partition = self._node.ledger, partition_of(self.zone)
        waiting = ledger.read(EVENTS, partition, mark.event_offset, 1, self.zone)
        if not waiting:
            return 0.0
        at = ledger.appended_at(EVENTS, partition, waiting[0].offset)
        return None if at is None else max(unix_ms() - at, 0) / 1_000

    def rebuild(self, level: Level, progress: Progress | None = None) -> Rebuilt:
        """Throw a derived layer away and make it again; the old one serves until it is done."""
        self._must_exist()
        try:
            self.drive()
        except OtherHistory:
            # What the ledger lost may stand in these files alone.
            raise
        except _DAMAGE:
            # What is damaged is made again by that, and concludes what waits after it.
            if level != "project":
                raise
        rebuilt = rebuilding.rebuild(self._node, self.zone, level, progress)
        self.drive()
        return rebuilt

    def pending_conclusions(self) -> int:
        """Return how many ledger records are not concluded yet."""
        return self.status().lag

    def pending(self) -> int:
        """Return how many ledger records a rebuild reads."""
        self._must_exist()
        return rebuilding.pending(self._node, self.zone)

    def rollback(self, progress: Progress | None = None) -> Generation:
        """Go back to the generation before, brought up to date."""
        self._must_exist()
        return rebuilding.rollback(self._node, self.zone, progress)

    def verify(
        self, progress: Progress | None = None, expect: Expected | None = None
    ) -> Verification:
        """Replay the ledger and compare every read model with what comes out; change nothing.

        `expect` is a head of an earlier moment that the ledger must hold.
        """
        if expect is None:
            self._must_exist()
        return verifying.verify(self._node, self.zone, progress, expect)

    def reclaim(self, *, dry_run: bool = False) -> Reclaimed:
        """Take change records of chains that nothing needs any more out of the ledger.

        Raises:
            InvalidInput: the ledger is not the embedded one.
        """
        self._must_exist()
        return reclaiming.reclaim(self._node, self.zone, dry_run=dry_run)

    def dead_letters(self) -> list[DeadLetter]:
        """Return the records that are parked."""
        if not self.exists():
            return []
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            return dead_letters(files.memory.connection)

    def retry(self, number: int) -> bool:
        """Decide a parked record again; return whether it is parked no more."""
        self.command(Retry(source_id=drawn_id(f"retry:{number}"), number=number))
        return number not in {letter.number for letter in self.dead_letters()}

    def drop(self, number: int) -> bool:
        """Give a parked record up; return whether it is parked no more."""
        self.command(Drop(source_id=drawn_id(f"drop:{number}"), number=number))
        return number not in {letter.number for letter in self.dead_letters()}
