"""A node: the ledger, the journal and the zones' files of one home, put to work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from projections.files import ZoneFiles
from projections.generations import Generation, ZoneDirectory
from schemas.errors import Busy
from schemas.records import read_change
from schemas.zones import check_zone
from streams.agents import AGENTS, Agent
from streams.doors import VectorDoor
from streams.drivers.journal import Journal
from streams.drivers.zone import ZoneDriver
from streams.ledger import CHANGES, Ledger, partition_of
from streams.locks import exclusive
from streams.projecting import Progress, fold_events
from streams.reading import ChangeReader

FIRST_CHAIN = "c0"


class Node:
    """Everything below a home directory that is not configuration."""

    def __init__(
        self,
        directory: Path,
        ledger: Ledger,
        door: VectorDoor,
        agents: Sequence[Agent] = AGENTS,
    ) -> None:
        self.ledger = ledger
        self.door = door
        self.agents = agents
        self.journal = Journal(directory / "driver.db")
        self._zones = directory / "zones"

    def zone(self, zone: str) -> ZoneDirectory:
        """Return the directory of a zone, which need not exist."""
        return ZoneDirectory(self._zones / check_zone(zone))

    def current(self, zone: str) -> Generation:
        """Return the generation of a zone that is in use; the first one is made where none is."""
        directory = self.zone(zone)
        if not directory.exists():
            with exclusive(directory.path / "first.lock"):
                if not directory.exists():
                    directory.switch(
                        directory.create(
                            chain=self._longest_chain(zone),
                            encoder=self.door.model,
                            dimension=self.door.dimension,
                            level="first",
                        ),
                        None,
                    )
        return directory.current()

    def open(self, zone: str, generation: Generation, *, readonly: bool = False) -> ZoneFiles:
        """Open the files of a generation."""
        return ZoneFiles(
            self.zone(zone).directory(generation),
            generation.encoder,
            generation.dimension,
            readonly=readonly,
        )

    @contextmanager
    def driving(self, zone: str) -> Iterator[None]:
        """Be the only process that drives a zone."""
        with exclusive(self.zone(zone).path / "driver.lock"):
            yield

    def driver(
        self, zone: str, generation: Generation, files: ZoneFiles, *, owner: bool = True
    ) -> ZoneDriver:
        """Return the driver of a generation's files.

        `owner`: it appends the commands that are asked for, as only the one in use may.
        """
        return ZoneDriver(
            self.ledger,
            zone,
            generation.chain,
            files,
            self.door,
            self.journal,
            agents=self.agents,
            owner=owner,
        )

    def fold(self, zone: str) -> None:
        """Make everything in the ledger searchable as raw turns."""
        with self.open(zone, self.current(zone)) as files:
            fold_events(self.ledger, zone, files)

    def drive(self, zone: str, progress: Progress | None = None) -> int:
        """Decide everything up to the ledger's end; return how many records that were."""
        with self.driving(zone):
            decided = self.drive_held(zone, progress)
            if self.journal.owes_purge(zone):
                self._purge(zone)
        return decided

    def drive_held(self, zone: str, progress: Progress | None = None) -> int:
        """Do so inside `driving`, in the generation in use alone."""
        generation = self.current(zone)
        with self.open(zone, generation) as files:
            return self.driver(zone, generation, files).run(progress)

    def close(self) -> None:
        """Close the ledger and the journal."""
        self.journal.close()
        self.ledger.close()

    def _purge(self, zone: str) -> None:
        """Carry an erasure into every generation: kept ones follow, unfinished ones go."""
        directory = self.zone(zone)
        with ExitStack() as held:
            try:
                held.enter_context(exclusive(directory.path / "rebuild.lock", wait=False))
            except Busy:
                # A rebuild is at work: it meets the erasure in the ledger by itself, and what
                # it replaces is purged when this zone is driven next.
                return
            self._purge_generations(zone, directory)

    def _purge_generations(self, zone: str, directory: ZoneDirectory) -> None:
        current = directory.current()
        directory.clear_leftovers()
        clean = True
        for generation in directory.generations():
            if generation.name != current.name and (
                not generation.complete or generation.encoder not in (None, self.door.model)
            ):
                # It cannot be brought up to date: it is half written, or its encoder is not
                # the one that this home has. Kept, it would keep what was forgotten.
                directory.remove(generation)
                continue
            with self.open(zone, generation) as files:
                if generation.name != current.name:
                    self.driver(zone, generation, files, owner=False).run()
                # Every file is purged, whether or not one before it could be.
                purged = [model.purge() for model in files.all]
                clean &= all(purged)
        if clean:
            self.journal.purged(zone)

    def _longest_chain(self, zone: str) -> str:
        """Return the chain of a zone's change records that goes furthest, the newest of equals."""
        chains: dict[str, int] = {}
        offset = 0
        while records := self.ledger.read(CHANGES, partition_of(zone), offset, 1_000, zone):
            for record in records:
                chains.setdefault(read_change(record.value)[0].chain, record.offset)
            offset = records[-1].offset + 1
        best = (0, -1, FIRST_CHAIN)
        for chain, first in chains.items():
            reader = ChangeReader(self.ledger, zone, chain)
            while reader.read(1_000):
                pass
            best = max(best, (reader.number, first, chain))
        return best[2]
