"""Observations: what several facts say, with their evidence and all their versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import cast

import apsw

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.listing import files_known_at, resolve_entities
from recollect.operations.memories.page_cursors import check_limit
from recollect.projections.events import event_list
from recollect.projections.events.event_queries import latest_time
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import observation_queries as queries
from recollect.projections.memory.fact_statements import statements
from recollect.schemas.choices import ObservationKind
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.memory_terms import model_of
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    Observation,
    ObservationChange,
    ObservationHistory,
    ObservationItem,
    ObservationPage,
    Time,
)
from recollect.streams.consolidation.evidence import confidence, trend

_DAY_MS = 86_400_000
#: After every observation: later than any time, and than any id.
_START = (2**63 - 1, "~")


def observation_page(
    zone: OpenZone,
    *,
    entity: str | None,
    superseded: bool,
    known_at: Time | None,
    cursor: str | None,
    limit: int,
) -> ObservationPage:
    """Return a page of observations, newest first. A cursor is the id of a page's last entry.

    Raises:
        InvalidInput: the entity is unknown, or the time, the cursor or the limit is invalid.
    """
    check_limit(limit)
    opened = files_known_at(zone, known_at)
    if opened is None:
        return ObservationPage(observations=[])
    with opened as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        versions = queries.observation_list(
            files.memory.connection,
            ids=None,
            all_versions=superseded,
            after=_START if cursor is None else _place(files, cursor),
            limit=limit + 1,
            about=about,
        )
        page = list(_observations(files, versions[:limit]))
    more = versions[limit - 1].id if len(versions) > limit else None
    return ObservationPage(observations=page, cursor=more)


def observation(zone: OpenZone, id_: str) -> Observation:
    """Return a version of an observation.

    Raises:
        UnknownId: the zone has no observation with this id.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        versions = queries.observation_list(
            files.memory.connection, ids=[id_], all_versions=True, after=_START, limit=1
        )
        for report in _observations(files, versions):
            return report
    raise _unknown(zone, id_)


def observation_history(zone: OpenZone, id_: str) -> ObservationHistory:
    """Return all versions of an observation, given any one, with the changes of each.

    Raises:
        UnknownId: the zone has no observation with this id.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        versions = queries.version_history(connection, id_)
        readable = {
            version.id
            for version in versions
            if version.text is None or _sources(files, version.id) is not None
        }
        parts = {version.id: _parts(connection, version) for version in versions}
    if not versions:
        raise _unknown(zone, id_)
    changes = []
    before: list[str] = []
    for version in versions:
        if version.id not in readable:
            continue
        added, removed = _difference(before, parts[version.id])
        before = parts[version.id]
        changes.append(
            ObservationChange(
                id=version.id,
                at=format_time(version.created_at),
                text=version.text,
                reason=version.reason,
                added=added,
                removed=removed,
            )
        )
    return ObservationHistory(versions=changes)


def _unknown(zone: OpenZone, id_: str) -> UnknownId:
    return UnknownId(f"zone {zone.name} has no observation {id_!r}; `observations` lists them")


def _place(files: ZoneFiles, cursor: str) -> tuple[int, str]:
    version = queries.observation_version(files.memory.connection, cursor)
    if version is None:
        raise InvalidInput(
            f"cursor {cursor[:60]!r} is not from this list; start with the first page"
        )
    return version[2], cursor


def _observations(
    files: ZoneFiles, versions: Sequence[queries.ListedObservation]
) -> Iterable[Observation]:
    connection = files.memory.connection
    topics = queries.observation_topics(connection, [version.id for version in versions])
    written = queries.authorships(connection, [version.id for version in versions])
    now = latest_time(files.events.connection)
    for version in versions:
        sources = _sources(files, version.id)
        if sources is None:
            continue
        topic = topics.get(version.id)
        facts = (
            [fact for fact, _, _ in queries.sources_of(connection, version.id)]
            if topic is None
            or topic.kind in ("regular", "ahead", "cycle", "correlation", "series", "shared")
            else queries.evidence_of(connection, topic)
        )
        stating = {one for of_fact in statements(connection, facts).values() for one in of_fact}
        times = sorted(one.said_at for one in stating)
        senders = event_list.senders(files.events.connection, [one.event_id for one in stating])
        days = len({at // _DAY_MS for at in times})
        yield Observation(
            id=version.id,
            text=version.text,
            kind="other" if topic is None else cast(ObservationKind, topic.kind),
            topic=None if topic is None else topic.label,
            entity_id=None if topic is None else topic.entity_id,
            items=[
                ObservationItem(text=version.text[start:end], fact_id=fact, start=start, end=end)
                for fact, start, end in queries.observation_items(connection, version.id)
            ],
            source_event_ids=sources,
            sources=len({one.event_id for one in stating}),
            days=days,
            speakers=len(senders),
            first_said=format_time(times[0]) if times else None,
            last_said=format_time(times[-1]) if times else None,
            confidence=confidence(len({one.event_id for one in stating}), days, len(senders)),
            trend=trend(times, now),
            is_stale=version.is_stale,
            previous=version.before,
            current=version.current,
            updated_at=format_time(version.created_at),
            model=model_of(written[version.id].type_id),
            blocked_reason=written[version.id].refused,
        )


def _sources(files: ZoneFiles, run_id: str) -> list[str] | None:
    """Return the source ids of the events of a version's facts.

    None if one of them is not readable: it is being forgotten, and the text may quote it.
    """
    facts = queries.sources_of(files.memory.connection, run_id)
    wanted = {event for _, _, event in facts}
    events = event_list.with_ids(files.events.connection, sorted(wanted))
    if events.keys() != wanted:
        return None
    return sorted(event.source_id for event in events.values())


def _parts(connection: apsw.Connection, version: queries.EndedVersion) -> list[str]:
    """Return the items of a version's text, or the whole text if it has none."""
    if version.text is None:
        return []
    items = queries.observation_items(connection, version.id)
    spans = dict.fromkeys((start, end) for _, start, end in items)
    return [version.text[start:end] for start, end in spans] or [version.text]


def _difference(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return the parts that were added, and those that were removed, in order."""
    added: list[str] = []
    removed: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += before[a:b]
            added += after[c:d]
    return added, removed
