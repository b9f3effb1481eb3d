"""The agent that keeps stored memories: versions, states, tiers, levels, and what they mention.

A memory is a `remember` event and the events that replaced it. The facts of earlier versions, and
all facts of an inactive or deleted memory, are retracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    Fact,
    FactClaim,
    MemoryRetraction,
    Mention,
    MessageDate,
    StoredMemory,
    StoredMemoryArchival,
    StoredMemoryReference,
    StoredMemoryVersion,
)
from recollect.schemas.events import (
    ArchiveMemories,
    ConsolidateMemories,
    Event,
    Remember,
    SetMemoryState,
)
from recollect.schemas.memory_terms import DEFAULT_ENRICHMENTS, DIRECTIVE
from recollect.schemas.names import normalise_name
from recollect.streams.agents.agent import Conversation, DerivingAgent, Extract
from recollect.streams.agents.memories.consolidated_memories import consolidated
from recollect.streams.agents.memories.memory_versions import (
    place_of_text,
    previous_version,
    reader_of_event,
    texts_of,
)
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.retracted_statements import retracted_fact
from recollect.streams.language.references.person_antecedents import has_pronoun
from recollect.text.stability import stability

_json = msgspec.json.Encoder()


class StatedFact(NamedTuple):
    """A fact that a version of a memory states; `as_of` is unix ms."""

    id: str
    as_of: int


class MemoryKeeper(DerivingAgent):
    """Keeps the versions of memories and their states."""

    kinds = frozenset({"remember", "set_memory_state", "archive_memories", "consolidate_memories"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        command = event.payload
        if isinstance(command, ConsolidateMemories) and command.answers:
            if any(not 0 < number < event.number for number in command.sources):
                return Extract()
            return Extract(conversation.command_calls(command))
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        command = event.payload
        if isinstance(command, ArchiveMemories):
            return _archivals(event, command, state)
        if isinstance(command, ConsolidateMemories):
            return consolidated(event, command, extract.content, state)
        if not isinstance(command, SetMemoryState):
            return []
        parts = []
        for memory_id in _memories(command.memory_ids, state):
            for version in state.memory_versions(memory_id):
                if version.state not in (command.state, "deleted"):
                    changed = replace(version, state=command.state, state_set_by=event.id)
                    part = _part_of(changed, event, state)
                    part.puts += _retractions(changed, state)
                    parts.append(part)
        return parts

    def derive(
        self, event: Event, decided: Sequence[DecidedPart], state: State
    ) -> list[DecidedPart]:
        """Return the rows of a new version, given what the writer found in it."""
        content = event.payload
        if not isinstance(content, Remember) or content.memory_type == DIRECTIVE:
            return []
        previous = previous_version(content, state)
        version = _version(event, content, previous)
        own = _part_of(version, event, state)
        parts = [own]
        new_facts = [
            row
            for part in decided
            for row in part.puts
            if isinstance(row, Fact) and row.source_event_id == event.id
        ]
        if previous is not None:
            ended = replace(previous, superseded_by_id=event.id, superseded_at=event.ingested_at)
            newer = next((fact.id for fact in new_facts), None)
            before = _part_of(ended, event, state)
            before.puts += _retractions(ended, state, newer=newer)
            parts.append(before)
        if version.state != "active":
            stated = [StatedFact(fact.id, fact.as_of) for fact in new_facts]
            own.puts += _retractions(version, state, stated)
        return [*parts, _described(event, content, decided, new_facts)]


def _part_of(version: StoredMemoryVersion, event: Event, state: State) -> DecidedPart:
    """Return a part with the row of a version, for all rows about it that an event decides.

    It is sealed with the keys of every text that the row names, so it does not outlive any of them.
    """
    ids = {version.id, version.memory_id, version.supersedes_id, version.superseded_by_id}
    others = filter(None, ids - {event.id})
    numbers = {number for id_ in others for number in texts_of(id_, state)}
    return DecidedPart(tuple(sorted({event.number, *numbers})), [version])


def _archivals(event: Event, command: ArchiveMemories, state: State) -> list[DecidedPart]:
    """Return a row for the current version of each memory that is archived or restored."""
    parts = []
    for memory_id in _memories(command.memory_ids, state):
        current = state.newest_memory_version(memory_id)
        if current is None:
            continue
        row = StoredMemoryArchival(
            memory_id=current.id,
            number=event.number,
            is_archived=int(not command.restore),
            cause=command.cause,
            at=event.occurred_at,
        )
        sources = {event.number, *texts_of(current.id, state)}
        parts.append(DecidedPart(tuple(sorted(sources)), [row]))
    return parts


def _memories(ids: Iterable[str], state: State) -> list[str]:
    """Return the ids of the memories with these versions, each once."""
    versions = map(state.memory_version, ids)
    return list(dict.fromkeys(each.memory_id for each in versions if each is not None))


def _version(
    event: Event, content: Remember, previous: StoredMemoryVersion | None
) -> StoredMemoryVersion:
    return StoredMemoryVersion(
        id=event.id,
        memory_id=event.id if previous is None else previous.memory_id,
        version=1 if previous is None else previous.version + 1,
        length=len(content.content),
        place=place_of_text(content),
        supersedes_id=None if previous is None else previous.id,
        superseded_by_id=None,
        superseded_at=None,
        state="active" if previous is None else previous.state,
        state_set_by="" if previous is None else previous.state_set_by,
    )


def _retractions(
    version: StoredMemoryVersion,
    state: State,
    stated: Iterable[StatedFact] = (),
    *,
    newer: str | None = None,
) -> list[AnyRow]:
    """Return the rows that retract the facts of a version, or restore them.

    `stated`: facts that are not in the state yet. `newer`: the fact that replaces it.
    """
    is_active = version.state == "active"
    row = MemoryRetraction(
        target_id=version.id,
        event_id=version.id,
        char_start=0,
        char_end=version.length,
        retracted_by=(is_active and version.superseded_by_id) or version.state_set_by or version.id,
        replaced_at=version.superseded_at if is_active else None,
        is_standing=int(not is_active or version.superseded_by_id is not None),
    )
    facts = {id_: as_of for id_, _, as_of in state.dated_facts_of(version.id)}
    facts |= {fact.id: fact.as_of for fact in stated}
    return [row, *(retracted_fact(id_, as_of, row, newer) for id_, as_of in facts.items())]


def _described(
    event: Event, content: Remember, decided: Sequence[DecidedPart], facts: Sequence[Fact]
) -> DecidedPart:
    """Return the rows of a memory's attributes and of what it mentions."""
    sources = {event.number}
    mentions: list[Mention] = []
    dates: list[MessageDate] = []
    attributes: dict[str, str] = {}
    for part in decided:
        for row in part.puts:
            if isinstance(row, Mention) and row.event_id == event.id and row.char_offset_end > 0:
                mentions.append(row)
            elif isinstance(row, MessageDate) and row.event_id == event.id:
                dates.append(row)
                sources.update(part.sources)
            elif isinstance(row, FactClaim):
                attributes[row.fact_id] = row.attribute
    enrichments = DEFAULT_ENRICHMENTS if content.enrichments is None else content.enrichments
    if "extract_temporal" not in enrichments:
        dates = []
    lifetimes = [stability(fact.text, attributes.get(fact.id)) for fact in facts]
    lifetime = min(
        lifetimes or [stability(content.content, None)],
        key=lambda stability_: (
            stability_.ttl_days is None,
            stability_.ttl_days or 0,
            -stability_.confidence,
        ),
    )
    has_stability = "classify_stability" in enrichments
    reader = reader_of_event(event)
    memory = StoredMemory(
        id=event.id,
        memory_type=content.memory_type,
        scope=content.scope,
        visibility=content.visibility,
        user_id=content.user_id,
        agent_id=content.agent_id,
        reader_user=reader.user_id,
        reader_agent=reader.agent_id,
        namespace=content.namespace,
        path_key=content.path_key,
        importance=content.importance,
        valid_at=event.occurred_at if content.valid_at is None else content.valid_at,
        invalid_at=content.invalid_at,
        created_at=event.ingested_at,
        abstraction_level=content.abstraction_level,
        derived_from=_json.encode(content.derived_from).decode(),
        enrichments=_json.encode(enrichments).decode(),
        earliest_date=min((date.first_day for date in dates), default=None),
        latest_date=max((date.last_day for date in dates), default=None),
        temporal_stability=lifetime.kind if has_stability else None,
        stability_confidence=lifetime.confidence if has_stability else None,
        number=event.number,
    )
    references = _references(event.id, mentions) if "extract_entities" in enrichments else []
    return DecidedPart(tuple(sorted(sources)), [memory, *references])


def _references(memory_id: str, mentions: Sequence[Mention]) -> list[StoredMemoryReference]:
    references = {("type", mention.mention_type): None for mention in mentions}
    references |= {
        ("person", normalise_name(mention.mention_text)): None
        for mention in mentions
        if mention.mention_type == "PERSON" and not has_pronoun(mention.mention_text)
    }
    return [
        StoredMemoryReference(memory_id, position, "person" if kind == "person" else "type", value)
        for position, (kind, value) in enumerate(sorted(references))
    ]
