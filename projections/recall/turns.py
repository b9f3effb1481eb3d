"""The turns of a zone in memory: their order within conversations, and windowed BM25.

BM25 after Robertson and Zaragoza (2009), with the term frequency of a turn summed over its
neighbours in the same session: a turn that answers what was asked two turns before is found by
the words of the question.
"""

from __future__ import annotations

import math

import apsw
import numpy as np
import numpy.typing as npt

from projections.events import recalls

K1 = 0.9
B = 0.4
#: How much a term at a distance (turns before: negative) counts for a turn.
WINDOW = {-3: 0.2, -2: 0.4, -1: 0.7, 0: 1.0, 1: 0.4, 2: 0.2}
#: A silence that ends a session: what is said after a night is another talk. So is what was
#: said long before, and comes later into the ledger.
SESSION_GAP_MS = 6 * 3_600_000
# What was looked up of words is kept: 12 MB of it.
MOST_POSTINGS = 1_000_000

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Turns:
    """Arrays over all events, in the order of conversation, then ledger.

    `row[number]` is an event's place in them, -1 where there is none.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._held: dict[str, tuple[Ints, Floats]] = {}
        rows = recalls.turns(connection)
        count = len(rows)
        self.numbers: Ints = np.fromiter((row[0] for row in rows), np.int64, count)
        self.ids: list[str] = [str(row[1]) for row in rows]
        self.place_of_id = {event_id: place for place, event_id in enumerate(self.ids)}
        conversations: dict[object, int] = {}
        session = np.fromiter(
            (conversations.setdefault(row[2], len(conversations)) for row in rows),
            np.int64,
            count,
        )
        platforms: dict[object, int] = {}
        self.platform: Ints = np.fromiter(
            (platforms.setdefault(row[3], len(platforms)) for row in rows), np.int64, count
        )
        self.platform_index = {str(name): index for name, index in platforms.items()}
        self._platforms = list(self.platform_index)
        self._senders: dict[tuple[str, str], int] = {}
        self.sender: Ints = np.fromiter(
            (
                self._senders.setdefault((str(row[3]), str(row[4])), len(self._senders))
                for row in rows
            ),
            np.int64,
            count,
        )
        self.occurred_at: Ints = np.fromiter((row[5] for row in rows), np.int64, count)
        self.length: Floats = np.fromiter((row[6] for row in rows), np.float32, count)
        self.row: Ints = np.full(int(self.numbers.max(initial=0)) + 1, -1, np.int64)
        self.row[self.numbers] = np.arange(count)
        if count:
            breaks = (np.diff(session) != 0) | (np.abs(np.diff(self.occurred_at)) > SESSION_GAP_MS)
            self.session: Ints = np.concatenate(([0], np.cumsum(breaks)))
        else:
            self.session = np.zeros(0, np.int64)
        self._window_length = self.around(self.length)
        self._mean_length = float(self._window_length.mean()) if count else 1.0

    def __len__(self) -> int:
        return len(self.ids)

    def of_senders(self, senders: set[tuple[str, str]]) -> Mask:
        """Return which turns any of these (platform, sender id) said."""
        wanted = [self._senders[sender] for sender in senders if sender in self._senders]
        return np.isin(self.sender, wanted)

    def platform_name(self, place: int) -> str:
        """Return the platform of a turn."""
        return self._platforms[int(self.platform[place])]

    def bm25(self, terms: list[str]) -> Floats:
        """Return every turn's windowed BM25 for index terms; 0 where no term is near."""
        scores = np.zeros(len(self), np.float32)
        for term in terms:
            places, counts = self._postings(term)
            if not len(places):
                continue
            frequency = self._spread(places, counts)
            near = np.flatnonzero(frequency)
            tf = frequency[near]
            norm = 1 - B + B * self._window_length[near] / self._mean_length
            scores[near] += self.idf(term) * tf * (K1 + 1) / (tf + K1 * norm)
        return scores

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of an index term, over single turns."""
        holding = len(self._postings(term)[0])
        return math.log(1 + (len(self) - holding + 0.5) / (holding + 0.5))

    def _postings(self, term: str) -> tuple[Ints, Floats]:
        """Return the places of the turns that hold a term, and how often each does."""
        if term not in self._held:
            found = np.array(recalls.occurrences(self._connection, term), np.int64)
            numbers, counts = np.unique(found, return_counts=True)
            if sum(len(places) for places, _ in self._held.values()) > MOST_POSTINGS:
                self._held.clear()
            self._held[term] = (self.row[numbers], counts.astype(np.float32))
        return self._held[term]

    def around(self, values: Floats) -> Floats:
        """Return for every turn the weighted sum of the values of the turns around it."""
        places = np.flatnonzero(values)
        return self._spread(places, values[places])

    def _spread(self, places: Ints, values: Floats) -> Floats:
        """Return for every turn the weighted sum of the values at and around it."""
        targets, weights = [], []
        for distance, weight in WINDOW.items():
            # What stands `distance` after a turn counts for it: the turn is that much before.
            target = places - distance
            inside = (target >= 0) & (target < len(self))
            inside[inside] = self.session[target[inside]] == self.session[places[inside]]
            targets.append(target[inside])
            weights.append(values[inside] * weight)
        return np.bincount(
            np.concatenate(targets), np.concatenate(weights), minlength=len(self)
        ).astype(np.float32)
