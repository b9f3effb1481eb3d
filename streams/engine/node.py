"""A node: the ledger, the journal and the zones' files of one home, and the operations on them."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.projections.events.event_queries import active_chain
from recollect.projections.file_permissions import read_only, require_writable
from recollect.projections.files import FILE_NAMES, FilesPool, ZoneFiles
from recollect.projections.generations import (
    OWN_AGENTS,
    Generation,
    ZoneDirectory,
    agents_of_zone,
    sync_directory,
)
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
from recollect.schemas.events import ActivateChain
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import (
    FIRST_FORMAT_WITH_SWITCHES,
    NO_CHAIN,
    chain_of,
    format_of_change,
)
from recollect.schemas.zones import check_zone
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.journal import Journal
from recollect.streams.engine.stop_causes import stop_cause
from recollect.streams.ledger import CHANGES, Ledger, partition_of
from recollect.streams.ledger.ledger import Head
from recollect.streams.projecting.projector import (
    OnProgress,
    project_changes,
    project_events,
    purge,
)
from recollect.streams.projecting.snapshots import (
    Snapshot,
    open_snapshot,
    remove_snapshots,
    snapshot_of,
)
from recollect.streams.records.chain_readers import ChangeReader, last_switch, with_location
from recollect.streams.records.timeline import Timeline
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive
from recollect.streams.system.open_files import max_idle_zones

# A process that only queries decides nothing, and need not load the agents.
if TYPE_CHECKING:
    from recollect.streams.agents import Agent
    from recollect.streams.engine.zone_driver import ZoneDriver

FIRST_CHAIN = "c0"
# After this long without progress, a caller that waits for the workers decides the records itself.
_STALL_TIMEOUT_SECONDS = 10.0
_BATCH_SIZE = 1_000


class Node:
    """Everything in a home directory except its configuration.

    `decides` False: a replica, which only projects the decisions of other nodes. A read-only home
    is not driven. If its files are incomplete, they are copied to a temporary directory and
    completed there; that directory is deleted when the node is closed.
    """

    def __init__(
        self,
        directory: Path,
        ledger: Ledger,
        gateway: EncoderGateway,
        agents: Sequence[Agent] | None = None,
        *,
        agent_names: tuple[str, ...] = OWN_AGENTS,
        find_gateway: Callable[[str], EncoderGateway | None] | None = None,
        decides: bool = True,
    ) -> None:
        """`agent_names` are the home's agents; `agents`, if given, are used instead.

        `gateway`: to the home's own encoder. `find_gateway`: returns the gateway to a further
        encoder of the home, given its model; None if the home does not have it.
        """
        self.ledger = ledger
        self.decides = decides
        self.gateway = gateway
        self._find_gateway = find_gateway
        self._further_gateways: dict[str, EncoderGateway] = {}
        self._gateways_lock = threading.Lock()
        self.agent_names = agent_names
        self._agents = agents
        self._loaded_agents: dict[tuple[tuple[str, ...], int], Sequence[Agent]] = {}
        #: The generations that are used as if they were active; see `beside`.
        self._beside: Mapping[str, Generation] = {}
        self._directory = directory
        self._journal: Journal | None = None
        self._zones = directory / "zones"
        self._files = FilesPool(max_idle_zones())
        self._journal_lock = threading.Lock()
        # Zones that this process could not drive the last time, and why.
        self._stop_causes: dict[str, str] = {}
        self._temporary_lock = threading.Lock()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if self.writes:
            self._migrate_pending_purges()

    @property
    def writes(self) -> bool:
        """Whether the home is writable now."""
        return not read_only(self._directory)

    def must_be_writable(self) -> None:
        """Raise ReadOnlyHome or DiskFull if the home cannot be written to."""
        require_writable(self._directory)

    @property
    def journal(self) -> Journal:
        """The crash-recovery state of the drivers; in memory while the home is read-only."""
        with self._journal_lock:
            if self._journal is None or (self._journal.in_memory and self.writes):
                path = self._directory / "driver.db" if self.writes else None
                self._journal = Journal(path)
            return self._journal

    @property
    def agents(self) -> Sequence[Agent]:
        """The agents of the home; they are loaded by name on first use.

        Raises:
            HomeError: an agent cannot be loaded.
        """
        return self._agents_named(self.agent_names, 0)

    def agents_of(self, generation: Generation) -> Sequence[Agent]:
        """Return the agents that decide in a generation.

        Raises:
            HomeError: an agent cannot be loaded.
        """
        return self._agents_named(self.agent_names_of(generation), generation.writer_role)

    def agent_names_of(self, generation: Generation) -> tuple[str, ...]:
        """Return the names of the agents that decide in a generation."""
        return agents_of_zone(self.agent_names, generation.consolidation)

    def _agents_named(self, names: tuple[str, ...], writer_role: int) -> Sequence[Agent]:
        if self._agents is not None:
            return self._agents
        if (names, writer_role) not in self._loaded_agents:
            from recollect.streams.deciding.registration import agents_named

            self._loaded_agents[names, writer_role] = agents_named(names, writer_role)
        return self._loaded_agents[names, writer_role]

    def gateway_of(self, model: str | None) -> EncoderGateway:
        """Return the gateway to the encoder of a generation, given its model.

        It is the gateway to the home's own encoder if the home has no other with this model.
        """
        if model is None or model == self.gateway.model or self._find_gateway is None:
            return self.gateway
        with self._gateways_lock:
            if model not in self._further_gateways:
                gateway = self._find_gateway(model)
                if gateway is None:
                    return self.gateway
                self._further_gateways[model] = gateway
            return self._further_gateways[model]

    def describe_chain(self, zone: str, chain: str, level: str) -> Generation:
        """Describe a generation of a zone's active chain, without creating it; its name is empty.

        A zone begins with the home's own encoder and agents. A rebuild that changes them begins a
        new chain, and the switch to it names them.
        """
        switch = None if chain == FIRST_CHAIN else last_switch(self.ledger, zone)
        if switch is None or switch.chain != chain:
            switch = ActivateChain(source_id="", chain=chain)
        gateway = self.gateway_of(switch.encoder)
        return Generation(
            name="",
            chain=chain,
            encoder=gateway.model,
            dimension=gateway.dimension,
            level=level,
            complete=False,
            agents=agents_of_zone(self.agent_names, switch.consolidation),
            consolidation=switch.consolidation,
            writer_role=switch.writer_role,
        )

    def check_agents(self, zone: str, generation: Generation) -> None:
        """Raise AgentMismatch if a generation was decided by other agents than those of this home.

        The same agents must make all decisions, since each decision depends on the earlier ones,
        and an erasure repeats some of them.
        """
        configured = self.agent_names_of(generation)
        if generation.agents != configured:
            agents = ",".join(generation.agents)
            raise AgentMismatch(
                f"generation {generation.name} of zone {zone} was derived by the agents {agents}, "
                f"but this home is configured with {','.join(configured)}: run recollect "
                f"--zone {zone} rebuild --level derive, or restore the earlier agents: recollect "
                f"init --agents {agents}. Until then no more events of the zone are processed, and "
                "queries use what was derived before"
            )

    def _migrate_pending_purges(self) -> None:
        """Move pending purges that an older build recorded in the journal to the zones' files."""
        for zone in self.journal.legacy_pending_purges():
            with suppress(HomeError), self.open(zone, self.zone(zone).current()) as files:
                for model in files.decided:
                    model.mark_purge_pending()
        self.journal.drop_legacy_purges()

    def zone(self, zone: str) -> ZoneDirectory:
        """Return the directory of a zone, which need not exist."""
        directory = ZoneDirectory(self._zones / check_zone(zone))
        return directory if self.writes or directory.exists() else self._read_only_copy(zone)

    def _read_only_copy(self, zone: str) -> ZoneDirectory:
        """Return the temporary directory of a zone, for a read-only home."""
        with self._temporary_lock:
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="recollect-")
            return ZoneDirectory(Path(self._temporary.name) / check_zone(zone))

    def _files_directory(self, zone: str, generation: Generation) -> Path:
        """Return the directory of a generation's files, or of their temporary copy."""
        if not self.writes and self._temporary is not None:
            copy = self._read_only_copy(zone).directory(generation)
            if copy.exists():
                return copy
        return self.zone(zone).directory(generation)

    def first_generation(self, zone: str) -> Generation:
        """Describe a zone's first generation, without creating it; its name is empty."""
        return self.describe_chain(zone, self.chain_in_use(zone), "first")

    def current(self, zone: str) -> Generation:
        """Return the generation of a zone that is in use, creating the first one if there is none.

        Raises:
            HomeError: the zone has no event, and therefore no generation.
        """
        if zone in self._beside:
            return self._beside[zone]
        directory = self.zone(zone)
        # If there is none yet, another process may be creating it: check again under the lock.
        with suppress(HomeError):
            return directory.current()
        if not self.ledger.head(zone).number:
            return directory.current()
        with exclusive(directory.path / "first.lock"):
            if not directory.exists():
                if self.agent_names != OWN_AGENTS and self.decides:
                    # Fail early if an agent cannot be loaded.
                    _ = self.agents
                first = directory.create(self.first_generation(zone))
                # Create its files now, so that a file that is missing later is known to be lost.
                with self.open(zone, first):
                    pass
                directory.activate(first, None)
        return directory.current()

    @contextmanager
    def open(self, zone: str, generation: Generation) -> Iterator[ZoneFiles]:
        """Lend the files of a generation.

        If they are read-only and of an older version, a migrated copy is lent.
        """
        with ExitStack() as stack:
            try:
                files = stack.enter_context(self._lend(zone, generation))
            except UpgradeRequired:
                self._copy_to_read(zone, generation)
                files = stack.enter_context(self._lend(zone, generation))
            yield files

    def _lend(self, zone: str, generation: Generation) -> AbstractContextManager[ZoneFiles]:
        directory = self._files_directory(zone, generation)
        return self._files.open(
            directory,
            generation.encoder,
            generation.dimension,
            readonly=not self.writes and read_only(directory),
            complete=generation.complete,
        )

    def open_to_read(self, zone: str, generation: Generation) -> ZoneFiles:
        """Open the files of a generation, or their copy, read-only; the caller closes them."""

        def opened() -> ZoneFiles:
            directory = self._files_directory(zone, generation)
            return ZoneFiles(directory, generation.encoder, generation.dimension, readonly=True)

        try:
            return opened()
        except UpgradeRequired:
            self._copy_to_read(zone, generation)
            return opened()

    def snapshot(self, zone: str, timeline: Timeline, number: int) -> Snapshot:
        """Describe a zone's snapshot as of record `number`, according to the files in use."""
        generation = self.current(zone)
        with self.open(zone, generation) as files:
            return snapshot_of(timeline, generation, files, number)

    def open_snapshot(self, zone: str, timeline: Timeline, snapshot: Snapshot) -> ZoneFiles:
        """Open the files of a snapshot read-only; the caller closes them."""
        generation = self.current(zone)
        directory = self.zone(zone) if self.writes else self._read_only_copy(zone)
        return open_snapshot(self.ledger, zone, directory, generation, timeline, snapshot)

    @contextmanager
    def driving(self, zone: str) -> Iterator[None]:
        """Hold the lock of the process that drives a zone.

        Raises:
            HomeError: the home is read-only.
        """
        self.must_be_writable()
        with exclusive(self._driver_lock(zone)):
            yield

    def beside(self, zone: str, generation: Generation) -> Node:
        """Return this node, but with a generation that is not active used as if it were.

        Only the caller decides in the generation. The ledger is shared, so do not close it.
        """
        node = copy(self)
        node._beside = {zone: generation}
        return node

    def _driver_lock(self, zone: str) -> Path:
        return self.zone(zone).path / "driver.lock"

    def driver(
        self, zone: str, generation: Generation, files: ZoneFiles, *, owner: bool = True
    ) -> ZoneDriver:
        """Return the driver of a generation's files.

        `owner`: whether it is the generation in use. Only its driver publishes the commands in its
        change records, and the driver of a generation used beside it.

        Raises:
            AgentMismatch: the generation was decided by other agents than those of this home.
        """
        self.check_agents(zone, generation)
        from recollect.streams.engine.zone_driver import ZoneDriver

        return ZoneDriver(
            self.ledger,
            zone,
            generation.chain,
            files,
            self.gateway_of(generation.encoder),
            self.journal,
            agents=self.agents_of(generation),
            owner=owner,
            publishes=owner or self._beside.get(zone) == generation,
            before_key_destruction=partial(self._erase_in_kept_generations, zone, generation)
            if owner
            else None,
        )

    def _erase_in_kept_generations(self, zone: str, current: Generation, number: int) -> None:
        """Decide an erasure on the chains of kept generations too, before the keys are destroyed.

        As long as the erased events can be read, only the decisions that depend on them have to be
        repeated. If this fails for a generation, the generation catches up when it is purged.
        """
        directory = self.zone(zone)
        with (
            suppress(RecollectError),
            exclusive(directory.path / "rebuild.lock", wait=False),
        ):
            for kept in directory.generations():
                has_encoder = kept.encoder == self.gateway_of(kept.encoder).model
                can_decide = kept.complete and has_encoder
                can_decide = can_decide and kept.agents == self.agent_names_of(kept)
                if not can_decide or kept.chain == current.chain:
                    continue
                with self.open(zone, kept) as files:
                    driver = self.driver(zone, kept, files, owner=False)
                    driver.run(should_continue=partial(_behind, files, number))

    def project_turns(self, zone: str) -> None:
        """Project all events and changes in the ledger into the files; decide nothing.

        If a killed process left a purge pending, finish it, unless there are undecided events.
        """
        generation = self.current(zone)
        if not self.writes:
            self._project_read_only(zone, generation)
            return
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._has_unprojected_changes(zone, generation, files):
                # A process died before it wrote the files, or files were lost. If a driver is
                # running, it does the same, and reports unreadable records.
                with (
                    suppress(Busy, IntegrityError, NewerFormat),
                    exclusive(self._driver_lock(zone), wait=False),
                ):
                    project_changes(self.ledger, zone, generation.chain, files)
                    self.journal.save_progress(zone, files.memory.watermark().number)
            can_purge = files.is_purge_pending() and not _behind(
                files, files.events.watermark().number
            )
        if can_purge:
            # If a driver is running, it does the same, and reports failures.
            with suppress(Busy, DeletionFailed), exclusive(self._driver_lock(zone), wait=False):
                self._purge(zone)

    def _project_read_only(self, zone: str, generation: Generation) -> None:
        """Do what `project_turns` does, for a read-only home.

        If the files are incomplete, a copy of them is brought up to date instead.
        """
        with self.open(zone, generation) as files:
            is_copy = not read_only(files.directory)
            behind = files.events.watermark().number < self.ledger.head(zone).number
            if (
                not is_copy
                and not behind
                and not self._has_unprojected_changes(zone, generation, files)
            ):
                # The files are complete, so this only compares them with the ledger.
                self.project_turns_into(zone, files)
                return
        if not is_copy:
            self._copy_to_read(zone, generation)
        with self.open(zone, generation) as files:
            self.project_turns_into(zone, files)
            if self._has_unprojected_changes(zone, generation, files):
                with suppress(IntegrityError, NewerFormat):
                    project_changes(
                        self.ledger, zone, generation.chain, files, destroy_erased_keys=False
                    )

    def _copy_to_read(self, zone: str, generation: Generation) -> None:
        source = self._files_directory(zone, generation)
        directory = self._read_only_copy(zone)
        with exclusive(directory.path / "first.lock"):
            target = directory.directory(generation)
            if target.exists():
                return
            scratch = target.with_name(f"scratch-{target.name}")
            scratch.mkdir()
            for name in FILE_NAMES:
                copy_file(source / name, scratch / name)
            scratch.rename(target)

    def _has_unprojected_changes(self, zone: str, generation: Generation, files: ZoneFiles) -> bool:
        """Return whether a generation's files lack change records that the ledger has."""
        if self.ledger.shared or active_chain(files.events.connection) not in (
            None,
            generation.chain,
        ):
            # Other nodes decide, or another chain is in use; `follow` projects these changes.
            return False
        mark = min((model.watermark() for model in files.decided), key=lambda mark: mark.number)
        if mark.number >= self.ledger.head(zone).number:
            return False
        reader = ChangeReader(
            self.ledger, zone, generation.chain, mark.number, mark.offset, mark.hash
        )
        # The zone's driver reports unreadable records.
        with suppress(IntegrityError, NewerFormat):
            return bool(reader.read(_BATCH_SIZE))
        return False

    def project_turns_into(self, zone: str, files: ZoneFiles) -> None:
        """Project raw turns, and check that the files have the ledger's history.

        Raises:
            HistoryMismatch: the files were projected from another history of this zone.
        """
        first = self.ledger.head(zone)
        project_events(self.ledger, zone, files)
        mark = files.events.watermark()
        # Events may have been appended since the head was read.
        last = first if mark.number <= first.number else self.ledger.head(zone)
        if not first.number <= mark.number <= last.number or (
            mark.number == last.number and mark.hash != last.hash
        ):
            raise HistoryMismatch(
                f"zone {zone}: this home's files have applied an event {mark.number} that is not "
                f"in the ledger ({last.number} events): a record was changed or removed, or the "
                "ledger was restored without the files; restore the ledger that the files were "
                "made from, or start with a new home"
            )

    def drive(
        self,
        zone: str,
        progress: OnProgress | None = None,
        should_continue: Callable[[], bool] = lambda: True,
    ) -> int:
        """Decide everything up to the ledger's end; return the number of decided records.

        Stop early once `should_continue` returns False: then another process owns the zone.
        """
        try:
            with self.driving(zone):
                count = self.drive_locked(zone, progress, should_continue)
        except Exception as error:
            self._stop_causes[zone] = stop_cause(error)
            raise
        self._stop_causes.pop(zone, None)
        return count

    def stop_cause(self, zone: str) -> str | None:
        """Return why the last `drive` of a zone failed; None if it succeeded or never ran."""
        return self._stop_causes.get(zone)

    def drive_locked(
        self,
        zone: str,
        progress: OnProgress | None = None,
        should_continue: Callable[[], bool] = lambda: True,
    ) -> int:
        """Do what `drive` does, for a caller that already holds `driving`."""
        return self._catch_up(
            zone,
            lambda generation, files: self.driver(zone, generation, files).run(
                progress, should_continue
            ),
        )

    def follow(
        self, zone: str, progress: OnProgress | None = None, *, project_ahead: bool = True
    ) -> int:
        """Project the decisions of other nodes in a zone; return the number of projected records.

        `project_ahead` False: another process of this home already projects events.
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
            # Changes may arrive before their events.
            return 0
        if zone in self._beside:
            return self.decide(zone, progress)
        with self.driving(zone):
            ahead = self._project_ahead(zone, project) if project_ahead else 0
            return ahead + self._catch_up(zone, project)

    def _project_ahead(
        self, zone: str, project: Callable[[Generation, ZoneFiles, int], int]
    ) -> int:
        """Project changes while a background process projects their events.

        Return the number of projected change records.
        """
        projected = 0
        from recollect.streams.projecting.background import BackgroundProjection

        with BackgroundProjection(self.ledger, zone) as background:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                for number in background.run(files, generation):
                    if active_chain(files.events.connection) not in (None, generation.chain):
                        break
                    projected += project(generation, files, number)
        return projected

    def decided_up_to(self, zone: str) -> int:
        """Return the number of the last record that all files of a zone hold."""
        with self.open(zone, self.current(zone)) as files:
            return min(model.watermark().number for model in files.all)

    def decide(self, zone: str, progress: OnProgress | None = None) -> int:
        """Wait until workers have decided everything in the ledger, or decide it here.

        This node decides if there are no workers, or if they make no progress for ten seconds. If
        both decide a record, the second decision is void.
        """
        if zone in self._beside:
            generation = self._beside[zone]
            with self.open(zone, generation) as files:
                return self.driver(zone, generation, files, owner=False).run(progress)
        projected = 0
        progressed_at = time.monotonic()
        while self.ledger.workers():
            projected += (new := self.follow(zone, progress))
            if self.decided_up_to(zone) >= self.ledger.head(zone).number:
                return projected
            if new:
                progressed_at = time.monotonic()
            elif time.monotonic() - progressed_at > _STALL_TIMEOUT_SECONDS:
                break
            changes = (CHANGES, partition_of(zone))
            self.ledger.wait({changes: self.ledger.end(*changes)}, 0.5)
        return projected + self.drive(zone, progress)

    def _catch_up(self, zone: str, work: Callable[[Generation, ZoneFiles], int]) -> int:
        """Run `work` on the files of the generation that the ledger's last switch names."""
        while True:
            generation = self.current(zone)
            with self.open(zone, generation) as files:
                self.project_turns_into(zone, files)
                chain = active_chain(files.events.connection)
                if chain in (None, generation.chain):
                    processed = work(generation, files)
                    self.journal.save_progress(zone, files.memory.watermark().number)
                    is_purge_pending = files.is_purge_pending()
                    break
                switch = last_switch(self.ledger, zone)
                switched = switch.chain if switch is not None else None
                mark = files.events.watermark()
                if switched != chain and Head(mark.number, mark.hash) == self.ledger.head(zone):
                    raise CorruptFile(
                        f"{files.events.path} says that chain {chain!r} is in use, but the ledger "
                        f"says {switched!r}; run recollect --zone {zone} rebuild"
                    )
            if switched == chain:
                self._activate_chain(zone, generation, chain)
        if is_purge_pending:
            self._purge(zone)
        return processed

    def is_purge_pending(self, zone: str) -> bool:
        """Return whether a purge of the files in use is pending after an erasure."""
        with self.open(zone, self.current(zone)) as files:
            return files.is_purge_pending()

    def finish_purge(self, zone: str) -> None:
        """Finish a pending purge; driving the zone does this too."""
        if self.is_purge_pending(zone):
            with self.driving(zone):
                self._purge(zone)

    def _activate_chain(self, zone: str, current: Generation, chain: str) -> None:
        """Switch to a generation of the chain that the ledger's last switch names."""
        directory = self.zone(zone)
        with exclusive(directory.path / "rebuild.lock", wait=False):
            kept = [item for item in directory.generations() if item.chain == chain]
            generation = (
                kept[-1] if kept else directory.create(self.describe_chain(zone, chain, "project"))
            )
            with self.open(zone, generation) as files:
                project_events(self.ledger, zone, files)
                project_changes(self.ledger, zone, chain, files)
            directory.activate(generation, current)

    def zones(self) -> list[str]:
        """Return the zones that have files here, sorted."""
        if not self._zones.is_dir():
            return []
        return sorted(
            entry.name for entry in self._zones.iterdir() if ZoneDirectory(entry).exists()
        )

    def close_removed(self) -> None:
        """Close the files of generations that any process has removed."""
        self._files.close_removed()

    def close(self) -> None:
        """Close the ledger and the journal."""
        self._files.close()
        if self._journal is not None:
            self._journal.close()
        self.ledger.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _purge(self, zone: str) -> None:
        """Apply an erasure to every kept generation, and remove unfinished ones.

        Raises:
            DeletionFailed: a file that may hold erased data cannot be deleted.
        """
        directory = self.zone(zone)
        try:
            remove_snapshots(directory)
            with ExitStack() as stack:
                try:
                    stack.enter_context(exclusive(directory.path / "rebuild.lock", wait=False))
                except Busy:
                    # A rebuild is running. It finds the erasure in the ledger, and the generation
                    # that it replaces is purged when this zone is driven next.
                    return
                self._purge_generations(zone, directory)
        except DeletionFailed as error:
            raise DeletionFailed(
                f"zone {zone}: what was forgotten is no longer returned, but is still in files: "
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
                or generation.encoder not in (None, self.gateway_of(generation.encoder).model)
                or generation.agents != self.agent_names_of(generation)
            ):
                # The generation cannot catch up, and would keep forgotten data: it is incomplete,
                # its encoder or agents are not this home's, or this node decides nothing.
                directory.remove(generation)
                continue
            with self.open(zone, generation) as files:
                if generation.name != current.name:
                    self.driver(zone, generation, files, owner=False).run()
                clean &= purge(files)
            kept.append(generation)
        # The deletions must be durable before the pending purge is cleared.
        sync_directory(directory.path)
        failpoint("purge.done")
        if not clean:
            return
        # The mark in the generation in use stands for all generations, so it is cleared last.
        for generation in sorted(kept, key=lambda item: item.name == current.name):
            with self.open(zone, generation) as files:
                files.clear_purge_pending()

    def chain_in_use(self, zone: str) -> str:
        """Return the chain of a zone that is in use according to the ledger.

        That is the chain that its last switch names. If the ledger has no switch, it is the first
        chain: another one was built beside it, and not activated. But older builds recorded a
        switch only in the files. So if they began chains, the longest of these and of the first is
        in use; of equally long chains, the newest.
        """
        chains: dict[str, int] = {}
        may_be_in_use: set[str] = set()
        offset = 0
        assembler = Assembler()
        while records := self.ledger.read(CHANGES, partition_of(zone), offset, 1_000, zone):
            for record in records:
                try:
                    value = assembler.add(record.value)
                    if value is None:
                        continue
                    chain = chain_of(value)
                    if chain == NO_CHAIN or chain in chains:
                        continue
                    chains[chain] = record.offset
                    if chain == FIRST_CHAIN or format_of_change(value) < FIRST_FORMAT_WITH_SWITCHES:
                        may_be_in_use.add(chain)
                except IntegrityError:
                    # The record is damaged and belongs to no chain; the chain readers report it.
                    continue
                except NewerFormat as error:
                    raise with_location(error, CHANGES, zone, record.offset) from None
            offset = records[-1].offset + 1
        if len(chains) < 2:
            return next(iter(chains), FIRST_CHAIN)
        if (switch := last_switch(self.ledger, zone)) is not None:
            return switch.chain
        best = (0, -1, FIRST_CHAIN)
        for chain in may_be_in_use:
            reader = ChangeReader(self.ledger, zone, chain)
            while reader.read(1_000):
                pass
            best = max(best, (reader.number, chains[chain], chain))
        return best[2]


def _behind(files: ZoneFiles, number: int) -> bool:
    """Return whether a file of decisions has not reached a record yet."""
    return any(model.watermark().number < number for model in files.decided)
