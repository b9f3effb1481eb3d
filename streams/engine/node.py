"""A node: the ledger, the journal and the zones' files of one home, put to work."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from projections.events.event_queries import switched_to
from projections.files import FILE_NAMES, FilesPool, ZoneFiles
from projections.generations import Generation, ZoneDirectory, sync_directory
from projections.private import must_be_writable, read_only, writable
from projections.sqlite import copy_file
from schemas.errors import (
    Busy,
    Damaged,
    HomeError,
    IntegrityError,
    NotDeleted,
    OlderVersion,
    OtherHistory,
    RecollectError,
    UnknownVersion,
)
from schemas.fragments import Assembler
from schemas.records import NO_CHAIN, chain_of
from schemas.zones import check_zone
from streams.agents import AGENTS, Agent
from streams.encoder.gateway import EncoderGateway
from streams.engine.journal import Journal
from streams.engine.zone import ZoneDriver
from streams.ledger import CHANGES, Ledger, partition_of
from streams.ledger.sequencer import Head
from streams.projecting.background import BackgroundProjection
from streams.projecting.moments import Moment, moment_of, open_moment, remove_moments
from streams.projecting.projector import Progress, project_changes, project_events, purge
from streams.reading.readers import ChangeReader, last_switch, located
from streams.reading.timeline import Timeline
from streams.system.failpoints import failpoint
from streams.system.locks import exclusive

FIRST_CHAIN = "c0"
# So long without a step, and whoever waits for the workers does it by himself.
_PATIENCE_SECONDS = 10.0
# Zones whose files stay open; each takes four files and a few MB.
_MOST_IDLE = 32
_READ_AT_ONCE = 1_000


class Node:
    """Everything below a home directory that is not configuration.

    `decides` False: a replica, which follows what others decide. Where the directory is
    read-only nothing is driven: what its files lack of the ledger, and what is made to be read,
    is made in a directory that lives until the node is closed.
    """

    def __init__(
        self,
        directory: Path,
        ledger: Ledger,
        gateway: EncoderGateway,
        agents: Sequence[Agent] = AGENTS,
        *,
        decides: bool = True,
    ) -> None:
        self.ledger = ledger
        self.decides = decides
        self.gateway = gateway
        self.agents = agents
        self._directory = directory
        self.writes = not read_only(directory)
        self.journal = Journal(directory / "driver.db" if self.writes else None)
        self._zones = directory / "zones"
        self._files = FilesPool(_MOST_IDLE)
        self._making_elsewhere = threading.Lock()
        self._elsewhere: tempfile.TemporaryDirectory[str] | None = None
        if self.writes:
            self._take_over_debts()

    def _take_over_debts(self) -> None:
        """Note in zones' files what the build before noted in the journal."""
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
        """Return where files of a zone are made while the home is read-only."""
        with self._making_elsewhere:
            if self._elsewhere is None:
                self._elsewhere = tempfile.TemporaryDirectory(prefix="recollect-")
            return ZoneDirectory(Path(self._elsewhere.name) / check_zone(zone))

    def _place(self, zone: str, generation: Generation) -> Path:
        """Return where the files of a generation lie: a copy where one had to be made."""
        if not self.writes and self._elsewhere is not None:
            copy = self._made_to_read(zone).directory(generation)
            if copy.exists():
                return copy
        return self.zone(zone).directory(generation)

    def current(self, zone: str) -> Generation:
        """Return the generation of a zone that is in use; the first one is made where none is.

        Raises:
            HomeError: the zone has no event, and so no generation.
        """
        directory = self.zone(zone)
        # It may be that another is about to put the first one into use: asked again, alone.
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
                )
                # From now on its files are there, and one that is missing was lost.
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
            except OlderVersion:
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
        except OlderVersion:
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

        `owner`: it appends the commands that are asked for, as only the one in use may.
        """
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
        """Have an erasure decided on the chains of kept generations as well, while all that it
        erases can still be read there: what rested on it can be followed, and nothing else is
        decided again. Where it cannot be now, it is when what was erased is purged.
        """
        directory = self.zone(zone)
        with (
            suppress(RecollectError),
            exclusive(directory.path / "rebuild.lock", wait=False),
        ):
            for kept in directory.generations():
                decided = kept.complete and kept.encoder == self.gateway.model
                if not decided or kept.chain == current.chain:
                    continue
                with self.open(zone, kept) as files:
                    driver = self.driver(zone, kept, files, owner=False)
                    driver.run(while_=partial(_behind, files, number))

    def project_turns(self, zone: str) -> None:
        """Make everything in the ledger searchable as raw turns, and what is decided there.

        What somebody who died left of an erasure is removed, where nothing is to be decided.
        """
        generation = self.current(zone)
        if not self.writes:
            self._project_to_read(zone, generation)
            return
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._decided_since(zone, generation, files):
                # Whoever died before the files had it, or files that were lost. Who drives the
                # zone does it by himself, and says what cannot be read there.
                with (
                    suppress(Busy, IntegrityError, UnknownVersion),
                    exclusive(self._driver_lock(zone), wait=False),
                ):
                    project_changes(self.ledger, zone, generation.chain, files)
                    self.journal.move(zone, files.memory.watermark().number)
            owes = files.owes_purge() and not _behind(files, files.events.watermark().number)
        if owes:
            # Who drives the zone does it by himself, and says what cannot be done.
            with suppress(Busy, NotDeleted), exclusive(self._driver_lock(zone), wait=False):
                self._purge(zone)

    def _project_to_read(self, zone: str, generation: Generation) -> None:
        """Do so in a copy, where the files of a read-only home lack anything."""
        with self.open(zone, generation) as files:
            made = writable(files.directory)
            behind = files.events.watermark().number < self.ledger.head(zone).number
            if not made and not behind and not self._decided_since(zone, generation, files):
                # It reads, and only compares.
                self.project_turns_into(zone, files)
                return
        if not made:
            self._copy_to_read(zone, generation)
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._decided_since(zone, generation, files):
                with suppress(IntegrityError, UnknownVersion):
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
            # Those are followed.
            return False
        mark = min((model.watermark() for model in files.decided), key=lambda mark: mark.number)
        if mark.number >= self.ledger.head(zone).number:
            return False
        reader = ChangeReader(
            self.ledger, zone, generation.chain, mark.number, mark.offset, mark.hash
        )
        # What cannot be read is said by who drives the zone.
        with suppress(IntegrityError, UnknownVersion):
            return bool(reader.read(_READ_AT_ONCE))
        return False

    def project_turns_into(self, zone: str, files: ZoneFiles) -> None:
        """Project, and see that the files hold what the ledger does.

        Raises:
            OtherHistory: they were made from another history of this zone.
        """
        first = self.ledger.head(zone)
        project_events(self.ledger, zone, files)
        mark = files.events.watermark()
        # More may have come since it was asked for.
        last = first if mark.number <= first.number else self.ledger.head(zone)
        if not first.number <= mark.number <= last.number or (
            mark.number == last.number and mark.hash != last.hash
        ):
            raise OtherHistory(
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

        Stops early once `while_` is False: the zone is somebody else's now.
        """
        with self.driving(zone):
            return self.drive_held(zone, progress, while_)

    def drive_held(
        self,
        zone: str,
        progress: Progress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> int:
        """Do so inside `driving`."""
        return self._bring_up(
            zone,
            lambda generation, files: self.driver(zone, generation, files).run(progress, while_),
        )

    def follow(self, zone: str, progress: Progress | None = None, *, alone: bool = True) -> int:
        """Bring a zone up to what others decided; return how many records it moved.

        `alone` False: somebody else of this home projects events at the same time.
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
            # Changes may come here before the events that they are drawn from.
            return 0
        with self.driving(zone):
            ahead = self._project_ahead(zone, project) if alone else 0
            return ahead + self._bring_up(zone, project)

    def _project_ahead(
        self, zone: str, project: Callable[[Generation, ZoneFiles, int], int]
    ) -> int:
        """Project the changes of what a process beside projects; return how many records."""
        moved = 0
        with BackgroundProjection(self.ledger, zone) as beside:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                for number in beside.projected(files, generation):
                    if switched_to(files.events.connection) not in (None, generation.chain):
                        break
                    moved += project(generation, files, number)
        return moved

    def decided_up_to(self, zone: str) -> int:
        """Return the last record that every file of a zone holds, by their own watermarks."""
        with self.open(zone, self.current(zone)) as files:
            return min(model.watermark().number for model in files.all)

    def decide(self, zone: str, progress: Progress | None = None) -> int:
        """Have everything in the ledger decided: by the workers where there are any, else here.

        Workers that decide nothing for a while are helped: whoever comes second is void.
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
        """Do work on the files of the generation that the ledger says is in use."""
        while True:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                self.project_turns_into(zone, files)
                chain = switched_to(files.events.connection)
                if chain in (None, generation.chain):
                    moved = work(generation, files)
                    self.journal.move(zone, files.memory.watermark().number)
                    break
                told = last_switch(self.ledger, zone)
                mark = files.events.watermark()
                if told != chain and Head(mark.number, mark.hash) == self.ledger.head(zone):
                    raise Damaged(
                        f"{files.events.path} says that chain {chain!r} is in use, and the ledger "
                        f"says {told!r}; run recollect --zone {zone} rebuild"
                    )
            if told == chain:
                self._adopt(zone, generation, chain)
        if self.owes_purge(zone):
            self._purge(zone)
        return moved

    def owes_purge(self, zone: str) -> bool:
        """Return whether traces of what was erased may be left, as the files in use note it."""
        with self.open(zone, self.current(zone)) as files:
            return files.owes_purge()

    def settle(self, zone: str) -> None:
        """Remove what traces an erasure may have left; whoever drives the zone does so anyway."""
        if self.owes_purge(zone):
            with self.driving(zone):
                self._purge(zone)

    def _adopt(self, zone: str, current: Generation, chain: str) -> None:
        """Put a generation of another chain into use, because the ledger says so."""
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

    def close(self) -> None:
        """Close the ledger and the journal."""
        self._files.close()
        self.journal.close()
        self.ledger.close()
        if self._elsewhere is not None:
            self._elsewhere.cleanup()

    def _purge(self, zone: str) -> None:
        """Carry an erasure into every generation: kept ones follow, unfinished ones go.

        Raises:
            NotDeleted: something that may hold what was erased cannot be deleted.
        """
        directory = self.zone(zone)
        try:
            remove_moments(directory)
            with ExitStack() as held:
                try:
                    held.enter_context(exclusive(directory.path / "rebuild.lock", wait=False))
                except Busy:
                    # A rebuild is at work: it meets the erasure in the ledger by itself, and what
                    # it replaces is purged when this zone is driven next.
                    return
                self._purge_generations(zone, directory)
        except NotDeleted as error:
            raise NotDeleted(
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
            ):
                # It cannot be brought up to date: it is half written, its encoder is not the
                # one that this home has, or nobody decides here. Kept, it would keep what was
                # forgotten.
                directory.remove(generation)
                continue
            with self.open(zone, generation) as files:
                if generation.name != current.name:
                    self.driver(zone, generation, files, owner=False).run()
                clean &= purge(files)
            kept.append(generation)
        # What was deleted stays deleted, also after a power cut, before nobody looks for it.
        sync_directory(directory.path)
        failpoint("purge.done")
        if not clean:
            return
        # That of the generation in use stands for all of them, so it goes last.
        for generation in sorted(kept, key=lambda item: item.name == current.name):
            with self.open(zone, generation) as files:
                files.settle()

    def chain_in_use(self, zone: str) -> str:
        """Return the chain of a zone's change records that counts, as the ledger says by itself.

        It is what the last switch names. Builds before this one switched an embedded ledger's
        chain in the files alone: there it is the one that goes furthest, the newest of equals.
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
                    # It belongs to no chain; who reads one past it says where it is.
                    continue
                except UnknownVersion as error:
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
