"""Sessions: each turn is linked to the one before and the one after in its session.

Turns are in the ledger's order, so that new ones change no place; the turns of one conversation
are linked across those of others between them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import Array, GrowableArray

#: A silence that ends a session: after a night there is another talk. So does a jump back, where
#: older messages come later into the ledger.
SESSION_GAP_MS = 6 * 3_600_000

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Sessions:
    """Links between turns, by place; -1 where a session begins or ends.

    `session` is the place of the session's first turn.
    """

    NAMES = ("conversation", "session", "before", "after")

    def __init__(self, columns: Mapping[str, Array] | None = None) -> None:
        nothing = np.zeros(0, np.int32)
        stored = columns or dict.fromkeys(self.NAMES, nothing)
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

    def extend(self, conversation: Array, occurred_at: Array) -> Ints:
        """Add turns and link them; return the places whose neighbours changed, new turns included.

        `conversation`: of the new turns; `occurred_at`: of all turns, with the new ones.
        """
        first, count = len(self), len(conversation)
        if not count:
            return np.zeros(0, np.int64)
        most = int(conversation.max()) + 1
        if most > len(self._last):
            self._last = np.concatenate((self._last, np.full(most - len(self._last), -1)))
        order = np.argsort(conversation, kind="stable")
        sorted_, places = conversation[order], first + order
        opens = np.concatenate(([True], sorted_[1:] != sorted_[:-1]))
        before = np.where(opens, self._last[sorted_], np.concatenate(([-1], places[:-1])))
        silence = np.abs(occurred_at[places] - occurred_at[before])
        before = np.where((before >= 0) & (silence <= SESSION_GAP_MS), before, -1)
        earlier = before[opens]
        start = np.full(count, -1, np.int64)
        start[opens] = np.where(earlier >= 0, self.session[earlier] if first else -1, -1)
        start = np.where(before < 0, places, start)
        # A turn that opens no session belongs to that of the turn before it.
        start = start[np.maximum.accumulate(np.where(start >= 0, np.arange(count), 0))]
        back = np.argsort(order, kind="stable")
        for name, values in (
            ("conversation", conversation),
            ("session", start[back]),
            ("before", before[back]),
            ("after", np.full(count, -1)),
        ):
            self.columns[name].extend(values.astype(np.int32))
        self._linked = None
        linked = before >= 0
        self.columns["after"].values[before[linked]] = places[linked]
        self._last[sorted_] = places
        near = np.zeros(len(self), bool)
        near[first:] = True
        near[before[linked]] = True
        return np.flatnonzero(near)

    def neighbour(self, places: Array, distance: int) -> Ints:
        """Return the place `distance` turns after each (before: negative), or -1."""
        (there,) = self.neighbours(places, [distance])
        return there

    def neighbours(self, places: Array, distances: Collection[int]) -> list[Ints]:
        """Return, for each distance, the places so many turns after, as `neighbour` does."""
        before, after = self._links()
        found: dict[int, Ints] = {0: places.astype(np.int64)}
        for link, step in ((before, -1), (after, 1)):
            for far in range(1, max((step * distance for distance in distances), default=0) + 1):
                found[step * far] = link[found[step * (far - 1)]]
        return [found[distance] for distance in distances]

    def _links(self) -> tuple[Array, Array]:
        """Return the turns before and after each, with a last row: from -1 it leads to -1."""
        if self._linked is None:
            before, after = (self.columns[name].values for name in ("before", "after"))
            self._linked = (np.append(before, -1), np.append(after, -1))
        return self._linked

    def scatter_sum(
        self, places: Ints, values: Array, window: Mapping[int, float]
    ) -> tuple[Ints, Floats]:
        """Return the places at and around some, ascending, and the weighted sum of values there.

        `window`: distance -> the weight of a value for the turn `distance` turns before it.
        """
        targets = np.array(self.neighbours(places, [-distance for distance in window]))
        inside = targets >= 0
        shares = values * np.array(list(window.values()), values.dtype)[:, None]
        near, share = targets[inside], shares[inside]
        if 32 * len(near) < len(self):
            found, row = np.unique(near, return_inverse=True)
            return found, np.bincount(row, share, minlength=len(found)).astype(np.float32)
        sums = np.bincount(near, share, minlength=len(self))
        found = np.flatnonzero(sums != 0)
        return found, sums[found].astype(np.float32)

    def gather_sum(self, places: Ints, values: Array, window: Mapping[int, float]) -> Floats:
        """Return for each of some places the weighted sum of the values at and around it."""
        total = np.zeros(len(places))
        for there, weight in zip(self.neighbours(places, window), window.values(), strict=True):
            total += np.where(there >= 0, weight * values[there].astype(np.float64), 0)
        return total.astype(np.float32)
