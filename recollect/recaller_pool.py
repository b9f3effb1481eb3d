"""Recallers that are open: one for each zone and ranking, shared by all threads.

Each holds the index of a zone in memory. The last few that were asked stay open; one that is no
longer of the generation in use is closed as soon as nobody asks it.
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

from projections.files import ZoneFiles
from projections.generations import Generation
from projections.recall import PROFILES, Recaller
from projections.recall.index import array_store
from recollect.home import Home
from schemas.errors import Busy, HomeError
from streams.encoder.encoder import CrossEncoder
from streams.engine.node import Node
from streams.projecting.moments import Moment
from streams.reading.timeline import Timeline
from streams.system.locks import exclusive

# Each takes four files and the memory of an index.
_MOST_OPEN = 32
# As often as a generation may be replaced between the look which it is and the opening of it.
_ATTEMPTS = 5


T = TypeVar("T")


class _Key(NamedTuple):
    """What a recaller is of: the generation in use, or a moment of the past."""

    zone: str
    state: Generation | Moment
    profile: str


class _Opened:
    """A recaller that is open, or about to be, and how many ask it now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked_by = 0
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
        self._open: OrderedDict[_Key, _Opened] = OrderedDict()
        self._timelines: dict[str, _SharedTimeline] = {}
        self._cross_encoder: CrossEncoder | None = None
        self._loading = threading.Lock()
        self._reranker = self._rerank if home.settings.reranker is not None else None

    def present(self, zone: str, profile: str, ask: Callable[[Recaller], T]) -> T:
        """Return what the recaller of the generation in use answers.

        A generation may be replaced meanwhile, and removed: then the one after it is asked.
        """
        for _ in range(_ATTEMPTS):
            generation = self._node.current(zone)
            try:
                return self._present(zone, generation, profile, ask)
            except (HomeError, OSError):
                if self._node.current(zone) == generation:
                    raise
        return self._present(zone, self._node.current(zone), profile, ask)

    def _present(
        self, zone: str, generation: Generation, profile: str, ask: Callable[[Recaller], T]
    ) -> T:
        key = _Key(zone, generation, profile)
        with self._held(key) as opened:
            open_ = partial(self._node.open_to_read, zone, generation)
            recaller = self._recaller(key, opened, open_)
            self._drop_others(key)
            return ask(recaller)

    def past(self, zone: str, profile: str, number: int, ask: Callable[[Recaller], T]) -> T:
        """Return what the recaller of the state after a record answers, the first or a later."""
        timeline = self.timeline(zone)
        with timeline.lock:
            moment = self._node.moment(zone, timeline.read, number)
        key = _Key(zone, moment, profile)

        def open_() -> ZoneFiles:
            with timeline.lock:
                return self._node.open_moment(zone, timeline.read, moment)

        if not moment.decided:
            # What was not decided may be by now: it is read again for each question.
            with closing(open_()) as files:
                return ask(self._recaller_of(files, profile))
        with self._held(key) as opened:
            recaller = self._recaller(key, opened, open_)
            self._drop_others(key)
            return ask(recaller)

    def timeline(self, zone: str) -> _SharedTimeline:
        """Return a zone's timeline, up to what the ledger holds now."""
        with self._lock:
            timeline = self._timelines.setdefault(
                zone, _SharedTimeline(Timeline(self._node.ledger, zone))
            )
        with timeline.lock:
            timeline.read.refresh()
        return timeline

    def follow(self, zone: str) -> None:
        """Bring what is kept in memory of a zone to where its files are, as a question would first.

        Before any was asked, nothing is. What is of no generation in use any more is let go.
        """
        generation = self._node.current(zone)
        self._drop(lambda key: key.zone == zone and key.state != generation)
        with self._lock:
            keys = [key for key in self._open if key.zone == zone]
        for key in keys:
            with self._held(key) as opened:
                if opened.recaller is not None:
                    opened.recaller.follow()

    def store(self, zone: str, profile: str) -> None:
        """Keep beside the files what this process read of a large zone, for the next one."""
        with self._lock:
            keys = [key for key in self._open if (key.zone, key.profile) == (zone, profile)]
        for key in keys:
            if isinstance(key.state, Generation):
                self._store(key)

    def _store(self, key: _Key) -> None:
        with self._held(key) as opened:
            recaller, files = opened.recaller, opened.files
            if recaller is None or files is None or not recaller.worth_storing:
                return
            if self._node.current(key.zone) != key.state:
                # What is replaced is about to be removed.
                return
            # Without the right or the room to write, the next process reads it again.
            with suppress(Busy, OSError), exclusive(files.directory / array_store.LOCK, wait=False):
                recaller.store()

    def close(self) -> None:
        """Close every file; nobody asks any more."""
        self._drop(lambda key: True)

    @contextmanager
    def _held(self, key: _Key) -> Iterator[_Opened]:
        """Keep what is open of a key from being closed."""
        with self._lock:
            opened = self._open.setdefault(key, _Opened())
            opened.asked_by += 1
            self._open.move_to_end(key)
        try:
            yield opened
        finally:
            self._give_back(key, opened)

    def _recaller(self, key: _Key, opened: _Opened, open_: Callable[[], ZoneFiles]) -> Recaller:
        with opened.lock:
            if opened.recaller is not None:
                return opened.recaller
            files = open_()
            return opened.open(files, self._recaller_of(files, key.profile))

    def _recaller_of(self, files: ZoneFiles, profile: str) -> Recaller:
        return Recaller(files, PROFILES[profile], self._reranker, self._node.gateway)

    def _give_back(self, key: _Key, opened: _Opened) -> None:
        with self._lock:
            opened.asked_by -= 1
            if opened.recaller is None and not opened.asked_by and self._open.get(key) is opened:
                # It could not be opened.
                del self._open[key]
            closing = [opened] if opened.dropped and not opened.asked_by else []
            closing += self._too_many()
        for one in closing:
            one.close()

    def _too_many(self) -> list[_Opened]:
        """Take out those that were asked the longest ago, where nobody asks them now."""
        idle = [key for key, opened in self._open.items() if not opened.asked_by]
        return [self._open.pop(key) for key in idle[: max(len(self._open) - _MOST_OPEN, 0)]]

    def _drop_others(self, key: _Key) -> None:
        """Let go of other generations than the one in use, or of a moment as it was before.

        A moment is another one after an erasure: what was open then must not be asked.
        """

        def replaced(other: _Key) -> bool:
            if other.zone != key.zone or other.state == key.state:
                return False
            if isinstance(key.state, Moment):
                return isinstance(other.state, Moment) and other.state.number == key.state.number
            return isinstance(other.state, Generation)

        if self._drop(replaced):
            self._node.close_removed()

    def _drop(self, which: Callable[[_Key], bool]) -> int:
        """Close some as soon as nobody asks them; return how many."""
        with self._lock:
            dropped = [self._open.pop(key) for key in list(self._open) if which(key)]
            for opened in dropped:
                opened.dropped = True
            closing = [opened for opened in dropped if not opened.asked_by]
        for opened in closing:
            opened.close()
        return len(dropped)

    def _rerank(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Judge texts by the home's cross-encoder, which is loaded when it is first needed."""
        with self._loading:
            if self._cross_encoder is None:
                self._cross_encoder = self._home.load_reranker()
        assert self._cross_encoder is not None
        return self._cross_encoder.score(question, texts)


class _SharedTimeline:
    """A zone's timeline, which one thread at a time reads or brings up, holding `lock`."""

    def __init__(self, timeline: Timeline) -> None:
        self.read = timeline
        self.lock = threading.RLock()
