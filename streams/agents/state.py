"""The state that agents may query, with dependency tracking by key.

A decision depends on its record, on the conversation that it read, and on the rows that it queried.
Every query records its key, and `keys_of_row` returns the keys under which a row is found. If a row
is deleted or changed, only decisions that recorded one of its keys can have a different result. A
key is eight bytes of a hash; a collision only causes an unnecessary repetition of a decision.

Many decisions query a key with many rows, such as a phonetic key of names, and use few of them. A
search is such a query: for each row that it uses, the decision also records a key of that row
alone. So the decision depends on a searched key only if a row is added or changed under it, and not
if one is removed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple, TypeGuard, get_args

import apsw

from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import cluster_queries as clusters
from recollect.projections.memory import dependency_queries as dependencies
from recollect.projections.memory import dream_queries as dreams
from recollect.projections.memory import episode_queries as episodes
from recollect.projections.memory import learning_queries as learning
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory import mental_model_queries as mental_models
from recollect.projections.memory import retraction_queries as retractions
from recollect.projections.memory import stored_memory_queries as stored
from recollect.schemas.changes import (
    AnalysisRun,
    AnalysisType,
    AnyRow,
    CausalLink,
    ClaimSignature,
    ClusterChange,
    ClusterConsolidation,
    ClusterFact,
    DeadLetter,
    Directive,
    Dream,
    DuplicateStatement,
    Entity,
    EntityFact,
    Episode,
    EpisodeEvent,
    Fact,
    FactClaim,
    FactDays,
    FactFingerprint,
    FactMerge,
    FactOccasion,
    FactRelation,
    FactSentence,
    FactSupersession,
    FactUnits,
    Handle,
    MemoryConsolidation,
    MemoryParent,
    MemoryRetraction,
    MentalModel,
    MentalModelPage,
    Merge,
    MergeByCommand,
    MergeCandidate,
    MergeDecision,
    MergedSupersession,
    MergeUndo,
    MessageDate,
    ObservationFact,
    ObservationMerge,
    ObservationVersion,
    Playbook,
    PlaybookStrategy,
    PlaybookVersion,
    ProcessedEvent,
    Reflection,
    ReflectionItem,
    RetractedFact,
    Row,
    StatedDependency,
    StatedEnding,
    StoredMemory,
    StoredMemoryVersion,
    StrategyEvidence,
    Trajectory,
    TrajectoryCompletion,
    TrajectoryFeedback,
    TrajectoryStep,
    Turn,
    WithdrawnSupersession,
    WriterPromptDecision,
    WriterPromptProposal,
)
from recollect.schemas.ids import ULID_TIME_LENGTH, time_of
from recollect.schemas.memory_terms import MemoryAuthor
from recollect.schemas.times import LATEST_MS
from recollect.streams.encoder.gateway import Encoding
from recollect.text.name_forms import name_keys

KEY_BYTES = 8
#: The number of letters by which persons are searched by prefix.
NAME_PREFIX_LENGTH = 2

#: A row that changes whether a fact is current, or how often it was stated.
ValidityRow = (
    FactSupersession
    | WithdrawnSupersession
    | MergedSupersession
    | FactMerge
    | RetractedFact
    | FactOccasion
)
# Every agent checks every row, and `isinstance` of a union takes ten times as long.
_VALIDITY_ROWS = frozenset(get_args(ValidityRow))


def changes_validity(row: AnyRow) -> TypeGuard[ValidityRow]:
    """Return whether a row changes whether a fact is current, or how often it was stated."""
    return type(row) in _VALIDITY_ROWS


class EntityRef(NamedTuple):
    """An entity as decisions see it: without the time and the origin of its first mention."""

    id: str
    type: str
    normalized: str


class StatedFact(NamedTuple):
    """A fact, and the period of its validity (unix ms); `until` is None while it is valid."""

    id: str
    as_of: int
    until: int | None


class Validity(NamedTuple):
    """Until when a fact is valid (unix ms; None: it still is).

    `superseded_by`: the id of the fact or event that superseded it; None if it was retracted.
    `is_stated`: it was true for a time, an event that states it is neither edited nor deleted, and
    no other fact represents it.
    """

    until: int | None
    superseded_by: str | None
    is_stated: bool


class ActiveMerge(NamedTuple):
    """A merge that has not been undone, and whether a command executed it.

    It has neither an id nor a time: those of an automatic merge are of the first message that gave
    a reason, so they change when that message is erased.
    """

    winner_id: str
    by_command: bool


class EntityMerge(NamedTuple):
    """A merge under the keys of its entities.

    Queries by these keys return neither the id nor the time; the time only orders several merges
    of one loser.
    """

    id: str
    winner_id: str
    loser_id: str
    executed_at: int


def end_of_merges(entity_id: str, winner_of: Callable[[str], str | None]) -> str | None:
    """Return the entity at the end of an entity's merges; None if they form a cycle."""
    seen: set[str] = set()
    while entity_id not in seen:
        seen.add(entity_id)
        winner = winner_of(entity_id)
        if winner is None:
            return entity_id
        entity_id = winner
    return None


def is_stated(claim: FactClaim, at: int) -> bool:
    """Return whether the event of a claim stated it at a time (unix ms) or before.

    A claim may begin later than it is stated.
    """
    return claim.as_of <= at or time_of(claim.fact_id) <= at


# An unhashed signature never matches: it contains a space, after the sender's id.
_HASHED_SIGNATURE = re.compile(f"[0-9a-f]{{{2 * KEY_BYTES}}}")


@lru_cache(maxsize=16_384)
def key_of(kind: str, *names: str) -> bytes:
    """Return the key of a query from its kind and arguments."""
    digest = hashlib.blake2b(kind.encode(), digest_size=KEY_BYTES)
    for name in names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()


def stored_signature(signature: str) -> str:
    """Return a signature as facts store it: its key in hex. Older facts store it unhashed."""
    return key_of("signature", signature).hex()


def _key_of_signature(stored: str) -> bytes:
    hashed = _HASHED_SIGNATURE.fullmatch(stored)
    return bytes.fromhex(stored) if hashed else key_of("signature", stored)


def key_of_search(key: bytes) -> bytes:
    """Return the key that a decision records too if it only searched the rows under a key."""
    return key_of("search", key.hex())


def key_of_event(number: int) -> bytes:
    """Return the key that a decision records when it reads another record."""
    return key_of("event", str(number))


def keys_of_row(row: AnyRow) -> tuple[tuple[bytes, Hashable], ...]:
    """Return each key under which a row is found, with the values that queries by it return.

    The first key follows from the primary key, and few other rows have it. Rows that no decision
    queries, such as vectors and mentions, have no keys.
    """
    return _KEYS_OF_ROW[type(row)](row) if type(row) in _KEYS_OF_ROW else ()


class WriterSearch(NamedTuple):
    """How to find the decisions that write a row: all of them write under `key`.

    If `event` is not None, each of them is on this event or has it as a source.
    """

    key: bytes
    event: int | None = None


def search_for_writers(row: AnyRow) -> WriterSearch | None:
    """Return how to find the decisions that write a row with this primary key.

    None if no decision queries the row.
    """
    keys = keys_of_row(row)
    if not keys:
        return None
    event = row.number if isinstance(row, EpisodeEvent) and _is_placed_by_itself(row) else None
    return WriterSearch(keys[0][0], event)


def _entity(row: Entity) -> tuple[tuple[bytes, Hashable], ...]:
    ref = EntityRef(row.id, row.type, row.normalized)
    first = row.normalized.partition(" ")[0]
    prefix = row.normalized[:NAME_PREFIX_LENGTH]
    is_person = row.type == "person"
    return (
        (key_of_entity(row.id), ref),
        (key_of("name", row.normalized), ref),
        *([(key_of("first letters", prefix), ref)] if is_person else []),
        *([(key_of("first name", first), ref)] if is_person and first != row.normalized else []),
        *((key_of("name key", key), ref) for key in name_keys(row.normalized, row.type)),
    )


def _handle(row: Handle) -> tuple[tuple[bytes, Hashable], ...]:
    values = (row.platform, row.handle, row.entity_id)
    return (key_of("handle", row.id), values), (key_of("handles", row.entity_id), values)


def _is_placed_by_itself(row: EpisodeEvent) -> bool:
    """Return whether the episode follows from the event alone: its thread, session or day."""
    return row.definition_id in ("thread", "session", "day")


def _episode_event(row: EpisodeEvent) -> tuple[tuple[bytes, Hashable], ...]:
    members = (key_of("episode events", row.episode_id), (row.event_id, row.is_standing))
    if _is_placed_by_itself(row):
        # No decision asks for it. All events of a thread or a day have this key.
        return (members,)
    place = (row.episode_id, row.is_standing)
    return (key_of("episode of", row.event_id, row.definition_id), place), members


def key_of_entity(entity_id: str) -> bytes:
    """Return the key of an entity and of its merges into others."""
    return key_of("entity", entity_id)


def _key_of_merged_pair(merge_id: str) -> bytes:
    """Return a key of all merges of one entity into another.

    The end of a merge's id is a hash of the two; the beginning is its time.
    """
    return key_of("merged pair", merge_id[ULID_TIME_LENGTH:])


def _merge(row: Merge) -> tuple[tuple[bytes, Hashable], ...]:
    merge = EntityMerge(row.id, row.winner_id, row.loser_id, row.executed_at)
    return (
        (key_of_entity(row.loser_id), merge),
        (key_of("losers", row.winner_id), merge),
        (_key_of_merged_pair(row.id), merge),
        (key_of("merge", row.id), (row.id, row.winner_id, row.loser_id)),
    )


def _of_merge(row: MergeUndo | MergeByCommand) -> tuple[tuple[bytes, Hashable], ...]:
    return (key_of("merge", row.merge_id), row), (_key_of_merged_pair(row.merge_id), row)


_KEYS_OF_ROW: dict[type[Row], Callable[..., tuple[tuple[bytes, Hashable], ...]]] = {
    Fact: lambda row: (
        (_key_of_signature(row.signature), (row.id, row.as_of)),
        (key_of("facts", row.source_event_id), (row.id, row.text)),
        (key_of("fact", row.id), row.text),
    ),
    FactFingerprint: lambda row: ((key_of("likeness", row.key), row),),
    FactSentence: lambda row: (
        (key_of("sentence of", row.fact_id), row),
        (key_of("sentences of event", row.event_id), row),
        (key_of("stated by", row.speaker), row),
        *([(key_of("may end", row.speaker), row)] if row.percent else []),
    ),
    FactOccasion: lambda row: (
        (key_of("repeated by", row.event_id), (row.fact_id, row.text, row.is_standing)),
        (key_of("repeats", row.fact_id), (row.event_id, row.said_at, row.is_standing)),
    ),
    ClaimSignature: lambda row: ((_key_of_signature(row.signature), (row.fact_id, row.as_of)),),
    DuplicateStatement: lambda row: (
        (key_of("repeated by", row.event_id), row.fact_id),
        (key_of("repeats", row.fact_id), row.event_id),
    ),
    FactClaim: lambda row: (
        (key_of("claim", row.fact_id), row),
        (key_of("claims", row.subject, row.attribute), row),
    ),
    MessageDate: lambda row: ((key_of("dates", row.event_id), row),),
    FactDays: lambda row: ((key_of("days", row.fact_id), (row.first_day, row.last_day)),),
    FactSupersession: lambda row: (
        (key_of("end", row.fact_id), (row.superseded_by, row.invalid_at)),
        (key_of("superseded by", row.superseded_by), (row.fact_id, row.invalid_at)),
    ),
    WithdrawnSupersession: lambda row: (
        (key_of("end", row.fact_id), (row.superseded_by, row.is_withdrawn)),
    ),
    StatedEnding: lambda row: (
        (key_of("endings of event", row.event_id), row),
        (key_of("endings", row.subject), row),
    ),
    MergedSupersession: lambda row: (
        (key_of("merged end", row.fact_id), row),
        (key_of("merged ends", row.subject), row.attribute),
    ),
    FactMerge: lambda row: (
        (key_of("merge of fact", row.fact_id), row),
        (key_of("facts merged into", row.keeper_id), (row.fact_id, row.is_standing)),
    ),
    MemoryRetraction: lambda row: (
        (key_of("retraction", row.target_id), row),
        (key_of("retractions of", row.event_id), row),
    ),
    RetractedFact: lambda row: (
        (key_of("retracted", row.fact_id), row),
        (key_of("covered", row.target_id), row),
    ),
    # No decision queries links, but two messages may write the same link.
    CausalLink: lambda row: (
        (key_of("cause", row.from_fact_id, row.to_fact_id), (row.strength, row.created_at)),
    ),
    FactRelation: lambda row: (
        (
            key_of("relation", row.fact_id, row.target_fact_id),
            (row.relation, row.confidence, row.created_at),
        ),
    ),
    ProcessedEvent: lambda row: ((key_of("processed", row.event_id), True),),
    Turn: lambda row: ((key_of("turn", row.id), True),),
    # An analysis must be found under the key of its episode too, since it fixes the episode.
    Episode: lambda row: ((key_of("episode", row.id), row.parent_id),),
    EpisodeEvent: _episode_event,
    WriterPromptProposal: lambda row: ((key_of("writer proposal", row.id), row),),
    WriterPromptDecision: lambda row: ((key_of("writer proposal", row.proposal_id), row.status),),
    # No decision queries types, but two may write the same one.
    AnalysisType: lambda row: ((key_of("analysis type", row.id), row),),
    FactUnits: lambda row: ((key_of("units", row.fact_id), row),),
    ClusterFact: lambda row: (
        (key_of("clusters of", row.fact_id), row.cluster_id),
        (key_of("cluster", row.cluster_id), row),
    ),
    ClusterChange: lambda row: ((key_of("cluster changes", row.cluster_id), row.number),),
    # No decision queries it, but several records write the row of one cluster.
    ClusterConsolidation: lambda row: ((key_of("consolidated", row.cluster_id), row.number),),
    ObservationVersion: lambda row: (
        (key_of("observation", row.cluster_id), row),
        (key_of("observations about", row.entity_id), row),
    ),
    ObservationMerge: lambda row: ((key_of("observation merge", row.analysis_run_id), row),),
    Dream: lambda row: ((key_of("dreams"), (row.id, row.insight)),),
    # No decision queries it, but several records may write the row of one version.
    ObservationFact: lambda row: ((key_of("evidence", row.analysis_run_id), row.fact_id),),
    AnalysisRun: lambda row: (
        (key_of("analysis run", row.id), row),
        (key_of("episode", row.episode_id), row.id),
    ),
    MentalModel: lambda row: (
        (key_of("mental model", row.id), row),
        *([(key_of("versions after", row.parent_id), row)] if row.parent_id else []),
        *([(key_of("models about", row.entity_id), row)] if row.entity_id else []),
    ),
    MentalModelPage: lambda row: ((key_of("page", row.model_id), row),),
    EntityFact: lambda row: (
        (key_of("entities of fact", row.fact_id), row),
        (key_of("facts of entity", row.entity_id), row),
        (key_of("slot of entity", row.entity_id, row.attribute), row),
    ),
    Directive: lambda row: ((key_of("directives of", row.event_id), row),),
    Trajectory: lambda row: ((key_of("trajectory", row.id), row),),
    TrajectoryStep: lambda row: ((key_of("steps of", row.trajectory_id), row),),
    TrajectoryCompletion: lambda row: (
        (key_of("trajectory", row.trajectory_id), row),
        (key_of("trajectories of type", row.task_type), row),
    ),
    TrajectoryFeedback: lambda row: ((key_of("feedback on", row.trajectory_id), row),),
    Reflection: lambda row: ((key_of("reflections on", row.trajectory_id), row),),
    ReflectionItem: lambda row: ((key_of("reflection", row.reflection_id), row),),
    Playbook: lambda row: ((key_of("playbook", row.id), row),),
    PlaybookVersion: lambda row: ((key_of("playbook", row.playbook_id), row),),
    PlaybookStrategy: lambda row: ((key_of("strategies of", row.playbook_id), row),),
    StrategyEvidence: lambda row: ((key_of("evidence of", row.strategy_id), row),),
    StatedDependency: lambda row: ((key_of("dependencies of", row.event_id), row),),
    # It shares the key of its version, which the same decision writes.
    StoredMemory: lambda row: ((key_of("memory version", row.id), row),),
    StoredMemoryVersion: lambda row: (
        (key_of("memory version", row.id), row),
        (key_of("memory versions", row.memory_id), row),
        *([(key_of("memory at", row.place), row)] if row.place else []),
    ),
    MemoryConsolidation: lambda row: ((key_of("consolidation", row.id), row),),
    MemoryParent: lambda row: ((key_of("parent of", row.child_id), row),),
    DeadLetter: lambda row: ((key_of("dead letter", str(row.number)), row),),
    Entity: _entity,
    Handle: _handle,
    MergeCandidate: lambda row: (
        (key_of("candidate", row.id), row),
        *((key_of("candidates", each), row) for each in (row.entity_a_id, row.entity_b_id)),
    ),
    MergeDecision: lambda row: ((key_of("candidate", row.candidate_id), row.status),),
    Merge: _merge,
    MergeUndo: _of_merge,
    MergeByCommand: _of_merge,
}


class State:
    """The read models as of just before a record, for the decision on that record.

    Query results are cached. `on_first_read` is called with each key before its first query.
    """

    def __init__(
        self,
        events: apsw.Connection,
        memory: apsw.Connection,
        identity: apsw.Connection,
        encoder: str | None,
        dimension: int,
        on_first_read: Callable[[bytes], None] | None = None,
    ) -> None:
        #: Untracked access, only for agents that return commands and no rows: commands are not
        #: reissued after an erasure, so their decisions need no tracking.
        self.events = events
        self.memory = memory
        self._identity = identity
        self._on_first_read = on_first_read
        #: The encoder's model name; None without an encoder.
        self.encoder = encoder
        self.dimension = dimension
        #: text hash -> encoding, of this record's texts
        self.encoded: Mapping[str, Encoding] = {}
        # The keys of queries, and of searches.
        self._read: set[bytes] = set()
        self._searched: set[bytes] = set()
        # The id of each active merge, and the merge, by loser.
        self._merges: dict[str, list[tuple[str, ActiveMerge]]] = {}
        self._entities: dict[str, EntityRef | None] = {}
        self._losers: dict[str, list[str]] = {}
        self._named: dict[str, list[EntityRef]] = {}
        self._first_named: dict[str, list[EntityRef]] = {}
        self._episodes: dict[str, episodes.EpisodeState | None] = {}

    def untracked(self) -> State:
        """Return the same state without recorded reads: only for commands, as `memory` is."""
        return State(self.events, self.memory, self._identity, self.encoder, self.dimension)

    @property
    def reads(self) -> frozenset[bytes]:
        """The keys of all queries; for a key that was only searched, its search key too."""
        searched = self._searched - self._read
        return frozenset((*self._read, *searched, *map(key_of_search, searched)))

    def record_read(self, key: bytes) -> None:
        """Record that the decision depends on the rows under a key."""
        self._record(key, self._read)

    def record_search(self, key: bytes) -> None:
        """Record that the decision depends on rows that are added or changed under a key.

        If a row is used, `record_read` must be called with a key that its removal changes.
        """
        if key not in self._read:
            self._record(key, self._searched)

    def _record(self, key: bytes, recorded: set[bytes]) -> None:
        if key not in recorded:
            recorded.add(key)
            if self._on_first_read is not None:
                self._on_first_read(key)

    # Facts

    def facts_with_signature(
        self, signatures: Sequence[str], after: int, before: int
    ) -> list[StatedFact]:
        """Return the facts with one of these signatures in a period (unix ms), earliest first.

        Retracted ones are left out.
        """
        for signature in signatures:
            self.record_read(key_of("signature", signature))
        stored = [form for each in signatures for form in (stored_signature(each), each)]
        return [
            StatedFact(fact, as_of, self._end(fact))
            for fact, as_of in memory.facts_with_signature(self.memory, stored, after, before)
            if not self.is_retracted(fact)
        ]

    def similar_facts(
        self, keys: Sequence[str], after: int, before: int, excluded: Set[str] = frozenset()
    ) -> list[FactFingerprint]:
        """Return the fingerprints of current facts with one of these keys in a period (unix ms).

        Facts in `excluded` do not count.
        """
        for key in keys:
            self.record_read(key_of("likeness", key))
        return [
            found
            for found in memory.fingerprints(self.memory, keys, after, before)
            if found.fact_id not in excluded and self._is_current(found.fact_id)
        ]

    def _is_current(self, fact_id: str) -> bool:
        return self._end(fact_id) is None and not self.is_retracted(fact_id)

    def repeat_times(self, fact_id: str) -> list[int]:
        """Return when a fact was stated again (unix ms)."""
        self.record_read(key_of("repeats", fact_id))
        return memory.repeat_times(self.memory, fact_id)

    def first_repeats(
        self, fact_ids: Sequence[str], after: int, until: int
    ) -> list[tuple[int, str]]:
        """Return (time, fact) of when each of these facts was first stated again in a period.

        It is after a time, and not after another (unix ms).
        """
        for fact_id in fact_ids:
            self.record_read(key_of("repeats", fact_id))
        return memory.repeats_between(self.memory, fact_ids, after, until) if fact_ids else []

    def unstated_facts(self, fact_ids: Sequence[str]) -> set[str]:
        """Return those of these facts that the events they are from no longer state."""
        for fact_id in fact_ids:
            self.record_read(key_of("repeats", fact_id))
        return memory.unstated_facts(self.memory, fact_ids) if fact_ids else set()

    def occasions(self, fact_id: str) -> list[FactOccasion]:
        """Return the occasions of a fact, withdrawn ones included, by event."""
        self.record_read(key_of("repeats", fact_id))
        return memory.occasions(self.memory, fact_id)

    def occasions_of(self, event_id: str) -> list[tuple[str, str, bool]]:
        """Return (id, text, whether it is current) of each fact that an event states again.

        They are in order of ids. The text is the event's own statement of the fact, not the text of
        the fact.
        """
        self.record_read(key_of("repeated by", event_id))
        found = memory.occasions_of_event(self.memory, event_id)
        return [(fact, text, self._end(fact) is None) for fact, text in found]

    def current_facts(self, event_id: str) -> list[str]:
        """Return the ids of the current facts of an event, sorted."""
        self.record_read(key_of("facts", event_id))
        found = sorted(fact for fact, _ in memory.facts_from(self.memory, event_id))
        return [fact for fact in found if self._end(fact) is None]

    def facts_of_event(self, event_id: str) -> list[tuple[str, str, bool]]:
        """Return (id, text, whether it is current) of the facts of an event, in order of ids.

        Callers must also read the event: fact texts quote it, and only the event's own key records
        that dependency.
        """
        self.record_read(key_of("facts", event_id))
        found = memory.facts_from(self.memory, event_id)
        return [(fact, text, self._end(fact) is None) for fact, text in found]

    def facts_of_events(self, event_ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return (event id, fact id) of the facts of events, by fact."""
        for event_id in event_ids:
            self.record_read(key_of("facts", event_id))
        return memory.facts_of_events(self.memory, event_ids) if event_ids else []

    def facts_repeated_by(self, event_ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return (event id, fact id) of the facts that events state again, by fact."""
        for event_id in event_ids:
            self.record_read(key_of("repeated by", event_id))
        return memory.facts_repeated_by(self.memory, event_ids) if event_ids else []

    def fact(self, fact_id: str) -> Fact | None:
        """Return a fact. Callers must also read its event, because the fact's text quotes it."""
        self.record_read(key_of("fact", fact_id))
        return memory.fact(self.memory, fact_id)

    def message_dates(self, event_id: str) -> list[MessageDate]:
        """Return the dates in an event's text, in order."""
        self.record_read(key_of("dates", event_id))
        return memory.message_dates(self.memory, event_id)

    def claims(self, subjects: Sequence[str], attribute: str) -> list[memory.DatedClaim]:
        """Return all claims about a subject, given by its ids, oldest first.

        End times ignore retractions and merges by command, so that a value that is restored later
        takes its former place in the slot.
        """
        for subject in subjects:
            self.record_read(key_of("claims", subject, attribute))
        return self._dated(memory.claims(self.memory, subjects, attribute))

    def search_claims(
        self,
        subjects: Sequence[str],
        attribute: str,
        is_candidate: Callable[[FactClaim], bool],
        stated_by: int | None = None,
        also: Set[str] = frozenset(),
    ) -> list[memory.DatedClaim]:
        """Return those claims of `claims` that are candidates; the ends of others are not read.

        With `stated_by`, only claims that were stated at this time (unix ms) or before, and those
        of the facts in `also`. Callers must call `use_claim` for each that they use.
        """
        for subject in subjects:
            self.record_search(key_of("claims", subject, attribute))
        found = memory.claims(self.memory, subjects, attribute)
        found = [claim for claim in found if is_candidate(claim)]
        if stated_by is not None:
            later = [claim.fact_id for claim in found if not is_stated(claim, stated_by)]
            again = {fact for _, fact in self.first_repeats(later, -LATEST_MS, stated_by)} | also
            found = [
                claim for claim in found if is_stated(claim, stated_by) or claim.fact_id in again
            ]
        return self._dated(found)

    def use_claim(self, fact_id: str) -> None:
        """Record that the decision depends on the claim of a fact."""
        self.record_read(key_of("claim", fact_id))

    def _dated(self, claims: Sequence[FactClaim]) -> list[memory.DatedClaim]:
        for claim in claims:
            self.record_read(key_of("end", claim.fact_id))
        ends = memory.invalid_times(self.memory, [claim.fact_id for claim in claims])
        return [memory.DatedClaim(claim, ends.get(claim.fact_id)) for claim in claims]

    def claim_of(self, fact_id: str) -> FactClaim | None:
        """Return the claim of a fact, or None."""
        self.record_read(key_of("claim", fact_id))
        return memory.claim_of(self.memory, fact_id)

    def days_of(self, fact_id: str) -> FactDays | None:
        """Return the days that a fact is about, or None."""
        self.record_read(key_of("days", fact_id))
        return memory.days_of(self.memory, fact_id)

    def merged_attributes(self, subject: str) -> list[str]:
        """Return the attributes of the subject's facts that have a merged supersession, sorted."""
        self.record_read(key_of("merged ends", subject))
        return memory.merged_attributes(self.memory, subject)

    def merged_supersession(self, fact_id: str) -> MergedSupersession | None:
        """Return the supersession, withdrawn or not, of a fact by a merged person's fact."""
        self.record_read(key_of("merged end", fact_id))
        return memory.merged_supersession(self.memory, fact_id)

    def fact_merge(self, fact_id: str) -> FactMerge | None:
        """Return the merge of a fact into another, even if undone."""
        self.record_read(key_of("merge of fact", fact_id))
        return memory.fact_merge(self.memory, fact_id)

    def is_merged_fact(self, fact_id: str) -> bool:
        """Return whether another fact stands for a fact."""
        merge = self.fact_merge(fact_id)
        return merge is not None and bool(merge.is_standing)

    def facts_merged_into(self, fact_id: str) -> list[str]:
        """Return the ids of the facts for which a fact stands, sorted."""
        self.record_read(key_of("facts merged into", fact_id))
        return memory.facts_merged_into(self.memory, fact_id)

    def _end(self, fact_id: str) -> int | None:
        """Return the end of a fact's validity (unix ms); None while it is valid.

        Retractions and merges by command are ignored.
        """
        self.record_read(key_of("end", fact_id))
        return memory.invalid_at(self.memory, fact_id)

    # Endings

    def search_endings(
        self,
        subjects: Sequence[str],
        attribute: str,
        after: int,
        until: int,
        is_candidate: Callable[[StatedEnding], bool],
    ) -> Iterator[StatedEnding]:
        """Return the candidates among the endings of an attribute of a subject, in time order.

        They were said after a time, and not after another (unix ms). Callers must call
        `endings_of_events` for those that they use.
        """
        for subject in subjects:
            self.record_search(key_of("endings", subject))
        found = memory.endings(self.memory, subjects, attribute, after, until)
        return filter(is_candidate, found)

    def endings_of_events(self, event_ids: Sequence[str]) -> list[StatedEnding]:
        """Return what the sentences of events may end, except of events edited or deleted."""
        for event_id in event_ids:
            self.record_read(key_of("endings of event", event_id))
        return memory.endings_of_events(self.memory, event_ids) if event_ids else []

    def is_withdrawn(self, fact_id: str, superseded_by: str) -> bool:
        """Return whether a supersession of a fact no longer holds."""
        self.record_read(key_of("end", fact_id))
        return memory.is_withdrawn(self.memory, fact_id, superseded_by)

    def search_sentences_before(
        self, speakers: Sequence[str], before: int, limit: int
    ) -> list[FactSentence]:
        """Return the last sentences in which people stated facts before a time (unix ms).

        The last one first. Callers must call `sentences_of` for those that they use.
        """
        keys = [key_of("stated by", speaker) for speaker in speakers]
        for key in keys:
            self.record_search(key)
        found = memory.sentences_before(self.memory, speakers, before, limit)
        if len(found) == limit:
            # If one of them goes, another takes its place.
            for key in keys:
                self.record_read(key)
        return found

    def search_sentences_after(
        self, speakers: Sequence[str], after: int, percent: int, limit: int
    ) -> list[FactSentence]:
        """Return those of the next sentences after a time (unix ms) that may end any, in order.

        `percent`: the least probability that they end anything; `limit`: how many of the people's
        sentences count. Callers must call `sentences_of` for those that they use.
        """
        for speaker in speakers:
            self.record_search(key_of("may end", speaker))
        found, are_more = memory.sentences_after(self.memory, speakers, after, percent, limit)
        if are_more:
            # If one of them goes, another takes its place.
            for speaker in speakers:
                self.record_read(key_of("stated by", speaker))
        return found

    def sentences_of(self, fact_id: str) -> list[FactSentence]:
        """Return the sentences that state a fact, in order, without those edited or deleted."""
        self.record_read(key_of("sentence of", fact_id))
        return memory.sentences_of(self.memory, fact_id)

    def sentences_of_events(self, event_ids: Sequence[str]) -> list[FactSentence]:
        """Return the sentences of events that state facts, except of events edited or deleted."""
        for event_id in event_ids:
            self.record_read(key_of("sentences of event", event_id))
        return memory.sentences_of_events(self.memory, event_ids) if event_ids else []

    # Retractions

    def is_retracted(self, fact_id: str) -> bool:
        """Return whether a retraction in force covers a fact."""
        self.record_read(key_of("retracted", fact_id))
        found = retractions.retractions_of_fact(self.memory, fact_id)
        return any(row.is_standing for row in found)

    def retractions_of(self, target_id: str) -> list[MemoryRetraction]:
        """Return the retraction of a memory: a row for each event that states it."""
        self.record_read(key_of("retraction", target_id))
        return retractions.retractions_of(self.memory, target_id)

    def active_retractions(self, event_ids: Sequence[str]) -> list[MemoryRetraction]:
        """Return the active retractions of memories stated by these events."""
        for event_id in event_ids:
            self.record_read(key_of("retractions of", event_id))
        return retractions.active_retractions(self.memory, event_ids)

    def facts_covered(self, target_id: str) -> list[RetractedFact]:
        """Return the facts that the retraction of a memory covers."""
        self.record_read(key_of("covered", target_id))
        return retractions.facts_covered(self.memory, target_id)

    def dated_facts_of(self, event_id: str) -> list[tuple[str, str, int]]:
        """Return (id, text, as_of in unix ms) of the facts of an event, in order of ids.

        Callers must also read the event: fact texts quote it, and only the event's own key records
        that dependency.
        """
        self.record_read(key_of("facts", event_id))
        return retractions.dated_facts_of(self.memory, event_id)

    # Clusters and observations

    def fact_units(self, fact_id: str) -> FactUnits | None:
        """Return the units of a fact, if it was consolidated."""
        self.record_read(key_of("units", fact_id))
        return clusters.fact_units(self.memory, fact_id)

    def cluster_facts(self, cluster_id: str) -> list[ClusterFact]:
        """Return the facts of a cluster, in the order in which they were said."""
        self.record_read(key_of("cluster", cluster_id))
        return clusters.cluster_facts(self.memory, cluster_id)

    def clusters_of(self, fact_id: str) -> list[str]:
        """Return the ids of the clusters that a fact is in, sorted."""
        self.record_read(key_of("clusters of", fact_id))
        return clusters.clusters_of(self.memory, fact_id)

    def newest_version(self, cluster_id: str) -> tuple[ObservationVersion, AnalysisRun] | None:
        """Return the newest version of a cluster's observation."""
        self.record_read(key_of("observation", cluster_id))
        version = clusters.newest_version(self.memory, cluster_id)
        if version is None:
            return None
        self.record_read(key_of("analysis run", version.analysis_run_id))
        run = clusters.analysis_run(self.memory, version.analysis_run_id)
        return None if run is None else (version, run)

    def last_change_of_cluster(self, cluster_id: str) -> int:
        """Return the last record that changed the facts of a cluster or its observation."""
        for name in ("cluster", "cluster changes", "observation"):
            self.record_read(key_of(name, cluster_id))
        return clusters.last_change(self.memory, cluster_id)

    def standing_observations(
        self, entity_ids: Sequence[str]
    ) -> list[tuple[ObservationVersion, AnalysisRun]]:
        """Return the newest versions of the observations on entities that have not ended."""
        for entity_id in entity_ids:
            self.record_read(key_of("observations about", entity_id))
        found = []
        for cluster in clusters.observed_clusters(self.memory, entity_ids):
            newest = self.newest_version(cluster)
            if newest is not None and newest[1].output_text is not None:
                found.append(newest)
        return found

    def evidence_of(self, run_id: str) -> list[str]:
        """Return the facts that support a version of an observation, sorted."""
        self.record_read(key_of("evidence", run_id))
        return clusters.evidence(self.memory, run_id)

    def observation_merge(self, run_id: str) -> ObservationMerge | None:
        """Return what took the place of an observation that ended with this version."""
        self.record_read(key_of("observation merge", run_id))
        return clusters.observation_merge(self.memory, run_id)

    def recent_dreams(self, limit: int) -> list[Dream]:
        """Return the last dreams, in order of the ledger."""
        self.record_read(key_of("dreams"))
        return dreams.recent_dreams(self.memory, limit)

    def validity(self, fact_id: str, event_id: str) -> Validity:
        """Return until when a fact is valid; `event_id` is the event that first stated it."""
        ends = [end] if (end := self._end_by_valid_fact(fact_id)) is not None else []
        merged = self.merged_supersession(fact_id)
        if merged is not None and merged.is_standing:
            ends.append((merged.invalid_at, merged.superseded_by))
        until, superseded_by = min(ends) if ends else (None, None)
        retracted = self._standing_retractions(fact_id)
        if any(until is None or row.invalid_at < until for row in retracted):
            until, superseded_by = min(row.invalid_at for row in retracted), None
        occasions = self.occasions(fact_id)
        withdrawn = {row.event_id for row in occasions if not row.is_standing}
        is_stated = event_id not in withdrawn or any(row.is_standing for row in occasions)
        is_void = any(row.is_void for row in retracted)
        is_told = is_stated and not is_void and not self.is_merged_fact(fact_id)
        return Validity(until, superseded_by, is_told)

    def _end_by_valid_fact(self, fact_id: str) -> tuple[int, str] | None:
        """Return when a fact was superseded, and by what; a void fact supersedes nothing."""
        seen: set[str] = set()
        while fact_id not in seen:
            seen.add(fact_id)
            self.record_read(key_of("end", fact_id))
            found = memory.supersession(self.memory, fact_id)
            if found is None:
                return None
            fact_id, at = found
            if not any(row.is_void for row in self._standing_retractions(fact_id)):
                return at, fact_id
        return None

    def _standing_retractions(self, fact_id: str) -> list[RetractedFact]:
        self.record_read(key_of("retracted", fact_id))
        found = retractions.retractions_of_fact(self.memory, fact_id)
        return [row for row in found if row.is_standing]

    # Events, turns, parked records

    def is_processed(self, event_id: str) -> bool:
        """Return whether the writer has processed an event."""
        self.record_read(key_of("processed", event_id))
        return memory.is_processed(self.memory, event_id)

    def is_completed(self, turn: str) -> bool:
        """Return whether a turn, given by its row's id, is completed."""
        self.record_read(key_of("turn", turn))
        return memory.is_completed(self.memory, turn)

    def dead_letter(self, number: int) -> DeadLetter | None:
        """Return the row of a parked record."""
        self.record_read(key_of("dead letter", str(number)))
        return memory.dead_letter(self.memory, number)

    def model_versions(self, model_id: str) -> list[MentalModel]:
        """Return a version of a mental model and all earlier ones, newest first."""
        versions: list[MentalModel] = []
        next_id: str | None = model_id
        while next_id is not None:
            self.record_read(key_of("mental model", next_id))
            version = memory.mental_model(self.memory, next_id)
            if version is None:
                break
            versions.append(version)
            next_id = version.parent_id
        return versions

    # Episodes

    def episode_definitions(self) -> list[episodes.EpisodeDefinition]:
        """Return the definitions of episodes. They belong to the file; no decision writes them."""
        return episodes.episode_definitions(self.memory)

    def episode(self, episode_id: str) -> episodes.EpisodeState | None:
        """Return the state of an episode; None if it does not exist."""
        if episode_id not in self._episodes:
            self.record_read(key_of("episode", episode_id))
            self._episodes[episode_id] = episodes.episode(self.memory, episode_id)
        return self._episodes[episode_id]

    def episode_of_event(self, event_id: str, definition_id: str) -> str | None:
        """Return the id of the episode that an event is in under a definition."""
        self.record_read(key_of("episode of", event_id, definition_id))
        return episodes.episode_of_event(self.memory, event_id, definition_id)

    def episode_members(self, episode_id: str) -> list[EpisodeEvent]:
        """Return the events of one version of an episode, in the order of their times."""
        self.record_read(key_of("episode events", episode_id))
        return episodes.episode_members(self.memory, episode_id)

    def undecided_writer_proposal(self, proposal_id: str) -> WriterPromptProposal | None:
        """Return a proposed version of a writer prompt, or None if it is decided or unknown."""
        self.record_read(key_of("writer proposal", proposal_id))
        return memory.undecided_writer_proposal(self.memory, proposal_id)

    def episode_parent(self, episode_id: str) -> str | None:
        """Return the id of the version before; None if there is none, or no such episode."""
        found = self.episode(episode_id)
        return None if found is None else found.parent_id

    def episode_numbers(self, episode_id: str) -> set[int]:
        """Return the numbers of all events of an episode, with those of its earlier versions."""
        numbers: set[int] = set()
        version: str | None = episode_id
        while version is not None:
            numbers |= {member.number for member in self.episode_members(version)}
            version = self.episode_parent(version)
        return numbers

    def analysis_run(self, run_id: str) -> AnalysisRun | None:
        """Return an analysis; None if it was never run."""
        self.record_read(key_of("analysis run", run_id))
        return clusters.analysis_run(self.memory, run_id)

    def newest_model(self, model_id: str) -> MentalModel | None:
        """Return the newest version of a mental model, given any version."""
        newest: MentalModel | None = None
        next_id: str | None = model_id
        while next_id is not None:
            self.record_read(key_of("mental model", next_id))
            newest = memory.mental_model(self.memory, next_id) or newest
            self.record_read(key_of("versions after", next_id))
            later = mental_models.versions_after(self.memory, next_id)
            next_id = later[-1].id if later else None
        return newest

    def models_about(self, entity_id: str) -> list[MentalModel]:
        """Return all versions of the mental models about an entity, in order of the ledger."""
        self.record_read(key_of("models about", entity_id))
        return mental_models.models_about(self.memory, entity_id)

    def page(self, model_id: str) -> MentalModelPage | None:
        """Return the parts of a version of a mental model; None if it was written by hand."""
        self.record_read(key_of("page", model_id))
        return mental_models.page(self.memory, model_id)

    def entity_facts(self, entity_ids: Sequence[str], limit: int) -> list[EntityFact]:
        """Return the newest visible facts about these entities, each once."""
        for entity_id in entity_ids:
            self.record_read(key_of("facts of entity", entity_id))
        return mental_models.entity_facts(self.memory, entity_ids, limit)

    def entity_facts_of(self, fact_id: str) -> list[EntityFact]:
        """Return the rows of a fact, one for each entity that it is about, by entity."""
        self.record_read(key_of("entities of fact", fact_id))
        return mental_models.entity_facts_of(self.memory, fact_id)

    def facts_of_slot(self, entity_id: str, attribute: str) -> list[EntityFact]:
        """Return the facts about an entity that state a value of an attribute, in order of ids."""
        self.record_read(key_of("slot of entity", entity_id, attribute))
        return mental_models.facts_of_slot(self.memory, entity_id, attribute)

    def supersession(self, fact_id: str) -> tuple[str, int] | None:
        """Return (id of what superseded a fact, when in unix ms), ignoring retractions."""
        self.record_read(key_of("end", fact_id))
        return memory.supersession(self.memory, fact_id)

    def supersessions(self, fact_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return fact id -> what `supersession` returns, for facts that are superseded."""
        for fact_id in fact_ids:
            self.record_read(key_of("end", fact_id))
        return memory.supersessions_of(self.memory, fact_ids) if fact_ids else {}

    def superseded_by(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return fact id -> what `supersession` returns, for facts that these ids superseded."""
        for each in ids:
            self.record_read(key_of("superseded by", each))
        found = memory.facts_superseded_by(self.memory, ids) if ids else []
        return {fact: end for fact, end in self.supersessions(found).items() if end[0] in ids}

    def retractions_of_fact(self, fact_id: str) -> list[RetractedFact]:
        """Return the retractions that cover a fact, withdrawn ones included."""
        self.record_read(key_of("retracted", fact_id))
        return retractions.retractions_of_fact(self.memory, fact_id)

    def directives_of(self, event_ids: Sequence[str]) -> list[Directive]:
        """Return the directives that events state, withdrawn ones included, in events' order."""
        for event_id in event_ids:
            self.record_read(key_of("directives of", event_id))
        return mental_models.directives_of_events(self.memory, event_ids)

    # Learning

    def trajectory(self, trajectory_id: str) -> Trajectory | None:
        """Return a trajectory."""
        self.record_read(key_of("trajectory", trajectory_id))
        return learning.trajectory(self.memory, trajectory_id)

    def trajectory_completion(self, trajectory_id: str) -> TrajectoryCompletion | None:
        """Return the end of a trajectory; None while it runs."""
        self.record_read(key_of("trajectory", trajectory_id))
        return learning.completion(self.memory, trajectory_id)

    def comparable_completions(
        self, trajectory: Trajectory, limit: int
    ) -> list[TrajectoryCompletion]:
        """Return the ends of the last trajectories of its task type, in order of the ledger.

        All readers of `trajectory` may read these.
        """
        self.record_read(key_of("trajectories of type", trajectory.task_type))
        return learning.comparable_completions(self.memory, trajectory, limit)

    def trajectory_steps(self, trajectory_id: str) -> list[TrajectoryStep]:
        """Return the steps of a trajectory, in order."""
        self.record_read(key_of("steps of", trajectory_id))
        return learning.steps(self.memory, trajectory_id)

    def trajectory_feedback(self, trajectory_id: str) -> list[TrajectoryFeedback]:
        """Return the feedback on a trajectory, in order."""
        self.record_read(key_of("feedback on", trajectory_id))
        return learning.feedback(self.memory, trajectory_id)

    def newest_reflection(self, trajectory_id: str) -> Reflection | None:
        """Return the newest reflection on a trajectory."""
        self.record_read(key_of("reflections on", trajectory_id))
        return next(reversed(learning.reflections(self.memory, trajectory_id)), None)

    def reflection_items(self, reflection_id: str) -> list[ReflectionItem]:
        """Return the items of a reflection, in order."""
        self.record_read(key_of("reflection", reflection_id))
        return learning.reflection_items(self.memory, reflection_id)

    def playbook(self, playbook_id: str) -> Playbook | None:
        """Return a playbook."""
        self.record_read(key_of("playbook", playbook_id))
        return learning.playbook(self.memory, playbook_id)

    def last_playbook_version(self, playbook_id: str) -> int:
        """Return the number of versions of a playbook."""
        self.record_read(key_of("playbook", playbook_id))
        return learning.last_version(self.memory, playbook_id)

    def current_strategies(self, playbook_id: str) -> list[PlaybookStrategy]:
        """Return the strategies of a playbook's newest version, in order of ids."""
        self.record_read(key_of("strategies of", playbook_id))
        return learning.current_strategies(self.memory, playbook_id)

    def strategy_evidence(self, strategy_id: str) -> set[tuple[str, str]]:
        """Return (trajectory id, step id) of the steps that a strategy rests on."""
        self.record_read(key_of("evidence of", strategy_id))
        return learning.evidence(self.memory, strategy_id)

    def dependencies_of(self, event_ids: Sequence[str]) -> list[StatedDependency]:
        """Return the dependencies that events state, withdrawn ones included, in events' order."""
        for event_id in event_ids:
            self.record_read(key_of("dependencies of", event_id))
        return dependencies.dependencies_of_events(self.memory, event_ids)

    # Stored memories

    def is_private(self, fact_id: str) -> bool:
        """Return whether a fact with a claim is from a memory that not everyone may read."""
        self.record_read(key_of("claim", fact_id))
        return stored.is_private(self.memory, fact_id)

    def author(self, fact_id: str) -> MemoryAuthor:
        """Return who stored the memory that a fact is from."""
        self.record_read(key_of("fact", fact_id))
        return stored.author(self.memory, fact_id)

    def memory_version(self, id_: str) -> StoredMemoryVersion | None:
        """Return a version of a stored memory by the id of its event."""
        self.record_read(key_of("memory version", id_))
        return stored.version(self.memory, id_)

    def memory_versions(self, memory_id: str) -> list[StoredMemoryVersion]:
        """Return the versions of a stored memory, the first one first."""
        self.record_read(key_of("memory versions", memory_id))
        return stored.versions(self.memory, memory_id)

    def newest_memory_version(self, memory_id: str) -> StoredMemoryVersion | None:
        """Return the newest version of a stored memory by the id of its first one."""
        self.record_read(key_of("memory versions", memory_id))
        return stored.newest_version(self.memory, memory_id)

    def stored_memory(self, id_: str) -> StoredMemory | None:
        """Return the attributes of a version of a stored memory by the id of its event."""
        self.record_read(key_of("memory version", id_))
        return stored.stored_memory(self.memory, id_)

    def consolidation(self, id_: str) -> MemoryConsolidation | None:
        """Return what a consolidated memory is made of; None for any other memory."""
        self.record_read(key_of("consolidation", id_))
        return stored.consolidation(self.memory, id_)

    def is_consolidated(self, memory_id: str) -> bool:
        """Return whether a memory that is not deleted consolidates this one."""
        self.record_read(key_of("parent of", memory_id))
        parent = stored.parent_of(self.memory, memory_id)
        if parent is None:
            return False
        version = self.memory_version(parent)
        return version is not None and version.state != "deleted"

    def memory_at(self, place: str) -> StoredMemoryVersion | None:
        """Return the current version of the memory at a place that is not deleted."""
        self.record_read(key_of("memory at", place))
        return stored.version_at(self.memory, place)

    # Entities

    def handle_owner(self, handle_id: str) -> str | None:
        """Return the id of the entity that owns the handle of a sender."""
        self.record_read(key_of("handle", handle_id))
        return identity.handle_owner(self._identity, handle_id)

    def handles(self, entity_id: str) -> list[tuple[str, str]]:
        """Return (platform, handle) of this entity's accounts, without those of merged ones."""
        self.record_read(key_of("handles", entity_id))
        return identity.handles(self._identity, entity_id)

    def entities_named(self, normalized: str) -> list[EntityRef]:
        """Return the entities with this normalised name, merged ones included, in order of ids."""
        if normalized not in self._named:
            self.record_read(key_of("name", normalized))
            found = identity.entities_named(self._identity, normalized)
            self._named[normalized] = _sorted_refs(found)
        return list(self._named[normalized])

    def persons_with_first_name(self, first_name: str) -> list[EntityRef]:
        """Return the persons with this normalised first name and a further name, in id order."""
        if first_name not in self._first_named:
            self.record_read(key_of("first name", first_name))
            found = identity.persons_with_first_name(self._identity, first_name)
            self._first_named[first_name] = _sorted_refs(found)
        return list(self._first_named[first_name])

    def persons_with_prefix(self, letters: str, limit: int) -> list[EntityRef]:
        """Return up to `limit` persons whose normalised name begins with these letters.

        There must be `NAME_PREFIX_LENGTH` letters. The persons are in order of ids. This is a
        search: callers must record the persons that they use.
        """
        self.record_search(key_of("first letters", letters))
        found = _sorted_refs(identity.persons_with_prefix(self._identity, letters, limit))
        return self._record_full(found, limit)

    def entities_with_similar_names(
        self, normalized: str, entity_type: str, limit: int
    ) -> list[EntityRef]:
        """Return up to `limit` entities of a type that share name keys with a name.

        Those that share the most keys come first. This is a search: callers must record the
        entities that they use.
        """
        keys = name_keys(normalized, entity_type)
        for key in keys:
            self.record_search(key_of("name key", key))
        found = identity.entities_with_similar_names(self._identity, keys, limit)
        return self._record_full(
            [EntityRef(row.id, row.type, row.normalized) for row in found], limit
        )

    def _record_full(self, found: list[EntityRef], limit: int) -> list[EntityRef]:
        """Record all results of a search at its limit: if one is removed, another is found."""
        if len(found) == limit:
            for each in found:
                self.record_read(key_of_entity(each.id))
        return found

    def has_merges(self, entity_id: str) -> bool:
        """Return whether an entity was ever merged into another, or another into it.

        This is a search: if so, callers must follow the merges.
        """
        self.record_search(key_of_entity(entity_id))
        self.record_read(key_of("losers", entity_id))
        return identity.has_merges(self._identity, entity_id)

    def entity(self, entity_id: str) -> EntityRef | None:
        """Return an entity by id, without following merges."""
        if entity_id not in self._entities:
            self.record_read(key_of_entity(entity_id))
            row = identity.entity(self._identity, entity_id)
            self._entities[entity_id] = None if row is None else _sorted_refs([row])[0]
        return self._entities[entity_id]

    def merges_of(self, entity_id: str, without: str | None = None) -> list[ActiveMerge]:
        """Return the active merges of an entity into others, the latest first.

        `without`: the id of a merge that is left out.
        """
        if without is not None:
            self.record_read(key_of("merge", without))
        if entity_id not in self._merges:
            self._merges[entity_id] = self._active_merges(entity_id)
        return [merge for id_, merge in self._merges[entity_id] if id_ != without]

    def _active_merges(self, entity_id: str) -> list[tuple[str, ActiveMerge]]:
        self.record_read(key_of_entity(entity_id))
        found = []
        for merge, winner in identity.merges_of(self._identity, entity_id):
            self.record_read(_key_of_merged_pair(merge))
            # Decisions of earlier builds wrote what became of a merge under its own key alone.
            if self._on_first_read is not None:
                self._on_first_read(key_of("merge", merge))
            if identity.is_merge_active(self._identity, merge):
                by_command = identity.is_merge_by_command(self._identity, merge)
                found.append((merge, ActiveMerge(winner, by_command)))
        return found

    def merged_into(self, entity_id: str) -> str | None:
        """Return the id of the entity that this one was merged into directly."""
        return next((merge.winner_id for merge in self.merges_of(entity_id)), None)

    def own_winner_of(self, entity_id: str) -> str | None:
        """Return the id of the entity that this one was merged into, ignoring merges by command."""
        merges = self.merges_of(entity_id)
        return next((merge.winner_id for merge in merges if not merge.by_command), None)

    def merged_pair(self, merge_id: str) -> tuple[str, str] | None:
        """Return (winner, loser) of a merge, undone or not."""
        self.record_read(key_of("merge", merge_id))
        return identity.merged_pair(self._identity, merge_id)

    def canonical(self, entity_id: str) -> EntityRef | None:
        """Return the canonical entity: the entity at the end of this one's merges.

        None if that entity does not exist, or if the merges form a cycle.
        """
        found = end_of_merges(entity_id, self.merged_into)
        return None if found is None else self.entity(found)

    def merged_ids(self, entity_id: str) -> list[str]:
        """Return the ids of all entities merged into this one, directly or indirectly, sorted."""
        found: list[str] = []
        pending = [entity_id]
        while pending:
            for loser in self._direct_losers(pending.pop()):
                if loser != entity_id and loser not in found:
                    found.append(loser)
                    pending.append(loser)
        return sorted(found)

    def group_of(self, entity_id: str) -> list[str]:
        """Return the ids of this entity and of all entities merged with it, sorted."""
        canonical = end_of_merges(entity_id, self.merged_into) or entity_id
        return sorted({canonical, *self.merged_ids(canonical), entity_id})

    def _direct_losers(self, winner: str) -> list[str]:
        if winner not in self._losers:
            self.record_read(key_of("losers", winner))
            losers = identity.merged_ids(self._identity, winner)
            self._losers[winner] = [each for each in losers if self.merged_into(each) == winner]
        return self._losers[winner]

    def is_merge_active(self, merge_id: str) -> bool:
        """Return whether a merge was executed and not undone."""
        self.record_read(key_of("merge", merge_id))
        return identity.is_merge_active(self._identity, merge_id)

    def pending_candidate(self, candidate_id: str) -> tuple[str, str, float] | None:
        """Return (entity a, entity b, confidence) of a merge candidate that is pending review."""
        self.record_read(key_of("candidate", candidate_id))
        return identity.pending_candidate(self._identity, candidate_id)

    def is_rejected(self, one: str, other: str) -> bool:
        """Return whether review rejected merging two entities."""
        self.record_read(key_of("candidates", one))
        found = identity.candidates_of(self._identity, one, other)
        for candidate, _ in found:
            self.record_read(key_of("candidate", candidate))
        return any(rejected for _, rejected in found)


def _sorted_refs(entities: Sequence[Entity]) -> list[EntityRef]:
    return sorted(EntityRef(row.id, row.type, row.normalized) for row in entities)
