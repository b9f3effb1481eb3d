"""A node: the ledger, the journal and the zones' files of one home, put to work."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.projections.events.event_queries import switched_to
from recollect.projections.files import FILE_NAMES, FilesPool, ZoneFiles
from recollect.projections.generations import OWN_AGENTS, Generation, ZoneDirectory, sync_directory
from recollect.projections.private import must_be_writable, read_only, writable
from recollect.projections.sqlite import copy_file
from recollect.schemas.errors import (
    AgentMismatch,
    Busy,
    CorruptFile,
    DeletionFailed,
    HistoryMismatch,
    HomeError,
    IntegrityError,
    NewerFormat,
    RecollectError,
    UpgradeRequired,
)
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import NO_CHAIN, chain_of
from recollect.schemas.zones import check_zone
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.journal import Journal
from recollect.streams.ledger import CHANGES, Ledger, partition_of
from recollect.streams.ledger.ledger import Head
from recollect.streams.projecting.moments import Moment, moment_of, open_moment, remove_moments
from recollect.streams.projecting.projector import Progress, project_changes, project_events, purge
from recollect.streams.reading.readers import ChangeReader, last_switch, located
from recollect.streams.reading.timeline import Timeline
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive

# Who only asks decides nothing, and need not load what decides.
if TYPE_CHECKING:
    from recollect.streams.agents import Agent
    from recollect.streams.engine.zone import ZoneDriver

FIRST_CHAIN = "c0"
# After so long without progress, a caller that waits for the workers decides by itself.
_PATIENCE_SECONDS = 10.0
# Zones whose files stay open; each takes four files and a few MB.
_MAX_IDLE_ZONES = 32
_BATCH_SIZE = 1_000


class Node:
    """Everything below a home directory that is not configuration.

    `decides` False: a replica, which only follows what others decide. In a read-only directory
    nothing is driven: files that lack something are copied to a temporary directory and completed
    there. It is deleted when the node is closed.
    """

    def __init__(
        self,
        directory: Path,
        ledger: Ledger,
        gateway: EncoderGateway,
        agents: Sequence[Agent] | None = None,
        *,
        registered: tuple[str, ...] = OWN_AGENTS,
        decides: bool = True,
    ) -> None:
        """`registered` names the home's agents; `agents` are loaded ones, in their place."""
        self.ledger = ledger
        self.decides = decides
        self.gateway = gateway
        self.registered = registered
        self._agents = agents
        self._directory = directory
        self.writes = not read_only(directory)
        self.journal = Journal(directory / "driver.db" if self.writes else None)
        self._zones = directory / "zones"
        self._files = FilesPool(_MAX_IDLE_ZONES)
        self._making_elsewhere = threading.Lock()
        self._elsewhere: tempfile.TemporaryDirectory[str] | None = None
        if self.writes:
            self._take_over_debts()

    @property
    def agents(self) -> Sequence[Agent]:
        """The agents that decide: those that were given, else those that are registered.

        Raises:
            HomeError: one that is registered cannot be had.
        """
        if self._agents is None:
            from recollect.streams.deciding.registration import agents_named

            self._agents = agents_named(self.registered)
        return self._agents

    def check_agents(self, zone: str, generation: Generation) -> None:
        """Raise AgentMismatch where other agents decided a generation than those of this home.

        What one decides rests on what all decided before it, and an erasure decides it again.
        """
        if generation.agents != self.registered:
            theirs = ",".join(generation.agents)
            raise AgentMismatch(
                f"generation {generation.name} of zone {zone} was decided by the agents {theirs}, "
                f"and this home has {','.join(self.registered)}: run recollect --zone {zone} "
                f"rebuild --level derive, or give it its agents back: recollect init --agents "
                f"{theirs}. Until then nothing more is decided here; what there is answers"
            )

    def _first_agents(self) -> tuple[str, ...]:
        """Return which agents decide a zone that nobody has decided yet."""
        if self.registered != OWN_AGENTS and self.decides:
            # A generation is not said to be of agents that cannot be had.
            _ = self.agents
        return self.registered

    def _take_over_debts(self) -> None:
        """Move what an older build noted in the journal of owed purges into zones' files."""
        for zone in self.journal.owed_before():
            with suppress(HomeError), self.open(zone, self.zone(zone).current()) as files:
                for model in files.decided:
                    model.owe_purge()
        self.journal.forget_owed_before()

    def zone(self, zone: str) -> ZoneDirectory:
        """Return the directory of a zone, which need not exist."""
        own = ZoneDirectory(self._zones / check_zone(zone))
        return own if self.writes or own.exists() else self._made_to_read(zone)

    def _made_to_read(self, zone: str) -> ZoneDirectory:
        """Return the temporary directory of a zone, for a home that is read-only."""
        with self._making_elsewhere:
            if self._elsewhere is None:
                self._elsewhere = tempfile.TemporaryDirectory(prefix="recollect-")
            return ZoneDirectory(Path(self._elsewhere.name) / check_zone(zone))

    def _place(self, zone: str, generation: Generation) -> Path:
        """Return the directory of a generation's files, or of their copy where there is one."""
        if not self.writes and self._elsewhere is not None:
            copy = self._made_to_read(zone).directory(generation)
            if copy.exists():
                return copy
        return self.zone(zone).directory(generation)

    def first_generation(self, zone: str) -> Generation:
        """Return what a zone's first generation would be; without a name, as none is made."""
        return Generation(
            name="",
            chain=self.chain_in_use(zone),
            encoder=self.gateway.model,
            dimension=self.gateway.dimension,
            level="first",
            complete=False,
            agents=self.registered,
        )

    def current(self, zone: str) -> Generation:
        """Return the generation of a zone that is in use; the first one is made where none is.

        Raises:
            HomeError: the zone has no event, and so no generation.
        """
        directory = self.zone(zone)
        # Another process may be making the first one: look again under the lock.
        with suppress(HomeError):
            return directory.current()
        if not self.ledger.head(zone).number:
            return directory.current()
        with exclusive(directory.path / "first.lock"):
            if not directory.exists():
                first = directory.create(
                    chain=self.chain_in_use(zone),
                    encoder=self.gateway.model,
                    dimension=self.gateway.dimension,
                    level="first",
                    agents=self._first_agents(),
                )
                # Its files are made now, so that one that is missing later is known to be lost.
                with self.open(zone, first):
                    pass
                directory.switch(first, None)
        return directory.current()

    @contextmanager
    def open(self, zone: str, generation: Generation) -> Iterator[ZoneFiles]:
        """Lend the files of a generation.

        Where they are of an older version and read-only, a copy is brought up to date and lent.
        """
        with ExitStack() as lent:
            try:
                files = lent.enter_context(self._lend(zone, generation))
            except UpgradeRequired:
                self._copy_to_read(zone, generation)
                files = lent.enter_context(self._lend(zone, generation))
            yield files

    def _lend(self, zone: str, generation: Generation) -> AbstractContextManager[ZoneFiles]:
        place = self._place(zone, generation)
        return self._files.open(
            place,
            generation.encoder,
            generation.dimension,
            readonly=not self.writes and read_only(place),
            complete=generation.complete,
        )

    def open_to_read(self, zone: str, generation: Generation) -> ZoneFiles:
        """Open the files of a generation, or their copy, for reading alone; close them."""

        def opened() -> ZoneFiles:
            place = self._place(zone, generation)
            return ZoneFiles(place, generation.encoder, generation.dimension, readonly=True)

        try:
            return opened()
        except UpgradeRequired:
            self._copy_to_read(zone, generation)
            return opened()

    def moment(self, zone: str, timeline: Timeline, number: int) -> Moment:
        """Return the state of a zone after a record, as it can be asked now."""
        generation = self.current(zone)
        with self.open(zone, generation) as files:
            return moment_of(timeline, generation, files, number)

    def open_moment(self, zone: str, timeline: Timeline, moment: Moment) -> ZoneFiles:
        """Open the files of a zone as they were at a moment, for reading alone; close them."""
        generation = self.current(zone)
        directory = self.zone(zone) if self.writes else self._made_to_read(zone)
        return open_moment(self.ledger, zone, directory, generation, timeline, moment)

    @contextmanager
    def driving(self, zone: str) -> Iterator[None]:
        """Be the only process that drives a zone.

        Raises:
            HomeError: the home is read-only.
        """
        must_be_writable(self._directory)
        with exclusive(self._driver_lock(zone)):
            yield

    def _driver_lock(self, zone: str) -> Path:
        return self.zone(zone).path / "driver.lock"

    def driver(
        self, zone: str, generation: Generation, files: ZoneFiles, *, owner: bool = True
    ) -> ZoneDriver:
        """Return the driver of a generation's files.

        `owner`: it also appends the commands that its change records ask for. Only the driver of
        the generation in use may.

        Raises:
            AgentMismatch: other agents decided it than those of this home.
        """
        self.check_agents(zone, generation)
        from recollect.streams.engine.zone import ZoneDriver

        return ZoneDriver(
            self.ledger,
            zone,
            generation.chain,
            files,
            self.gateway,
            self.journal,
            agents=self.agents,
            owner=owner,
            before_keys_end=partial(self._erase_kept, zone, generation) if owner else None,
        )

    def _erase_kept(self, zone: str, current: Generation, number: int) -> None:
        """Decide an erasure on the chains of kept generations too, before its keys are destroyed.

        While what it erases can still be read, only what rested on it is decided again. A
        generation that is busy is caught up when what was erased is purged.
        """
        directory = self.zone(zone)
        with (
            suppress(RecollectError),
            exclusive(directory.path / "rebuild.lock", wait=False),
        ):
            for kept in directory.generations():
                decided = kept.complete and kept.encoder == self.gateway.model
                decided = decided and kept.agents == self.registered
                if not decided or kept.chain == current.chain:
                    continue
                with self.open(zone, kept) as files:
                    driver = self.driver(zone, kept, files, owner=False)
                    driver.run(while_=partial(_behind, files, number))

    def project_turns(self, zone: str) -> None:
        """Bring the files up to all events and changes that the ledger holds; decide nothing.

        What a killed process left of an erasure is removed, unless something is still to be
        decided.
        """
        generation = self.current(zone)
        if not self.writes:
            self._project_to_read(zone, generation)
            return
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._decided_since(zone, generation, files):
                # A process died before it wrote the files, or files were lost. A driver at work
                # does the same, and reports what cannot be read.
                with (
                    suppress(Busy, IntegrityError, NewerFormat),
                    exclusive(self._driver_lock(zone), wait=False),
                ):
                    project_changes(self.ledger, zone, generation.chain, files)
                    self.journal.move(zone, files.memory.watermark().number)
            owes = files.owes_purge() and not _behind(files, files.events.watermark().number)
        if owes:
            # A driver at work does the same, and reports what cannot be done.
            with suppress(Busy, DeletionFailed), exclusive(self._driver_lock(zone), wait=False):
                self._purge(zone)

    def _project_to_read(self, zone: str, generation: Generation) -> None:
        """As `project_turns`, for a read-only home: in a copy where the files lack anything."""
        with self.open(zone, generation) as files:
            made = writable(files.directory)
            behind = files.events.watermark().number < self.ledger.head(zone).number
            if not made and not behind and not self._decided_since(zone, generation, files):
                # Nothing is missing: this only compares.
                self.project_turns_into(zone, files)
                return
        if not made:
            self._copy_to_read(zone, generation)
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._decided_since(zone, generation, files):
                with suppress(IntegrityError, NewerFormat):
                    project_changes(self.ledger, zone, generation.chain, files, destroys=False)

    def _copy_to_read(self, zone: str, generation: Generation) -> None:
        source = self._place(zone, generation)
        directory = self._made_to_read(zone)
        with exclusive(directory.path / "first.lock"):
            target = directory.directory(generation)
            if target.exists():
                return
            begun = target.with_name(f"scratch-{target.name}")
            begun.mkdir()
            for name in FILE_NAMES:
                copy_file(source / name, begun / name)
            begun.rename(target)

    def _decided_since(self, zone: str, generation: Generation, files: ZoneFiles) -> bool:
        """Return whether the ledger holds change records of a generation that its files lack."""
        if self.ledger.shared or switched_to(files.events.connection) not in (
            None,
            generation.chain,
        ):
            # Workers decide these zones; `follow` projects them.
            return False
        mark = min((model.watermark() for model in files.decided), key=lambda mark: mark.number)
        if mark.number >= self.ledger.head(zone).number:
            return False
        reader = ChangeReader(
            self.ledger, zone, generation.chain, mark.number, mark.offset, mark.hash
        )
        # The driver of the zone reports what cannot be read.
        with suppress(IntegrityError, NewerFormat):
            return bool(reader.read(_BATCH_SIZE))
        return False

    def project_turns_into(self, zone: str, files: ZoneFiles) -> None:
        """Project raw turns, and check that the files hold the ledger's history.

        Raises:
            HistoryMismatch: they were made from another history of this zone.
        """
        first = self.ledger.head(zone)
        project_events(self.ledger, zone, files)
        mark = files.events.watermark()
        # More may have come since the head was read.
        last = first if mark.number <= first.number else self.ledger.head(zone)
        if not first.number <= mark.number <= last.number or (
            mark.number == last.number and mark.hash != last.hash
        ):
            raise HistoryMismatch(
                f"zone {zone}: this home's files stand at event {mark.number} of another history "
                f"than the ledger's, which has {last.number}: a record was changed or removed, or "
                "the ledger was restored without these; restore what is missing, or start a new "
                "home"
            )

    def drive(
        self,
        zone: str,
        progress: Progress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> int:
        """Decide everything up to the ledger's end; return how many records that were.

        Stops early once `while_` is False: the zone belongs to another process now.
        """
        with self.driving(zone):
            return self.drive_locked(zone, progress, while_)

    def drive_locked(
        self,
        zone: str,
        progress: Progress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> int:
        """As `drive`, for a caller that is inside `driving`."""
        return self._bring_up(
            zone,
            lambda generation, files: self.driver(zone, generation, files).run(progress, while_),
        )

    def follow(self, zone: str, progress: Progress | None = None, *, alone: bool = True) -> int:
        """Bring a zone up to what others decided; return how many records it moved.

        `alone` False: another process of this home projects events at the same time.
        """

        def project(generation: Generation, files: ZoneFiles, upto: int | None = None) -> int:
            return project_changes(
                self.ledger,
                zone,
                generation.chain,
                files,
                upto=upto,
                progress=progress,
            )

        if not self.ledger.head(zone).number:
            # Changes may arrive before the events that they rest on.
            return 0
        with self.driving(zone):
            ahead = self._project_ahead(zone, project) if alone else 0
            return ahead + self._bring_up(zone, project)

    def _project_ahead(
        self, zone: str, project: Callable[[Generation, ZoneFiles, int], int]
    ) -> int:
        """Project changes while another process projects their events; return how many records."""
        moved = 0
        from recollect.streams.projecting.background import BackgroundProjection

        with BackgroundProjection(self.ledger, zone) as background:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                for number in background.projected(files, generation):
                    if switched_to(files.events.connection) not in (None, generation.chain):
                        break
                    moved += project(generation, files, number)
        return moved

    def decided_up_to(self, zone: str) -> int:
        """Return the number of the last record that every file of a zone holds."""
        with self.open(zone, self.current(zone)) as files:
            return min(model.watermark().number for model in files.all)

    def decide(self, zone: str, progress: Progress | None = None) -> int:
        """Wait until workers have decided everything in the ledger, or decide it here.

        It is decided here where there are no workers, or where they make no progress for ten
        seconds. If both decide a record, the second decision is void.
        """
        moved = 0
        waited = time.monotonic()
        while self.ledger.workers():
            moved += (step := self.follow(zone, progress))
            if self.decided_up_to(zone) >= self.ledger.head(zone).number:
                return moved
            if step:
                waited = time.monotonic()
            elif time.monotonic() - waited > _PATIENCE_SECONDS:
                break
            place = (CHANGES, partition_of(zone))
            self.ledger.wait({place: self.ledger.end(*place)}, 0.5)
        return moved + self.drive(zone, progress)

    def _bring_up(self, zone: str, work: Callable[[Generation, ZoneFiles], int]) -> int:
        """Work on the files of the generation that the ledger's last switch names."""
        while True:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                self.project_turns_into(zone, files)
                chain = switched_to(files.events.connection)
                if chain in (None, generation.chain):
                    moved = work(generation, files)
                    self.journal.move(zone, files.memory.watermark().number)
                    break
                switched = last_switch(self.ledger, zone)
                mark = files.events.watermark()
                if switched != chain and Head(mark.number, mark.hash) == self.ledger.head(zone):
                    raise CorruptFile(
                        f"{files.events.path} says that chain {chain!r} is in use, and the ledger "
                        f"says {switched!r}; run recollect --zone {zone} rebuild"
                    )
            if switched == chain:
                self._adopt(zone, generation, chain)
        if self.owes_purge(zone):
            self._purge(zone)
        return moved

    def owes_purge(self, zone: str) -> bool:
        """Return whether the files in use note that traces of an erasure may be left."""
        with self.open(zone, self.current(zone)) as files:
            return files.owes_purge()

    def settle(self, zone: str) -> None:
        """Remove the traces that an erasure may have left, as driving the zone does too."""
        if self.owes_purge(zone):
            with self.driving(zone):
                self._purge(zone)

    def _adopt(self, zone: str, current: Generation, chain: str) -> None:
        """Put a generation of the chain into use that the ledger's last switch names."""
        directory = self.zone(zone)
        with exclusive(directory.path / "rebuild.lock", wait=False):
            kept = [item for item in directory.generations() if item.chain == chain]
            generation = (
                kept[-1]
                if kept
                else directory.create(
                    chain=chain,
                    encoder=self.gateway.model,
                    dimension=self.gateway.dimension,
                    level="project",
                    agents=self.registered,
                )
            )
            with self.open(zone, generation) as files:
                project_events(self.ledger, zone, files)
                project_changes(self.ledger, zone, chain, files)
            directory.switch(generation, current)

    def zones(self) -> list[str]:
        """Return the zones that have files here, sorted."""
        if not self._zones.is_dir():
            return []
        return sorted(
            entry.name for entry in self._zones.iterdir() if ZoneDirectory(entry).exists()
        )

    def close_removed(self) -> None:
        """Close the files of generations that were removed, by whomever."""
        self._files.close_removed()

    def close(self) -> None:
        """Close the ledger and the journal."""
        self._files.close()
        self.journal.close()
        self.ledger.close()
        if self._elsewhere is not None:
            self._elsewhere.cleanup()

    def _purge(self, zone: str) -> None:
        """Carry an erasure into every kept generation, and remove unfinished ones.

        Raises:
            DeletionFailed: something that may hold what was erased cannot be deleted.
        """
        directory = self.zone(zone)
        try:
            remove_moments(directory)
            with ExitStack() as held:
                try:
                    held.enter_context(exclusive(directory.path / "rebuild.lock", wait=False))
                except Busy:
                    # A rebuild is at work. It finds the erasure in the ledger, and the generation
                    # that it replaces is purged when this zone is driven next.
                    return
                self._purge_generations(zone, directory)
        except DeletionFailed as error:
            raise DeletionFailed(
                f"zone {zone}: what was forgotten is answered no more, but is left in files: "
                f"{error}"
            ) from error

    def _purge_generations(self, zone: str, directory: ZoneDirectory) -> None:
        current = directory.current()
        directory.clear_leftovers()
        clean = True
        kept = []
        for generation in directory.generations():
            if generation.name != current.name and (
                not generation.complete
                or not self.decides
                or generation.encoder not in (None, self.gateway.model)
                or generation.agents != self.registered
            ):
                # It cannot be brought up to date: it is half written, its encoder or its agents are
                # not this home's, or nothing is decided here. Kept, it would hold what was
                # forgotten.
                directory.remove(generation)
                continue
            with self.open(zone, generation) as files:
                if generation.name != current.name:
                    self.driver(zone, generation, files, owner=False).run()
                clean &= purge(files)
            kept.append(generation)
        # The deletions must be durable before the note of them goes.
        sync_directory(directory.path)
        failpoint("purge.done")
        if not clean:
            return
        # The note in the generation in use stands for all, so it is cleared last.
        for generation in sorted(kept, key=lambda item: item.name == current.name):
            with self.open(zone, generation) as files:
                files.settle()

    def chain_in_use(self, zone: str) -> str:
        """Return the chain of a zone's change records that the ledger says is in use.

        That is the one of its last switch. Older builds noted a switch in the files alone; without
        a switch in the ledger it is the chain that goes furthest, of equals the newest.
        """
        chains: dict[str, int] = {}
        offset = 0
        assembler = Assembler()
        while records := self.ledger.read(CHANGES, partition_of(zone), offset, 1_000, zone):
            for record in records:
                try:
                    value = assembler.add(record.value)
                    if value is not None and (chain := chain_of(value)) != NO_CHAIN:
                        chains.setdefault(chain, record.offset)
                except IntegrityError:
                    # It belongs to no chain; readers of the chains report it.
                    continue
                except NewerFormat as error:
                    raise located(error, CHANGES, zone, record.offset) from None
            offset = records[-1].offset + 1
        if len(chains) < 2:
            return next(iter(chains), FIRST_CHAIN)
        if (switched := last_switch(self.ledger, zone)) is not None:
            return switched
        best = (0, -1, FIRST_CHAIN)
        for chain, first in chains.items():
            reader = ChangeReader(self.ledger, zone, chain)
            while reader.read(1_000):
                pass
            best = max(best, (reader.number, first, chain))
        return best[2]


def _behind(files: ZoneFiles, number: int) -> bool:
    """Return whether a decided file does not hold a record yet."""
    return any(model.watermark().number < number for model in files.decided)
