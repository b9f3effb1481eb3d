"""What facades share: lists of a zone as a whole, moments, and what is told of refused items."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from typing import Any, Literal

from recollect import IngestReport, InvalidInput, Memory, UnknownZone, Zone

_PAGE = 1_000
# Source ids that one address has room for.
_BATCH_SIZE = 500
# An integer below this is unix seconds, as a time after 1973 in milliseconds is above it.
_SECONDS_UNTIL = 100_000_000_000
#: What `kind` is, in a facade's fields, of a text that took the place of a memory.
UPDATE = "update"


def every(
    zone: Zone,
    scope: Literal["facts", "events", "observations"],
    *,
    first: int = _PAGE,
    **filters: Any,
) -> Iterator[Memory]:
    """Yield all memories of a kind that the filters of `list_memories` let through, newest first.

    With `source_event_ids` they come in no order. `first`: how many are asked for at first.
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
            # A service answers so for a zone that holds nothing yet.
            return
        yield from page.memories
        cursor, size = page.cursor, _PAGE
        if cursor is None:
            return


def is_update(said: Mapping[str, Any]) -> bool:
    """Return whether a facade's fields are those of a text that took the place of a memory."""
    return said.get("kind") == UPDATE


def retract(
    zone: Zone, id_: str, own: Set[str] | None = None, replaced_by: str | None = None
) -> None:
    """Retract a memory; a fact only as `own` events state it, by source id. None: as all do.

    What `replaced_by` says again is still true, and stays.
    """
    # The id of a part of an event names its event alone.
    held = None if ":" in id_ else zone.get_memory(id_)
    sources = [] if held is None else held.source_event_ids
    if replaced_by in sources:
        return
    shared = held is not None and held.type == "fact" and own is not None and not own >= {*sources}
    among = [source for source in sources if source in (own or ())] if shared else None
    zone.retract(id_, replaced_by=replaced_by, source_event_ids=among)


def replace(
    zone: Zone,
    event: Mapping[str, Any],
    targets: Iterable[str],
    own: Set[str] | None = None,
    principal: Mapping[str, str] | None = None,
) -> IngestReport:
    """Put an event in the place of memories, by their ids; return what became of it.

    `own`: as for `retract`. In this order, so that a crash in between loses nothing.
    """
    report = zone.ingest(event, principal=principal)
    if not report.rejected:
        for target in targets:
            retract(zone, target, own, event["id"])
    return report


def revisions(events: Iterable[Memory]) -> list[list[Memory]]:
    """Return events as messages with their edits: of each the first first, in no other order."""
    found = {event.id: event for event in events}
    edits = {change.id for event in found.values() for change in event.superseded_by}
    return [
        [event, *(found[edit.id] for edit in event.superseded_by[::-1] if edit.id in found)]
        for event in found.values()
        if event.id not in edits
    ]


def now() -> int:
    """Return the present moment in unix milliseconds."""
    return int(time.time() * 1_000)


def moment(value: Any, field: str) -> int:
    """Return a moment in unix milliseconds: now for None; what names no zone is in UTC.

    Raises:
        InvalidInput: it is none; the message names `field`.
    """
    if value is None:
        return now()
    if isinstance(value, str):
        text = value.strip()
        if text.isdecimal() and text.isascii():
            return moment(int(text), field)
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(
                f"{field} {text[:40]!r}: give a time as 2026-05-08T13:56:00Z, or unix seconds"
            ) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1_000)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1_000) if abs(value) < _SECONDS_UNTIL else int(value)
    raise InvalidInput(f"{field} is {type(value).__name__}; give a time")


def partly_kept(report: IngestReport, name: str, places: Sequence[int]) -> InvalidInput:
    """Return what to raise where items were refused: which, why, and which others are kept.

    `places` are the places of the items, `name[place]`, by the order in which they were sent.
    """
    refused = {places[one.line - 1]: one.reason for one in report.rejections}
    kept = [f"{name}[{place}]" for place in places if place not in refused]
    said = "; ".join(f"{name}[{place}] is not kept: {why}" for place, why in refused.items())
    rest = f"; kept: {', '.join(kept)}" if kept else ""
    return InvalidInput(said + rest)
