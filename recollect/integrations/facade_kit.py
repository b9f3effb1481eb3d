"""Helpers of the facades: full listings, retractions, times, errors for rejected items."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from math import inf
from typing import Any, Literal

from recollect import IngestReport, InvalidInput, Memory, UnknownZone, Zone

_PAGE = 1_000
# The maximum number of source ids that fit into one URL.
_BATCH_SIZE = 500
# Smaller numbers are unix seconds: as milliseconds they would be times before March 1973.
_SECONDS_UNTIL = 100_000_000_000
#: The value of `kind` in a facade's fields that marks the replacement of a memory.
REPLACEMENT = "update"


def list_all(
    zone: Zone,
    scope: Literal["facts", "events", "observations"],
    *,
    first: int = _PAGE,
    **filters: Any,
) -> Iterator[Memory]:
    """Yield all memories of a scope that match the filters of `list_memories`, newest first.

    With `source_event_ids` the order is undefined. `first`: the size of the first page.
    """
    sources: Sequence[str] | None = filters.pop("source_event_ids", None)
    if sources is None:
        yield from _pages(zone, scope, first, filters)
        return
    for start in range(0, len(sources), _BATCH_SIZE):
        part = list(sources[start : start + _BATCH_SIZE])
        yield from _pages(zone, scope, first, {**filters, "source_event_ids": part})


def _pages(zone: Zone, scope: Any, size: int, filters: dict[str, Any]) -> Iterator[Memory]:
    cursor = None
    while True:
        try:
            page = zone.list_memories(scope, **filters, cursor=cursor, limit=size)
        except UnknownZone:
            # A service raises this for an empty zone.
            return
        yield from page.memories
        cursor, size = page.cursor, _PAGE
        if cursor is None:
            return


def is_replacement(fields: Mapping[str, Any]) -> bool:
    """Return whether a facade's fields mark an event as the replacement of a memory."""
    return fields.get("kind") == REPLACEMENT


def retract(
    zone: Zone, id_: str, own: Set[str] | None = None, replaced_by: str | None = None
) -> None:
    """Retract a memory, unless the event `replaced_by` states it too.

    `own`: the source ids of the caller's events. A fact that other events state too is retracted
    only for the caller's events. If `own` is None, it is retracted for all events.
    """
    # An id with a colon is the id of a part of an event, and a part has no other sources.
    memory = None if ":" in id_ else zone.get_memory(id_)
    sources = [] if memory is None else memory.source_event_ids
    if replaced_by in sources:
        return
    is_shared = (
        memory is not None and memory.type == "fact" and own is not None and not own >= {*sources}
    )
    only_sources = [source for source in sources if source in (own or ())] if is_shared else None
    zone.retract(id_, replaced_by=replaced_by, source_event_ids=only_sources)


def replace(
    zone: Zone,
    event: Mapping[str, Any],
    targets: Iterable[str],
    own: Set[str] | None = None,
    principal: Mapping[str, str] | None = None,
) -> IngestReport:
    """Ingest an event, then retract the memories that it replaces (`targets`: their ids).

    `own`: see `retract`. Since the event is ingested first, a crash in between loses nothing.
    """
    report = zone.ingest(event, principal=principal)
    if not report.rejected:
        for target in targets:
            retract(zone, target, own, event["id"])
    return report


def group_versions(events: Iterable[Memory]) -> list[list[Memory]]:
    """Group the events that are versions of the same message, each group oldest first."""
    found = {event.id: event for event in events}
    # A message names all its edits, latest first; an edit names the newest one.
    places = {
        change.id: -index
        for event in found.values()
        for index, change in enumerate(event.superseded_by)
    }
    groups: dict[str, list[tuple[int, Memory]]] = defaultdict(list)
    for event in found.values():
        newest, steps = _newest_version(event, found)
        groups[newest].append((-steps, event))

    def order(version: tuple[int, Memory]) -> tuple[object, ...]:
        steps, event = version
        return steps, places.get(event.id, -inf), event.as_of, event.id

    return [[event for _, event in sorted(versions, key=order)] for versions in groups.values()]


def _newest_version(event: Memory, found: Mapping[str, Memory]) -> tuple[str, int]:
    """Return the id of a message's newest version, and the number of changes that lead to it."""
    path = [event.id]
    while (version := found.get(path[-1])) and version.superseded_by:
        if version.superseded_by[0].id in path:
            break
        path.append(version.superseded_by[0].id)
    return path[-1], len(path) - 1


def now_ms() -> int:
    """Return the current time in unix milliseconds."""
    return int(time.time() * 1_000)


def time_of_edit(versions: Iterable[Memory], at: int) -> int:
    """Return the time of an edit (unix ms): `at`, or just after all versions if that is later.

    A message's newest version is the one with the latest time, so an edit before another version
    would change nothing.
    """
    return max([at, *(to_unix_ms(version.as_of, "as_of") + 1 for version in versions)])


def to_unix_ms(value: Any, field: str) -> int:
    """Convert a time to unix milliseconds; None is now, and a time without a zone is in UTC.

    Raises:
        InvalidInput: the value is not a time. The message names `field`.
    """
    if value is None:
        return now_ms()
    if isinstance(value, str):
        text = value.strip()
        if text.isdecimal() and text.isascii():
            return to_unix_ms(int(text), field)
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(
                f"{field} {text[:40]!r}: give a time as 2026-05-08T13:56:00Z, or unix seconds"
            ) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, datetime):
        with_zone = value if value.tzinfo else value.replace(tzinfo=UTC)
        return round(with_zone.timestamp() * 1_000)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1_000) if abs(value) < _SECONDS_UNTIL else int(value)
    raise InvalidInput(f"{field} is {type(value).__name__}; give a time")


def partly_rejected(report: IngestReport, name: str, indexes: Sequence[int]) -> InvalidInput:
    """Return the error for a partly rejected batch; it lists the rejected and the stored items.

    `indexes`: for each event of the batch, the index of its item in the list called `name`.
    """
    reasons = {indexes[one.line - 1]: one.reason for one in report.rejections}
    stored = [f"{name}[{index}]" for index in indexes if index not in reasons]
    rejected = "; ".join(f"{name}[{index}] was not stored: {why}" for index, why in reasons.items())
    return InvalidInput(rejected + (f"; stored: {', '.join(stored)}" if stored else ""))
