"""Entries of lists: facts, entities, merges, mental models, dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from recollect.schemas.choices import ObservationKind
from recollect.schemas.wire.answering import DateRange, MemoryRevision, StatementCount, Uncertainty

#: The states of a merge, and those that a decision can set.
MergeStatus = Literal["pending", "merged", "rejected", "undone"]
MergeDecision = Literal["merged", "rejected", "undone"]
#: The states of a proposed writer prompt, and those that a decision can set.
WriterProposalStatus = Literal["pending", "accepted", "rejected", "replaced"]
WriterProposalDecision = Literal["accepted", "rejected"]

Entry = TypeVar("Entry")

MemoryType = Literal["event", "fact", "observation", "mental_model"]
MentalModelTrigger = Literal["profile", "after_changes", "schedule", "by_hand"]


class Page(msgspec.Struct, Generic[Entry], frozen=True, kw_only=True):
    """A page of a list; `cursor` gives the next page, None on the last."""

    cursor: Annotated[
        str | None, Meta(description="Cursor of the next page; null on the last.")
    ] = None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Entry:
        return self._entries[index]

    @property
    def _entries(self) -> list[Entry]:
        found: list[Entry] = getattr(self, self.__struct_fields__[-1])
        return found


class Relation(msgspec.Struct, frozen=True):
    """A relation of a fact to an earlier one."""

    type: Annotated[
        Literal["UPDATES", "EXTENDS", "DERIVES"],
        Meta(
            description="UPDATES (replaces the other fact), EXTENDS (adds to it) or DERIVES "
            "(follows from it)."
        ),
    ]
    fact_id: Annotated[str, Meta(description="Id of the other fact.")]
    confidence: Annotated[float, Meta(description="Confidence, from 0 to 1.")]

    @property
    def verb(self) -> str:
        """The relation as a verb."""
        return "derives from" if self.type == "DERIVES" else self.type.lower()


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact."""

    id: Annotated[str, Meta(description="Id of the fact.")]
    text: Annotated[str, Meta(description="The fact, as a sentence.")]
    as_of: Annotated[str, Meta(description="Time that the fact speaks of.")]
    when: Annotated[
        DateRange | None, Meta(description="Days that the fact speaks of; null if none are known.")
    ]
    subject: Annotated[
        str | None, Meta(description="Entity whose attribute it states; null if it fills no slot.")
    ]
    attribute: Annotated[str | None, Meta(description="The attribute; null if it fills no slot.")]
    value: Annotated[str | None, Meta(description="The value; null if it fills no slot.")]
    current: Annotated[bool, Meta(description="No newer fact has replaced it.")]
    stability: Annotated[str | None, Meta(description="static, semi_dynamic or dynamic.")]
    said: Annotated[
        StatementCount, Meta(description="How often it was said, and when first and last.")
    ]
    entities: Annotated[list[str], Meta(description="Names of the entities that it is about.")]
    source_event_ids: Annotated[
        list[str],
        Meta(description="Source ids of the events that it comes from."),
    ]
    stability_confidence: Annotated[
        float | None, Meta(description="Confidence in the stability, from 0 to 1.")
    ] = None
    ttl_days: Annotated[
        int | None, Meta(description="Days from as_of for which the fact holds; null for ever.")
    ] = None
    relations: Annotated[list[Relation], Meta(description="Relations to earlier facts.")] = []
    retracted: Annotated[bool, Meta(description="It was retracted as never true.")] = False
    said_by: Annotated[
        str | None, Meta(description="Its author: a display name, or else an id on the platform.")
    ] = None
    context: Annotated[
        str | None,
        Meta(
            description="Its context: the earlier message that it answers or corrects, or the "
            "subject line above it; null if there is none."
        ),
    ] = None
    uncertain: Annotated[
        Uncertainty | None,
        Meta(description="Why it is uncertain; null if nothing that it depends on has changed."),
    ] = None


class FactPage(Page[Fact], frozen=True, kw_only=True):
    """A page of facts, newest first."""

    facts: Annotated[list[Fact], Meta(description="The facts, newest first.")]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """A stored memory of any kind except entities."""

    id: Annotated[str, Meta(description="Id of the memory.")]
    type: Annotated[MemoryType, Meta(description="event, fact, observation or mental_model.")]
    text: Annotated[str, Meta(description="Text of the memory.")]
    as_of: Annotated[str, Meta(description="When it was said.")]
    current: Annotated[bool, Meta(description="No newer memory has replaced it.")] = True
    is_stale: Annotated[bool, Meta(description="Its sources have changed since.")] = False
    decided: Annotated[bool, Meta(description="False for an event that is not decided yet.")] = True
    name: Annotated[str | None, Meta(description="Name of a mental model.")] = None
    platform: Annotated[str | None, Meta(description="Platform of its source.")] = None
    sender_id: Annotated[str | None, Meta(description="The sender's id on the platform.")] = None
    sender_name: Annotated[str | None, Meta(description="Name of the sender.")] = None
    thread_id: Annotated[str | None, Meta(description="Thread that it was said in.")] = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="Metadata of an event.")] = None
    entities: Annotated[list[str], Meta(description="Names of the entities that it is about.")] = []
    source_event_ids: Annotated[
        list[str],
        Meta(description="Source ids of the events that it comes from."),
    ] = []
    supersedes: Annotated[
        list[MemoryRevision], Meta(description="Memories that it replaced, latest first.")
    ] = []
    superseded_by: Annotated[
        list[MemoryRevision],
        Meta(description="Memories that replaced it, latest first; for an edit, the newest one."),
    ] = []
    retracted: Annotated[bool, Meta(description="It was retracted as never true.")] = False
    retracted_parts: Annotated[
        list[str],
        Meta(description="Parts of an event's text that were retracted or replaced: ID:START-END."),
    ] = []


class MemoryPage(Page[Memory], frozen=True, kw_only=True):
    """A page of memories of one kind, newest first."""

    memories: Annotated[list[Memory], Meta(description="The memories, newest first.")]


class MemoryVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a memory."""

    id: Annotated[str, Meta(description="Id of the version.")]
    text: Annotated[str, Meta(description="Its text.")]
    at: Annotated[str, Meta(description="When it began to hold.")]
    current: Annotated[bool, Meta(description="It is the current version.")]


class Handle(msgspec.Struct, frozen=True, kw_only=True):
    """An account of an entity."""

    platform: Annotated[str, Meta(description="Platform of the account.")]
    handle: Annotated[str, Meta(description="Name of the account on the platform.")]


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity, under its canonical name."""

    id: Annotated[str, Meta(description="Id of the entity.")]
    name: Annotated[str, Meta(description="Canonical name.")]
    type: Annotated[str, Meta(description="Type of entity, such as person or organisation.")]
    aliases: Annotated[list[str], Meta(description="Names of entities merged into it.")] = []
    handles: Annotated[list[Handle], Meta(description="Accounts under which it writes.")] = []
    facts: Annotated[int, Meta(description="Number of facts about it.")] = 0
    mentions: Annotated[
        int, Meta(description="Number of events that come from it or mention it.")
    ] = 0


class EntityPage(Page[Entity], frozen=True, kw_only=True):
    """A page of entities, most mentioned first."""

    entities: Annotated[list[Entity], Meta(description="The entities, most mentioned first.")]


class RelatedEntity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity that shares facts with another."""

    id: Annotated[str, Meta(description="Id of the entity.")]
    name: Annotated[str, Meta(description="Canonical name.")]
    type: Annotated[str, Meta(description="Type of entity, such as person or organisation.")]
    facts: Annotated[int, Meta(description="Number of facts that mention both.")]


class EntityLink(msgspec.Struct, frozen=True, kw_only=True):
    """Two entities that share facts."""

    a: Annotated[str, Meta(description="Id of the first entity.")]
    b: Annotated[str, Meta(description="Id of the second entity.")]
    facts: Annotated[int, Meta(description="Number of facts that mention both.")]


class RelatedEntities(msgspec.Struct, frozen=True, kw_only=True):
    """The entities that share most facts with one, and how these are linked to each other."""

    related: Annotated[
        list[RelatedEntity],
        Meta(description="The entities, those with the most shared facts first."),
    ]
    links: Annotated[list[EntityLink], Meta(description="Links between the related entities.")]
    total: Annotated[int, Meta(description="Number of all entities that share a fact with it.")]


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge, done or proposed, of two entities, or of two duplicate facts."""

    id: Annotated[str, Meta(description="Id of the merge, or of its proposal.")]
    a: Annotated[str, Meta(description="Name of the first entity, or text of the fact kept.")]
    b: Annotated[str, Meta(description="Name of the second entity, or text of the other fact.")]
    confidence: Annotated[float, Meta(description="Confidence that the two are one, from 0 to 1.")]
    reasons: Annotated[list[str], Meta(description="Why they are thought to be the same.")]
    status: Annotated[MergeStatus, Meta(description="pending, merged, rejected or undone.")]
    a_id: Annotated[str, Meta(description="Id of the first entity or fact.")]
    b_id: Annotated[str, Meta(description="Id of the second entity or fact.")]
    a_handles: Annotated[list[Handle], Meta(description="Accounts of the first entity.")]
    b_handles: Annotated[list[Handle], Meta(description="Accounts of the second entity.")]
    at: Annotated[
        str, Meta(description="When it was proposed, or executed if it was not proposed.")
    ]
    merge_id: Annotated[
        str | None, Meta(description="Id of the executed merge; null if it was not executed.")
    ]
    a_type: Annotated[
        str | None, Meta(description="Type of the first entity, such as person; null for facts.")
    ] = None
    b_type: Annotated[str | None, Meta(description="Type of the second entity.")] = None
    of: Annotated[
        Literal["entities", "facts"], Meta(description="Whether entities or facts are merged.")
    ] = "entities"


class MergePage(Page[Merge], frozen=True, kw_only=True):
    """A page of merges, pending ones first."""

    merges: Annotated[list[Merge], Meta(description="The merges, pending ones first.")]


class WriterPromptProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the writer's role or of a note that the model proposed."""

    id: Annotated[str, Meta(description="Id of the proposal.")]
    name: Annotated[str, Meta(description="role, or the name of a note.")]
    text: Annotated[str, Meta(description="The proposed text.")]
    current: Annotated[str, Meta(description="The text in force.")]
    diff: Annotated[
        list[str], Meta(description="Lines of the unified difference to the text in force.")
    ]
    reason: Annotated[str, Meta(description="Why the model proposed it.")]
    status: Annotated[
        WriterProposalStatus,
        Meta(
            description="pending, accepted, rejected, or replaced by a newer version or proposal."
        ),
    ]
    model: Annotated[str, Meta(description="The model that proposed it.")]
    role: Annotated[str, Meta(description="Version of the prompt under which it did.")]
    number: Annotated[int, Meta(description="Number of the ledger record of its answer.")]
    at: Annotated[str, Meta(description="When it was proposed.")]


class MentalModelBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a mental model that was made from facts."""

    id: Annotated[str, Meta(description="Id of the block; the same in every version.")]
    section: Annotated[str, Meta(description="Id of its section.")]
    text: Annotated[str, Meta(description="The line.")]
    facts: Annotated[list[str], Meta(description="Ids of the facts that it cites.")]


class MentalModel(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a mental model."""

    id: Annotated[str, Meta(description="Id of this version.")]
    name: Annotated[str, Meta(description="Name of the report.")]
    description: Annotated[str, Meta(description="Text of the report.")]
    subtype: Annotated[
        str | None, Meta(description="Its kind, such as structural, emergent or pinned.")
    ]
    entity_id: Annotated[str | None, Meta(description="Entity that it is about.")]
    tags: Annotated[list[str], Meta(description="Labels.")]
    previous: Annotated[str | None, Meta(description="Id of the previous version.")]
    current: Annotated[bool, Meta(description="No later version exists.")]
    updated_at: Annotated[str, Meta(description="When this version was written.")]
    is_stale: Annotated[
        bool,
        Meta(description="Whether facts about its entity have changed since it was refreshed."),
    ] = False
    last_refreshed: Annotated[
        str | None, Meta(description="When it was last found up to date.")
    ] = None
    refresh: Annotated[
        MentalModelTrigger | None,
        Meta(description="When it is refreshed by itself; null: it was written by hand."),
    ] = None
    access_count: Annotated[int, Meta(description="How often it was recalled.")] = 0
    blocks: Annotated[
        list[MentalModelBlock],
        Meta(description="Its lines with the facts that they cite; empty in lists."),
    ] = []


class MentalModelVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version in the history of a mental model."""

    id: Annotated[str, Meta(description="Id of this version.")]
    updated_at: Annotated[str, Meta(description="When it was written.")]
    diff: Annotated[
        list[str], Meta(description="Lines of the unified difference to the version before.")
    ]


class MentalModelHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of a mental model."""

    versions: Annotated[list[MentalModelVersion], Meta(description="The versions, oldest first.")]


class MentalModelRefreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh of a mental model changed, or would change."""

    id: Annotated[str, Meta(description="Id of the current version.")]
    changed: Annotated[bool, Meta(description="Whether the text changes.")]
    diff: Annotated[list[str], Meta(description="Lines of the unified difference.")]
    dry_run: Annotated[bool, Meta(description="Whether nothing was written.")]


class Directive(msgspec.Struct, frozen=True, kw_only=True):
    """A standing instruction of the user to the agent."""

    id: Annotated[str, Meta(description="Id of the directive.")]
    text: Annotated[str, Meta(description="The instruction in the user's words.")]
    form: Annotated[
        str, Meta(description="What it is about; a later directive of the same form replaces it.")
    ]
    obeyed: Annotated[
        bool, Meta(description="Whether it is in force: neither withdrawn nor replaced.")
    ]
    said_at: Annotated[str, Meta(description="When it was said.")]
    source_event_ids: Annotated[
        list[str], Meta(description="The source's own id of the event that states it.")
    ]


class DirectivePage(Page[Directive], frozen=True, kw_only=True):
    """A page of directives, in the order in which they were said."""

    directives: Annotated[
        list[Directive], Meta(description="The directives, in the order in which they were said.")
    ]


class MentalModelPage(Page[MentalModel], frozen=True, kw_only=True):
    """A page of mental models, in the order in which they were written."""

    mental_models: Annotated[
        list[MentalModel],
        Meta(description="The mental models, in the order in which they were written."),
    ]


class ObservationItem(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an observation's text, and the fact that it cites."""

    text: Annotated[str, Meta(description="The part of the text.")]
    fact_id: Annotated[str, Meta(description="Fact that it cites.")]
    start: Annotated[int, Meta(description="First character in the text, from 0.")]
    end: Annotated[int, Meta(description="Character after the last one.")]


class ConsolidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of consolidating a zone."""

    written: Annotated[int, Meta(description="Versions of observations that were written.")]
    ended: Annotated[int, Meta(description="Observations that ended.")]
    consolidates: Annotated[bool, Meta(description="The home's agents consolidate facts.")]


class Dream(msgspec.Struct, frozen=True, kw_only=True):
    """A link between two distant topics that a language model conjectures. It is not a memory."""

    id: Annotated[str, Meta(description="Id of the dream.")]
    bridge: Annotated[str, Meta(description="What the two topics have in common.")]
    insight: Annotated[str, Meta(description="What may follow from it.")]
    surprise: Annotated[float, Meta(description="How surprising it is, from 0 to 1.")]
    fact_ids: Annotated[list[str], Meta(description="Ids of the facts that it rests on.")]
    model: Annotated[str, Meta(description="The language model.")]
    found_at: Annotated[str, Meta(description="When it was found.")]
    is_conjecture: Annotated[bool, Meta(description="Always true: no fact follows from it.")] = True


class DreamPage(Page[Dream], frozen=True, kw_only=True):
    """A page of dreams, newest first."""

    dreams: Annotated[list[Dream], Meta(description="The dreams, newest first.")]


class DreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a search for dreams, or its estimated cost."""

    found: Annotated[int, Meta(description="Dreams that were kept.")] = 0
    pairs: Annotated[int, Meta(description="Pairs of topics that a model looks at.")] = 0
    candidates: Annotated[int, Meta(description="Dreams that passed the check of their form.")] = 0
    reason: Annotated[
        str | None, Meta(description="Why nothing was asked; null if something was.")
    ] = None
    max_calls: Annotated[int, Meta(description="With dry_run: the maximum number of requests.")] = 0
    max_cost: Annotated[float, Meta(description="With dry_run: the maximum cost.")] = 0.0


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A version of an observation: what several facts say about one topic of one entity."""

    id: Annotated[str, Meta(description="Id of this version.")]
    text: Annotated[str, Meta(description="The observation.")]
    kind: Annotated[
        Literal[ObservationKind, "other"],
        Meta(
            description="cluster: facts about a topic; changes: what changed; list: values of an "
            "attribute; history: values that replaced each other; regular: routines; ahead: "
            "upcoming events; cycle: a topic of one day of the week; correlation: two topics often "
            "on the same day; series: a quantity whose values rise or fall; shared: joint "
            "activities of two people; other: written by an agent of another package."
        ),
    ]
    topic: Annotated[str | None, Meta(description="Its topic in words.")]
    entity_id: Annotated[str | None, Meta(description="Entity that it is about.")]
    items: Annotated[list[ObservationItem], Meta(description="Parts of the text, in order.")]
    source_event_ids: Annotated[
        list[str], Meta(description="Source ids of the messages that state its facts.")
    ]
    sources: Annotated[int, Meta(description="Number of messages that state one of its facts.")]
    days: Annotated[int, Meta(description="Number of days on which these were sent.")]
    speakers: Annotated[int, Meta(description="Number of their senders.")]
    first_said: Annotated[str | None, Meta(description="Time of the first of them.")]
    last_said: Annotated[str | None, Meta(description="Time of the last of them.")]
    confidence: Annotated[
        Literal["low", "medium", "high"],
        Meta(description="How well it is supported, by the numbers of sources, days and speakers."),
    ]
    trend: Annotated[
        Literal["new", "stable", "strengthening", "weakening", "stale"],
        Meta(
            description="Whether messages about it become more or fewer, as of the zone's latest "
            "message: all in the last 30 days (new), none in the last 90 days (stale)."
        ),
    ]
    is_stale: Annotated[
        bool, Meta(description="A later version exists, or facts since then are not in it yet.")
    ]
    previous: Annotated[str | None, Meta(description="Id of the previous version.")]
    current: Annotated[bool, Meta(description="No later version exists.")]
    updated_at: Annotated[str, Meta(description="When this version was written.")]
    model: Annotated[
        str | None, Meta(description="Language model that wrote it; null: the rules did.")
    ] = None
    blocked_reason: Annotated[
        str | None,
        Meta(description="Why a language model's text was not accepted in its place."),
    ] = None


class ObservationPage(Page[Observation], frozen=True, kw_only=True):
    """A page of observations, newest first."""

    observations: Annotated[list[Observation], Meta(description="The observations, newest first.")]


class ObservationChange(msgspec.Struct, frozen=True, kw_only=True):
    """A version in the history of an observation."""

    id: Annotated[str, Meta(description="Id of the version.")]
    at: Annotated[str, Meta(description="When it was written.")]
    text: Annotated[
        str | None, Meta(description="Its text; null: the observation ended with this version.")
    ]
    reason: Annotated[str | None, Meta(description="Why it ended: absorbed, or too few facts.")]
    added: Annotated[
        list[str], Meta(description="Parts of the text that the version before lacks.")
    ]
    removed: Annotated[
        list[str], Meta(description="Parts of the text of the version before that this one lacks.")
    ]


class ObservationHistory(msgspec.Struct, frozen=True, kw_only=True):
    """All versions of an observation, the oldest first."""

    versions: Annotated[list[ObservationChange], Meta(description="Versions, the oldest first.")]


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A record that could not be decided."""

    number: Annotated[int, Meta(description="The record's number in the zone.")]
    kind: Annotated[str, Meta(description="Kind of record.")]
    reason: Annotated[str, Meta(description="Why it could not be processed.")]
    state: Annotated[
        Literal["parked", "retried", "dropped"], Meta(description="parked, retried or dropped.")
    ]
    parked_at: Annotated[int, Meta(description="When its processing failed, in unix milliseconds.")]


class DeadLetterOutcome(msgspec.Struct, frozen=True):
    """A dead letter after a retry or a drop."""

    number: Annotated[int, Meta(description="The record's number in the zone.")]
    parked: Annotated[bool, Meta(description="It is still a dead letter.")]


class ZoneSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A zone, the size of its ledger, and whether it makes progress."""

    zone: Annotated[str, Meta(description="Name of the zone.")]
    events: Annotated[int, Meta(description="Number of records in its ledger.")]
    stalled: Annotated[
        bool, Meta(description="Records are waiting, and no process handles them.")
    ] = False
    problem: Annotated[
        str | None,
        Meta(description="Why this process cannot process it; null if nothing prevents it."),
    ] = None


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of a zone: a copy of its memory that changes independently."""

    name: Annotated[str, Meta(description="Name of the branch; its zone is named ZONE@NAME.")]
    forked_at: Annotated[str, Meta(description="Head of the zone's ledger where it was forked.")]
    created_at: Annotated[str, Meta(description="When it was forked (ISO 8601).")]
    events: Annotated[int, Meta(description="Number of records in the branch since then.")]
    zone_events: Annotated[int, Meta(description="Number of records in the zone since then.")]
