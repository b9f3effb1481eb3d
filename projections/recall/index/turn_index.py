"""The turns of a zone: sender, time and neighbours of each, and windowed BM25 over their words.

BM25 follows Robertson and Zaragoza (2009). Term frequencies are summed over a window of turns of
the same session, so a turn is also found by the words of the question that it answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import NamedTuple

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall
from recollect.projections.recall.index.arrays.growable_arrays import (
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
from recollect.schemas.senders import is_assistant

K1 = 0.9
B = 0.4
#: Distance in turns -> weight of the terms there. Negative distances are earlier turns.
WINDOW = {-3: 0.2, -2: 0.4, -1: 0.7, 0: 1.0, 1: 0.4, 2: 0.2}
#: The owner of a zone takes part in more than this many times the conversations of anyone else.
OWNER_RATIO = 2
#: With fewer conversations, the zone has no owner.
MIN_OWNER_CONVERSATIONS = 10
# Number of cached term scores (64 MB). The cache is cleared when turns change.
MAX_CACHED_SCORES = 4_000_000
# Rows read at a time.
_BLOCK = 50_000

Floats = npt.NDArray[np.float32]
TermScores = npt.NDArray[np.complex64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_TYPES = (
    dict.fromkeys(("number", "platform", "sender", "occurred_at"), np.int64)
    | dict.fromkeys(("length", "window_length", "asks"), np.float32)
    | dict.fromkeys(("mark", "is_item"), np.int8)
)
_pack = msgspec.msgpack.Encoder()


class ChatPlatforms(NamedTuple):
    """The platforms where people write to each other, and the others where they ask assistants."""

    among_people: Set[str]
    with_assistant: Set[str]


class Turns:
    """Arrays over all turns, in ledger order; a turn's index into them is its place.

    `sessions` links neighbours. `follow` adds turns without changing a place; `remove` changes
    places.
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
        # Event number -> place; -1 if there is no such turn.
        self._place_by_number = GrowableArray(self._places_by_number())
        self.place_of_id = EventPlaces(connection, self._place_by_number)
        self.postings = Postings(
            connection,
            "events_fts",
            partial(_places_of, self._place_by_number),
            select_prefix(stored, "postings"),
        )
        self._cached_term_scores: dict[str, tuple[Ints, TermScores]] = {}
        self._term_scores_size = 0
        self._personal: Mask | None = None
        self._in_assistant_chats: Mask | None = None
        self._cached_participations: tuple[Ints, Ints] | None = None
        self._cached_owners: dict[frozenset[tuple[str, str]], bool] = {}
        self._cached_by_activity: list[tuple[str, str]] | None = None
        self._cached_chats: ChatPlatforms | None = None
        self._update_norms()

    @property
    def has_words(self) -> Mask:
        """Whether each turn has a content or a caption."""
        return self._columns["length"].values > 0

    def follow(self) -> None:
        """Add new events."""
        while rows := turns_for_recall.turns_after(
            self._connection, int(self.numbers[-1]) if len(self) else 0, _BLOCK
        ):
            self._add(rows)

    def remove(self, numbers: Sequence[int]) -> Ints:
        """Remove the events with these numbers; return old place -> new place, -1 if removed.

        Sessions and window lengths are computed again from the remaining turns.
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
        self.sessions.extend(
            self._conversations.keep(conversation), self.occurred_at, self._item_senders()
        )
        lengths = self._columns["length"].values
        every = np.arange(len(self))
        self._columns["window_length"].replace(self.sessions.gather_sum(every, lengths, WINDOW))
        self._place_by_number.replace(self._places_by_number())
        self.postings.remove(new_places)
        self._update_norms()
        return new_places

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, for storing."""
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
        """The event number of each turn, ascending."""
        return self._columns["number"].values

    @property
    def occurred_at(self) -> Array:
        """The time of each turn (unix ms)."""
        return self._columns["occurred_at"].values

    @property
    def platforms(self) -> Sequence[str]:
        """The names of the platforms of all turns."""
        return self._platforms.names

    @property
    def chats(self) -> ChatPlatforms:
        """The platforms on which people write to each other, or to an assistant."""
        if self._cached_chats is None:
            of_sender, conversations = self._participations()
            by_assistant = self._assistants()[of_sender]
            persons = np.bincount(conversations[~by_assistant])
            among_people = self._platforms_of(np.flatnonzero(persons > 1))
            with_assistant = self._platforms_of(
                np.intersect1d(conversations[by_assistant], np.flatnonzero(persons > 0))
            )
            self._cached_chats = ChatPlatforms(among_people, with_assistant - among_people)
        return self._cached_chats

    def _platforms_of(self, conversations: Ints) -> set[str]:
        """Return the platforms of those of some conversations that do not consist of items."""
        names = (self._conversations.names[number] for number in conversations.tolist())
        return {name.partition("\x1f")[0] for name in names if not _has_no_place(name)}

    @property
    def platform(self) -> Ints:
        """The platform of each turn, as a number."""
        return self._columns["platform"].values

    @property
    def question_share(self) -> Array:
        """The share of questions among the sentences of each turn, 0 to 1."""
        return self._columns["asks"].values

    @property
    def personal(self) -> Mask:
        """The mask of personal turns; see `personal_turns`."""
        if self._personal is None:
            self._personal = self.personal_in_first(len(self))
        return self._personal

    def personal_in_first(self, count: int) -> Mask:
        """Return the mask of personal turns among the first `count`, ignoring all later turns."""
        found = np.zeros(len(self), np.bool_)
        found[:count] = personal_mask(self._columns["mark"].values[:count], self.session[:count])
        return found

    @property
    def in_assistant_chats(self) -> Mask:
        """The mask of turns in sessions in which a sender is named like an assistant."""
        if self._in_assistant_chats is None:
            by_assistant = self._assistants()[self._columns["sender"].values]
            is_chat = np.zeros(len(self), np.bool_)
            is_chat[self.session[by_assistant]] = True
            self._in_assistant_chats = is_chat[self.session]
        return self._in_assistant_chats

    def _assistants(self) -> Mask:
        """Return the mask of senders, by their numbers, that are assistants."""
        return np.array(
            [is_assistant(sender, platform=platform) for platform, sender in self.senders], bool
        )

    @property
    def session(self) -> Array:
        """The session of each turn, given by the place of the session's first turn."""
        return self.sessions.session

    @property
    def senders(self) -> Iterator[tuple[str, str]]:
        """All senders as (platform, sender id)."""
        return ((platform, sender) for platform, _, sender in map(_sender_of, self._senders.names))

    def is_owner(self, senders: Set[tuple[str, str]]) -> bool:
        """Return whether the person with these accounts (platform, sender id) owns the zone."""
        key = frozenset(senders)
        if key not in self._cached_owners:
            self._cached_owners[key] = self._is_owner(key)
        return self._cached_owners[key]

    def _is_owner(self, senders: Set[tuple[str, str]]) -> bool:
        of_sender, conversations = self._participations()
        own = np.isin(of_sender, self._sender_numbers(senders))
        count = len(distinct(conversations[own]))
        if count < MIN_OWNER_CONVERSATIONS:
            return False
        others = np.bincount(of_sender[~own])
        for number in np.argsort(-others, kind="stable").tolist():
            platform, _, sender = _sender_of(self._senders.names[number])
            if not is_assistant(sender, platform=platform):
                return bool(0 < OWNER_RATIO * others[number] < count)
        return False

    @property
    def most_active_sender(self) -> tuple[str, str] | None:
        """The (platform, sender id) of the person in most conversations; None if nobody writes."""
        persons = self._by_activity()
        return persons[0] if persons else None

    def is_only_person(self, senders: Set[tuple[str, str]]) -> bool:
        """Return whether nobody but these (platform, sender id) writes, apart from assistants."""
        return senders >= set(self._by_activity())

    def _by_activity(self) -> list[tuple[str, str]]:
        """Return the senders, apart from assistants, by their number of conversations."""
        if self._cached_by_activity is None:
            conversations = np.bincount(self._participations()[0])
            senders = [*self.senders]
            by_activity = np.argsort(-conversations, kind="stable").tolist()
            self._cached_by_activity = [
                senders[number]
                for number in by_activity
                if not is_assistant(senders[number][1], platform=senders[number][0])
            ]
        return self._cached_by_activity

    def _participations(self) -> tuple[Ints, Ints]:
        """Return the distinct pairs (sender, conversation) of all turns, by their numbers."""
        if self._cached_participations is None:
            conversation = self.sessions.columns["conversation"].values.astype(np.int64)
            sender = self._columns["sender"].values
            count = int(conversation.max(initial=0)) + 1
            pairs = distinct(sender * count + conversation)
            self._cached_participations = (pairs // count, pairs % count)
        return self._cached_participations

    def _sender_numbers(self, senders: Set[tuple[str, str]]) -> list[int]:
        numbers = (self._senders.index.get("\x1f".join(sender), -1) for sender in senders)
        return [number for number in numbers if number >= 0]

    def sender_mask(self, senders: set[tuple[str, str]]) -> Mask:
        """Return the mask of turns by any of these (platform, sender id)."""
        found = np.zeros(len(self), bool)
        for sender in senders:
            number = self._senders.index.get("\x1f".join(sender), -1)
            found |= self._columns["sender"].values == number
        return found

    def platforms_mask(self, platforms: Collection[str]) -> Mask:
        """Return the mask of turns from any of these platforms."""
        is_one = np.array([name in platforms for name in self.platforms], bool)
        found: Mask = is_one[self.platform]
        return found

    def platform_names(self, places: Sequence[int]) -> list[str]:
        """Return the platform of each of these turns."""
        numbers = self._columns["platform"].values[places].tolist()
        return [self._platforms.names[number] for number in numbers]

    def bm25(self, terms: list[str], allowed: Mask | None = None) -> tuple[Floats, float]:
        """Return the windowed BM25 of every turn for index terms, and the best term coverage.

        A turn without a term in its window, or outside `allowed`, scores 0. The coverage is the
        largest idf-weighted share of the terms that occurs in the window of one allowed turn.
        """
        # One pass accumulates the score (real part) and the idf of matched terms (imaginary part).
        totals = np.zeros(len(self), np.complex64)
        for term in terms:
            places, term_scores = self._term_scores(term)
            totals[places] += term_scores
        if allowed is not None:
            totals *= allowed
        total_idf = sum(map(self.idf, terms))
        scores: Floats = np.ascontiguousarray(totals.real)
        return scores, float(totals.imag.max(initial=0)) / total_idf if total_idf else 0.0

    def term_weights(self, terms: Mapping[str, float], places: Ints) -> Floats:
        """Return for each place the summed weight of the index terms in its turn."""
        found = np.zeros(len(places), np.float32)
        for term, weight in terms.items():
            containing = self.postings.of(term)[0]
            if len(containing):
                row = containing.searchsorted(places)
                found += np.float32(weight) * (containing.take(row, mode="clip") == places)
        return found

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of an index term, each turn being a document."""
        count = len(self.postings.of(term)[0])
        return math.log(1 + (len(self) - count + 0.5) / (count + 0.5))

    def window_sums(self, places: Ints, values: Floats) -> tuple[Ints, Floats]:
        """Return the places with one of `places` in their window, ascending, and a sum for each.

        The sum is over the `values` in the window, weighted by distance.
        """
        return self.sessions.scatter_sum(places, values, WINDOW)

    def _term_scores(self, term: str) -> tuple[Ints, TermScores]:
        """Return the places with a term in their window, and its contribution to each score.

        The real part is the BM25 contribution, the imaginary part the term's idf.
        """
        if term not in self._cached_term_scores:
            places, counts = self.postings.of(term)
            reached, tf = self.sessions.scatter_sum(places.astype(np.int64), counts, WINDOW)
            idf = self.idf(term)
            scores = idf * tf * (K1 + 1) / (tf + K1 * self._norm[reached]) + 1j * idf
            if self._term_scores_size + len(reached) > MAX_CACHED_SCORES:
                self._cached_term_scores.clear()
                self._term_scores_size = 0
            self._cached_term_scores[term] = (reached, scores.astype(np.complex64))
            self._term_scores_size += len(reached)
        return self._cached_term_scores[term]

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
            ("mark", classify_turns(contents, platforms, senders, kinds, directions)),
            ("is_item", np.fromiter(map(_has_no_place, conversations), np.int8, count)),
        ):
            self._columns[name].extend(values)
        self.ids.extend(ids)
        known = len(self._place_by_number.values)
        self._place_by_number.extend(np.full(int(numbers[-1]) + 1 - known, -1, np.int64))
        self._place_by_number.values[np.array(numbers)] = np.arange(first, first + count)
        changed = self.sessions.extend(
            self._conversations.numbers(conversations), self.occurred_at, self._item_senders()
        )
        for _ in range(max(WINDOW) - 1):
            changed = distinct(np.concatenate([changed, self.sessions.neighbour(changed, -1)]))
        changed = changed[changed >= 0]
        lengths = self._columns["length"].values
        self._columns["window_length"].values[changed] = self.sessions.gather_sum(
            changed, lengths, WINDOW
        )
        self.postings.extend(first, list(zip(contents, captions, strict=True)))
        self._update_norms()

    def _item_senders(self) -> Ints:
        """Return the sender's number for turns that are items (see `Sessions`), -1 for others."""
        return np.where(self._columns["is_item"].values, self._columns["sender"].values, -1)

    def _places_by_number(self) -> Ints:
        """Return the place of each event number up to the last; -1 if there is no such turn."""
        places = np.full(int(self.numbers.max(initial=0)) + 1, -1, np.int64)
        places[self.numbers] = np.arange(len(self))
        return places

    def _update_norms(self) -> None:
        """Update length normalisation, and clear caches that depend on the set of turns."""
        lengths = self._columns["window_length"].values
        mean = float(lengths.mean(dtype=np.float64)) if len(lengths) else 1.0
        self._norm = 1 - B + B * lengths / np.float32(mean)
        self._cached_term_scores.clear()
        self._term_scores_size = 0
        self._personal = None
        self._in_assistant_chats = None
        self._cached_participations = None
        self._cached_owners.clear()
        self._cached_by_activity = None
        self._cached_chats = None


class EventPlaces:
    """The places of events by id."""

    def __init__(self, connection: apsw.Connection, place_by_number: GrowableArray) -> None:
        self._connection = connection
        self._place_by_number = place_by_number

    def of(self, ids: list[str]) -> Ints:
        """Return the place of each event; -1 if there is none."""
        found = turns_for_recall.numbers(self._connection, ids)
        # Event numbers start at 1, so 0 has no place.
        return _places_of(
            self._place_by_number,
            np.fromiter((found.get(id_, 0) for id_ in ids), np.int64, len(ids)),
        )

    def get(self, event_id: str, default: int) -> int:
        """Return the place of an event, or a default."""
        place = int(self.of([event_id])[0])
        return place if place >= 0 else default

    def __contains__(self, event_id: str) -> bool:
        return self.get(event_id, -1) >= 0

    def __getitem__(self, event_id: str) -> int:
        place = self.get(event_id, -1)
        if place < 0:
            raise KeyError(event_id)
        return place


def _places_of(place_by_number: GrowableArray, numbers: Ints) -> Ints:
    """Return the place of the event with each number; -1 if it was removed or not added yet."""
    known = place_by_number.values
    places: Ints = known[np.where(numbers < len(known), numbers, 0)]
    return places


def _share_of_questions(text: str) -> float:
    questions = text.count("?")
    return questions / (questions + text.count(".") + text.count("!")) if questions else 0.0


def _has_no_place(conversation: str) -> bool:
    """Return whether a conversation has a platform, but no peer, thread and session."""
    return conversation.endswith("\x1f\x1f\x1f")


def _sender_of(sender: str) -> tuple[str, str, str]:
    return sender.partition("\x1f")


class _NumberedNames:
    """Names numbered in order of first occurrence."""

    def __init__(self, packed: Array | None = None) -> None:
        self.names: list[str] = [] if packed is None else msgspec.msgpack.decode(packed.tobytes())
        self.index = {name: number for number, name in enumerate(self.names)}

    def numbers(self, names: Iterable[str]) -> Ints:
        """Return the number of each name, numbering new names."""
        found = [self.index.setdefault(name, len(self.index)) for name in names]
        self.names = list(self.index)
        return np.array(found, np.int64)

    def keep(self, used: Ints) -> Ints:
        """Keep only the names with these numbers; return the new number of each."""
        first = np.full(len(self.names), len(used))
        # Assigned in reverse, so that the first occurrence of a number wins.
        first[used[::-1]] = np.arange(len(used))[::-1]
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(used))]
        self.names = [self.names[number] for number in order.tolist()]
        self.index = {name: number for number, name in enumerate(self.names)}
        new = np.zeros(len(first), np.int64)
        new[order] = np.arange(len(order))
        return new[used]

    def pack(self) -> Array:
        """Return the names, encoded as an array of bytes."""
        return np.frombuffer(_pack.encode(self.names), np.uint8)
