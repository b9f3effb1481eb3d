"""What recall keeps of a zone's files: turns, facts, bit codes; it follows the files' watermarks.

It lies beside the files as well, so that a large zone's first question need not wait until
everything is read again. Where rows went or became others, it loses those, there and in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from projections.events.turns_for_recall import said
from projections.files import ZoneFiles
from projections.identity.entities_for_recall import (
    entities_of_events,
    events_mentioning,
    events_speaking_of,
    standing,
)
from projections.lineage import changed_since, lineage, replaced
from projections.memory.facts_for_recall import present, told
from projections.readmodel import ReadModel
from projections.recall.index import array_store
from projections.recall.index.fact_index import Facts
from projections.recall.index.growable_arrays import Array, Wide, part, within
from projections.recall.index.index_terms import Tokeniser
from projections.recall.index.lookup_cache import Kept
from projections.recall.index.token_index import Tokens
from projections.recall.index.turn_index import Turns
from projections.recall.index.vector_index import Targets, Vectors
from projections.sqlite import listed, value

#: What is mentioned more often connects nothing, and is not followed (1,000 find no more; LoCoMo,
#: dev).
MOST_MENTIONS = 100
# What was looked up of entities is kept: 16 MB of it.
_MOST_KEPT = 2_000_000
# So are what turns say and tell, which is mostly a few hundred bytes each, and what stands for
# entities.
_MOST_TEXTS = 4_096
_MOST_IDS = 100_000
# Below this, the files are read anew in a fifth of a second.
LEAST_STORED = 2_000
#: Turns that came since it was stored, for each that it holds, before it is stored again.
_WORTH_STORING = 0.1
_BLOCK = 10_000

Columns = Mapping[str, Array]
Ints = npt.NDArray[np.int64]


class State(msgspec.Struct, frozen=True):
    """Which rows an index holds: each file's lineage and watermark, and the model of vectors.

    `seq`: the last vector that was looked at.
    """

    lineages: list[tuple[int, int]]
    watermarks: dict[str, int]
    model: str | None
    seq: int = 0


class Index:
    """An index of files, as far as they were when it last followed them."""

    def __init__(
        self, files: ZoneFiles, columns: Columns | None = None, state: State | None = None
    ) -> None:
        self._files = files
        held = columns or {}
        model, identity = files.embeddings, files.identity.connection
        #: Splits texts into the terms of the full-text indexes.
        self.tokeniser = Tokeniser(files.events.connection)
        self.turns = Turns(files.events.connection, part(held, "turns"))
        #: Event id -> the facts that it gave or repeated.
        self.told = Kept(partial(told, files.memory.connection), _MOST_TEXTS)
        #: Number of an event -> what was said in it.
        self.said = Kept(partial(said, files.events.connection), _MOST_TEXTS)
        #: Event id -> ids of the entities that it mentions, as they were found.
        self.mentioned = Kept(partial(entities_of_events, identity), _MOST_TEXTS)
        #: Id of an entity -> id of the one that now stands for it.
        self.standing = Kept(partial(standing, identity), _MOST_IDS)
        #: Id of an entity that stands -> how many events speak of, or come from, it, and their
        #: places. Of more than MOST_MENTIONS no places, and no more than that they are more.
        self.speaking = Kept(
            partial(_speaking_of, identity, self.turns), _MOST_KEPT // MOST_MENTIONS
        )
        self._mentioning: dict[frozenset[str], Ints] = {}
        self.facts_said = Facts(files.memory.connection, self.turns, part(held, "facts"))
        self.events = Vectors(model.dimension, self._events(), part(held, "event_vectors"))
        self.facts = Vectors(model.dimension, self._facts(), part(held, "fact_vectors"))
        self.tokens = Tokens(model, self.turns, part(held, "tokens"))
        #: What memory.db holds any of.
        self.present = present(files.memory.connection)
        self._state = state or State(
            _lineages(files), {model.name: 0 for model in files.all}, model.model
        )
        self._stored_turns = len(self.turns) if held else 0
        # Whether what lies beside the files holds rows that went.
        self._stored_behind = False

    @classmethod
    def opened(cls, files: ZoneFiles) -> Index:
        """Return the index of files as they are: what is stored beside them, and what came since.

        What is torn, or of other files than these, is left alone.
        """
        index = _stored(files)
        if index is not None:
            index._stored_behind = index.behind
            if index.follow():
                return index
        index = cls(files)
        index.follow()
        return index

    def follow(self) -> bool:
        """Take out what went since and add what came; False where another must be made."""
        if self._state.watermarks == _watermarks(self._files):
            return True
        before = self._state
        if not self.prune():
            return False
        for kept in (self.told, self.said, self.mentioned, self.standing, self.speaking):
            kept.clear()
        self._mentioning.clear()
        facts, seq = len(self.facts_said), self._state.seq
        self._follow()
        return self._state.lineages == before.lineages or not self._came_back(facts, seq)

    def prune(self) -> bool:
        """Take out what went since, and add nothing; False where another must be made.

        What became another is taken out too, and comes with what is added.
        """
        # Vectors first, as they are followed.
        watermarks = _watermarks(self._files)
        if not _goes_on(self._state, self._files, watermarks):
            return False
        now = _lineages(self._files)
        if now == self._state.lineages:
            return True
        changed: dict[str, list[int]] = defaultdict(list)
        for model, (_, changes) in zip(_indexed(self._files), self._state.lineages, strict=True):
            since = changed_since(model.connection, changes)
            if since is None:
                return False
            changed.update(since)
        places = self.turns.remove(changed["events"])
        facts = self.facts_said.remove(changed["facts"], places)
        if facts is None:
            return False
        embeddings = self._files.embeddings
        if embeddings.model is not None and not self.tokens.remove(
            changed["token_vectors"], places
        ):
            return False
        seqs = changed["embeddings"]
        self.events.remove(seqs, places, places)
        self.facts.remove(seqs, facts, places)
        seq = max(self.events.last, self.facts.last)
        if replaced(embeddings.connection, "embeddings", seqs, seq, self._wanted()):
            return False
        self._state = msgspec.structs.replace(self._state, lineages=now, seq=seq)
        return True

    def _wanted(self) -> str:
        """Return which vectors are followed, as a condition on rows of `embeddings`."""
        model = apsw.format_sql_value(self._state.model)
        return f"target_type IN ('event', 'fact') AND model IS {model}"

    def _came_back(self, first: int, seq: int) -> bool:
        """Return whether a fact from row `first` on has a vector up to `seq`, which was let go."""
        came = self.facts_said.ids[first:]
        return bool(came) and None is not value(
            self._files.embeddings.connection,
            "SELECT 1 FROM embeddings WHERE target_type = 'fact' AND model = ? AND seq <= ? "
            "AND target_id IN (SELECT value FROM json_each(?)) LIMIT 1",
            (self._state.model, seq, listed(came)),
        )

    @property
    def behind(self) -> bool:
        """Whether it holds rows that went or became others."""
        return self._state.lineages != _lineages(self._files)

    @property
    def undecided(self) -> Ints:
        """The turns that the agents have not got to: nothing is known of them but their words."""
        numbers = self.turns.numbers
        return np.arange(
            np.searchsorted(numbers, self._state.watermarks["memory"], "right"), len(numbers)
        )

    @property
    def worth_storing(self) -> bool:
        """Whether another process would do much again that this one has done."""
        came = len(self.turns) - self._stored_turns
        much = len(self.turns) >= LEAST_STORED and came > _WORTH_STORING * self._stored_turns
        return much or self._stored_behind

    def store(self) -> None:
        """Write it beside the files; only inside the lock that `stored` speaks of."""
        self._stored_turns = len(self.turns)
        self._stored_behind = False
        if not self.behind:
            wide = {name: array.values for name, array in self._wide.items()}
            about = msgspec.json.encode(self._state)
            array_store.write(self._files.directory, about, self._narrow(), wide)

    def store_pruned(self) -> None:
        """Write what is left of one that lay beside the files, inside the same lock."""
        lying = {f"{name}.lying": array.lying for name, array in self._wide.items()}
        gone = {name: array.gone for name, array in self._wide.items()}
        about = msgspec.json.encode(self._state)
        array_store.prune(self._files.directory, about, {**self._narrow(), **lying}, gone)

    def columns(self) -> dict[str, Array]:
        """Return everything that it is."""
        wide = {name: array.values for name, array in self._wide.items()}
        return {**self._narrow(), **wide}

    @property
    def _wide(self) -> dict[str, Wide]:
        return {
            "event_vectors.codes": self.events.codes,
            "fact_vectors.codes": self.facts.codes,
            "tokens.codes": self.tokens.codes,
        }

    def _narrow(self) -> dict[str, Array]:
        return {
            **within("turns", self.turns.columns()),
            **within("facts", self.facts_said.columns()),
            **within("event_vectors", self.events.columns()),
            **within("fact_vectors", self.facts.columns()),
            **within("tokens", self.tokens.columns()),
        }

    def mentioning(self, entity_ids: Iterable[str]) -> Ints:
        """Return the turns that speak of, or come from, an entity under any of its ids."""
        key = frozenset(entity_ids)
        if key not in self._mentioning:
            found = events_mentioning(self._files.identity.connection, sorted(key))
            places = self.turns.place_of_id.of(found)
            if sum(map(len, self._mentioning.values())) > _MOST_KEPT:
                self._mentioning.clear()
            self._mentioning[key] = places[places >= 0]
        return self._mentioning[key]

    def _events(self) -> Targets:
        turns = self.turns
        return Targets(turns.place_of_id.of, turns.ids, lambda: np.arange(len(turns)))

    def _facts(self) -> Targets:
        facts = self.facts_said
        return Targets(facts.of, facts.ids, lambda: facts.places)

    def _follow(self) -> None:
        files = self._files
        # Vectors first: what they are of was committed before, and is read after.
        watermarks = _watermarks(files)
        self.present = present(files.memory.connection)
        self.turns.follow()
        self.facts_said.follow()
        seq = self._state.seq
        if files.embeddings.model is not None:
            self.tokens.follow()
            seq = self._follow_vectors(seq)
        self._state = State(_lineages(files), watermarks, files.embeddings.model, seq)

    def _follow_vectors(self, seq: int) -> int:
        model = self._files.embeddings
        of_type = {"event": self.events, "fact": self.facts}
        found = model.connection.execute(
            "SELECT seq, target_type, target_id, embedding FROM embeddings "
            "WHERE seq > ? AND model = ? ORDER BY seq",
            (seq, model.model),
        )
        while block := list(islice(found, _BLOCK)):
            seq = block[-1][0]
            for type_, vectors in of_type.items():
                rows = [row for row in block if row[1] == type_]
                stacked = np.frombuffer(b"".join(row[3] for row in rows), "<f4")
                seqs, ids = [row[0] for row in rows], [row[2] for row in rows]
                vectors.extend(seqs, ids, stacked.reshape(len(rows), model.dimension))
        return seq


def _speaking_of(
    identity: apsw.Connection, turns: Turns, entity_ids: list[str]
) -> dict[str, tuple[int, Ints]]:
    found = events_speaking_of(identity, entity_ids, MOST_MENTIONS + 1)
    followed = [events if len(events) <= MOST_MENTIONS else [] for events in found.values()]
    places = turns.place_of_id.of([event for events in followed for event in events])
    each = np.split(places, np.cumsum(list(map(len, followed)))[:-1])
    return {
        entity: (len(events), some[some >= 0])
        for (entity, events), some in zip(found.items(), each, strict=True)
    }


def prune_stored(files: ZoneFiles) -> None:
    """Take what went out of the index that lies beside files; one that cannot be followed goes.

    Only inside the lock that `stored` speaks of.
    """
    try:
        with files.snapshot():
            about = array_store.about(files.directory)
            state = None if about is None else msgspec.json.decode(about, type=State)
            if state is not None and state.lineages == _lineages(files):
                array_store.tidy(files.directory)
                return
            index = None if state is None else _stored(files)
            if index is not None and index.prune():
                index.store_pruned()
                return
    except BaseException as error:
        array_store.remove(files.directory)
        # Without the room to write, the next question makes another.
        if not isinstance(error, OSError):
            raise
    array_store.remove(files.directory)


def stored_problems(files: ZoneFiles) -> list[str]:
    """Return where the index that lies beside files is not what their rows give.

    One that is torn, or of other rows, is no problem: nobody uses it.
    """
    with files.snapshot():
        kept, anew = _stored(files), Index(files)
        if kept is None:
            return []
        if kept.behind:
            # Whoever erases prunes it before anything is answered.
            return [
                f"{array_store.FILE}: holds rows that went; run recollect rebuild --level index"
            ]
        kept.follow()
        anew.follow()
        try:
            wanted = anew.columns()
        except apsw.CorruptError:
            # A full-text index that cannot be read is found where the files are looked at.
            return []
        found = kept.columns()
        return [
            f"{array_store.FILE}: {name} differs from the rows; run recollect rebuild --level index"
            for name, values in wanted.items()
            if not np.array_equal(found[name], values)
        ]


def _stored(files: ZoneFiles) -> Index | None:
    """Return the index that lies beside files, where it is whole and goes on as they do."""
    found = array_store.read(files.directory)
    if found is None:
        return None
    state = msgspec.json.decode(found.about, type=State)
    if not _goes_on(state, files, _watermarks(files)):
        return None
    return Index(files, found.arrays, state)


def _goes_on(state: State, files: ZoneFiles, watermarks: Mapping[str, int]) -> bool:
    """Return whether the files are those of a state, as they were then or later."""
    return (
        state.model == files.embeddings.model
        and all(
            inode == then_inode and changes >= then
            for (inode, changes), (then_inode, then) in zip(
                _lineages(files), state.lineages, strict=True
            )
        )
        and all(then <= watermarks[name] for name, then in state.watermarks.items())
    )


def _watermarks(files: ZoneFiles) -> dict[str, int]:
    """Return how far each file is, the one that others rest on last: it is read the latest."""
    return {model.name: model.watermark().number for model in reversed(files.all)}


def _lineages(files: ZoneFiles) -> list[tuple[int, int]]:
    """Return what is another where files were replaced, or their rows changed."""
    return [(model.path.stat().st_ino, lineage(model.connection)) for model in _indexed(files)]


def _indexed(files: ZoneFiles) -> tuple[ReadModel, ...]:
    return (files.embeddings, files.memory, files.events)
