"""An open home and its zones, the context of every operation.

One node, one encoder and one pool of recallers serve all zones and threads of an open home.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.home.follower_lock import has_follower
from recollect.home.home_directory import Home
from recollect.home.ledgers import EMBEDDED, open_node
from recollect.home.name_suggestions import unknown_zone
from recollect.home.recaller_pool import RecallerPool
from recollect.projections.embeddings.vector_queries import vector_count
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.projections.identity.entity_queries import entity_count
from recollect.projections.memory.listing.stored_memory_list import unwritable_records
from recollect.projections.memory.listing.tier_list import main_context
from recollect.projections.memory.memory_queries import fact_count
from recollect.projections.memory.observation_queries import observation_count
from recollect.projections.reader_views import Reader, hides_anything, restrict
from recollect.schemas.errors import AlreadyClosed, Busy, InvalidInput, UnknownZone
from recollect.schemas.events import OWNER
from recollect.schemas.wire import Result
from recollect.schemas.zones import split_zone
from recollect.streams.engine.node import Node
from recollect.streams.ledger import partition_of
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.records.heads import head_text

if TYPE_CHECKING:
    from recollect.home.zone_branches import Branches


#: The number of readers whose main context is cached.
_MAX_READERS = 1_000


class OpenHome:
    """An open home, shared by any number of threads."""

    def __init__(self, home: Home, ledger: str | None = None, node: Node | None = None) -> None:
        """`ledger`: `embedded` or a Kafka URL; None: the setting `ledger`. `node`: an open one."""
        self.home = home
        #: The ledger that overrides the setting, if any.
        self.ledger = ledger
        self.node = open_node(home, ledger) if node is None else node
        #: Called with each recall's zone and results; does nothing unless accesses are counted.
        self.count_accesses: Callable[[str, Sequence[Result]], None] = _count_nothing
        #: Called with each zone and the ids of stored memories that were read; likewise.
        self.count_memories: Callable[[str, Sequence[str]], None] = _count_nothing
        #: Whether a worker or a replica keeps this home's files up to date. If so, queries need
        #: not read the ledger.
        self.has_follower = has_follower(home)
        self.recallers = RecallerPool(self.node, home)
        self._branches: dict[tuple[str, str], OpenHome] = {}
        self._zones: dict[str, OpenZone] = {}
        self._changed = threading.Condition()
        # The number of running calls by thread.
        self._calls: Counter[int] = Counter()
        self._closed = False
        self._process = os.getpid()

    def zone(self, name: str) -> OpenZone:
        """Return a zone, which may be empty, or the branch of a zone: `ada@trial`.

        Raises:
            InvalidInput: the name is invalid, or there is no such branch.
        """
        zone, branch = split_zone(name)
        if branch is not None:
            return self.branch(zone, branch)
        with self._changed:
            return self._zones.setdefault(zone, OpenZone(self, zone))

    @contextmanager
    def beside(self, zone: str, generation: Generation) -> Iterator[OpenZone]:
        """Lend a zone as it is in a generation that is not active; see `Node.beside`."""
        opened = OpenHome(self.home, self.ledger, self.node.beside(zone, generation))
        try:
            yield opened.zone(zone)
        finally:
            opened.recallers.close()

    @cached_property
    def branches(self) -> Branches:
        """The branches of the home's zones."""
        from recollect.home.zone_branches import Branches

        return Branches(self.home, self.node)

    def branch(self, zone: str, name: str) -> OpenZone:
        """Return a branch, as a zone of its own home, without what the zone forgot since.

        Raises:
            InvalidInput: there is no such branch.
            HomeError: the zone's ledger was replaced since by another one.
        """
        directory = self.branches.directory(zone, name)
        with self._changed:
            opened = self._branches.get((zone, name))
            if opened is None:
                opened = OpenHome(self.branches.home(directory), EMBEDDED)
                self._branches[zone, name] = opened
        self.branches.forget_again(zone, name, opened.node)
        return opened.zone(zone)

    def forget_in_branches(self, zone: str) -> None:
        """Erase in a zone's branches what the zone has forgotten."""
        for name in self.branches.names(zone):
            self.branch(zone, name)

    def drop_branch(self, zone: str, name: str) -> None:
        """Close a branch, and delete it with everything in it.

        Raises:
            InvalidInput: there is no such branch.
            Busy: another process has it open, or it was called during a call on the branch.
        """
        with self._changed:
            opened = self._branches.pop((zone, name), None)
        if opened is not None:
            opened.close()
        self.branches.drop(zone, name)

    def zone_names(self) -> list[str]:
        """Return the names of the zones: from the ledger or, if there is a follower, the files."""
        if not self.has_follower:
            return self.node.ledger.zones()
        zones = self.home.directory / "zones"
        return [path.name for path in zones.iterdir()] if zones.is_dir() else []

    def holds(self, name: str) -> bool:
        """Return whether a zone has events; unlike `zone`, this does not cache the name."""
        zone, branch = split_zone(name)
        if branch is not None:
            return branch in self.branches.names(zone)
        if self.has_follower:
            return self.node.zone(name).exists()
        return self.node.ledger.head(name).number > 0

    @contextmanager
    def call_guard(self) -> Iterator[None]:
        """Keep the home open for the duration of one call.

        Raises:
            AlreadyClosed: the home was closed, or the parent process opened it before a fork.
        """
        if os.getpid() != self._process:
            raise AlreadyClosed(
                f"{self.home.directory} was opened before this process was forked, so its files "
                "and locks belong to the parent: open Recollect again in the new process"
            )
        thread = threading.get_ident()
        with self._changed:
            if self._closed:
                raise AlreadyClosed(f"{self.home.directory} was closed; open Recollect again")
            self._calls[thread] += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls[thread] -= 1
                if not self._calls[thread]:
                    del self._calls[thread]
                self._changed.notify_all()

    def close(self) -> None:
        """Refuse further calls, wait for the running ones, and close every file.

        Raises:
            Busy: `close` was called during another call, for example from a progress callback.
        """
        if os.getpid() != self._process:
            # The files belong to the parent process.
            return
        with self._changed:
            if self._closed:
                return
            if self._calls[threading.get_ident()]:
                raise Busy(
                    f"{self.home.directory} cannot be closed during a call; close it afterwards"
                )
            self._closed = True
            while self._calls:
                self._changed.wait()
        for opened in self._branches.values():
            opened.close()
        self.recallers.close()
        self.node.close()

    @property
    def closing(self) -> bool:
        """Whether `close` was called; if so, waiting calls end with an error."""
        return self._closed


class _Progress:
    """How far an open home has published to a zone, and brought its files up to date."""

    def __init__(self) -> None:
        self.refreshed_to: tuple[object, ...] = ()
        self.published = 0
        self.lock = threading.Lock()
        self.main_contexts: dict[Reader | None, tuple[object, list[str]]] = {}
        self.stored = 0


class OpenZone:
    """One zone of an open home."""

    def __init__(
        self,
        open_home: OpenHome,
        name: str,
        reader: Reader | None = None,
        given_by: str = OWNER,
    ) -> None:
        """Use a zone on behalf of a reader.

        `reader`: a user, an agent or both; None: without restriction. `given_by`: the id of the
        access token it is used with, which commands record.
        """
        self.open_home = open_home
        self.name = name
        self.reader = reader
        self.given_by = given_by
        self._progress = _Progress()

    def acting_as(
        self, user: str | None, agent: str | None, given_by: str | None = None
    ) -> OpenZone:
        """Return the zone as a user, or an agent of a user, may see and change it.

        `given_by`: the id of their access token; None: the id that this zone has.
        """
        reader = Reader(user, agent) if user or agent else None
        acting = OpenZone(self.open_home, self.name, reader, given_by or self.given_by)
        acting._progress = self._progress
        return acting

    @property
    def refreshed_to(self) -> tuple[object, ...]:
        """The generation, and the ledger offsets that its files had reached at the last query."""
        return self._progress.refreshed_to

    @refreshed_to.setter
    def refreshed_to(self, value: tuple[object, ...]) -> None:
        self._progress.refreshed_to = value

    @property
    def node(self) -> Node:
        """The node of the home."""
        return self.open_home.node

    @property
    def partition(self) -> int:
        """The partition of the zone's records."""
        return partition_of(self.name)

    @property
    def published(self) -> int:
        """The number of the last record published through this open home; 0 if none."""
        return self._progress.published

    def main_context(self, files: ZoneFiles) -> list[str]:
        """Return the ids of the memories in the main context, the most recently used first.

        They are kept for a reader until memory.db changes.
        """
        capacity = self.open_home.home.configuration.tier_limits.main_capacity
        state = (files.memory.path, files.memory.watermark(), capacity)
        known = self._progress.main_contexts
        cached = known.get(self.reader)
        if cached is None or cached[0] != state:
            if len(known) >= _MAX_READERS:
                known.clear()
            cached = known[self.reader] = state, main_context(files.memory.connection, capacity)
        return cached[1]

    def note_stored(self, memories: int, interval: int) -> bool:
        """Count stored memories; return True once `interval` were stored, then start again at 0."""
        with self._progress.lock:
            self._progress.stored += memories
            if is_full := self._progress.stored >= interval:
                self._progress.stored = 0
        return is_full

    def note_published(self, number: int) -> None:
        """Record that this open home published record `number`."""
        with self._progress.lock:
            self._progress.published = max(self._progress.published, number)

    def exists(self) -> bool:
        """Return whether the zone has events."""
        return self.open_home.holds(self.name)

    def must_exist(self) -> None:
        """Raise UnknownZone if the zone has no events."""
        if not self.exists():
            raise UnknownZone(unknown_zone(self.name, self.open_home.zone_names()))

    def decide(self, progress: OnProgress | None = None) -> int:
        """Decide all pending records; return how many there were."""
        if not self.exists():
            return 0
        return self.node.decide(self.name, progress)

    def head(self) -> str:
        """Return the head of the zone's ledger as a text, as `verify(expect=)` takes it."""
        return head_text(self.node.ledger.head(self.name))

    def must_be_unrestricted(self) -> None:
        """Raise InvalidInput for a user or an agent: the ledger holds the records of everyone."""
        if self.reader is not None:
            raise InvalidInput(
                "the ledger contains every user's records; use a token that is not limited to a "
                "user or an agent"
            )

    def owner(self, user_id: str | None, agent_id: str | None) -> Reader:
        """Return the owner of what a caller stores: the caller, or the owner that it names.

        Raises:
            InvalidInput: the caller names another user or agent than itself.
        """
        named = Reader(user_id, agent_id)
        if self.reader is None:
            return named
        for name, own, given in zip(Reader._fields, self.reader, named, strict=True):
            if given is not None and given != own:
                raise InvalidInput(f"{name} {given[:60]!r} is not your own; leave it out")
        return self.reader

    @contextmanager
    def files(self) -> Iterator[ZoneFiles]:
        """Open the files of the generation in use, as the reader may see them."""
        generation = self.node.current(self.name)
        with self.node.open(self.name, generation) as files:
            if self.reader is None or not hides_anything(files, self.reader):
                yield files
                return
        with closing(self.node.open_to_read(self.name, generation)) as files:
            yield restrict(files, self.reader)

    def unwritable_records(self) -> frozenset[int]:
        """Return the numbers of the records that `reader` may not change."""
        if self.reader is None or not self.node.zone(self.name).exists():
            return frozenset()
        with self.node.open(self.name, self.node.current(self.name)) as files:
            return unwritable_records(files.memory.connection, self.reader)

    @property
    def restricted_reader(self) -> Reader | None:
        """The reader, if the zone has anything that it may not read."""
        if self.reader is None or not self.node.zone(self.name).exists():
            return None
        with self.node.open(self.name, self.node.current(self.name)) as files:
            return self.reader if hides_anything(files, self.reader) else None


def row_counts(files: ZoneFiles) -> dict[str, int]:
    """Return the number of facts, entities, vectors and observations in a zone."""
    return {
        "facts": fact_count(files.memory.connection),
        "entities": entity_count(files.identity.connection),
        "vectors": vector_count(files.embeddings.connection),
        "observations": observation_count(files.memory.connection),
    }


def _count_nothing(zone: str, results: Sequence[object]) -> None:
    """Count no accesses."""


def unix_ms() -> int:
    """Return the current time, in unix ms."""
    return time.time_ns() // 1_000_000
