"""Rows of identity.db: entities, handles, mentions and merges."""

from __future__ import annotations

from typing import ClassVar, Literal

from recollect.schemas.changes.row import Row


class Entity(Row, frozen=True, array_like=True, tag="entity"):
    """A person, handle, organisation, project, place or concept."""

    TABLE: ClassVar = "entities"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    type: str
    normalized: str
    source: Literal["delivery", "inferred", "command"]
    created_at: int


class Handle(Row, frozen=True, array_like=True, tag="handle"):
    """An account on a platform; created only from a delivered message, so it is reachable."""

    TABLE: ClassVar = "handles"
    KEY: ClassVar = ("id",)
    id: str
    platform: str
    handle: str
    entity_id: str
    display_name: str | None
    created_at: int


class Mention(Row, frozen=True, array_like=True, tag="mention"):
    """A name, date, number or address in an event, or its sender.

    Attributes:
        fact_id: "" if no fact contains the mention.
        entity_id: the entity mentioned, merges not applied; "" if unknown.
        char_offset_start, char_offset_end: offsets into the content; -1 for the sender.
        confidence: probability, 0 to 1, that these characters are a mention of this type.
        first, last: the days of a DATE or TIME, both inclusive (ISO dates).
        time: the clock time of a DATE or TIME ("14:30").
    """

    TABLE: ClassVar = "mentions"
    KEY: ClassVar = ("event_id", "fact_id", "entity_id", "char_offset_start")
    event_id: str
    fact_id: str
    entity_id: str
    char_offset_start: int
    char_offset_end: int
    mention_text: str
    mention_type: str
    confidence: float
    first: str | None = None
    last: str | None = None
    time: str | None = None


class MergeCandidate(Row, frozen=True, array_like=True, tag="merge_candidate"):
    """Two entities that may be the same; its status follows from its MergeDecision."""

    TABLE: ClassVar = "merge_candidates"
    KEY: ClassVar = ("id",)
    id: str
    entity_a_id: str
    entity_b_id: str
    confidence: float
    reason: str
    created_at: int


class MergeDecision(Row, frozen=True, array_like=True, tag="merge_decision"):
    """The outcome of a merge candidate."""

    TABLE: ClassVar = "merge_decisions"
    KEY: ClassVar = ("candidate_id",)
    candidate_id: str
    status: Literal["executed", "rejected"]
    decided_at: int


class Merge(Row, frozen=True, array_like=True, tag="merge"):
    """An executed merge.

    An entity's `merged_into` is computed from these rows. They contain ids, never names.
    """

    TABLE: ClassVar = "merges"
    KEY: ClassVar = ("id",)
    id: str
    winner_id: str
    loser_id: str
    confidence: float
    reason: str
    executed_at: int


class MergeUndo(Row, frozen=True, array_like=True, tag="merge_undo"):
    """The undoing of an executed merge."""

    TABLE: ClassVar = "merge_undos"
    KEY: ClassVar = ("merge_id",)
    merge_id: str
    undone_at: int


class MergeByCommand(Row, frozen=True, array_like=True, tag="merge_by_command"):
    """A merge executed by a command, not inferred from messages.

    The slot values of the two entities are stored apart, so undoing the merge restores them.
    """

    TABLE: ClassVar = "merges_by_command"
    KEY: ClassVar = ("merge_id",)
    merge_id: str


#: Every row type of the file; a change record has no others.
IdentityRow = (
    Entity | Handle | Mention | MergeCandidate | MergeDecision | Merge | MergeUndo | MergeByCommand
)
