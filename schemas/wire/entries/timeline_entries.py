"""What happened, by day."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.wire.answering import DateRange, MemoryRevision, StatementCount
from recollect.schemas.wire.entries.episode_entries import Episode
from recollect.schemas.wire.entries.list_entries import Page


class TimelineItem(msgspec.Struct, frozen=True, kw_only=True):
    """A fact on the day on which it happened."""

    id: Annotated[str, Meta(description="Id of the fact.")]
    type: Annotated[Literal["fact"], Meta(description="fact.")]
    text: Annotated[str, Meta(description="The fact, as a sentence.")]
    context: Annotated[
        str | None,
        Meta(description="Its context: what it answers or corrects, or its heading; null if none."),
    ]
    as_of: Annotated[str, Meta(description="When it was said.")]
    said_on: Annotated[
        str, Meta(description="The day on which it was said, in the sender's time zone.")
    ]
    when: Annotated[
        DateRange | None, Meta(description="Days that the fact speaks of; null if none are known.")
    ]
    dated_by: Annotated[
        Literal["when", "said"],
        Meta(
            description="Why it is on this day: when (the fact speaks of it), or said (its days "
            "are not known; it was said on this one)."
        ),
    ]
    current: Annotated[bool, Meta(description="No newer fact has replaced it.")]
    superseded_by: Annotated[
        MemoryRevision | None,
        Meta(description="The fact that replaced it; null if none did."),
    ]
    said: Annotated[
        StatementCount, Meta(description="How often it was said, and when first and last.")
    ]
    said_by: Annotated[
        str | None, Meta(description="Its author: a display name, or else an id on the platform.")
    ]
    entities: Annotated[list[str], Meta(description="Names of the entities that it is about.")]
    source_event_ids: Annotated[
        list[str],
        Meta(description="Source ids of the events that it comes from."),
    ]


class TimelineDay(msgspec.Struct, frozen=True, kw_only=True):
    """What happened on one day."""

    day: Annotated[str, Meta(description="The day (YYYY-MM-DD), in the senders' time zones.")]
    items: Annotated[
        list[TimelineItem], Meta(description="What happened, in the order in which it was said.")
    ]
    episodes: Annotated[
        list[Episode],
        Meta(
            description="Episodes of several messages that began on this day, on the page on which "
            "the day begins."
        ),
    ] = []


class TimelinePage(Page[TimelineDay], frozen=True, kw_only=True):
    """A page of a timeline, earliest day first; a long day may continue on the next page."""

    days: Annotated[list[TimelineDay], Meta(description="The days, earliest first.")]


class TimelinePeriod(msgspec.Struct, frozen=True, kw_only=True):
    """A year, a month or a day of the timeline, with its counts."""

    period: Annotated[str, Meta(description="YYYY, YYYY-MM or YYYY-MM-DD.")]
    facts: Annotated[int, Meta(description="Number of facts on its days.")]
    episodes: Annotated[
        int, Meta(description="Number of episodes of several messages that began in it.")
    ]


class TimelineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of facts and episodes on a timeline, by year, month or day."""

    periods: Annotated[
        list[TimelinePeriod], Meta(description="Periods with facts or episodes, earliest first.")
    ]
    first_said: Annotated[
        str | None, Meta(description="Time of the zone's first message; null without any.")
    ] = None
    last_said: Annotated[str | None, Meta(description="Time of its latest message.")] = None
