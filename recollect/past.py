"""Recalling as of the past: recallers over files of earlier moments, the last few kept open."""

from __future__ import annotations

from collections import OrderedDict

from projections.files import ZoneFiles
from projections.recall import Profile, Recaller, Reranker
from streams.engine.node import Node
from streams.projecting.moments import Moment
from streams.reading.timeline import Timeline

# Each holds the vectors of a zone in memory once it was asked twice.
_MOST_OPEN = 4


class Past:
    """What one zone would have answered at earlier moments."""

    def __init__(
        self, node: Node, zone: str, profile: Profile, reranker: Reranker | None = None
    ) -> None:
        self._node = node
        self._zone = zone
        self._profile = profile
        self._reranker = reranker
        self._timeline = Timeline(node.ledger, zone)
        self._open: OrderedDict[Moment, tuple[Recaller, ZoneFiles]] = OrderedDict()

    def timeline(self) -> Timeline:
        """Return the zone's timeline, up to what the ledger holds now."""
        self._timeline.refresh()
        return self._timeline

    def recaller(self, number: int) -> Recaller | None:
        """Return the recaller of the state after a record; None for that before the first."""
        if number == 0:
            return None
        moment = self._node.moment(self._zone, self._timeline, number)
        if moment not in self._open or not moment.decided:
            # A moment is another one after an erasure: what was open then must not be asked.
            for other in [item for item in self._open if item.number == number]:
                self._close(other)
            files = self._node.open_moment(self._zone, self._timeline, moment)
            self._open[moment] = (Recaller(files, self._profile, self._reranker), files)
        self._open.move_to_end(moment)
        while len(self._open) > _MOST_OPEN:
            self._close(next(iter(self._open)))
        return self._open[moment][0]

    def close(self) -> None:
        """Close every file."""
        while self._open:
            self._close(next(iter(self._open)))

    def _close(self, moment: Moment) -> None:
        _, files = self._open.pop(moment)
        files.close()
