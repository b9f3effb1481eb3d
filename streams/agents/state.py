"""What agents may query of the state, and the keys under which each query is noted.

A decision depends on its record, on the thread that it read, and on the rows that it queried. Every
query below notes its key, and `touched` returns the keys of a row. If a row is deleted or changed,
only decisions that noted one of its keys may have another result. A key is eight bytes of a hash;
if two queries share one by chance, a decision is made again without need.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import apsw

from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import (
    AnyRow,
    CausalLink,
    DeadLetter,
    DuplicateStatement,
    Entity,
    Fact,
    FactClaim,
    FactFingerprint,
    FactRelation,
    FactSupersession,
    Handle,
    MentalModel,
    Merge,
    MergeCandidate,
    MergeDecision,
    MergeUndo,
    ProcessedEvent,
    Row,
    Turn,
)
from recollect.schemas.ids import time_of
from recollect.streams.encoder.gateway import Encoding
from recollect.text.name_forms import name_keys

KEY_BYTES = 8
#: So many letters of a name are asked for where only its beginning is known.
FIRST_LETTERS = 2


class Known(NamedTuple):
    """What a decision may read of an entity; not when, or by whom, it was first named."""

    id: str
    type: str
    normalized: str


# A signature itself has a space in it, after the id of who said it.
_KEPT = re.compile(f"[0-9a-f]{{{2 * KEY_BYTES}}}")


@lru_cache(maxsize=16_384)
def key_of(kind: str, *names: str) -> bytes:
    """Return the key of a query: its kind, and its arguments."""
    digest = hashlib.blake2b(kind.encode(), digest_size=KEY_BYTES)
    for name in names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()


def kept_signature(signature: str) -> str:
    """Return what a fact keeps of its signature: the digits of the key under which it is found.

    Facts of older builds keep the signature itself.
    """
    return key_of("signature", signature).hex()


def _key_of_signature(kept: str) -> bytes:
    return bytes.fromhex(kept) if _KEPT.fullmatch(kept) else key_of("signature", kept)


def key_of_event(number: int) -> bytes:
    """Return the key under which a decision notes that it read another record."""
    return key_of("event", str(number))


def touched(row: AnyRow) -> tuple[tuple[bytes, Hashable], ...]:
    """Return each key under which a row is found, with the values that a decision reads there.

    Rows that no decision queries, such as vectors and mentions, have none.
    """
    return _TOUCHED[type(row)](row) if type(row) in _TOUCHED else ()


def _entity(row: Entity) -> tuple[tuple[bytes, Hashable], ...]:
    known = Known(row.id, row.type, row.normalized)
    first = row.normalized.partition(" ")[0]
    letters = row.normalized[:FIRST_LETTERS]
    return (
        (key_of("entity", row.id), known),
        (key_of("name", row.normalized), known),
        *([(key_of("first letters", letters), known)] if row.type == "person" else []),
        *([(key_of("first name", first), known)] if first != row.normalized else []),
        *((key_of("name key", key), known) for key in name_keys(row.normalized, row.type)),
    )


def _handle(row: Handle) -> tuple[tuple[bytes, Hashable], ...]:
    seen = (row.platform, row.handle, row.entity_id)
    return (key_of("handle", row.id), seen), (key_of("handles", row.entity_id), seen)


def _merge(row: Merge) -> tuple[tuple[bytes, Hashable], ...]:
    # Of several merges of one entity the last counts, so its time is read too.
    seen = (row.id, row.winner_id, row.loser_id, row.executed_at)
    return (
        (key_of("entity", row.loser_id), seen),
        (key_of("losers", row.winner_id), seen),
        (key_of("merge", row.id), seen),
    )


_TOUCHED: dict[type[Row], Callable[..., tuple[tuple[bytes, Hashable], ...]]] = {
    Fact: lambda row: (
        (_key_of_signature(row.signature), (row.id, row.as_of)),
        (key_of("facts", row.source_event_id), row.id),
    ),
    FactFingerprint: lambda row: ((key_of("likeness", row.key), row),),
    DuplicateStatement: lambda row: ((key_of("repeats", row.fact_id), row.event_id),),
    FactClaim: lambda row: ((key_of("claims", row.subject, row.attribute), row),),
    FactSupersession: lambda row: ((key_of("end", row.fact_id), row.invalid_at),),
    # Two messages may say what one thing is to another; nobody asks for it, but it has a writer.
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
    MentalModel: lambda row: ((key_of("mental model", row.id), row),),
    DeadLetter: lambda row: ((key_of("dead letter", str(row.number)), row),),
    Entity: _entity,
    Handle: _handle,
    MergeCandidate: lambda row: (
        (key_of("candidate", row.id), row),
        *((key_of("candidates", each), row) for each in (row.entity_a_id, row.entity_b_id)),
    ),
    MergeDecision: lambda row: ((key_of("candidate", row.candidate_id), row.status),),
    Merge: _merge,
    MergeUndo: lambda row: ((key_of("merge", row.merge_id), row.undone_at),),
}


class State:
    """The read models after all earlier records, and the vectors of this record's texts.

    It serves one decision. Answers are cached, and `reads` are the keys of all queries. `before` is
    called with a key before its first query.
    """

    def __init__(
        self,
        events: apsw.Connection,
        memory: apsw.Connection,
        identity: apsw.Connection,
        encoder: str | None,
        dimension: int,
        before: Callable[[bytes], None] | None = None,
    ) -> None:
        #: For agents that return commands and no rows: the commands of an erased decision are never
        #: asked for again, so their queries need not be noted.
        self.events = events
        self.memory = memory
        self._identity = identity
        self._before = before
        #: The name of the encoder's model; None without an encoder.
        self.encoder = encoder
        self.dimension = dimension
        #: text hash -> its encoding
        self.encoded: Mapping[str, Encoding] = {}
        #: The keys of all queries.
        self.reads: set[bytes] = set()
        self._merged: dict[str, str | None] = {}
        self._entities: dict[str, Known | None] = {}
        self._losers: dict[str, list[str]] = {}

    def note(self, key: bytes) -> None:
        """Note that the decision depends on what is found under a key."""
        if key not in self.reads:
            self.reads.add(key)
            if self._before is not None:
                self._before(key)

    # Facts

    def fact_with_signature(
        self, signatures: Sequence[str], after: int, before: int, without: Set[str] = frozenset()
    ) -> str | None:
        """Return the first current fact with one of these signatures within a period (unix ms).

        A superseded fact that is said again is news. Facts in `without` do not count.
        """
        for signature in signatures:
            self.note(key_of("signature", signature))
        kept = [form for each in signatures for form in (kept_signature(each), each)]
        for fact in memory.facts_with_signature(self.memory, kept, after, before):
            if fact not in without and self._end(fact) is None:
                return fact
        return None

    def facts_alike(
        self, keys: Sequence[str], after: int, before: int, without: Set[str] = frozenset()
    ) -> list[FactFingerprint]:
        """Return the current facts with one of these keys of likeness within a period (unix ms).

        As in `fact_with_signature`, those in `without` do not count.
        """
        for key in keys:
            self.note(key_of("likeness", key))
        return [
            found
            for found in memory.fingerprints(self.memory, keys, after, before)
            if found.fact_id not in without and self._end(found.fact_id) is None
        ]

    def times_repeated(self, fact_id: str) -> list[int]:
        """Return when a fact was said again (unix ms)."""
        self.note(key_of("repeats", fact_id))
        return [time_of(event) for event in memory.repeating(self.memory, fact_id)]

    def facts_of(self, event_id: str) -> list[str]:
        """Return the current facts that an event gave, by id."""
        self.note(key_of("facts", event_id))
        found = sorted(fact for fact, _ in memory.facts_from(self.memory, event_id))
        return [fact for fact in found if self._end(fact) is None]

    def facts_from(self, event_id: str) -> list[tuple[str, str, bool]]:
        """Return (id, text, whether it holds) of the facts that an event gave, by id.

        The decision must have read the event itself: its words are those of the facts.
        """
        self.note(key_of("facts", event_id))
        found = memory.facts_from(self.memory, event_id)
        return [(fact, text, self._end(fact) is None) for fact, text in found]

    def claims(self, subjects: Sequence[str], attribute: str) -> list[memory.DatedClaim]:
        """Return all claims about one subject, under any of its ids, by time."""
        for subject in subjects:
            self.note(key_of("claims", subject, attribute))
        found = memory.claims(self.memory, subjects, attribute)
        return [memory.DatedClaim(claim, self._end(claim.fact_id)) for claim in found]

    def _end(self, fact_id: str) -> int | None:
        """Return until when a fact was valid (unix ms); None: it still is."""
        self.note(key_of("end", fact_id))
        return memory.invalid_at(self.memory, fact_id)

    # Events, turns, parked records

    def is_processed(self, event_id: str) -> bool:
        """Return whether the writer has processed an event."""
        self.note(key_of("processed", event_id))
        return memory.is_processed(self.memory, event_id)

    def is_completed(self, turn: str) -> bool:
        """Return whether a turn, given by the id of its row, is completed."""
        self.note(key_of("turn", turn))
        return memory.is_completed(self.memory, turn)

    def dead_letter(self, number: int) -> DeadLetter | None:
        """Return the row of a parked record."""
        self.note(key_of("dead letter", str(number)))
        return memory.dead_letter(self.memory, number)

    def model_versions(self, model_id: str) -> list[MentalModel]:
        """Return a version of a mental model and all before it, newest first."""
        versions: list[MentalModel] = []
        following: str | None = model_id
        while following is not None:
            self.note(key_of("mental model", following))
            version = memory.mental_model(self.memory, following)
            if version is None:
                break
            versions.append(version)
            following = version.parent_id
        return versions

    # Entities

    def handle_owner(self, handle_id: str) -> str | None:
        """Return the id of the entity that a delivered handle stands for."""
        self.note(key_of("handle", handle_id))
        return identity.handle_owner(self._identity, handle_id)

    def handles(self, entity_id: str) -> list[tuple[str, str]]:
        """Return (platform, handle) of this entity's own accounts, not of those merged into it."""
        self.note(key_of("handles", entity_id))
        return identity.handles(self._identity, entity_id)

    def named(self, normalized: str) -> list[Known]:
        """Return the entities with this normalised name, merged ones included, by id."""
        self.note(key_of("name", normalized))
        return _known(identity.entities_named(self._identity, normalized))

    def persons_called(self, first_name: str) -> list[Known]:
        """Return the persons whose name begins with this normalised word and has more, by id."""
        self.note(key_of("first name", first_name))
        return _known(identity.persons_with_first_name(self._identity, first_name))

    def persons_beginning(self, letters: str, limit: int) -> list[Known]:
        """Return the persons whose normalised name begins with `FIRST_LETTERS` letters, by id."""
        self.note(key_of("first letters", letters))
        return _known(identity.persons_with_prefix(self._identity, letters, limit))

    def names_alike(self, normalized: str, entity_type: str, limit: int) -> list[Known]:
        """Return entities of a type whose names may be alike, those that share most keys first."""
        keys = name_keys(normalized, entity_type)
        for key in keys:
            self.note(key_of("name key", key))
        found = identity.entities_with_similar_names(self._identity, keys, limit)
        return [Known(row.id, row.type, row.normalized) for row in found]

    def entity(self, entity_id: str) -> Known | None:
        """Return an entity as its row has it."""
        if entity_id not in self._entities:
            self.note(key_of("entity", entity_id))
            row = identity.entity(self._identity, entity_id)
            self._entities[entity_id] = None if row is None else _known([row])[0]
        return self._entities[entity_id]

    def merged_into(self, entity_id: str) -> str | None:
        """Return the id of the entity that this one was merged into directly."""
        if entity_id not in self._merged:
            self.note(key_of("entity", entity_id))
            merges = identity.merges_of(self._identity, entity_id)
            standing = (winner for merge, winner in merges if self.merge_stands(merge))
            self._merged[entity_id] = next(standing, None)
        return self._merged[entity_id]

    def canonical(self, entity_id: str) -> Known | None:
        """Return the entity at the end of this one's merges; None if it does not exist."""
        seen: set[str] = set()
        while entity_id not in seen:
            seen.add(entity_id)
            onward = self.merged_into(entity_id)
            if onward is None:
                return self.entity(entity_id)
            entity_id = onward
        return None

    def merged(self, entity_id: str) -> list[str]:
        """Return the ids of all entities merged into this one, directly or not."""
        found: list[str] = []
        pending = [entity_id]
        while pending:
            for loser in self._merged_in(pending.pop()):
                if loser != entity_id and loser not in found:
                    found.append(loser)
                    pending.append(loser)
        return sorted(found)

    def _merged_in(self, winner: str) -> list[str]:
        if winner not in self._losers:
            self.note(key_of("losers", winner))
            losers = identity.merged_ids(self._identity, winner)
            self._losers[winner] = [each for each in losers if self.merged_into(each) == winner]
        return self._losers[winner]

    def merge_stands(self, merge_id: str) -> bool:
        """Return whether a merge was executed and not undone."""
        self.note(key_of("merge", merge_id))
        return identity.is_merge_active(self._identity, merge_id)

    def pending_candidate(self, candidate_id: str) -> tuple[str, str, float] | None:
        """Return (entity a, entity b, confidence) of a candidate that waits for review."""
        self.note(key_of("candidate", candidate_id))
        return identity.pending_candidate(self._identity, candidate_id)

    def is_rejected(self, one: str, other: str) -> bool:
        """Return whether review said of two entities that they are not one."""
        self.note(key_of("candidates", one))
        found = identity.candidates_of(self._identity, one, other)
        for candidate, _ in found:
            self.note(key_of("candidate", candidate))
        return any(rejected for _, rejected in found)


def _known(entities: Sequence[Entity]) -> list[Known]:
    return sorted(Known(row.id, row.type, row.normalized) for row in entities)
