"""The entries of lists: facts, entities, merges, mental models, parked records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Literal, TypeVar

import msgspec

from recollect.schemas.wire.answering import Change

#: What a merge may be, and what a decision may make of it.
MergeStatus = Literal["pending", "merged", "rejected", "undone"]
MergeDecision = Literal["merged", "rejected", "undone"]

Entry = TypeVar("Entry")

MemoryType = Literal["event", "fact", "observation", "mental_model"]


class Page(msgspec.Struct, Generic[Entry], frozen=True, kw_only=True):
    """A page of a list, as a sequence of its entries; `cursor` gives the next page, if there is
    one.
    """

    cursor: str | None = None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, place: int) -> Entry:
        return self._entries[place]

    @property
    def _entries(self) -> list[Entry]:
        found: list[Entry] = getattr(self, self.__struct_fields__[-1])
        return found


class Days(msgspec.Struct, frozen=True):
    """The days that a fact speaks of, both inclusive (YYYY-MM-DD)."""

    first: str
    last: str


class Relation(msgspec.Struct, frozen=True):
    """What a fact is to another one, so surely (0 to 1).

    `UPDATES`: it took its place; `EXTENDS`: it adds to it; `DERIVES`: it follows from it.
    """

    type: Literal["UPDATES", "EXTENDS", "DERIVES"]
    fact_id: str
    confidence: float

    @property
    def verb(self) -> str:
        """What it does to the other one, in words."""
        return "derives from" if self.type == "DERIVES" else self.type.lower()


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact. `subject`, `attribute` and `value` are None if it makes no claim.

    `entities` are the names of those that it is about, `source_event_ids` the source's own ids.
    `stability` is `static`, `semi_dynamic` or `dynamic`, so sure (0 to 1), and the fact holds for
    `ttl_days` from `as_of`; None: for ever. `relations` are what it is to facts before it.
    """

    id: str
    text: str
    as_of: str
    when: Days | None
    subject: str | None
    attribute: str | None
    value: str | None
    current: bool
    stability: str | None
    entities: list[str]
    source_event_ids: list[str]
    stability_confidence: float | None = None
    ttl_days: int | None = None
    relations: list[Relation] = []


class FactPage(Page[Fact], frozen=True, kw_only=True):
    """A page of facts, newest first."""

    facts: list[Fact]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as it is held, of any kind that recall answers but entities.

    `current`: no later one has taken its place; `is_stale`: what it rests on has changed since;
    `decided`: False of an event that is kept, and from which nothing was decided yet.
    `name` is that of a mental model; `entities` are the names of those that it is about. An event
    and a fact say on which `platform`, under which id and name, and in which thread it was said;
    an event has the `metadata` that came with it, where any did.
    `supersedes` is what it replaced and `superseded_by` what replaced it, latest first.
    """

    id: str
    type: MemoryType
    text: str
    as_of: str
    current: bool = True
    is_stale: bool = False
    decided: bool = True
    name: str | None = None
    platform: str | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    thread_id: str | None = None
    metadata: dict[str, Any] | None = None
    entities: list[str] = []
    source_event_ids: list[str] = []
    supersedes: list[Change] = []
    superseded_by: list[Change] = []


class MemoryPage(Page[Memory], frozen=True, kw_only=True):
    """A page of memories of one kind, newest first."""

    memories: list[Memory]


class MemoryVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory said from a moment on; `current`: it still does."""

    id: str
    text: str
    at: str
    current: bool


class Handle(msgspec.Struct, frozen=True, kw_only=True):
    """An account under which somebody writes, with its platform's name for it."""

    platform: str
    handle: str


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity, under its canonical name. `aliases`: the names of entities merged into it.

    `facts` counts the facts about it, `mentions` the events that come from it or mention it.
    """

    id: str
    name: str
    type: str
    aliases: list[str] = []
    handles: list[Handle] = []
    facts: int = 0
    mentions: int = 0


class EntityPage(Page[Entity], frozen=True, kw_only=True):
    """A page of entities, most mentioned first."""

    entities: list[Entity]


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """Two entities that are, or may be, one. `confidence` is 0 to 1.

    `a` and `b` are their names, `a_id` and `b_id` their ids, `a_handles` and `b_handles` the
    accounts under which they write; `at` says when this was proposed, or done where nobody
    proposed it; `merge_id` is that of the merge that was executed.
    """

    id: str
    a: str
    b: str
    confidence: float
    reasons: list[str]
    status: MergeStatus
    a_id: str
    b_id: str
    a_handles: list[Handle]
    b_handles: list[Handle]
    at: str
    merge_id: str | None


class MergePage(Page[Merge], frozen=True, kw_only=True):
    """A page of merges, pending ones first."""

    merges: list[Merge]


class MentalModel(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a report that somebody keeps. `previous` is the id of the one before it.

    `current`: no later version has taken its place.
    """

    id: str
    name: str
    description: str
    subtype: str | None
    entity_id: str | None
    tags: list[str]
    previous: str | None
    current: bool
    updated_at: str


class MentalModelPage(Page[MentalModel], frozen=True, kw_only=True):
    """A page of mental models, in the order in which they were written."""

    mental_models: list[MentalModel]


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A record that could not be decided, by its number. `parked_at` is in unix ms."""

    number: int
    kind: str
    reason: str
    state: Literal["parked", "retried", "dropped"]
    parked_at: int


class DeadLetterState(msgspec.Struct, frozen=True):
    """Whether a record is still parked after a retry or a drop."""

    number: int
    parked: bool


class ZoneSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A zone of a home, and how many records its ledger holds."""

    zone: str
    events: int
