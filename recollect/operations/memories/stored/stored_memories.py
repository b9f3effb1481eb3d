"""Stored memories: storing texts with attributes, and reading them back."""

from __future__ import annotations

import calendar
import difflib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.ingestion.ingesting import (
    command,
    remember_all,
    remember_draft,
    unknown_or_undecided,
)
from recollect.operations.memories.memory_listing import get_memory, memory_ids
from recollect.operations.memories.page_cursors import check_limit
from recollect.operations.memories.stored.memory_reading import listed
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import stored_memory_queries as versions
from recollect.projections.memory.listing import stored_memory_list as stored
from recollect.projections.memory.listing.stored_memory_list import MemoryFilter
from recollect.schemas.changes import StoredMemoryVersion
from recollect.schemas.errors import DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import (
    Draft,
    MemoryScope,
    MemoryState,
    MemoryVisibility,
    SetMemoryState,
)
from recollect.schemas.ids import text_hash
from recollect.schemas.inbound import MAX_NAME_BYTES
from recollect.schemas.memory_terms import (
    DEFAULT_ENRICHMENTS,
    ENRICHMENTS,
    MemoryTier,
    StoredMemoryType,
    peer_of,
    reader_of,
    writer_of,
)
from recollect.schemas.names import normalise_name
from recollect.schemas.times import (
    check_time_order,
    format_time,
    parse_query_time,
    parse_time,
)
from recollect.schemas.wire import (
    MemoryDiff,
    MemoryInput,
    MemoryStateReport,
    RememberReceipt,
    StoredMemory,
    StoredMemoryPage,
    StoredMemoryVersionPage,
    Time,
)
from recollect.streams.publishing.commands import random_id

MAX_NAMESPACE, MAX_PATH_KEY = 512, 256
#: Maximum number of memories in one command.
MAX_BATCH = 1_000
#: Maximum level of abstraction.
MAX_LEVEL = 100
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_CURSOR = re.compile(r"([0-9]{1,15}):([0-9]{1,15})")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "memory_type": get_args(StoredMemoryType),
    "scope": get_args(MemoryScope),
    "visibility": get_args(MemoryVisibility),
}
_DEFAULTS = MemoryInput(content="", scope="zone", visibility="private")


def store(
    zone: OpenZone, memories: Sequence[MemoryInput], principal: Mapping[str, str] | None = None
) -> list[RememberReceipt]:
    """Store texts with their attributes, in one step; none is stored if one is invalid.

    Raises:
        InvalidInput: there are none or too many, or a value is invalid.
        UnknownId: the caller reads no memory with one of the ids in a `derived_from`.
    """
    if not 1 <= len(memories) <= MAX_BATCH:
        raise InvalidInput(f"memories: {len(memories)} were given; give 1 to {MAX_BATCH}")
    memories = _with_known_sources(zone, [_as_caller(zone, each) for each in memories])
    drafts = [draft_of(each, principal) for each in memories]
    receipts = remember_all(zone, drafts)
    # Imported here: it loads the agents, which a query does not need.
    from recollect.home.ticks.after_import import archive_after_storing

    archive_after_storing(zone, len(receipts))
    return receipts


def _as_caller(zone: OpenZone, memory: MemoryInput) -> MemoryInput:
    """Return a memory with its scope and visibility, and the caller as its user and agent.

    Raises:
        InvalidInput: it names another user or agent than the caller.
    """
    user_id, agent_id = zone.owner(memory.user_id, memory.agent_id)
    return msgspec.structs.replace(
        memory,
        scope=_scope(memory),
        visibility=_visibility(memory),
        user_id=user_id,
        agent_id=agent_id,
    )


def _scope(memory: MemoryInput) -> MemoryScope:
    """Return the scope of a memory; one that is only said to be private belongs to its user."""
    return memory.scope or ("user" if memory.visibility == "private" else "zone")


def _visibility(memory: MemoryInput) -> MemoryVisibility:
    return memory.visibility or "private"


def _with_known_sources(zone: OpenZone, memories: list[MemoryInput]) -> list[MemoryInput]:
    """Return memories with the ids in `derived_from` as those of memories.

    Raises:
        UnknownId: the caller reads no memory with one of them.
    """
    named = {id_ for memory in memories for id_ in memory.derived_from}
    if not named:
        return memories
    found = memory_ids(zone, "derived_from", sorted(named))
    return [
        msgspec.structs.replace(
            memory, derived_from=list(dict.fromkeys(found[id_] for id_ in memory.derived_from))
        )
        for memory in memories
    ]


def draft_of(
    memory: MemoryInput,
    principal: Mapping[str, str] | None = None,
    *,
    replaces: str | None = None,
) -> Draft:
    """Return the event that stores a text with its attributes.

    Raises:
        InvalidInput: a value is invalid; the message names it.
    """
    attributes = _attributes(memory)
    source_id = None
    if attributes and memory.at is not None:
        # The same text at the same time with other attributes is another memory.
        said = (memory.content, memory.sender_id, memory.at, sorted(attributes.items()))
        source_id = f"memory-{text_hash(msgspec.json.encode(said).decode())}"
    return remember_draft(
        memory.content,
        sender_id=memory.sender_id,
        at=memory.at,
        principal=principal,
        attributes={**attributes, "replaces": replaces},
        source_id=source_id,
        peer_id=peer_of(
            reader_of(_scope(memory), _visibility(memory), memory.user_id, memory.agent_id)
        ),
    )


def _attributes(memory: MemoryInput) -> dict[str, Any]:
    """Return the attributes that differ from the defaults, as fields of the event."""
    for name, choices in _CHOICES.items():
        _check_choice(name, getattr(memory, name), choices)
    for name, limit in (("namespace", MAX_NAMESPACE), ("path_key", MAX_PATH_KEY)):
        if (text := getattr(memory, name)) is not None and not 0 < len(text) <= limit:
            raise InvalidInput(f"{name} has {len(text)} characters; give 1 to {limit}")
    for name in ("user_id", "agent_id"):
        if (text := getattr(memory, name)) is not None and not (
            0 < len(text.encode(errors="replace")) <= MAX_NAME_BYTES
        ):
            raise InvalidInput(f"{name} must have 1 to {MAX_NAME_BYTES} bytes")
    if memory.importance is not None and not 0 <= memory.importance <= 1:
        raise InvalidInput(f"importance is {memory.importance}; give 0 to 1")
    _check_level(memory.abstraction_level)
    if unknown := [each for each in memory.enrichments if each not in ENRICHMENTS]:
        raise InvalidInput(f"enrichments: {unknown[0]!r}: choose from {', '.join(ENRICHMENTS)}")
    asked = tuple(each for each in ENRICHMENTS if each in memory.enrichments)
    valid_at, invalid_at = (
        None if value is None else parse_time(value, name)[0]
        for name, value in (("valid_at", memory.valid_at), ("invalid_at", memory.invalid_at))
    )
    if valid_at is not None and invalid_at is not None and invalid_at <= valid_at:
        raise InvalidInput("invalid_at is not after valid_at; give a later time")
    found = {
        **{name: getattr(memory, name) for name in _PLAIN},
        "valid_at": valid_at,
        "invalid_at": invalid_at,
        "enrichments": None if asked == DEFAULT_ENRICHMENTS else asked,
        "derived_from": tuple(memory.derived_from),
    }
    defaults = {"enrichments": None, "derived_from": ()}
    return {
        name: value
        for name, value in found.items()
        if value != defaults.get(name, getattr(_DEFAULTS, name))
    }


def _check_level(level: int) -> None:
    """Raise InvalidInput if there is no such level of abstraction."""
    if not 0 <= level <= MAX_LEVEL:
        raise InvalidInput(f"abstraction_level is {level}; give 0 to {MAX_LEVEL}")


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InvalidInput(f"{name} {str(value)[:60]!r}: choose from {', '.join(choices)}")


_PLAIN = (
    *("memory_type", "scope", "visibility", "user_id", "agent_id", "namespace", "path_key"),
    *("importance", "abstraction_level"),
)


# Reading


def stored_memory(zone: OpenZone, id_: str, *, current: bool = False) -> StoredMemory:
    """Return a version of a stored memory; with `current`, its newest version instead.

    Raises:
        UnknownId: no stored memory has this id.
    """
    for found in with_ids(zone, [id_], current=current):
        zone.open_home.count_memories(zone.name, [found.memory_id])
        return found
    raise _unknown(zone, id_)


def with_ids(zone: OpenZone, ids: Sequence[str], *, current: bool = False) -> list[StoredMemory]:
    """Return the versions with these ids, in their order; unknown ids are left out."""
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        if current:
            ids = [newest.id for each in ids if (newest := _newest_version(files, each))]
        found = stored.memories(files.memory.connection, MemoryFilter(ids=ids), None, len(ids))
        by_id = {each.memory_id: each for each in listed(zone, files, found)}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def _newest_version(files: ZoneFiles, id_: str) -> StoredMemoryVersion | None:
    """Return the newest version of the memory that has a version with this id."""
    connection = files.memory.connection
    version = versions.version(connection, id_)
    return None if version is None else versions.newest_version(connection, version.memory_id)


def query(
    zone: OpenZone,
    *,
    during: str | None = None,
    time_after: Time | None = None,
    time_before: Time | None = None,
    person: str | None = None,
    entity_type: str | None = None,
    first: Time | None = None,
    last: Time | None = None,
    valid_at: Time | None = None,
    known_at: Time | None = None,
    superseded: bool = False,
    state: str = "active",
    tier: MemoryTier | None = None,
    abstraction_level: int | None = None,
    cursor: str | None = None,
    limit: int = 100,
    **equal: Any,
) -> StoredMemoryPage:
    """Return a page of stored memories, newest first.

    Raises:
        InvalidInput: a value is invalid; the message names it.
    """
    check_limit(limit)
    if entity_type is not None:
        entity_type = entity_type.upper()
        # Imported here: it loads rules of language, which few reads need.
        from recollect.streams.language.grammar.analysis import MentionType

        _check_choice("entity_type", entity_type, get_args(MentionType))
    if abstraction_level is not None:
        _check_level(abstraction_level)
    if tier is not None and state != "active":
        raise InvalidInput("tier: only active memories are in a tier; leave `state` out")
    created_from, created_before = _period(during)
    after = None if time_after is None else parse_query_time(time_after, "time_after")
    before = None if time_before is None else parse_query_time(time_before, "time_before")
    check_time_order(after, before)
    if after is not None:
        # `time_after` and `time_before` are exclusive.
        created_from = max(after + 1, created_from or 0)
    if before is not None:
        created_before = before if created_before is None else min(before, created_before)
    true_at, stored_by = (
        None if value is None else parse_query_time(value, name)
        for name, value in (("valid_at", valid_at), ("known_at", known_at))
    )
    is_past = true_at is not None or stored_by is not None
    chosen = MemoryFilter(
        state=None if state == "any" else state,
        created_from=created_from,
        created_before=created_before,
        person=None if person is None else normalise_name(person),
        entity_type=entity_type,
        first_day=_day(first, "first"),
        last_day=_day(last, "last"),
        valid_at=true_at,
        known_at=stored_by,
        invalid_by=None if superseded or is_past else unix_ms(),
        superseded=superseded or is_past,
        abstraction_level=abstraction_level,
        **equal,
    )
    place = None if cursor is None else parse_cursor(cursor)
    if not zone.exists():
        return StoredMemoryPage(memories=[])
    with zone.files() as files, files.read_transaction():
        if tier is not None:
            chosen = in_tier(zone, files, tier, chosen)
        found = stored.memories(files.memory.connection, chosen, place, limit + 1)
        page = listed(zone, files, found[:limit])
    zone.open_home.count_memories(zone.name, [each.memory_id for each in page])
    more = None
    if len(found) > limit:
        final = found[limit - 1].memory
        more = f"{final.created_at}:{final.number}"
    return StoredMemoryPage(memories=page, cursor=more)


def in_tier(
    zone: OpenZone, files: ZoneFiles, tier: MemoryTier, chosen: MemoryFilter
) -> MemoryFilter:
    """Return a filter that only memories of a tier pass."""
    main = zone.main_context(files)
    of_tier: dict[MemoryTier, dict[str, Any]] = {
        "main": {"ids": main},
        "recall": {"archived": False, "excluded_ids": main},
        "archival": {"archived": True},
    }
    return msgspec.structs.replace(chosen, superseded=False, **of_tier[tier])


def parse_cursor(cursor: str) -> tuple[int, int]:
    """Return the place (created_at, number) of the last memory of a page.

    Raises:
        InvalidInput: it is not a cursor of a page of memories.
    """
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidInput(f"cursor {cursor[:60]!r} is invalid; give one from a page of memories")
    return int(match[1]), int(match[2])


def _period(during: str | None) -> tuple[int | None, int | None]:
    """Return the beginning and the end of a year, month or day (unix ms)."""
    if during is None:
        return None, None
    match = _PERIOD.fullmatch(during)
    try:
        if match is None:
            raise ValueError
        year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        first = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        raise InvalidInput(
            f"during {during[:40]!r}: give a year, a month or a day, such as 2025 or 2025-01"
        ) from None
    days = 1 if match[3] else calendar.monthrange(year, month)[1]
    if not match[2]:
        days = 366 if calendar.isleap(year) else 365
    start = int(first.timestamp()) * 1_000
    return start, start + days * 86_400_000


def _day(value: Time | None, name: str) -> str | None:
    return None if value is None else format_time(parse_query_time(value, name))[:10]


# Changing


def set_state(zone: OpenZone, ids: Sequence[str], state: MemoryState) -> MemoryStateReport:
    """Approve, deactivate or delete memories by one command; a deleted memory stays deleted.

    Raises:
        InvalidInput: there are none or too many.
    """
    ids = distinct_ids(ids)
    known = {each.memory_id: each for each in writable(zone, ids)} if zone.exists() else {}
    changed = [id_ for id_ in ids if id_ in known and known[id_].state not in (state, "deleted")]
    if changed:
        command(
            zone,
            SetMemoryState(
                source_id=random_id("set_memory_state"), memory_ids=tuple(changed), state=state
            ),
        )
    return MemoryStateReport(
        state=state,
        changed=changed,
        unchanged=[id_ for id_ in ids if id_ in known and id_ not in changed],
        unknown=[id_ for id_ in ids if id_ not in known],
    )


def distinct_ids(ids: Sequence[str]) -> list[str]:
    """Return the ids of a command, each once.

    Raises:
        InvalidInput: there are none or too many.
    """
    found = list(dict.fromkeys(ids))
    if not 1 <= len(found) <= MAX_BATCH:
        raise InvalidInput(f"ids: {len(found)} were given; give 1 to {MAX_BATCH}")
    return found


def writable(zone: OpenZone, ids: Sequence[str]) -> list[StoredMemory]:
    """Return the memories among these that the caller may change."""
    return [
        each
        for each in with_ids(zone, ids)
        if may_write(zone, each.scope, each.user_id, each.agent_id)
    ]


def may_write(zone: OpenZone, scope: str, user_id: str | None, agent_id: str | None) -> bool:
    """Return whether the caller may change a memory of this scope, user and agent."""
    reader = zone.reader
    return reader is None or writer_of(scope, user_id, agent_id).includes(*reader)


def writable_memory(zone: OpenZone, id_: str) -> StoredMemory:
    """Return a stored memory that the caller may change.

    Raises:
        UnknownId: there is none.
    """
    for found in writable(zone, [id_]):
        return found
    raise _unknown(zone, id_)


def current_versions(zone: OpenZone, id_: str) -> list[StoredMemory]:
    """Return the newest version of a memory as a list, empty if no stored memory has this id.

    Raises:
        UnknownId: the caller may not change the memory.
        InvalidInput: the memory is deleted, or consolidates others.
    """
    found = with_ids(zone, [id_], current=True)
    for each in found:
        if each.child_memory_ids:
            raise InvalidInput(
                f"{id_!r} is a consolidation of other memories, so it cannot be changed itself; "
                "change the memories that it was made from"
            )
        writable_memory(zone, each.memory_id)
        if each.state == "deleted":
            raise InvalidInput(f"{id_!r} is deleted, so it gets no new version")
    return found


def new_version(
    zone: OpenZone, old: StoredMemory, content: str, principal: Mapping[str, str] | None = None
) -> RememberReceipt:
    """Store a new version of a memory, with its attributes; it is true from now on."""
    with zone.files() as files, files.read_transaction():
        (row,) = stored.memories(
            files.memory.connection, MemoryFilter(ids=[old.memory_id]), None, 1
        )
        (event,) = event_list.with_ids(files.events.connection, [old.memory_id]).values()
    memory = msgspec.convert(
        {name: getattr(row.memory, name) for name in _PLAIN}
        | {
            "content": content,
            "sender_id": event.sender_id,
            "enrichments": msgspec.json.decode(row.memory.enrichments),
        },
        MemoryInput,
    )
    (receipt,) = remember_all(zone, [draft_of(memory, principal, replaces=old.memory_id)])
    return receipt


def roll_back(
    zone: OpenZone, id_: str, version: int, principal: Mapping[str, str] | None = None
) -> RememberReceipt:
    """Store a new version of a memory with the text of an earlier one.

    Raises:
        UnknownId: no stored memory has this id.
        InvalidInput: it has no such version, it is deleted, or it already has this text.
    """
    found = current_versions(zone, id_)
    if not found:
        raise _unknown(zone, id_)
    (newest,) = found
    if not 1 <= version <= newest.version:
        raise InvalidInput(f"version {version}: the memory has versions 1 to {newest.version}")
    page = versions_of(zone, id_, cursor=str(version - 1), limit=1).versions
    if not page or page[0].version != version:
        raise InvalidInput(f"version {version} of the memory was forgotten; give another version")
    (earlier,) = page
    if earlier.content == newest.content:
        raise InvalidInput(f"{newest.memory_id} already has the text of version {version}")
    return new_version(zone, newest, earlier.content, principal)


def versions_of(
    zone: OpenZone, id_: str, *, cursor: str | None, limit: int
) -> StoredMemoryVersionPage:
    """Return a page of the versions of a memory that the caller may read, the first one first.

    Raises:
        UnknownId: no stored memory has this id.
        InvalidInput: a value is invalid; the message names it.
    """
    check_limit(limit)
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise InvalidInput(f"cursor {cursor[:60]!r} is invalid; give one from a page of versions")
    after = 0 if cursor is None else int(cursor)
    zone.must_exist()
    with zone.files() as files:
        version = versions.version(files.memory.connection, id_)
        if version is None:
            raise _unknown(zone, id_)
        found = versions.versions(
            files.memory.connection, version.memory_id, after=after, limit=limit + 1
        )
    page = found[:limit]
    return StoredMemoryVersionPage(
        versions=with_ids(zone, [each.id for each in page]),
        cursor=str(page[-1].version) if len(found) > limit else None,
    )


def diff(zone: OpenZone, from_id: str, to_id: str) -> MemoryDiff:
    """Return the difference of two memories' texts.

    Raises:
        UnknownId, InvalidInput: as `get_memory`.
    """
    before, after = get_memory(zone, from_id), get_memory(zone, to_id)
    lines = difflib.unified_diff(
        before.text.splitlines(), after.text.splitlines(), before.id, after.id, lineterm=""
    )
    return MemoryDiff(from_id=before.id, to_id=after.id, diff="\n".join(lines))


def _unknown(zone: OpenZone, id_: str) -> UnknownId | DecisionTimeout:
    unknown = UnknownId(f"zone {zone.name} has no stored memory {id_[:200]!r}")
    return unknown_or_undecided(zone, unknown, id_)
