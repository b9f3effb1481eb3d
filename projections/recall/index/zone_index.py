"""The index of a zone: arrays of its turns, facts and vectors, which follow the files' watermarks.

The index of a large zone is stored in the files' directory, so that the first question of a process
need not wait until everything is read again. Deleted and changed rows are removed from the index,
in memory and on disk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events.turns_for_recall import event_texts, replaced_numbers
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entities_for_recall import (
    canonical_ids,
    entities_of_events,
    events_mentioning,
    events_mentioning_each,
)
from recollect.projections.memory.fact_statements import events_with_occasions
from recollect.projections.memory.facts_for_recall import (
    Claim,
    claims_about,
    dates_in_messages,
    event_facts,
    present_row_kinds,
)
from recollect.projections.readmodel import ReadModel
from recollect.projections.recall.index.arrays import array_store
from recollect.projections.recall.index.arrays.growable_arrays import (
    Array,
    GrowableRows,
    add_prefix,
    select_prefix,
)
from recollect.projections.recall.index.fact_index import Facts
from recollect.projections.recall.index.index_terms import Tokeniser
from recollect.projections.recall.index.lookup_cache import LookupCache
from recollect.projections.recall.index.retracted import Retracted, find_retracted
from recollect.projections.recall.index.token_index import Tokens
from recollect.projections.recall.index.turn_days import DayPairs, NamedDays, TurnDays
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.recall.index.vector_index import Vectors, VectorTargets
from recollect.projections.row_changes import change_count, changed_since, has_reused_row
from recollect.projections.sqlite import json_array, scalar

#: Entities with more mentions are not followed to other turns. A limit of 1,000 does not find more
#: answers on LoCoMo dev.
MAX_MENTIONS = 100
# Cached places of mentions: 16 MB.
_MAX_CACHED_POSITIONS = 2_000_000
# Number of turns in the caches of texts, facts and entities (a few hundred bytes each), number of
# subjects in the cache of claims, and number of ids in the cache of canonical ids.
_MAX_CACHED_TURNS = 4_096
_MAX_CACHED_SUBJECTS = 4_096
_MAX_CACHED_IDS = 100_000
# Smaller indexes are not stored: they are built in a fifth of a second.
MIN_STORED_TURNS = 2_000
#: Relative growth since the last store after which the index is stored again.
_MIN_GROWTH_TO_STORE = 0.1
_BLOCK = 10_000

Columns = Mapping[str, Array]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class State(msgspec.Struct, frozen=True):
    """The state of the files that an index reflects, and the encoder model of its vectors.

    `lineages`: (inode, count of deleted or changed rows) of each file. `watermarks`: by file name.
    `seq`: number of the last vector that was read.
    """

    lineages: list[tuple[int, int]]
    watermarks: dict[str, int]
    model: str | None
    seq: int = 0


class Index:
    """The index of a zone's files, as they were when it last followed them."""

    def __init__(
        self, files: ZoneFiles, columns: Columns | None = None, state: State | None = None
    ) -> None:
        self._files = files
        stored = columns or {}
        model, identity = files.embeddings, files.identity.connection
        #: Splits texts into the terms of the full-text indexes.
        self.tokeniser = Tokeniser(files.events.connection)
        self.turns = Turns(files.events.connection, select_prefix(stored, "turns"))
        #: Event id -> the facts that it states or repeats.
        self.event_facts = LookupCache(
            partial(event_facts, files.memory.connection), _MAX_CACHED_TURNS
        )
        #: Event number -> text.
        self.event_texts = LookupCache(
            partial(event_texts, files.events.connection), _MAX_CACHED_TURNS
        )
        #: Event id -> ids of the entities that it mentions, merges not applied.
        self.event_entities = LookupCache(partial(entities_of_events, identity), _MAX_CACHED_TURNS)
        #: Entity id -> id of the unmerged entity to which its merges lead, or its own id.
        self.canonical_ids = LookupCache(partial(canonical_ids, identity), _MAX_CACHED_IDS)
        #: Canonical entity id -> the number of events that mention it or come from it, counted up
        #: to MAX_MENTIONS + 1, and their places (empty above MAX_MENTIONS).
        self.mentions_of = LookupCache(
            partial(_mentions_of, identity, self.turns), _MAX_CACHED_POSITIONS // MAX_MENTIONS
        )
        self._turn_days = TurnDays(self.turns, partial(dates_in_messages, files.memory.connection))
        self._mentioning: dict[frozenset[str], Ints] = {}
        #: Words of a slot's relation -> unit vector of the phrase, unit vectors of its words.
        #: Cleared after an erasure.
        self.relation_vectors: dict[str, tuple[Floats, Floats]] = {}
        self._replaced: Ints | None = None
        self._retracted: Retracted | None = None
        self._repeating: Ints | None = None
        self.facts = Facts(files.memory.connection, self.turns, select_prefix(stored, "facts"))
        #: Subject (a normalised name or an entity id) -> the claims about it, each with the place
        #: of its turn, in order of fact id.
        self.claims_about = LookupCache(
            partial(_claims_about, files.memory.connection, self.facts), _MAX_CACHED_SUBJECTS
        )
        self.event_vectors = Vectors(
            model.dimension, self._event_targets(), select_prefix(stored, "event_vectors")
        )
        self.fact_vectors = Vectors(
            model.dimension, self._fact_targets(), select_prefix(stored, "fact_vectors")
        )
        self.tokens = Tokens(model, self.turns, select_prefix(stored, "tokens"))
        #: Which kinds of rows memory.db has.
        self.row_kinds = present_row_kinds(files.memory.connection)
        self._state = state or State(
            _lineages(files), {model.name: 0 for model in files.all}, model.model
        )
        self._stored_turns = len(self.turns) if stored else 0
        # Whether the stored index still has deleted rows.
        self._stored_has_stale_rows = False

    @classmethod
    def open(cls, files: ZoneFiles, *, uses_stored: bool = True) -> Index:
        """Return an up-to-date index of files, from the stored one if it is usable.

        A stored index that is torn or belongs to other files is ignored.
        """
        index = _load_stored(files) if uses_stored else None
        if index is not None:
            index._stored_has_stale_rows = index.has_stale_rows
            if index.follow():
                return index
        index = cls(files)
        index.follow()
        return index

    def follow(self) -> bool:
        """Remove deleted rows and add new ones; return False if the index must be rebuilt."""
        if self._state.watermarks == _watermarks(self._files):
            return True
        before = self._state
        if not self.prune():
            return False
        for cache in (
            self.event_facts,
            self.event_texts,
            self.event_entities,
            self.canonical_ids,
            self.mentions_of,
            self.claims_about,
        ):
            cache.clear()
        if self._state.lineages != before.lineages:
            self._turn_days.clear()
        self._mentioning.clear()
        self._replaced = None
        self._retracted = None
        self._repeating = None
        facts, seq = len(self.facts), self._state.seq
        self._follow()
        return self._state.lineages == before.lineages or not self._was_readded(facts, seq)

    def prune(self) -> bool:
        """Remove deleted and changed rows; return False if the index must be rebuilt.

        No rows are added: `follow` adds changed rows again.
        """
        # The watermark of vectors is read first, as in `_follow`.
        watermarks = _watermarks(self._files)
        if not _is_continuation(self._state, self._files, watermarks):
            return False
        lineages = _lineages(self._files)
        if lineages == self._state.lineages:
            return True
        self.relation_vectors.clear()
        changed: dict[str, list[int]] = defaultdict(list)
        for model, (_, changes) in zip(_indexed(self._files), self._state.lineages, strict=True):
            rowids_by_table = changed_since(model.connection, changes)
            if rowids_by_table is None:
                return False
            changed.update(rowids_by_table)
        places = self.turns.remove(changed["events"])
        facts = self.facts.remove(changed["facts"], places)
        if facts is None:
            return False
        embeddings = self._files.embeddings
        if embeddings.model is not None and not self.tokens.remove(
            changed["token_vectors"], places
        ):
            return False
        seqs = changed["embeddings"]
        self.event_vectors.remove(seqs, places, places)
        self.fact_vectors.remove(seqs, facts, places)
        seq = max(self.event_vectors.last_seq, self.fact_vectors.last_seq)
        if has_reused_row(embeddings.connection, "embeddings", seqs, seq, self._vector_filter()):
            return False
        self._state = msgspec.structs.replace(self._state, lineages=lineages, seq=seq)
        return True

    def _vector_filter(self) -> str:
        """Return the SQL condition on rows of `embeddings` that are indexed."""
        model = apsw.format_sql_value(self._state.model)
        return f"target_type IN ('event', 'fact') AND model IS {model}"

    def _was_readded(self, first: int, seq: int) -> bool:
        """Return whether a fact from row `first` on has a vector up to `seq`.

        That vector was removed from the index and would not be read again.
        """
        added = self.facts.ids[first:]
        return bool(added) and None is not scalar(
            self._files.embeddings.connection,
            "SELECT 1 FROM embeddings WHERE target_type = 'fact' AND model = ? AND seq <= ? "
            "AND target_id IN (SELECT value FROM json_each(?)) LIMIT 1",
            (self._state.model, seq, json_array(added)),
        )

    @property
    def has_stale_rows(self) -> bool:
        """Whether rows that the index holds have been deleted or changed in the files."""
        return self._state.lineages != _lineages(self._files)

    @property
    def state(self) -> State:
        """The state of the files that the index reflects."""
        return self._state

    @property
    def decided_turn_count(self) -> int:
        """The number of leading turns that are decided, with facts and vectors in the files."""
        marks = self._state.watermarks
        last = min(marks["memory"], marks["embeddings"])
        return int(np.searchsorted(self.turns.numbers, last, "right"))

    @property
    def undecided_turns(self) -> Ints:
        """The places of turns that are not decided yet and thus have no facts."""
        numbers = self.turns.numbers
        return np.arange(
            np.searchsorted(numbers, self._state.watermarks["memory"], "right"), len(numbers)
        )

    @property
    def named_days(self) -> NamedDays:
        """The dates in the texts of the turns."""
        return self._turn_days.named(self.decided_turn_count)

    def day_pairs(self, utc_offset: int) -> DayPairs:
        """Return the pairs of turns and their days; `utc_offset` is in minutes."""
        return self._turn_days.pairs(utc_offset, self.decided_turn_count)

    @property
    def should_store(self) -> bool:
        """Whether storing the index would save another process much work."""
        added = len(self.turns) - self._stored_turns
        has_grown = added > _MIN_GROWTH_TO_STORE * self._stored_turns
        return (len(self.turns) >= MIN_STORED_TURNS and has_grown) or self._stored_has_stale_rows

    def store(self) -> None:
        """Write the index to the files' directory; the caller holds the lock of `array_store`."""
        self._stored_turns = len(self.turns)
        self._stored_has_stale_rows = False
        if not self.has_stale_rows:
            wide = {name: array.values for name, array in self._wide_arrays.items()}
            metadata = msgspec.json.encode(self._state)
            array_store.write(self._files.directory, metadata, self._narrow_arrays(), wide)

    def store_pruned(self) -> None:
        """Write a stored index back after `prune`, under the same lock."""
        positions = {
            f"{name}.lying": array.row_positions for name, array in self._wide_arrays.items()
        }
        removed = {name: array.removed for name, array in self._wide_arrays.items()}
        metadata = msgspec.json.encode(self._state)
        array_store.prune(
            self._files.directory, metadata, {**self._narrow_arrays(), **positions}, removed
        )

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name."""
        wide = {name: array.values for name, array in self._wide_arrays.items()}
        return {**self._narrow_arrays(), **wide}

    @property
    def _wide_arrays(self) -> dict[str, GrowableRows]:
        return {
            "event_vectors.codes": self.event_vectors.codes,
            "fact_vectors.codes": self.fact_vectors.codes,
            "tokens.codes": self.tokens.codes,
        }

    def _narrow_arrays(self) -> dict[str, Array]:
        return {
            **add_prefix("turns", self.turns.columns()),
            **add_prefix("facts", self.facts.columns()),
            **add_prefix("event_vectors", self.event_vectors.columns()),
            **add_prefix("fact_vectors", self.fact_vectors.columns()),
            **add_prefix("tokens", self.tokens.columns()),
        }

    def mentioning(self, entity_ids: Iterable[str]) -> Ints:
        """Return the places of turns that mention, or come from, an entity under any of its ids."""
        key = frozenset(entity_ids)
        if key not in self._mentioning:
            found = events_mentioning(self._files.identity.connection, sorted(key))
            places = self.turns.place_of_id.of(found)
            if sum(map(len, self._mentioning.values())) > _MAX_CACHED_POSITIONS:
                self._mentioning.clear()
            self._mentioning[key] = places[places >= 0]
        return self._mentioning[key]

    @property
    def replaced_turns(self) -> Ints:
        """The places of turns that were replaced by an edit, or deleted."""
        if self._replaced is None:
            replaced = replaced_numbers(self._files.events.connection)
            self._replaced = np.flatnonzero(np.isin(self.turns.numbers, replaced))
        return self._replaced

    @property
    def repeating_turns(self) -> Ints:
        """The places of turns that repeat a fact."""
        if self._repeating is None:
            events = events_with_occasions(self._files.memory.connection)
            places = self.turns.place_of_id.of(events)
            self._repeating = places[places >= 0]
        return self._repeating

    @property
    def retracted(self) -> Retracted:
        """The retractions in force."""
        if self._retracted is None:
            memory = self._files.memory.connection
            self._retracted = find_retracted(memory, self.turns, self.event_texts, self.tokeniser)
        return self._retracted

    def _event_targets(self) -> VectorTargets:
        turns = self.turns
        return VectorTargets(turns.place_of_id.of, turns.ids, lambda: np.arange(len(turns)))

    def _fact_targets(self) -> VectorTargets:
        facts = self.facts
        return VectorTargets(facts.rows_of, facts.ids, lambda: facts.places)

    def _follow(self) -> None:
        files = self._files
        # Watermarks are read before rows, and the watermark of the vectors before those of their
        # targets, since targets are committed earlier.
        watermarks = _watermarks(files)
        self.row_kinds = present_row_kinds(files.memory.connection)
        self.turns.follow()
        self.facts.follow()
        seq = self._state.seq
        if files.embeddings.model is not None:
            self.tokens.follow()
            seq = self._follow_vectors(seq)
        self._state = State(_lineages(files), watermarks, files.embeddings.model, seq)

    def _follow_vectors(self, seq: int) -> int:
        model = self._files.embeddings
        of_type = {"event": self.event_vectors, "fact": self.fact_vectors}
        vector_rows = model.connection.execute(
            "SELECT seq, target_type, target_id, embedding FROM embeddings "
            "WHERE seq > ? AND model = ? ORDER BY seq",
            (seq, model.model),
        )
        while block := list(islice(vector_rows, _BLOCK)):
            seq = block[-1][0]
            for type_, vectors in of_type.items():
                rows = [row for row in block if row[1] == type_]
                stacked = np.frombuffer(b"".join(row[3] for row in rows), np.int8)
                seqs, ids = [row[0] for row in rows], [row[2] for row in rows]
                vectors.extend(seqs, ids, stacked.reshape(len(rows), model.dimension))
        return seq


def _mentions_of(
    identity: apsw.Connection, turns: Turns, entity_ids: list[str]
) -> dict[str, tuple[int, Ints]]:
    events_by_entity = events_mentioning_each(identity, entity_ids, MAX_MENTIONS + 1)
    followed = [
        events if len(events) <= MAX_MENTIONS else [] for events in events_by_entity.values()
    ]
    places = turns.place_of_id.of([event for events in followed for event in events])
    places_by_entity = np.split(places, np.cumsum(list(map(len, followed)))[:-1])
    return {
        entity: (len(events), of_entity[of_entity >= 0])
        for (entity, events), of_entity in zip(
            events_by_entity.items(), places_by_entity, strict=True
        )
    }


def _claims_about(
    memory: apsw.Connection, facts: Facts, subjects: list[str]
) -> dict[str, list[tuple[int, Claim]]]:
    by_subject = claims_about(memory, subjects)
    ids = dict.fromkeys(claim.fact_id for claims in by_subject.values() for claim in claims)
    places = facts.places_of([*ids])
    return {
        subject: [(places[claim.fact_id], claim) for claim in claims if claim.fact_id in places]
        for subject, claims in by_subject.items()
    }


def prune_stored(files: ZoneFiles) -> None:
    """Remove deleted rows from the stored index, or remove the index if it cannot be pruned.

    The caller holds the lock of `array_store`.
    """
    try:
        with files.read_transaction():
            metadata = array_store.read_metadata(files.directory)
            state = None if metadata is None else msgspec.json.decode(metadata, type=State)
            if state is not None and state.lineages == _lineages(files):
                array_store.remove_leftovers(files.directory)
                return
            index = None if state is None else _load_stored(files)
            if index is not None and index.prune():
                index.store_pruned()
                return
    except BaseException as error:
        array_store.remove(files.directory)
        # On a full disk the index is rebuilt by the next question.
        if not isinstance(error, OSError):
            raise
    array_store.remove(files.directory)


def stored_problems(files: ZoneFiles) -> list[str]:
    """Return the differences between the stored index and one rebuilt from the rows.

    An index that is torn or belongs to other files is never used, so it is not reported.
    """
    with files.read_transaction():
        index, rebuilt = _load_stored(files), Index(files)
        if index is None:
            return []
        if index.has_stale_rows:
            # An erasure should have removed them at its end.
            return [f"{array_store.FILE}: has deleted rows; run recollect rebuild --level index"]
        index.follow()
        rebuilt.follow()
        try:
            expected = rebuilt.columns()
        except apsw.CorruptError:
            # An unreadable full-text index is reported by the check of the files themselves.
            return []
        stored = index.columns()
        return [
            f"{array_store.FILE}: {name} differs from the rows; run recollect rebuild --level index"
            for name, values in expected.items()
            if not np.array_equal(stored[name], values)
        ]


def _load_stored(files: ZoneFiles) -> Index | None:
    """Return the stored index of files, or None if it is torn or belongs to other files."""
    found = array_store.read(files.directory)
    if found is None:
        return None
    state = msgspec.json.decode(found.metadata, type=State)
    if not _is_continuation(state, files, _watermarks(files)):
        return None
    return Index(files, found.arrays, state)


def _is_continuation(state: State, files: ZoneFiles, watermarks: Mapping[str, int]) -> bool:
    """Return whether files are the ones that a state describes, unchanged or with later rows."""
    return (
        state.model == files.embeddings.model
        and all(
            inode == old_inode and changes >= old_changes
            for (inode, changes), (old_inode, old_changes) in zip(
                _lineages(files), state.lineages, strict=True
            )
        )
        and all(number <= watermarks[name] for name, number in state.watermarks.items())
    )


def _watermarks(files: ZoneFiles) -> dict[str, int]:
    """Return the watermark of each file; events.db is read last, since the others depend on it."""
    return {model.name: model.watermark().number for model in reversed(files.all)}


def _lineages(files: ZoneFiles) -> list[tuple[int, int]]:
    """Return (inode, change count) of each file: whether it was replaced, or rows changed."""
    return [(_inode(model.path), change_count(model.connection)) for model in _indexed(files)]


def _inode(path: Path) -> int:
    """Return the inode at a path; 0 if the file was deleted."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _indexed(files: ZoneFiles) -> tuple[ReadModel, ...]:
    return (files.embeddings, files.memory, files.events)
