"""The pool of open recallers: one per zone and profile, shared by all threads.

Each recaller holds a zone's index in memory. The most recently used recallers stay open. The
recaller of a replaced generation is closed as soon as no thread uses it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from recollect.home.home_directory import Home
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.projections.reader_views import Reader, restrict
from recollect.projections.recall import PROFILES, Recaller
from recollect.projections.recall.index.arrays import array_store
from recollect.schemas.errors import Busy, HomeError
from recollect.streams.encoder.encoder import CrossEncoder
from recollect.streams.engine.node import Node
from recollect.streams.projecting.snapshots import Snapshot
from recollect.streams.records.timeline import Timeline
from recollect.streams.system.locks import exclusive
from recollect.streams.system.open_files import max_idle_zones

# The maximum number of attempts if generations are replaced before they can be opened.
_ATTEMPTS = 5
_DEFAULT_PROFILE = "default"


T = TypeVar("T")


class _Key(NamedTuple):
    """The files and the profile of a recaller: a generation, or a snapshot of an earlier state.

    `reader`: on whose behalf; None: without restriction.
    """

    zone: str
    state: Generation | Snapshot
    profile: str
    reader: Reader | None = None


class _PooledRecaller:
    """A recaller, open or being opened, with the number of threads that use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.dropped = False
        self.recaller: Recaller | None = None
        self.files: ZoneFiles | None = None

    def open(self, files: ZoneFiles, recaller: Recaller) -> Recaller:
        self.files, self.recaller = files, recaller
        return recaller

    def close(self) -> None:
        if self.files is not None:
            self.files.close()
        self.files = self.recaller = None


class RecallerPool:
    """The recallers of an open home. All methods may be called by any thread."""

    def __init__(self, node: Node, home: Home) -> None:
        self._node = node
        self._home = home
        self._lock = threading.Lock()
        # Each open recaller keeps a zone's files open and an index in memory.
        self._max_open = max_idle_zones()
        self._open: OrderedDict[_Key, _PooledRecaller] = OrderedDict()
        #: Called with a zone's name after `follow`: recall workers have indexes of it too.
        self.follow_listeners: list[Callable[[str], None]] = []
        self._timelines: dict[str, _SharedTimeline] = {}
        self._cross_encoder: CrossEncoder | None = None
        self._loading = threading.Lock()
        self._reranker = self._rerank if home.settings.reranker is not None else None

    def in_current_state(
        self,
        zone: str,
        profile: str,
        ask: Callable[[Recaller], T],
        reader: Reader | None = None,
    ) -> T:
        """Call `ask` with the recaller of the generation in use, and return its result.

        `reader`: on whose behalf; None: without restriction.

        If the generation is replaced and removed meanwhile, the recaller of the next one is asked.
        """
        for _ in range(_ATTEMPTS):
            generation = self._node.current(zone)
            try:
                return self._ask_generation(zone, generation, profile, ask, reader)
            except (HomeError, OSError):
                if self._node.current(zone) == generation:
                    raise
        return self._ask_generation(zone, self._node.current(zone), profile, ask, reader)

    def _ask_generation(
        self,
        zone: str,
        generation: Generation,
        profile: str,
        ask: Callable[[Recaller], T],
        reader: Reader | None,
    ) -> T:
        key = _Key(zone, generation, profile, reader)
        self._drop_outdated()
        with self._in_use(key) as pooled:
            open_ = partial(self._node.open_to_read, zone, generation)
            recaller = self._recaller(key, pooled, open_)
            self._drop_others(key)
            return ask(recaller)

    def in_state_after(
        self,
        zone: str,
        profile: str,
        number: int,
        ask: Callable[[Recaller], T],
        reader: Reader | None = None,
    ) -> T:
        """Call `ask` with the recaller of the state right after record `number` (1 or higher)."""
        timeline = self.timeline(zone)
        with timeline.lock:
            snapshot = self._node.snapshot(zone, timeline.timeline, number)
        key = _Key(zone, snapshot, profile, reader)

        def open_() -> ZoneFiles:
            with timeline.lock:
                return self._node.open_snapshot(zone, timeline.timeline, snapshot)

        if not snapshot.decided:
            # The next query may find these records decided, so this snapshot is not kept open.
            with closing(open_()) as files:
                return ask(self._recaller_of(_as_seen(files, reader), profile, reader))
        with self._in_use(key) as pooled:
            recaller = self._recaller(key, pooled, open_)
            self._drop_others(key)
            return ask(recaller)

    def timeline(self, zone: str) -> _SharedTimeline:
        """Return a zone's timeline, refreshed from the ledger."""
        with self._lock:
            timeline = self._timelines.setdefault(
                zone, _SharedTimeline(Timeline(self._node.ledger, zone))
            )
        with timeline.lock:
            timeline.timeline.refresh()
        return timeline

    def follow(self, zone: str) -> None:
        """Update a zone's indexes in memory from its files, so that the next query need not do it.

        Does nothing if no query has opened the zone. Drops recallers of replaced generations.
        """
        generation = self._node.current(zone)
        self._drop(lambda key: key.zone == zone and key.state != generation)
        with self._lock:
            keys = [key for key in self._open if key.zone == zone]
        for key in keys:
            with self._in_use(key) as pooled:
                if pooled.recaller is not None:
                    pooled.recaller.follow()
        for notify in self.follow_listeners:
            notify(zone)

    def warm_up(self, zone: str) -> None:
        """Build a zone's index, or map the stored one, so that the first query need not do it."""
        self.in_current_state(zone, _DEFAULT_PROFILE, lambda recaller: recaller.follow())
        self.store(zone, _DEFAULT_PROFILE)

    def store(self, zone: str, profile: str) -> None:
        """Store the index of a large zone next to its files, for the next process."""
        with self._lock:
            keys = [key for key in self._open if (key.zone, key.profile) == (zone, profile)]
        for key in keys:
            if isinstance(key.state, Generation):
                self._store(key)

    def _store(self, key: _Key) -> None:
        with self._in_use(key) as pooled:
            recaller, files = pooled.recaller, pooled.files
            if recaller is None or files is None or not recaller.should_store:
                return
            if self._node.current(key.zone) != key.state:
                # A replaced generation is about to be removed.
                return
            # If the index cannot be written, the next process builds it from the files.
            with suppress(Busy, OSError), exclusive(files.directory / array_store.LOCK, wait=False):
                recaller.store()

    def close(self) -> None:
        """Close every file; the pool cannot be used afterwards."""
        self._drop(lambda key: True)

    @contextmanager
    def _in_use(self, key: _Key) -> Iterator[_PooledRecaller]:
        """Keep the recaller of `key` from being closed while the block runs."""
        with self._lock:
            pooled = self._open.setdefault(key, _PooledRecaller())
            pooled.users += 1
            self._open.move_to_end(key)
        try:
            yield pooled
        finally:
            self._release(key, pooled)

    def _recaller(
        self, key: _Key, pooled: _PooledRecaller, open_: Callable[[], ZoneFiles]
    ) -> Recaller:
        with pooled.lock:
            if pooled.recaller is not None:
                return pooled.recaller
            files = _as_seen(open_(), key.reader)
            return pooled.open(files, self._recaller_of(files, key.profile, key.reader))

    def _recaller_of(self, files: ZoneFiles, profile: str, reader: Reader | None) -> Recaller:
        # The stored index is of everything, so a restricted reader needs an index of its own.
        return Recaller(
            files,
            PROFILES[profile],
            self._reranker,
            self._node.gateway_of(files.embeddings.model),
            uses_stored_index=reader is None,
        )

    def _release(self, key: _Key, pooled: _PooledRecaller) -> None:
        with self._lock:
            pooled.users -= 1
            if pooled.recaller is None and not pooled.users and self._open.get(key) is pooled:
                # The recaller could not be opened.
                del self._open[key]
            closing = [pooled] if pooled.dropped and not pooled.users else []
            closing += self._pop_excess()
        for one in closing:
            one.close()

    def _pop_excess(self) -> list[_PooledRecaller]:
        """Remove and return the least recently used idle recallers beyond the limit."""
        idle = [key for key, pooled in self._open.items() if not pooled.users]
        return [self._open.pop(key) for key in idle[: max(len(self._open) - self._max_open, 0)]]

    def _drop_others(self, key: _Key) -> None:
        """Drop the recallers that `key` replaces: of other generations, or of an outdated snapshot.

        After an erasure, the snapshot after the same record has other files, and the old files must
        no longer be used.
        """

        def replaced(other: _Key) -> bool:
            if other.zone != key.zone or other.state == key.state:
                return False
            if isinstance(key.state, Snapshot):
                return isinstance(other.state, Snapshot) and other.state.number == key.state.number
            return isinstance(other.state, Generation)

        if self._drop(replaced):
            self._node.close_removed()

    def _drop_outdated(self) -> None:
        """Drop recallers that were opened while the disk was full, if it now has space."""
        with self._lock:
            files = {key: pooled.files for key, pooled in self._open.items()}
        outdated = {key for key, open_ in files.items() if open_ is not None and open_.outdated}
        if outdated:
            self._drop(outdated.__contains__)

    def _drop(self, matches: Callable[[_Key], bool]) -> int:
        """Close the matching recallers, each as soon as it is unused; return how many."""
        with self._lock:
            dropped = [self._open.pop(key) for key in list(self._open) if matches(key)]
            for pooled in dropped:
                pooled.dropped = True
            closing = [pooled for pooled in dropped if not pooled.users]
        for pooled in closing:
            pooled.close()
        return len(dropped)

    def _rerank(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Score texts by the home's cross-encoder, which is loaded on first use."""
        with self._loading:
            if self._cross_encoder is None:
                self._cross_encoder = self._home.load_reranker()
        assert self._cross_encoder is not None
        return self._cross_encoder.score(question, texts)


def _as_seen(files: ZoneFiles, reader: Reader | None) -> ZoneFiles:
    return files if reader is None else restrict(files, reader)


class _SharedTimeline:
    """A zone's timeline; a thread must hold `lock` while it reads or updates it."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.lock = threading.RLock()
