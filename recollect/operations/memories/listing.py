"""Lists: a home's zones, and a zone's facts, entities and merges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager

import apsw
import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.answers import recalling
from recollect.operations.answers.suggestions import unknown_entity
from recollect.operations.ingestion.ingesting import unknown_or_undecided
from recollect.operations.memories.page_cursors import check_limit, page_of, place_of
from recollect.projections.events import event_list
from recollect.projections.events.event_queries import by_ids
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_list, merge_list
from recollect.projections.identity.entities_for_recall import canonical_ids
from recollect.projections.identity.entity_queries import canonical
from recollect.projections.identity.merge_list import ListedMerge
from recollect.projections.memory import fact_statements
from recollect.projections.memory.listing import fact_list
from recollect.projections.reader_views import restrict
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.projections.recall.question.entity_names import ids_of_name
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.memory_terms import READERS_MARK
from recollect.schemas.names import normalise_name
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    DateRange,
    Entity,
    EntityLink,
    EntityPage,
    Fact,
    FactPage,
    Handle,
    Merge,
    Query,
    RelatedEntities,
    RelatedEntity,
    Time,
)
from recollect.text.stability import stability

_DEFAULT_PAGE_SIZE = 50
# A described entity is returned if the answer's relevance or its own score is at least this.
_MIN_RELEVANCE = 0.5
#: The maximum number of related entities, so that a graph of them can be drawn.
MAX_RELATED = 100


def fact_page(
    zone: OpenZone,
    *,
    entity: str | None = None,
    superseded: bool = False,
    known_at: Time | None = None,
    cursor: str | None = None,
    limit: int = _DEFAULT_PAGE_SIZE,
) -> FactPage:
    """Return a page of a zone's facts, newest first.

    Raises:
        InvalidInput: `entity` is unknown, or the time, the cursor or the limit is invalid.
    """
    check_limit(limit)
    after = place_of(cursor)
    opened = files_known_at(zone, known_at)
    if opened is None:
        return FactPage(facts=[])
    with opened as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        listed = fact_list.facts(
            files.memory.connection,
            about=about,
            superseded=superseded,
            present=unix_ms(),
            after=after,
            limit=limit + 1,
        )
        page, more = page_of(listed, limit, lambda fact: (fact.as_of, fact.id))
        facts = list(with_details(files, page))
    if "stability" in zone.open_home.home.disabled_steps:
        facts = [without_stability(fact) for fact in facts]
    return FactPage(facts=facts, cursor=more)


def without_stability(fact: Fact) -> Fact:
    """Return a fact without its stability fields."""
    return msgspec.structs.replace(fact, stability=None, stability_confidence=None, ttl_days=None)


def fact_count(zone: OpenZone, *, entity: str | None = None, superseded: bool = False) -> int:
    """Return the number of facts on all pages of `fact_page`.

    Raises:
        InvalidInput: as `fact_page`.
    """
    if not zone.exists():
        return 0
    with zone.files() as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        return fact_list.fact_count(
            files.memory.connection, about=about, superseded=superseded, present=unix_ms()
        )


def resolve_entities(files: ZoneFiles, name_or_id: str) -> list[str]:
    """Return the ids of all entities with a name or an id.

    Raises:
        InvalidInput: there is none.
    """
    connection = files.identity.connection
    entity_ids = ids_of_name(connection, name_or_id)
    if not entity_ids:
        raise InvalidInput(unknown_entity(connection, name_or_id))
    return sorted(entity_ids)


def _subject(stored: str) -> str:
    """Return the subject of a claim, without the readers of a private memory."""
    return stored.partition(READERS_MARK)[0]


def with_details(files: ZoneFiles, found: list[fact_list.ListedFact]) -> Iterator[Fact]:
    """Yield facts with their sources, the names of their entities, and their relations.

    A fact whose event is being forgotten is left out.
    """
    # Imported here: only relations need the language rules.
    from recollect.operations.memories.relations import Relations

    ids = [fact.id for fact in found]
    stated = fact_statements.statements(files.memory.connection, ids)
    about = fact_list.entities_of(files.memory.connection, ids)
    event_ids = {
        statement.event_id
        for statements_of_fact in stated.values()
        for statement in statements_of_fact
    }
    events = by_ids(files.events.connection, sorted(event_ids))
    source_ids = {event.id: event.source_id for event in events}
    speakers = event_list.with_ids(
        files.events.connection, sorted({fact.source_event_id for fact in found})
    )
    relations = Relations(files.memory.connection, files.identity.connection).outgoing(ids)
    uncertain = uncertainties(files, ids)
    entity_ids = {id_ for entities in about.values() for id_ in entities}
    subjects = {fact.id: _subject(fact.subject) for fact in found if fact.subject}
    names = _Names(files, entity_ids | {*subjects.values()})
    for fact in found:
        statements = fact_statements.in_order(stated.get(fact.id, ()), source_ids)
        if not statements:
            continue
        lifetime = stability(fact.text, fact.attribute)
        yield Fact(
            id=fact.id,
            text=fact.text,
            context=fact.context,
            as_of=format_time(fact.as_of),
            when=DateRange.of(fact.first_day, fact.last_day),
            subject=names.of(subjects[fact.id]) if fact.id in subjects else None,
            attribute=fact.attribute,
            value=fact.value,
            current=fact.superseded_by is None,
            stability=lifetime.kind,
            said=fact_statements.statement_summary(statements),
            entities=sorted({names.of(entity) for entity in about.get(fact.id, ())}),
            source_event_ids=list(
                dict.fromkeys(source_ids[statement.event_id] for statement in statements)
            ),
            stability_confidence=lifetime.confidence,
            ttl_days=lifetime.ttl_days,
            relations=relations.get(fact.id, []),
            retracted=bool(fact.retracted),
            said_by=_speaker(speakers.get(fact.source_event_id)),
            uncertain=uncertain.get(fact.id),
        )


def _speaker(event: event_list.ListedEvent | None) -> str | None:
    return None if event is None else event.sender_name or event.sender_id


class _Names:
    """The names of entities by id, after merges."""

    def __init__(self, files: ZoneFiles, ids: set[str]) -> None:
        connection = files.identity.connection
        self._canonical = canonical_ids(connection, sorted(ids))
        self._names = entity_list.names_of(connection, sorted(set(self._canonical.values())))

    def of(self, id_or_name: str) -> str:
        """Return the name for an id; return any other text unchanged."""
        return self._names.get(self._canonical.get(id_or_name, ""), id_or_name)


def entity_page(
    zone: OpenZone,
    *,
    query: str | None = None,
    cursor: str | None = None,
    limit: int = _DEFAULT_PAGE_SIZE,
) -> EntityPage:
    """Return up to `limit` entities, the most mentioned first.

    `query`: a part of a name or an account. If no entity has it, the entities that it describes are
    returned on one page, the best first. All pages of a list show the zone as of the first page.

    Raises:
        InvalidInput: `limit` is not 1 to 1,000, or the cursor is not from this zone.
    """
    check_limit(limit)
    number, skip = (None, 0) if cursor is None else _read_cursor(cursor)
    if not zone.exists():
        return EntityPage(entities=[])
    with zone.files() as files, files.read_transaction():
        now = files.memory.watermark().number
        if number in (None, now):
            page = _entity_page(files, query, now, skip, limit)
            if page.entities or number is not None or not (query or "").strip():
                return page
    if number is None:
        assert query is not None
        return EntityPage(entities=_described_entities(zone, query, limit))
    if number > now:
        raise InvalidInput(f"cursor {cursor!r} is not from zone {zone.name}")
    with files_at(zone, number) as files:
        return _entity_page(files, query, number, skip, limit)


def _read_cursor(text: str) -> tuple[int, int]:
    """Return the last record when the first page was read, and the number of entries to skip."""
    parts = text.split(":")
    if len(parts) == 2 and all(part.isdecimal() and len(part) < 16 for part in parts):
        number, skip = map(int, parts)
        if number:
            return number, skip
    raise InvalidInput(f"cursor {text[:60]!r} is invalid; give one from a page of entities")


def _entity_page(
    files: ZoneFiles, query: str | None, number: int, skip: int, limit: int
) -> EntityPage:
    connection = files.identity.connection
    among = None
    if query is not None:
        among = entity_list.ids_of_names_with(connection, normalise_name(query))
    found = entity_list.entities(connection, among)
    more = f"{number}:{skip + limit}" if len(found) > skip + limit else None
    return EntityPage(entities=list(_to_entities(files, found[skip : skip + limit])), cursor=more)


def _described_entities(zone: OpenZone, description: str, limit: int) -> list[Entity]:
    """Return the entities whose facts match a description by words or meaning, the best first."""
    answer = recalling.recall(zone, Query(description, max_results=limit, scope=("entities",)))
    ids = [
        result.id
        for result in answer.results
        if max(answer.relevant, result.score) >= _MIN_RELEVANCE
    ]
    with zone.files() as files, files.read_transaction():
        entities = entity_list.entities(files.identity.connection, ids)
        return list(_to_entities(files, sorted(entities, key=lambda entity: ids.index(entity.id))))


@contextmanager
def files_at(zone: OpenZone, number: int) -> Iterator[ZoneFiles]:
    """Open a snapshot of the files right after a record, without what was forgotten since."""
    timeline = zone.open_home.recallers.timeline(zone.name)
    with timeline.lock:
        snapshot = zone.node.snapshot(zone.name, timeline.timeline, number)
        files = zone.node.open_snapshot(zone.name, timeline.timeline, snapshot)
    with closing(files):
        reader = zone.restricted_reader
        yield files if reader is None else restrict(files, reader)


def files_known_at(
    zone: OpenZone, known_at: Time | None
) -> AbstractContextManager[ZoneFiles] | None:
    """Return the files of a zone as of `known_at`, or the current ones if `known_at` is None.

    Returns None if the zone had no records yet.

    Raises:
        InvalidInput: `known_at` is neither a time nor a token of this zone.
    """
    known = recalling.parse_known_at(known_at)
    recalling.check_partition(zone, known)
    if not zone.exists():
        return None
    number = None if known is None else recalling.last_record_at(zone, known)
    if number == 0:
        return None
    return zone.files() if number is None else files_at(zone, number)


def get_entity(zone: OpenZone, name_or_id: str) -> Entity:
    """Return the entity with a name or an id.

    Raises:
        UnknownId: there is none.
        InvalidInput: several entities have the name.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        try:
            ids = resolve_entities(files, name_or_id)
        except InvalidInput as error:
            raise UnknownId(str(error)) from None
        rows = entity_list.entities(files.identity.connection, ids)
        entities = list(_to_entities(files, rows))
    entities = _most_specific(entities, name_or_id)
    if len(entities) > 1:
        which = "; ".join(f"{entity.id} ({entity.name}, {entity.type})" for entity in entities)
        raise InvalidInput(
            f"{name_or_id!r} is the name of {len(entities)} entities; give the id of one: {which}"
        )
    return entities[0]


def unmerged_entity(zone: OpenZone, id_: str) -> str:
    """Return the id of the entity into which the one with an id was merged, or the same id.

    Raises:
        UnknownId: no entity has the id.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        found = canonical(files.identity.connection, id_)
    if found is None:
        unknown = UnknownId(
            f"zone {zone.name} has no entity with the id {id_[:200]!r}; `entities` lists them"
        )
        raise unknown_or_undecided(zone, unknown)
    return found.id


def related(zone: OpenZone, name_or_id: str, max_results: int) -> RelatedEntities:
    """Return the entities that share the most facts with one, and the links between them.

    Raises:
        UnknownId, InvalidInput: as `get_entity`, or `max_results` is out of range.
    """
    check_limit(max_results, "max_results", most=MAX_RELATED)
    entity = get_entity(zone, name_or_id)
    with zone.files() as files, files.read_transaction():
        connection = files.identity.connection
        pairs = _shared_facts(files, [entity.id])
        shared = {b if a == entity.id else a: facts for (a, b), facts in pairs.items()}
        names = {entity.id: entity for entity in entity_list.entities(connection, list(shared))}
        best = sorted(names.values(), key=lambda each: (-shared[each.id], each.name, each.id))
        listed = [entity.id for entity in best[:max_results]]
        links = _shared_facts(files, listed, listed)
    return RelatedEntities(
        related=[
            RelatedEntity(id=entity.id, name=entity.name, type=entity.type, facts=shared[entity.id])
            for entity in best[:max_results]
        ],
        links=[EntityLink(a=a, b=b, facts=facts) for (a, b), facts in sorted(links.items())],
        total=len(best),
    )


def _shared_facts(
    files: ZoneFiles, ids: Sequence[str], others: Sequence[str] | None = None
) -> dict[tuple[str, str], int]:
    """Return the number of facts that two entities share, by their ids after merges, a < b."""
    connection = files.identity.connection
    under = [id_ for _, id_, _ in entity_list.merged_entities(connection, ids)]
    among = None
    if others is not None:
        merged = entity_list.merged_entities(connection, others)
        among = [*others, *(id_ for _, id_, _ in merged)]
    pairs = fact_list.shared_facts(files.memory.connection, [*ids, *under], among)
    canonical = canonical_ids(
        connection, sorted({id_ for pair in pairs for id_ in (pair.a, pair.b)})
    )
    shared: dict[tuple[str, str], int] = {}
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        a, b = canonical.get(pair.a), canonical.get(pair.b)
        if a is None or b is None or a == b or (pair.b, pair.a) in seen:
            continue
        seen.add((pair.a, pair.b))
        key = (min(a, b), max(a, b))
        shared[key] = shared.get(key, 0) + pair.facts
    return shared


def _most_specific(found: list[Entity], name: str) -> list[Entity]:
    """Prefer entities whose name has the same case, and among these, persons."""
    for matches in (
        lambda entity: name in (entity.id, entity.name),
        lambda entity: entity.type == "person",
    ):
        narrowed = [entity for entity in found if matches(entity)]
        if narrowed:
            found = narrowed
    return found


def _to_entities(files: ZoneFiles, listed: list[entity_list.ListedEntity]) -> Iterator[Entity]:
    """Yield entities with their aliases, handles and numbers of facts."""
    connection = files.identity.connection
    merged = entity_list.merged_entities(connection, [item.id for item in listed])
    canonical = {item.id: item.id for item in listed} | {id_: into for into, id_, _ in merged}
    aliases: dict[str, list[str]] = {}
    for into, _, name in merged:
        aliases.setdefault(into, []).append(name)
    handles = _handles(connection, [item.id for item in listed])
    counts = fact_list.fact_counts(
        files.memory.connection, [(into, id_) for id_, into in canonical.items()]
    )
    for item in listed:
        names = dict.fromkeys(aliases.get(item.id, ()))
        yield Entity(
            id=item.id,
            name=item.name,
            type=item.type,
            aliases=[name for name in names if name != item.name],
            handles=handles.get(item.id, []),
            facts=counts.get(item.id, 0),
            mentions=item.mentions,
        )


def merges(files: ZoneFiles) -> list[ListedMerge]:
    """Return the merges in a zone's files: pending ones, then decided ones, then those of facts."""
    return merge_list.merges(files.identity.connection) + _fact_merges(files)


def merge_by_id(files: ZoneFiles, id_: str) -> ListedMerge | None:
    """Return a merge by its own id or that of its proposal, or None."""
    found = merge_list.merge_by_id(files.identity.connection, id_)
    return found or next(iter(_fact_merges(files, id_)), None)


def _fact_merges(files: ZoneFiles, fact_id: str | None = None) -> list[ListedMerge]:
    return [
        ListedMerge(
            id=row.fact_id,
            a_id=row.keeper_id,
            a=kept_text,
            b_id=row.fact_id,
            b=text,
            confidence=1.0,
            reason=row.reason,
            status="merged" if row.is_standing else "undone",
            at=row.merged_at,
            merge_id=row.fact_id,
            of="facts",
        )
        for row, kept_text, text in fact_list.fact_merges(files.memory.connection, fact_id)
    ]


def to_merges(files: ZoneFiles, listed: Sequence[ListedMerge]) -> list[Merge]:
    """Return listed merges with the handles of their entities."""
    ids = {id_ for merge in listed for id_ in (merge.a_id, merge.b_id) if merge.of == "entities"}
    handles = _handles(files.identity.connection, sorted(ids))
    return [
        Merge(
            id=merge.id,
            a=merge.a,
            b=merge.b,
            confidence=merge.confidence,
            reasons=[merge.reason],
            status=merge.status,
            a_id=merge.a_id,
            b_id=merge.b_id,
            a_handles=handles.get(merge.a_id, []),
            b_handles=handles.get(merge.b_id, []),
            a_type=merge.a_type,
            b_type=merge.b_type,
            at=format_time(merge.at),
            merge_id=merge.merge_id,
            of=merge.of,
        )
        for merge in listed
    ]


def _handles(connection: apsw.Connection, entity_ids: list[str]) -> dict[str, list[Handle]]:
    """Return the handles of entities and of those merged into them, by entity id."""
    members: dict[str, list[str]] = {id_: [id_] for id_ in entity_ids}
    for into, id_, _ in entity_list.merged_entities(connection, entity_ids):
        members[into].append(id_)
    by_owner: dict[str, list[Handle]] = {}
    all_ids = sorted({id_ for ids in members.values() for id_ in ids})
    for id_, platform, handle in entity_list.handles_of(connection, all_ids):
        by_owner.setdefault(id_, []).append(Handle(platform=platform, handle=handle))
    return {
        into: [handle for id_ in ids for handle in by_owner.get(id_, ())]
        for into, ids in members.items()
    }
