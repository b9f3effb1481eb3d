"""Stored memories as answers: their attributes, and what was derived from their events."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.memories.stored.consolidated_reading import (
    ConsolidatedMemory,
    consolidated_memories,
)
from recollect.projections.events import event_list, event_queries
from recollect.projections.events.events_file import conversation_of
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.mention_list import ListedMention, mentions_of_events
from recollect.projections.memory.facts_for_recall import message_dates
from recollect.projections.memory.listing.hierarchy_list import ancestors
from recollect.projections.memory.listing.stored_memory_list import ListedMemory, related_memories
from recollect.projections.memory.listing.tier_list import archivals
from recollect.schemas.changes import MessageDate, StoredMemoryArchival
from recollect.schemas.events import Content
from recollect.schemas.memory_terms import (
    DEFAULT_IMPORTANCE,
    MIN_IMPORTANCE,
    MemoryTier,
    decayed_importance,
)
from recollect.schemas.times import format_time
from recollect.schemas.wire import MemoryDate, MemoryMention, MemoryRelationship, StoredMemory
from recollect.text.stability import TTL_DAYS

_DAY_MS = 86_400_000
#: Pronouns that stand for the name with a possessive 's.
_POSSESSIVE = frozenset({"his", "their", "its", "hers", "theirs"})
_strings = msgspec.json.Decoder(list[str])


class _Derived(NamedTuple):
    """What was derived from the events of some memories, by id."""

    mentions: Mapping[str, list[ListedMention]]
    dates: Mapping[str, list[MessageDate]]
    relations: Mapping[str, list[tuple[str, str]]]
    archivals: Mapping[str, StoredMemoryArchival]
    main: frozenset[str]


def _archive_cause(
    found: ListedMemory, archival: StoredMemoryArchival | None, above: Sequence[str]
) -> Literal["age", "expiry", "request", "consolidation"] | None:
    """Return why a memory is archived; `above`: the memories that consolidate it."""
    if above:
        return "consolidation"
    return archival.cause if archival and found.is_archived else None


class _Hierarchy(NamedTuple):
    """The consolidated memories by id, and the ancestors of each by its first version."""

    consolidated: Mapping[str, ConsolidatedMemory]
    ancestors: Mapping[str, Sequence[str]]


def listed(zone: OpenZone, files: ZoneFiles, found: Sequence[ListedMemory]) -> list[StoredMemory]:
    """Return stored memories with their texts and what was derived from them, in order."""
    ids = [listed_memory.memory.id for listed_memory in found]
    events = event_list.with_ids(files.events.connection, ids)
    mentions: dict[str, list[ListedMention]] = defaultdict(list)
    for mention in mentions_of_events(files.identity.connection, ids):
        mentions[mention.event_id].append(mention)
    relations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for own, relation, other in related_memories(files.memory.connection, ids):
        relations[own].append((relation, other))
    derived = _Derived(
        mentions,
        message_dates(files.memory.connection, ids),
        relations,
        archivals(files.memory.connection, ids),
        frozenset(zone.main_context(files)),
    )
    hierarchy = _Hierarchy(
        consolidated_memories(files, [id_ for id_ in ids if id_ not in events]),
        ancestors(
            files.memory.connection, [listed_memory.version.memory_id for listed_memory in found]
        ),
    )
    texts = {id_: event.content for id_, event in events.items()}
    texts |= {id_: consolidated.text for id_, consolidated in hierarchy.consolidated.items()}
    now = unix_ms()
    return [
        _shown(listed_memory, texts[listed_memory.memory.id], derived, hierarchy, files, now)
        for listed_memory in found
        if listed_memory.memory.id in texts
    ]


def _shown(
    listed_memory: ListedMemory,
    text: str,
    derived: _Derived,
    hierarchy: _Hierarchy,
    files: ZoneFiles,
    now: int,
) -> StoredMemory:
    memory, version = listed_memory.memory, listed_memory.version
    consolidated = hierarchy.consolidated.get(memory.id)
    above = hierarchy.ancestors.get(version.memory_id, ())
    importance = DEFAULT_IMPORTANCE if memory.importance is None else memory.importance
    last_used = listed_memory.last_accessed_at or memory.created_at
    effective = decayed_importance(importance, last_used, now)
    asked = frozenset(_strings.decode(memory.enrichments))
    every = derived.mentions.get(memory.id, ())
    mentions = every if "extract_entities" in asked else ()
    dates = derived.dates.get(memory.id, ()) if "extract_temporal" in asked else ()
    relations = derived.relations.get(memory.id, ()) if "detect_evolution" in asked else ()
    ends = [end for end in (memory.invalid_at, version.superseded_at) if end is not None]
    ttl = TTL_DAYS[memory.temporal_stability] if memory.temporal_stability else None
    has_vector = "generate_embedding" in asked and files.embeddings.model is not None
    archival = derived.archivals.get(memory.id)
    resolved = _resolved(memory.id, text, asked, derived, files)
    # "She works with Bob." states a relationship of Alice only once the pronoun is resolved.
    stated = _relationships(resolved or text, every) if _asks_for_relationships(asked) else []
    return StoredMemory(
        memory_id=memory.id,
        first_id=version.memory_id,
        version=version.version,
        content=text,
        content_hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        resolved_content=resolved,
        memory_type=memory.memory_type,
        scope=memory.scope,
        visibility=memory.visibility,
        state=version.state,
        tier=_tier(listed_memory, derived.main),
        is_archived=listed_memory.is_archived,
        archived_at=_time(archival.at) if archival and listed_memory.is_archived else None,
        archive_cause=_archive_cause(listed_memory, archival, above),
        user_id=memory.user_id,
        agent_id=memory.agent_id,
        namespace=memory.namespace,
        path_key=memory.path_key,
        importance=importance,
        # Rounded, so that a text just stored has the importance that was given.
        effective_importance=MIN_IMPORTANCE if above else round(effective, 4),
        access_count=listed_memory.access_count,
        last_accessed_at=_time(listed_memory.last_accessed_at),
        created_at=format_time(memory.created_at),
        updated_at=format_time(version.superseded_at or memory.created_at),
        valid_at=format_time(memory.valid_at),
        invalid_at=_time(min(ends, default=None)),
        supersedes_id=version.supersedes_id,
        superseded_by_id=version.superseded_by_id,
        abstraction_level=memory.abstraction_level,
        derived_from_ids=_distinct(_strings.decode(memory.derived_from), relations, "DERIVES"),
        updates_ids=_distinct([], relations, "UPDATES"),
        parent_memory_id=next(iter(above), None),
        child_memory_ids=[] if consolidated is None else [*consolidated.children],
        consolidated_from=[] if consolidated is None else [*consolidated.texts],
        consolidation_version=len(above),
        extends_ids=_distinct([], relations, "EXTENDS"),
        extended_by_ids=_distinct([], relations, "EXTENDED BY"),
        entities=[_mention(mention) for mention in mentions],
        entity_types=sorted({mention.type for mention in mentions}),
        person_refs=list(
            dict.fromkeys(mention.text for mention in mentions if mention.type == "PERSON")
        ),
        temporal_refs=[_date(text, date, every) for date in dates],
        relationships=stated,
        relationship_count=len(stated),
        earliest_date=memory.earliest_date,
        latest_date=memory.latest_date,
        temporal_stability=memory.temporal_stability,
        stability_confidence=memory.stability_confidence,
        estimated_ttl_days=ttl,
        is_stale=ttl is not None and now > memory.created_at + ttl * _DAY_MS,
        embedding_model=files.embeddings.model if has_vector else None,
        embedding_dim=files.embeddings.dimension if has_vector else None,
    )


def _tier(found: ListedMemory, main: frozenset[str]) -> MemoryTier | None:
    if found.version.state != "active" or found.version.superseded_by_id is not None:
        return None
    if found.is_archived:
        return "archival"
    return "main" if found.memory.id in main else "recall"


def _time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else format_time(milliseconds)


def _distinct(ids: list[str], relations: Sequence[tuple[str, str]], kind: str) -> list[str]:
    return list(
        dict.fromkeys([*ids, *(other for relation, other in relations if relation == kind)])
    )


def _mention(found: ListedMention) -> MemoryMention:
    return MemoryMention(
        text=found.text,
        type=found.type,
        start=found.start,
        end=found.end,
        confidence=found.confidence,
        entity_id=found.entity_id or None,
        entity=found.entity,
    )


def _asks_for_relationships(asked: frozenset[str]) -> bool:
    return not asked.isdisjoint({"extract_relationships", "store_to_graph"})


def _relationships(text: str, mentions: Sequence[ListedMention]) -> list[MemoryRelationship]:
    """Return the relationships that a text states between the names in it."""
    # Imported here: it loads rules, which few reads need.
    from recollect.streams.relationships.stated_relationships import NamedEntity, relationships_in

    named = {
        mention.entity_id or mention.text.casefold(): mention for mention in reversed(mentions)
    }
    names = [
        NamedEntity(id_, mention.text, mention.type, mention.confidence)
        for id_, mention in named.items()
    ]
    nobody = NamedEntity("", "", "", 0.0)
    return [
        MemoryRelationship(
            subject=named[relationship.source].entity or named[relationship.source].text,
            predicate=relationship.type,
            object=named[relationship.target].entity or named[relationship.target].text,
            confidence=relationship.confidence,
            subject_id=named[relationship.source].entity_id or None,
            object_id=named[relationship.target].entity_id or None,
        )
        for relationship in relationships_in(text, names, nobody)
    ]


def _date(text: str, date: MessageDate, mentions: Sequence[ListedMention]) -> MemoryDate:
    times = (
        mention.time
        for mention in mentions
        if mention.time is not None and date.char_start <= mention.start < date.char_end
    )
    return MemoryDate(
        text=text[date.char_start : date.char_end],
        start=date.char_start,
        end=date.char_end,
        first=date.first_day,
        last=date.last_day,
        time=next(times, None),
    )


class _Replacement(NamedTuple):
    """Words to put in place of a part of a text."""

    start: int
    end: int
    words: str


def _resolved(
    id_: str,
    text: str,
    asked: frozenset[str],
    derived: _Derived,
    files: ZoneFiles,
) -> str | None:
    """Return the text with names for pronouns and days for relative dates, as asked for."""
    if asked.isdisjoint({"resolve_coreferences", "resolve_temporal"}):
        return None
    replacements: list[_Replacement] = []
    if "resolve_temporal" in asked:
        replacements += _days(derived.dates.get(id_, ()), derived.mentions.get(id_, ()))
    if "resolve_coreferences" in asked:
        replacements += _names(id_, text, files)
    end = len(text)
    for replacement in sorted(replacements, reverse=True):
        if replacement.end <= end:
            text = f"{text[: replacement.start]}{replacement.words}{text[replacement.end :]}"
            end = replacement.start
    return text


def _days(dates: Sequence[MessageDate], mentions: Sequence[ListedMention]) -> list[_Replacement]:
    """Return a day or a period for each date without a year, and times of day as HH:MM."""
    replacements = []
    for date in dates:
        if date.is_relative:
            words = date.first_day
            if date.last_day != date.first_day:
                words += f" to {date.last_day}"
            within = (mention.time for mention in mentions if mention.start == date.char_start)
            if (time := next(filter(None, within), None)) is not None:
                words += f" {time}"
            replacements.append(_Replacement(date.char_start, date.char_end, words))
    days = [(replacement.start, replacement.end) for replacement in replacements]
    replacements += [
        _Replacement(mention.start, mention.end, mention.time)
        for mention in mentions
        if mention.type == "TIME"
        and mention.time is not None
        and not any(start < mention.end and mention.start < end for start, end in days)
    ]
    return replacements


def _names(id_: str, text: str, files: ZoneFiles) -> list[_Replacement]:
    """Return the name of the person that each pronoun of the third person stands for."""
    # Imported here: it loads the rules of language, which few reads need.
    from recollect.streams.language.references.person_references import (
        IN_MIND,
        Heard,
        person_references,
    )

    event = event_queries.event_by_id(files.events.connection, id_)
    if event is None or not isinstance(content := event.payload, Content):
        return []
    before = event_queries.conversation_before(
        files.events.connection,
        conversation_of(content, event.platform),
        event.number,
        IN_MIND,
    )
    heard = [
        Heard(message.sender_name or message.sender_id, message.content)
        for event in before
        if isinstance(message := event.payload, Content)
    ]
    speaker = content.sender_name or content.sender_id
    replacements = []
    for reference in person_references(text, speaker, heard):
        if reference.pronoun and not reference.spoke:
            word = text[reference.start : reference.end].lower()
            following = text[reference.end + 1 : reference.end + 2]
            owns = word in _POSSESSIVE or (word == "her" and following.isalpha())
            replacements.append(
                _Replacement(
                    reference.start, reference.end, f"{reference.who}'s" if owns else reference.who
                )
            )
    return replacements
