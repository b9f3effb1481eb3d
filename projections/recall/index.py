"""What recall keeps of a zone's files: turns, facts, bit codes; it follows the files' watermarks.

It lies beside the files as well, in one file, so that a large zone's first question need not
wait until everything is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from projections.events.recalls import said
from projections.files import ZoneFiles
from projections.identity.recalls import (
    entities_of_events,
    events_mentioning,
    events_speaking_of,
    standing,
)
from projections.lineage import lineage
from projections.memory.recalls import present, told
from projections.recall import stored
from projections.recall.columns import Array, part, within
from projections.recall.facts import Facts
from projections.recall.kept import Kept
from projections.recall.tokens import Tokens
from projections.recall.turns import Turns
from projections.recall.vectors import Targets, Vectors

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
Mask = npt.NDArray[np.bool_]


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

    @classmethod
    def opened(cls, files: ZoneFiles) -> Index:
        """Return the index of files as they are: what is stored beside them, and what came since.

        What is torn, or of other files or other rows than these, is left alone.
        """
        index = _stored(files) or cls(files)
        index.follow()
        return index

    def follow(self) -> bool:
        """Add what came since; False where rows changed or went, so that another must be made."""
        watermarks = _watermarks(self._files)
        if self._state.watermarks == watermarks:
            return True
        if not _goes_on(self._state, self._files, watermarks):
            return False
        for kept in (self.told, self.said, self.mentioned, self.standing, self.speaking):
            kept.clear()
        self._mentioning.clear()
        self._follow()
        return True

    @property
    def unconcluded(self) -> Ints:
        """The turns that the agents have not got to: nothing is known of them but their words."""
        numbers = self.turns.numbers
        return np.arange(
            np.searchsorted(numbers, self._state.watermarks["memory"], "right"), len(numbers)
        )

    @property
    def worth_storing(self) -> bool:
        """Whether another process would read much again that this one has read."""
        came = len(self.turns) - self._stored_turns
        return len(self.turns) >= LEAST_STORED and came > _WORTH_STORING * self._stored_turns

    def store(self) -> None:
        """Write it beside the files; only inside the lock that `stored` speaks of."""
        self._stored_turns = len(self.turns)
        if self._state.lineages == _lineages(self._files):
            stored.write(_path(self._files), msgspec.json.encode(self._state), self.columns())

    def columns(self) -> dict[str, Array]:
        """Return everything that it is."""
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
                ids = [row[2] for row in rows]
                vectors.extend(ids, stacked.reshape(len(rows), model.dimension))
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


def stored_problems(files: ZoneFiles) -> list[str]:
    """Return where the index that lies beside files is not what their rows give.

    One that is torn, or of other rows, is no problem: nobody uses it.
    """
    with files.snapshot():
        kept, anew = _stored(files), Index(files)
        if kept is None:
            return []
        kept.follow()
        anew.follow()
        try:
            wanted = anew.columns()
        except apsw.CorruptError:
            # A full-text index that cannot be read is found where the files are looked at.
            return []
        found = kept.columns()
        return [
            f"{stored.FILE}: {name} differs from the rows; run recollect rebuild --level index"
            for name, values in wanted.items()
            if not np.array_equal(found[name], values)
        ]


def _stored(files: ZoneFiles) -> Index | None:
    """Return the index that lies beside files, where it is whole and goes on as they do."""
    found = stored.read(_path(files))
    if found is None:
        return None
    state = msgspec.json.decode(found[0], type=State)
    if not _goes_on(state, files, _watermarks(files)):
        return None
    return Index(files, found[1], state)


def _goes_on(state: State, files: ZoneFiles, watermarks: Mapping[str, int]) -> bool:
    """Return whether the files hold the rows of a state, unchanged, and perhaps more."""
    return (
        state.model == files.embeddings.model
        and state.lineages == _lineages(files)
        and all(then <= watermarks[name] for name, then in state.watermarks.items())
    )


def _watermarks(files: ZoneFiles) -> dict[str, int]:
    """Return how far each file is, the one that others rest on last: it is read the latest."""
    return {model.name: model.watermark().number for model in reversed(files.all)}


def _lineages(files: ZoneFiles) -> list[tuple[int, int]]:
    """Return what is another where files were replaced, or their rows changed."""
    indexed = (files.embeddings, files.memory, files.events)
    return [(model.path.stat().st_ino, lineage(model.connection)) for model in indexed]


def _path(files: ZoneFiles) -> Path:
    return files.directory / stored.FILE
