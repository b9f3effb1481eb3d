"""The operation on the timeline: what happened, by day."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.derived import timeline_listing
from recollect.operations.memories.derived.timeline_listing import Period
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import MAX_PAGE_SIZE, PAGE, Cursor, KnownAt, described
from recollect.schemas.wire import Time, TimelineCounts, TimelinePage

_AT = "2026-05-08T13:56:00.000Z"
_FACT_ID = "01KR3XZBC0BAQNHSCT9EJ4NDPT"
_ITEM = {
    "id": _FACT_ID,
    "type": "fact",
    "text": "Ada moved to Oslo on 3 May.",
    "context": None,
    "as_of": _AT,
    "said_on": "2026-05-08",
    "when": {"first": "2026-05-03", "last": "2026-05-03"},
    "dated_by": "when",
    "current": True,
    "superseded_by": None,
    "said": {"count": 1, "first": _AT, "last": _AT},
    "said_by": "Ada",
    "entities": ["Ada", "Oslo"],
    "source_event_ids": ["m1"],
}
_TIME = "a date, or a time, of which the date in its own time zone is used."

TimelineEntity = Annotated[
    str | None, described(description="Only entries about this person or thing: a name or an id.")
]
FirstDay = Annotated[Time | None, described(description=f"First day: {_TIME}")]
LastDay = Annotated[Time | None, described(description=f"Last day, inclusive: {_TIME}")]
ValidAt = Annotated[Time | None, described(description="Only facts that were true at this time.")]


@operation(
    "GET /timeline",
    right="read",
    title="Timeline",
    tag="memories",
    tool=Tool(
        verb="get",
        title="What happened when",
        description="List what happened, by day, earliest first, for everybody or for one person "
        "or thing, in a span of days. For questions such as what happened in May, or what somebody "
        "did last week. An item with dated_by said names no day itself and is listed on the day it "
        f"was said. An item that is not current is no longer true. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
        hidden=frozenset({"known_at", "valid_at"}),
    ),
    example=(
        None,
        {
            "days": [{"day": "2026-05-03", "items": [_ITEM]}],
            "cursor": f"2026-05-03/{_AT}/{_FACT_ID}",
        },
    ),
)
def timeline(
    zone: OpenZone,
    *,
    entity: TimelineEntity = None,
    first: FirstDay = None,
    last: LastDay = None,
    known_at: KnownAt = None,
    valid_at: ValidAt = None,
    cursor: Cursor = None,
    limit: Annotated[
        int,
        described(
            minimum=1,
            maximum=MAX_PAGE_SIZE,
            description="Maximum number of items on the page, over all its days.",
        ),
    ] = PAGE,
) -> TimelinePage:
    """Return what happened, by day, earliest first; the page's `cursor` selects the next page.

    A fact is listed on the day it is about, or, if it names no day, on the day on which it was said
    (`dated_by`); if it is about several days, on the one nearest to the day on which it was said.
    A superseded fact is not `current`, and names its successor; a fact that was retracted as never
    true is left out. A fact that began before `first` and lasts into it is listed on `first`. A day
    with more items than fit continues on the next page.

    Raises:
        InvalidInput: `entity` is unknown, a time is invalid, or the cursor is not from this list.

    >>> [(day.day, [item.text for item in day.items]) for day in zone.timeline(entity="Ada")]
    [('2026-05-08', ['Ada lives in Turin.'])]
    """
    return timeline_listing.timeline_page(
        zone,
        entity=entity,
        first=first,
        last=last,
        known_at=known_at,
        valid_at=valid_at,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "GET /timeline/counts",
    right="read",
    title="Count the timeline",
    tag="memories",
    example=(
        None,
        {
            "periods": [{"period": "2026-05", "facts": 1, "episodes": 0}],
            "first_said": _AT,
            "last_said": _AT,
        },
    ),
)
def timeline_counts(
    zone: OpenZone,
    by: Annotated[
        Period, described(description="The length of the periods: year, month or day.")
    ] = "month",
    *,
    entity: TimelineEntity = None,
    first: FirstDay = None,
    last: LastDay = None,
    known_at: KnownAt = None,
    valid_at: ValidAt = None,
) -> TimelineCounts:
    """Return the number of facts and episodes in each year, month or day of the timeline.

    Raises:
        InvalidInput: as `timeline`.

    >>> [(found.period, found.facts) for found in zone.timeline_counts(by="month").periods]
    [('2026-05', 2)]
    """
    return timeline_listing.timeline_counts(
        zone,
        by=by,
        entity=entity,
        first=first,
        last=last,
        known_at=known_at,
        valid_at=valid_at,
    )


class TimelineOperations:
    """What happened, by day."""

    timeline = timeline
    timeline_counts = timeline_counts
