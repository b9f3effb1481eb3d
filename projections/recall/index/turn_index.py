"""The turns of a zone: sender, time and neighbours of each, and windowed BM25 over their words.

BM25 after Robertson and Zaragoza (2009), with the term frequency of a turn summed over its
neighbours in the same session: a turn that answers what was asked two turns before is found by
the words of the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall
from recollect.projections.recall.index.growable_arrays import (
    Array,
    GrowableArray,
    Texts,
    add_prefix,
    distinct,
    select_prefix,
)
from recollect.projections.recall.index.personal_turns import classify_turns, personal_mask
from recollect.projections.recall.index.postings import Postings
from recollect.projections.recall.index.sessions import Sessions

K1 = 0.9
B = 0.4
#: How much a term at a distance (turns before: negative) counts for a turn.
WINDOW = {-3: 0.2, -2: 0.4, -1: 0.7, 0: 1.0, 1: 0.4, 2: 0.2}
# Scores that terms add to turns, cached until a turn is added: 64 MB.
MAX_CACHED_SCORES = 4_000_000
# Rows that are read at a time.
_BLOCK = 50_000

Floats = npt.NDArray[np.float32]
Gains = npt.NDArray[np.complex64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_TYPES = (
    dict.fromkeys(("number", "platform", "sender", "occurred_at"), np.int64)
    | dict.fromkeys(("length", "window_length", "asks"), np.float32)
    | {"mark": np.int8}
)
_pack = msgspec.msgpack.Encoder()


class Turns:
    """Arrays over all events, in the ledger's order; a place is an index into them.

    `sessions` links neighbours. `follow` adds turns and changes no place; `remove` does.
    """

    def __init__(
        self, connection: apsw.Connection, columns: Mapping[str, Array] | None = None
    ) -> None:
        self._connection = connection
        stored = columns or {}
        self._columns = {
            name: GrowableArray(stored.get(name, np.zeros(0, kind)))
            for name, kind in _TYPES.items()
        }
        self.ids = Texts(stored.get("id"))
        self.sessions = Sessions(
            {name: stored[name] for name in Sessions.NAMES} if stored else None
        )
        self._conversations = _NumberedNames(stored.get("conversations"))
        self._platforms = _NumberedNames(stored.get("platforms"))
        self._senders = _NumberedNames(stored.get("senders"))
        self._row = GrowableArray(self._rows())
        self.place_of_id = EventPlaces(connection, self._row)
        self.postings = Postings(
            connection,
            "events_fts",
            partial(_rows_of, self._row),
            select_prefix(stored, "postings"),
        )
        self._gains: dict[str, tuple[Ints, Gains]] = {}
        self._gains_size = 0
        self._personal: Mask | None = None
        self._update_norms()

    def follow(self) -> None:
        """Add new events."""
        while rows := turns_for_recall.turns_after(
            self._connection, int(self.numbers[-1]) if len(self) else 0, _BLOCK
        ):
            self._add(rows)

    def remove(self, numbers: Sequence[int]) -> Ints:
        """Remove the events with these numbers; return the new place of each turn, -1: removed.

        What depends on neighbours is computed again from the turns that are left.
        """
        kept = ~np.isin(self.numbers, np.array(numbers, np.int64))
        new_places = np.where(kept, np.cumsum(kept) - 1, -1)
        if kept.all():
            return new_places
        for column in self._columns.values():
            column.keep(kept)
        self.ids.keep(kept)
        for name, names in (("platform", self._platforms), ("sender", self._senders)):
            self._columns[name].replace(names.keep(self._columns[name].values))
        conversation = self.sessions.columns["conversation"].values[kept]
        self.sessions = Sessions()
        self.sessions.extend(self._conversations.keep(conversation), self.occurred_at)
        lengths = self._columns["length"].values
        every = np.arange(len(self))
        self._columns["window_length"].replace(self.sessions.gather_sum(every, lengths, WINDOW))
        self._row.replace(self._rows())
        self.postings.remove(new_places)
        self._update_norms()
        return new_places

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, to be stored."""
        return {
            **{name: column.values for name, column in self._columns.items()},
            **{name: column.values for name, column in self.sessions.columns.items()},
            "id": self.ids.column.values,
            "conversations": self._conversations.pack(),
            "platforms": self._platforms.pack(),
            "senders": self._senders.pack(),
            **add_prefix("postings", self.postings.columns()),
        }

    def __len__(self) -> int:
        return len(self._columns["number"].values)

    @property
    def numbers(self) -> Array:
        """The running number of every turn's event, ascending."""
        return self._columns["number"].values

    @property
    def row(self) -> Array:
        """The place of the event with each running number; -1 where there is none."""
        return self._row.values

    @property
    def occurred_at(self) -> Array:
        """When each turn was written, in unix ms."""
        return self._columns["occurred_at"].values

    @property
    def question_share(self) -> Array:
        """The share of questions among each turn's sentences, 0 to 1."""
        return self._columns["asks"].values

    @property
    def personal(self) -> Mask:
        """Which turns are a user's, in a session that is about whoever speaks there."""
        if self._personal is None:
            self._personal = self.personal_in_first(len(self))
        return self._personal

    def personal_in_first(self, first: int) -> Mask:
        """Return which of the first turns are personal, whatever came after them; no others."""
        found = np.zeros(len(self), np.bool_)
        found[:first] = personal_mask(self._columns["mark"].values[:first], self.session[:first])
        return found

    @property
    def session(self) -> Array:
        """The session of every turn: the place of its first."""
        return self.sessions.session

    @property
    def senders(self) -> Iterator[tuple[str, str]]:
        """All senders, as (platform, sender id)."""
        return ((platform, sender) for platform, _, sender in map(_sender_of, self._senders.names))

    def sender_mask(self, senders: set[tuple[str, str]]) -> Mask:
        """Return which turns are from any of these (platform, sender id)."""
        found = np.zeros(len(self), bool)
        for sender in senders:
            number = self._senders.index.get("\x1f".join(sender), -1)
            found |= self._columns["sender"].values == number
        return found

    def platform_mask(self, platform: str) -> Mask:
        """Return which turns are from a platform."""
        of: Mask = self._columns["platform"].values == self._platforms.index.get(platform, -1)
        return of

    def platform_names(self, places: Sequence[int]) -> list[str]:
        """Return the platform of each of some turns."""
        numbers = self._columns["platform"].values[places].tolist()
        return [self._platforms.names[number] for number in numbers]

    def bm25(self, terms: list[str], allowed: Mask | None = None) -> tuple[Floats, float]:
        """Return every turn's windowed BM25 for index terms; 0 where none is near, or not allowed.

        Also the greatest share of the terms, by their idf, that is near one allowed turn; terms
        that no turn has count as well.
        """
        # Of each turn the score and, as imaginary part, the idf near it: both in one pass.
        both = np.zeros(len(self), np.complex64)
        for term in terms:
            places, gains = self._term_scores(term)
            both[places] += gains
        if allowed is not None:
            both *= allowed
        every = sum(map(self.idf, terms))
        scores: Floats = np.ascontiguousarray(both.real)
        return scores, float(both.imag.max(initial=0)) / every if every else 0.0

    def term_weights(self, terms: Mapping[str, float], places: Ints) -> Floats:
        """Return the weights of those of some index terms that each of some turns has, added up."""
        found = np.zeros(len(places), np.float32)
        for term, weight in terms.items():
            holding = self.postings.of(term)[0]
            if len(holding):
                row = holding.searchsorted(places)
                found += np.float32(weight) * (holding.take(row, mode="clip") == places)
        return found

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of an index term, over single turns."""
        holding = len(self.postings.of(term)[0])
        return math.log(1 + (len(self) - holding + 0.5) / (holding + 0.5))

    def window_sums(self, places: Ints, values: Floats) -> tuple[Ints, Floats]:
        """Return the places around some, ascending, and the weighted sums of the values there."""
        return self.sessions.scatter_sum(places, values, WINDOW)

    def _term_scores(self, term: str) -> tuple[Ints, Gains]:
        """Return the turns near which a term is, and what it adds to the score of each.

        The imaginary part is its idf.
        """
        if term not in self._gains:
            places, counts = self.postings.of(term)
            near, tf = self.sessions.scatter_sum(places.astype(np.int64), counts, WINDOW)
            idf = self.idf(term)
            gain = idf * tf * (K1 + 1) / (tf + K1 * self._norm[near]) + 1j * idf
            if self._gains_size + len(near) > MAX_CACHED_SCORES:
                self._gains.clear()
                self._gains_size = 0
            self._gains[term] = (near, gain.astype(np.complex64))
            self._gains_size += len(near)
        return self._gains[term]

    def _add(self, rows: list[turns_for_recall.Turn]) -> None:
        first, count = len(self), len(rows)
        columns = zip(*rows, strict=True)
        numbers, ids, conversations, platforms, senders, times, contents, captions = islice(
            columns, 8
        )
        kinds, directions = columns
        sender = map("\x1f".join, zip(platforms, senders, strict=True))
        length = np.fromiter(map(len, contents), np.float32, count)
        length += np.fromiter(map(len, captions), np.float32, count)
        for name, values in (
            ("number", np.array(numbers, np.int64)),
            ("platform", self._platforms.numbers(platforms)),
            ("sender", self._senders.numbers(sender)),
            ("occurred_at", np.array(times, np.int64)),
            ("length", length),
            ("window_length", np.zeros(count, np.float32)),
            ("asks", np.fromiter(map(_share_of_questions, contents), np.float32, count)),
            ("mark", classify_turns(contents, senders, kinds, directions)),
        ):
            self._columns[name].extend(values)
        self.ids.extend(ids)
        self._row.extend(np.full(int(numbers[-1]) + 1 - len(self.row), -1, np.int64))
        self.row[np.array(numbers)] = np.arange(first, first + count)
        near = self.sessions.extend(self._conversations.numbers(conversations), self.occurred_at)
        for _ in range(max(WINDOW) - 1):
            near = distinct(np.concatenate([near, self.sessions.neighbour(near, -1)]))
        near = near[near >= 0]
        lengths = self._columns["length"].values
        self._columns["window_length"].values[near] = self.sessions.gather_sum(
            near, lengths, WINDOW
        )
        self.postings.extend(first, list(zip(contents, captions, strict=True)))
        self._update_norms()

    def _rows(self) -> Ints:
        """Return the place of the event with each number up to the last; -1 where there is none."""
        row = np.full(int(self.numbers.max(initial=0)) + 1, -1, np.int64)
        row[self.numbers] = np.arange(len(self))
        return row

    def _update_norms(self) -> None:
        """Compute the mean length, and forget what depends on which turns there are."""
        lengths = self._columns["window_length"].values
        mean = float(lengths.mean(dtype=np.float64)) if len(lengths) else 1.0
        self._norm = 1 - B + B * lengths / np.float32(mean)
        self._gains.clear()
        self._gains_size = 0
        self._personal = None


class EventPlaces:
    """The place of the event with an id, where there is one."""

    def __init__(self, connection: apsw.Connection, row: GrowableArray) -> None:
        self._connection = connection
        self._row = row

    def of(self, ids: list[str]) -> Ints:
        """Return the place of each event; -1 where there is none."""
        found = turns_for_recall.numbers(self._connection, ids)
        # Numbers begin with 1.
        return _rows_of(
            self._row, np.fromiter((found.get(id_, 0) for id_ in ids), np.int64, len(ids))
        )

    def get(self, event_id: str, default: int) -> int:
        """Return the place of an event."""
        place = int(self.of([event_id])[0])
        return place if place >= 0 else default

    def __contains__(self, event_id: str) -> bool:
        return self.get(event_id, -1) >= 0

    def __getitem__(self, event_id: str) -> int:
        place = self.get(event_id, -1)
        if place < 0:
            raise KeyError(event_id)
        return place


def _rows_of(row: GrowableArray, numbers: Ints) -> Ints:
    """Return the row of the event with each number; -1 where there is none.

    Events that were not added yet have none.
    """
    rows: Ints = row.values[np.where(numbers < len(row.values), numbers, 0)]
    return rows


def _share_of_questions(text: str) -> float:
    questions = text.count("?")
    return questions / (questions + text.count(".") + text.count("!")) if questions else 0.0


def _sender_of(sender: str) -> tuple[str, str, str]:
    return sender.partition("\x1f")


class _NumberedNames:
    """Names by number, in the order in which they first came."""

    def __init__(self, packed: Array | None = None) -> None:
        self.names: list[str] = [] if packed is None else msgspec.msgpack.decode(packed.tobytes())
        self.index = {name: number for number, name in enumerate(self.names)}

    def numbers(self, names: Iterable[str]) -> Ints:
        """Return the number of each name; new ones get the next."""
        found = [self.index.setdefault(name, len(self.index)) for name in names]
        self.names = list(self.index)
        return np.array(found, np.int64)

    def keep(self, used: Ints) -> Ints:
        """Keep the names with these numbers alone; return their new numbers."""
        first = np.full(len(self.names), len(used))
        # Where a number comes several times, its first place counts.
        first[used[::-1]] = np.arange(len(used))[::-1]
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(used))]
        self.names = [self.names[number] for number in order.tolist()]
        self.index = {name: number for number, name in enumerate(self.names)}
        new = np.zeros(len(first), np.int64)
        new[order] = np.arange(len(order))
        return new[used]

    def pack(self) -> Array:
        """Return the names as bytes."""
        return np.frombuffer(_pack.encode(self.names), np.uint8)
