"""Reading stored memories: one by its id, pages of one kind, and the versions of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.answers.recalling import refresh_files
from recollect.operations.ingestion.ingesting import PRINCIPAL, unknown_or_undecided
from recollect.operations.memories.listing import resolve_entities, with_details
from recollect.operations.memories.page_cursors import START, check_limit
from recollect.projections.events import event_list, event_queries
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entities_for_recall import events_mentioning
from recollect.projections.identity.entity_queries import canonical
from recollect.projections.memory import facts_for_recall as superseding
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory import observation_queries
from recollect.projections.memory import retraction_queries as retractions
from recollect.projections.memory.listing import fact_list
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.times import LATEST_MS, format_time
from recollect.schemas.wire import Fact, Memory, MemoryPage, MemoryRevision, MemoryVersion

#: The kinds of memories that can be listed, as in a query's scope.
ListScope = Literal["facts", "events", "observations", "mental_models"]


def get_memory(zone: OpenZone, id_: str) -> Memory:
    """Return a memory by its id. An event may be given by its source's id too.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is the id of an entity.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        for memory in _with_id(files, id_):
            return memory
        if canonical(files.identity.connection, id_) is not None:
            raise InvalidInput(f"{id_!r} is the id of an entity; use get_entity")
    raise UnknownId(f"zone {zone.name} holds nothing with the id {id_!r}")


def memory_ids(zone: OpenZone, name: str, ids: Iterable[str]) -> dict[str, str]:
    """Return given id -> the memory's own id; `name`: the parameter that has the ids.

    Raises:
        UnknownId: the zone has no memory with one of the ids.
    """
    found: dict[str, str] = {}
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        for id_ in ids:
            for memory in _with_id(files, id_):
                found[id_] = memory.id
                break
            else:
                unknown = f"{name}: zone {zone.name} has no memory with the id {id_[:200]!r}"
                raise unknown_or_undecided(zone, UnknownId(unknown))
    return found


def _with_id(files: ZoneFiles, id_: str) -> Iterator[Memory]:
    """Yield the memory of any kind that has an id, if there is one."""
    for kind in (_facts, _observations, _models):
        yield from kind(files, [id_])
    event_id = event_queries.first_event_with_id(files.events.connection, id_)
    yield from _events(files, [] if event_id is None else [event_id])


def list_memories(
    zone: OpenZone,
    scope: ListScope = "facts",
    *,
    entity: str | None = None,
    platform: str | None = None,
    thread_id: str | None = None,
    source_event_ids: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    superseded: bool = False,
    cursor: str | None = None,
    limit: int = 50,
) -> MemoryPage:
    """Return up to `limit` memories of one kind, the newest first.

    Raises:
        InvalidInput: a value is invalid, `entity` is unknown, or a filter does not apply to this
            kind.
    """
    _check_listing(scope, entity, platform, thread_id, limit)
    _check_event_filters(scope, source_event_ids, metadata)
    place = START if cursor is None else _Cursor.read(cursor, scope).place
    if not zone.exists():
        return MemoryPage(memories=[])
    if scope == "events" and not zone.open_home.has_follower:
        # New turns are listed before they are decided.
        refresh_files(zone)
    with zone.files() as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        if scope == "facts":
            ids, last = _fact_page(files, about, source_event_ids, superseded, place, limit)
            memories = _facts(files, ids)
        elif scope == "events":
            ids, last = _event_page(
                files, about, platform, thread_id, source_event_ids, metadata or {}, place, limit
            )
            memories = _events(files, ids)
        elif scope == "observations":
            ids, last = _observation_page(files, superseded, place, limit)
            memories = _observations(files, ids)
        else:
            ids, last = _model_page(files, about, superseded, place, limit)
            memories = _models(files, ids)
        by_id = {item.id: item for item in memories}
    more = None if last is None else str(_Cursor(scope, last))
    return MemoryPage(memories=[by_id[id_] for id_ in ids if id_ in by_id], cursor=more)


def history(zone: OpenZone, id_: str) -> list[MemoryVersion]:
    """Return a memory with its earlier and later versions, the oldest first.

    Raises:
        UnknownId, InvalidInput: as `get_memory`.
    """
    item = get_memory(zone, id_)
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        if item.type == "event":
            by_id = {event.id: event for event in _events(files, _event_family(files, item.id))}
            return [_version(event) for event in by_id.values()]
        if item.type == "fact":
            facts = _facts(files, sorted(_fact_family(files, item.id)))
        elif item.type == "observation":
            facts = _observations(
                files, observation_queries.observation_family(connection, item.id)
            )
        else:
            numbers = set(memory.records_of_models(connection, ids=[item.id]))
            every = memory.mental_models(connection, all_versions=True)
            facts = _models(
                files, [item.model.id for item in every if item.model.number in numbers]
            )
        ordered = sorted(facts, key=lambda item: (item.as_of, item.id))
    return [_version(item) for item in ordered]


def _version(item: Memory) -> MemoryVersion:
    return MemoryVersion(id=item.id, text=item.text, at=item.as_of, current=item.current)


class _Cursor(NamedTuple):
    """The time (unix ms) and id of a page's last entry; valid even if that entry is forgotten."""

    scope: str
    place: tuple[int, str]

    def __str__(self) -> str:
        return f"{self.scope}:{self.place[0]}:{self.place[1]}"

    @classmethod
    def read(cls, text: str, scope: str) -> _Cursor:
        """Parse a cursor; raise InvalidInput if it is invalid, or of another scope."""
        cursor_scope, _, place = text.partition(":")
        at, _, id_ = place.partition(":")
        if not (at.isascii() and at.isdecimal() and len(at) <= len(str(LATEST_MS)) and id_):
            raise InvalidInput(f"cursor {text[:60]!r} is invalid; give one from list_memories")
        if cursor_scope != scope:
            raise InvalidInput(
                f"cursor {text[:60]!r} belongs to a list with a scope other than {scope}"
            )
        return cls(scope, (int(at), id_))


def _check_listing(
    scope: str, entity: str | None, platform: str | None, thread_id: str | None, limit: int
) -> None:
    check_limit(limit)
    for name, text in (("platform", platform), ("thread_id", thread_id)):
        if text is not None and scope != "events":
            raise InvalidInput(f"{name} filters events only, but scope is {scope}")
    if entity is not None and scope == "observations":
        raise InvalidInput("entity cannot filter observations; use `recall`")


def _check_event_filters(
    scope: str, source_event_ids: Sequence[str] | None, metadata: Mapping[str, str] | None
) -> None:
    if source_event_ids is not None and scope not in ("events", "facts"):
        raise InvalidInput(f"source_event_ids filters events and facts only, but scope is {scope}")
    if metadata is not None:
        for path in metadata:
            if '"' in path or "\0" in path:
                raise InvalidInput(
                    f"metadata {path[:60]!r}: give a key, or a dotted path of keys, without "
                    "quotation marks or NUL"
                )
        if scope != "events":
            raise InvalidInput(f"metadata filters events only, but scope is {scope}")


_Page = tuple[list[str], tuple[int, str] | None]


def _page(found: Sequence[tuple[int, str]], limit: int) -> _Page:
    """Return the ids of a page, and its last (time, id) if another page follows."""
    page = found[:limit]
    return [id_ for _, id_ in page], page[-1] if len(found) > limit else None


def _fact_page(
    files: ZoneFiles,
    about: list[str] | None,
    sources: Sequence[str] | None,
    superseded: bool,
    place: tuple[int, str],
    limit: int,
) -> _Page:
    listed = fact_list.facts(
        files.memory.connection,
        about=about,
        superseded=superseded,
        present=unix_ms(),
        after=place,
        limit=limit + 1,
        of_events=None
        if sources is None
        else event_list.ids_of_sources(files.events.connection, sources),
    )
    return _page([(fact.as_of, fact.id) for fact in listed], limit)


def _event_page(
    files: ZoneFiles,
    about: list[str] | None,
    platform: str | None,
    thread: str | None,
    sources: Sequence[str] | None,
    metadata: Mapping[str, str],
    place: tuple[int, str],
    limit: int,
) -> _Page:
    event_ids = None if about is None else events_mentioning(files.identity.connection, about)
    listed = event_list.events(
        files.events.connection,
        among=event_ids,
        platform=platform,
        thread=thread,
        source_ids=sources,
        metadata=metadata,
        after=place,
        limit=limit + 1,
    )
    return _page([(event.occurred_at, event.id) for event in listed], limit)


def _observation_page(
    files: ZoneFiles, superseded: bool, place: tuple[int, str], limit: int
) -> _Page:
    found = observation_queries.observation_list(
        files.memory.connection, ids=None, all_versions=superseded, after=place, limit=limit + 1
    )
    return _page([(item.created_at, item.id) for item in found], limit)


def _model_page(
    files: ZoneFiles, about: list[str] | None, superseded: bool, place: tuple[int, str], limit: int
) -> _Page:
    models = sorted(
        (
            (item.model.updated_at, item.model.id)
            for item in memory.mental_models(files.memory.connection, all_versions=superseded)
            if about is None or item.model.entity_id in about
        ),
        reverse=True,
    )
    return _page([at_and_id for at_and_id in models if at_and_id < place][: limit + 1], limit)


def _facts(files: ZoneFiles, ids: Sequence[str]) -> Iterable[Memory]:
    listed = fact_list.with_ids(files.memory.connection, ids, unix_ms())
    by_id = {fact.id: fact for fact in listed}
    facts = {fact.id: fact for fact in with_details(files, list(by_id.values()))}
    events = event_list.with_ids(
        files.events.connection, [by_id[id_].source_event_id for id_ in facts]
    )
    changes = changes_of(files, list(facts))
    return [
        _fact(fact, events[by_id[id_].source_event_id], changes.get(id_, FactChanges([], [])))
        for id_, fact in facts.items()
    ]


def _fact(fact: Fact, event: event_list.ListedEvent, changes: FactChanges) -> Memory:
    return Memory(
        id=fact.id,
        type="fact",
        text=fact.text,
        as_of=fact.as_of,
        current=fact.current,
        platform=event.platform,
        sender_id=event.sender_id,
        sender_name=event.sender_name,
        thread_id=event.thread_id,
        entities=fact.entities,
        source_event_ids=fact.source_event_ids,
        supersedes=changes.before,
        superseded_by=changes.after,
        retracted=fact.retracted,
    )


class FactChanges(NamedTuple):
    """The facts that a fact superseded, and those that superseded it, the latest first."""

    before: list[MemoryRevision]
    after: list[MemoryRevision]


def changes_of(files: ZoneFiles, ids: Sequence[str]) -> dict[str, FactChanges]:
    """Return fact id -> what it superseded and what superseded it, for facts with such changes."""
    connection = files.memory.connection
    pairs = superseding.supersessions(connection, ids, LATEST_MS)
    fact_ids = {id_ for older, newer, _ in pairs for id_ in (older, newer)}
    # Excludes facts that are being forgotten but still have rows.
    readable = with_details(files, fact_list.with_ids(connection, sorted(fact_ids), unix_ms()))
    texts = {fact.id: fact.text for fact in readable}
    changes: dict[str, FactChanges] = {}
    for older, newer, at in pairs:
        if older in texts and newer in texts:
            when = format_time(at)
            before = changes.setdefault(newer, FactChanges([], [])).before
            before.append(MemoryRevision(id=older, text=texts[older], at=when))
            after = changes.setdefault(older, FactChanges([], [])).after
            after.append(MemoryRevision(id=newer, text=texts[newer], at=when))
    return changes


def _fact_family(files: ZoneFiles, fact_id: str) -> set[str]:
    """Return the facts linked to a fact by any number of supersessions, itself included."""
    family: set[str] = set()
    frontier = {fact_id}
    while frontier:
        family |= frontier
        pairs = superseding.supersessions(files.memory.connection, sorted(frontier), LATEST_MS)
        frontier = {id_ for older, newer, _ in pairs for id_ in (older, newer)} - family
    return family


def _event_family(files: ZoneFiles, event_id: str) -> list[str]:
    """Return an event, those it replaced and those that replaced it, in any number of steps."""
    connection = files.memory.connection
    family = {event_id: None}
    older = event_id
    while (before := retractions.events_replaced_by(connection, [older])) and (
        before[older] not in family
    ):
        older = before[older]
        family[older] = None
    family = dict.fromkeys(reversed(family))
    newer = event_id
    while (after := retractions.retracted_events(connection, [newer]).get(newer)) and (
        after.replaced_at is not None and after.retracted_by not in family
    ):
        newer = after.retracted_by
        family[newer] = None
    return list(family)


def _events(files: ZoneFiles, ids: Sequence[str]) -> Iterable[Memory]:
    replaced: dict[str, list[MemoryRevision]] = {}
    for one in event_list.replacements(files.events.connection, ids):
        text = "(deleted)" if one.content is None else one.content
        change = MemoryRevision(id=one.by, text=text, at=format_time(one.at))
        replaced.setdefault(one.event_id, []).append(change)
    retracted = retractions.retracted_events(files.memory.connection, ids)
    newer = event_list.with_ids(
        files.events.connection, [row.retracted_by for row in retracted.values()]
    )
    for event_id, row in retracted.items():
        if row.replaced_at is not None and row.retracted_by in newer:
            text = newer[row.retracted_by].text
            change = MemoryRevision(id=row.retracted_by, text=text, at=format_time(row.replaced_at))
            changes = [change, *replaced.get(event_id, ())]
            replaced[event_id] = sorted(changes, key=lambda change: change.at, reverse=True)
    parts = _retracted_parts(files, ids)
    decided = files.memory.watermark().number
    for event in event_list.with_ids(files.events.connection, ids).values():
        yield Memory(
            id=event.id,
            type="event",
            text=event.text,
            as_of=format_time(event.occurred_at),
            current=event.id not in replaced and event.id not in retracted,
            decided=event.number <= decided,
            platform=event.platform,
            sender_id=event.sender_id,
            sender_name=event.sender_name,
            thread_id=event.thread_id,
            metadata=_public_metadata(event),
            source_event_ids=[event.source_id],
            superseded_by=replaced.get(event.id, []),
            retracted=event.id in retracted and retracted[event.id].replaced_at is None,
            retracted_parts=parts.get(event.id, []),
        )


def part_id(event_id: str, start: int, end: int) -> str:
    """Return the id of a part of an event's text, from `start` to `end` in characters."""
    return f"{event_id}:{start}-{end}"


def _retracted_parts(files: ZoneFiles, event_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return event id -> the ids of its retracted parts, in order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for row in retractions.active_retractions(files.memory.connection, event_ids):
        if row.target_id == part_id(row.event_id, row.char_start, row.char_end):
            found.setdefault(row.event_id, []).append((row.char_start, row.target_id))
    return {event_id: [id_ for _, id_ in sorted(parts)] for event_id, parts in found.items()}


def _public_metadata(event: event_list.ListedEvent) -> dict[str, Any] | None:
    """Return an event's metadata without the principal that the service recorded."""
    metadata = {name: item for name, item in event.decoded_metadata.items() if name != PRINCIPAL}
    return metadata or None


def _observations(files: ZoneFiles, ids: Sequence[str]) -> Iterable[Memory]:
    connection = files.memory.connection
    for item in observation_queries.observation_list(
        connection, ids=ids, all_versions=True, after=START, limit=len(ids)
    ):
        rests_on = {event for _, _, event in observation_queries.sources_of(connection, item.id)}
        events = event_list.with_ids(files.events.connection, sorted(rests_on))
        # It may quote an event that is being forgotten.
        if events.keys() != rests_on:
            continue
        before = (
            None
            if item.before is None
            else observation_queries.observation_version(connection, item.before)
        )
        yield Memory(
            id=item.id,
            type="observation",
            text=item.text,
            as_of=format_time(item.created_at),
            current=item.current,
            is_stale=item.is_stale,
            source_event_ids=sorted(event.source_id for event in events.values()),
            supersedes=[
                MemoryRevision(id=item.before, text=before[0], at=format_time(item.created_at))
            ]
            if item.before is not None and before is not None
            else [],
        )


def _models(files: ZoneFiles, ids: Sequence[str]) -> Iterable[Memory]:
    connection = files.memory.connection
    stale = memory.stale_models(connection, ids)
    for model, current, *_ in memory.mental_models(connection, ids=ids, all_versions=True):
        before = (
            None if model.parent_id is None else memory.mental_model(connection, model.parent_id)
        )
        yield Memory(
            id=model.id,
            type="mental_model",
            text=model.description,
            as_of=format_time(model.updated_at),
            current=current,
            is_stale=model.id in stale,
            name=model.name,
            supersedes=[]
            if before is None
            else [
                MemoryRevision(
                    id=before.id, text=before.description, at=format_time(model.updated_at)
                )
            ],
        )
