"""Sessions: each turn is linked to the previous and the next one of its session.

Turns are stored in ledger order, so adding one does not change the place of another. Links skip
interleaved turns of other conversations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import Array, GrowableArray

#: A gap that ends a session: about a night. A jump back in time ends it too, as when older
#: messages are ingested later.
SESSION_GAP_MS = 6 * 3_600_000
#: A gap that ends it between two turns of one sender in a conversation without a peer, a thread and
#: a session: such turns are items, such as notes and photos, rather than a talk. This raises
#: recall@10 by 1.1 points (two LifeBench people).
ITEM_GAP_MS = 10 * 60_000

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Sessions:
    """Links between turns, by place; -1 at the start or end of a session.

    A session is identified by the place of its first turn.
    """

    NAMES = ("conversation", "session", "before", "after")

    def __init__(self, columns: Mapping[str, Array] | None = None) -> None:
        empty = np.zeros(0, np.int32)
        stored = columns or dict.fromkeys(self.NAMES, empty)
        self.columns = {name: GrowableArray(values) for name, values in stored.items()}
        conversation = self.columns["conversation"].values
        self._linked: tuple[Array, Array] | None = None
        self._last = np.full(int(conversation.max(initial=-1)) + 1, -1, np.int64)
        self._last[conversation] = np.arange(len(conversation))

    def __len__(self) -> int:
        return len(self.columns["session"].values)

    @property
    def session(self) -> Array:
        """The session of every turn."""
        return self.columns["session"].values

    def extend(self, conversation: Array, occurred_at: Array, item_sender: Array) -> Ints:
        """Add turns and link them; return the places whose neighbours changed, new turns included.

        `conversation`: the conversation of each new turn, as a number. `occurred_at`: the times of
        all turns, old and new (unix ms). `item_sender`: for all turns, the sender's number in a
        conversation without a peer, a thread and a session, and -1 in any other.
        """
        first, count = len(self), len(conversation)
        if not count:
            return np.zeros(0, np.int64)
        conversations = int(conversation.max()) + 1
        if conversations > len(self._last):
            self._last = np.concatenate((self._last, np.full(conversations - len(self._last), -1)))
        order = np.argsort(conversation, kind="stable")
        sorted_, places = conversation[order], first + order
        is_first = np.concatenate(([True], sorted_[1:] != sorted_[:-1]))
        before = np.where(is_first, self._last[sorted_], np.concatenate(([-1], places[:-1])))
        gap_ms = np.abs(occurred_at[places] - occurred_at[before])
        are_items = (item_sender[places] >= 0) & (item_sender[places] == item_sender[before])
        max_gap_ms = np.where(are_items, ITEM_GAP_MS, SESSION_GAP_MS)
        before = np.where((before >= 0) & (gap_ms <= max_gap_ms), before, -1)
        earlier = before[is_first]
        start = np.full(count, -1, np.int64)
        start[is_first] = np.where(earlier >= 0, self.session[earlier] if first else -1, -1)
        start = np.where(before < 0, places, start)
        # Any other turn belongs to the session of the turn before it.
        start = start[np.maximum.accumulate(np.where(start >= 0, np.arange(count), 0))]
        inverse = np.argsort(order, kind="stable")
        for name, values in (
            ("conversation", conversation),
            ("session", start[inverse]),
            ("before", before[inverse]),
            ("after", np.full(count, -1)),
        ):
            self.columns[name].extend(values.astype(np.int32))
        self._linked = None
        linked = before >= 0
        self.columns["after"].values[before[linked]] = places[linked]
        self._last[sorted_] = places
        changed = np.zeros(len(self), bool)
        changed[first:] = True
        changed[before[linked]] = True
        return np.flatnonzero(changed)

    def neighbour(self, places: Array, distance: int) -> Ints:
        """Return the place `distance` turns after each of these (negative: before), or -1."""
        (found,) = self.neighbours(places, [distance])
        return found

    def neighbours(self, places: Array, distances: Collection[int]) -> list[Ints]:
        """Return the result of `neighbour` for each distance."""
        before, after = self._links()
        found: dict[int, Ints] = {0: places.astype(np.int64)}
        for link, step in ((before, -1), (after, 1)):
            for steps in range(1, max((step * distance for distance in distances), default=0) + 1):
                found[step * steps] = link[found[step * (steps - 1)]]
        return [found[distance] for distance in distances]

    def _links(self) -> tuple[Array, Array]:
        """Return (previous, next) places of all turns; both end with -1, so index -1 yields -1."""
        if self._linked is None:
            before, after = (self.columns[name].values for name in ("before", "after"))
            self._linked = (np.append(before, -1), np.append(after, -1))
        return self._linked

    def scatter_sum(
        self, places: Ints, values: Array, window: Mapping[int, float]
    ) -> tuple[Ints, Floats]:
        """Add each value to the turns around its place; return the places reached, and their sums.

        `window`: distance -> weight. A turn receives the value at each distance (negative:
        earlier) times that weight. Places ascend.
        """
        targets = np.array(self.neighbours(places, [-distance for distance in window]))
        inside = targets >= 0
        shares = values * np.array(list(window.values()), values.dtype)[:, None]
        reached, share = targets[inside], shares[inside]
        if 32 * len(reached) < len(self):
            places_reached, row = np.unique(reached, return_inverse=True)
            return places_reached, np.bincount(row, share, minlength=len(places_reached)).astype(
                np.float32
            )
        sums = np.bincount(reached, share, minlength=len(self))
        places_reached = np.flatnonzero(sums != 0)
        return places_reached, sums[places_reached].astype(np.float32)

    def gather_sum(self, places: Ints, values: Array, window: Mapping[int, float]) -> Floats:
        """Return for each place the weighted sum of the values of the turns around it."""
        total = np.zeros(len(places))
        for neighbours, weight in zip(
            self.neighbours(places, window), window.values(), strict=True
        ):
            total += np.where(neighbours >= 0, weight * values[neighbours].astype(np.float64), 0)
        return total.astype(np.float32)
