"""The timeline: what happened, day by day.

A fact that names no day is placed on the day on which it was said, in the sender's time zone. A
fact that names days is placed on the one nearest to the day on which it was said: "this year" on
that day itself, "last week" on the week's last day, "from 3 to 5 June" on its first day if that is
in the future. If that day is outside the listed span, a fact of at most a month is placed on the
nearest of its days inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import cached_property
from heapq import heappop, heappush, merge
from itertools import groupby, islice
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.memories.derived.episode_listing import titled_episodes, zone_utc_offset
from recollect.operations.memories.listing import (
    files_known_at,
    resolve_entities,
    with_details,
)
from recollect.operations.memories.memory_listing import changes_of
from recollect.operations.memories.page_cursors import check_limit
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entities_for_recall import events_mentioning
from recollect.projections.memory.listing import dated_facts, episode_list, fact_list
from recollect.projections.memory.listing.dated_facts import DatedFact, Selection
from recollect.projections.memory.listing.episode_list import ListedEpisode
from recollect.schemas.choices import EpisodeStrategy
from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import format_time, parse_query_time, parse_time
from recollect.schemas.wire import (
    Time,
    TimelineCounts,
    TimelineDay,
    TimelineItem,
    TimelinePage,
    TimelinePeriod,
)
from recollect.text.dates.found_dates import local_day

#: The period by which the entries of a timeline are counted.
Period = Literal["year", "month", "day"]
# The first characters of a day (YYYY-MM-DD) that name its period.
_PERIOD_LENGTHS = {"year": 4, "month": 7, "day": 10}
_FIRST_DAY, _LAST_DAY = "0001-01-01", "9999-12-31"
# A fact of more days than a month is placed on one of them, and not looked for on the others.
_MAX_SPAN_DAYS = 31
# The strategy of a day's episodes: messages without a long pause between them.
_STRATEGY: EpisodeStrategy = "time_window"
_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()


def timeline_page(
    zone: OpenZone,
    *,
    entity: str | None,
    first: Time | None,
    last: Time | None,
    known_at: Time | None,
    valid_at: Time | None,
    cursor: str | None,
    limit: int,
) -> TimelinePage:
    """Return up to `limit` items of a zone's timeline, by day, earliest first.

    A cursor is the place of a page's last item, so it stays valid if that is forgotten.

    Raises:
        InvalidInput: `entity` is unknown, or another value is invalid.
    """
    check_limit(limit)
    first_day, last_day = _day(first, "first", _FIRST_DAY), _day(last, "last", _LAST_DAY)
    if last_day < first_day:
        raise InvalidInput(f"last is {last_day}, before {first_day}; give a day from `first` on")
    start = _Place(first_day, -1, "")
    after = start if cursor is None else max(start, _Place.parse(cursor))
    valid_ms = None if valid_at is None else parse_query_time(valid_at, "valid_at")
    opened = files_known_at(zone, known_at)
    if opened is None:
        return TimelinePage(days=[])
    with opened as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        places = _Timeline(files, Selection(about, valid_ms), first_day, last_day).after(after)
        page = list(islice(places, limit + 1))
        episodes = _Episodes(files, about)
        begun = None if cursor is None else after.day
        days = [
            day if day.day == begun else episodes.added_to(day)
            for day in _days(files, page[:limit])
        ]
    return TimelinePage(days=days, cursor=page[limit - 1].cursor if page[limit:] else None)


def timeline_counts(
    zone: OpenZone,
    *,
    by: Period,
    entity: str | None,
    first: Time | None,
    last: Time | None,
    known_at: Time | None,
    valid_at: Time | None,
) -> TimelineCounts:
    """Return the numbers of facts and episodes of each period of a timeline, earliest first.

    Raises:
        InvalidInput: `entity` is unknown, or another value is invalid.
    """
    length = _PERIOD_LENGTHS[by]
    first_day, last_day = _day(first, "first", _FIRST_DAY), _day(last, "last", _LAST_DAY)
    valid_ms = None if valid_at is None else parse_query_time(valid_at, "valid_at")
    opened = files_known_at(zone, known_at)
    if opened is None:
        return TimelineCounts(periods=[])
    with opened as files, files.read_transaction():
        about = None if entity is None else resolve_entities(files, entity)
        places = _Timeline(files, Selection(about, valid_ms), first_day, last_day).after(
            _Place(first_day, -1, "")
        )
        facts = Counter(place.day[:length] for place in places)
        begun = _Episodes(files, about)
        episodes = Counter(
            begun.day_of(episode)[:length] for episode in begun.beginning(first_day, last_day)
        )
        since, until = event_list.time_range(files.events.connection)
    return TimelineCounts(
        periods=[
            TimelinePeriod(period=period, facts=facts[period], episodes=episodes[period])
            for period in sorted(facts | episodes)
        ],
        first_said=None if since is None else format_time(since),
        last_said=None if until is None else format_time(until),
    )


def _day(value: Time | None, field: str, default: str) -> str:
    """Return the day of a time, in its own time zone; a bare date is that day."""
    if value is None:
        return default
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip()).isoformat()
        except ValueError:
            pass
    return _iso(local_day(*parse_time(value, field)))


def _iso(day: int) -> str:
    return date.fromordinal(day).isoformat()


class _Place(NamedTuple):
    """A fact's place on the timeline: its day (YYYY-MM-DD), when it was said (unix ms), its id."""

    day: str
    as_of: int
    id: str

    @property
    def cursor(self) -> str:
        """The place as a cursor."""
        return f"{self.day}/{format_time(self.as_of)}/{self.id}"

    @classmethod
    def parse(cls, cursor: str) -> _Place:
        """Return the place of a cursor; raise InvalidInput if it is invalid."""
        try:
            day, at, id_ = cursor.split("/", 2)
            return cls(date.fromisoformat(day).isoformat(), parse_query_time(at, "cursor"), id_)
        except ValueError:
            raise InvalidInput(
                f"cursor {cursor[:60]!r} is invalid; give one from a page of the timeline"
            ) from None


class _Timeline:
    """The facts of a selection from `first_day` to `last_day`, in the order of the timeline."""

    def __init__(
        self, files: ZoneFiles, selection: Selection, first_day: str, last_day: str
    ) -> None:
        self._memory, self._events = files.memory.connection, files.events.connection
        self._selection = selection
        self._first_day, self._last_day = first_day, last_day

    def after(self, last: _Place) -> Iterator[_Place]:
        """Yield the places after a place, in order."""
        parts = (
            self._on_first_days(last.day),
            self._on_last_days(last.day),
            self._on_days_of_statement(last),
            iter(self._from_outside()),
        )
        return (place for place in merge(*parts) if place > last)

    def _on_first_days(self, day: str) -> Iterator[_Place]:
        """Yield facts placed on their first day, from `day` on."""
        for fact in dated_facts.facts_by_first_day(
            self._memory, self._selection, day, self._last_day
        ):
            place = self._place(fact)
            if place is not None and place.day == fact.first_day:
                yield place

    def _on_last_days(self, day: str) -> Iterator[_Place]:
        """Yield facts placed on their last day, from `day` on."""
        for fact in dated_facts.facts_by_last_day(
            self._memory, self._selection, day, self._last_day
        ):
            place = self._place(fact)
            if place is not None and place.day == fact.last_day:
                yield place

    def _on_days_of_statement(self, last: _Place) -> Iterator[_Place]:
        """Yield the facts that name no day, and those said during their days, after a place.

        Facts are read by when they were said. Between senders in several time zones, that is not
        the order of their days: a fact waits until no fact of an earlier day can follow.
        """
        westmost, eastmost = event_list.utc_offset_range(self._events)
        day = date.fromisoformat(last.day).toordinal()
        # What follows a place was said later on its day, or on a later day.
        since = max(_start(day, eastmost), min(last.as_of, _start(day + 1, eastmost)))
        until = _start(date.fromisoformat(self._last_day).toordinal() + 1, westmost)
        waiting: list[_Place] = []
        for fact in dated_facts.facts_by_statement(self._memory, self._selection, since, until):
            complete = _iso(local_day(fact.as_of, westmost))
            while waiting and waiting[0].day <= complete:
                yield heappop(waiting)
            place = self._place(fact)
            if (
                place is not None
                and place.day not in (fact.first_day, fact.last_day)
                and place.day <= self._last_day
            ):
                heappush(waiting, place)
        while waiting:
            yield heappop(waiting)

    def _from_outside(self) -> list[_Place]:
        """Return the facts of a few listed days whose place is not listed, on the nearest day."""
        outside: set[_Place] = set()
        for day in {self._first_day, self._next_day()} - {_FIRST_DAY, _LAST_DAY}:
            earliest = _iso(max(date.fromisoformat(day).toordinal() - _MAX_SPAN_DAYS, 1))
            for fact in dated_facts.facts_lasting_into(
                self._memory, self._selection, day, earliest
            ):
                place = self._place(fact)
                if place is None or self._first_day <= place.day <= self._last_day:
                    continue
                if _length(fact) <= _MAX_SPAN_DAYS:
                    nearest = min(max(place.day, self._first_day), self._last_day)
                    outside.add(place._replace(day=nearest))
        return sorted(outside)

    def _next_day(self) -> str:
        """Return the day after the last one."""
        return _iso(min(date.fromisoformat(self._last_day).toordinal() + 1, date.max.toordinal()))

    def _place(self, fact: DatedFact) -> _Place | None:
        """Return a fact's place; None if its event is being forgotten."""
        if fact.first_day is not None and fact.first_day == fact.last_day:
            return _Place(fact.first_day, fact.as_of, fact.id)
        offset = event_list.utc_offset(self._events, fact.event_id)
        if offset is None:
            return None
        day = _iso(local_day(fact.as_of, offset))
        if fact.first_day is not None and fact.last_day is not None:
            day = min(max(day, fact.first_day), fact.last_day)
        return _Place(day, fact.as_of, fact.id)


def _length(fact: DatedFact) -> int:
    """Return the number of days that a fact speaks of."""
    if fact.first_day is None or fact.last_day is None:
        return 0
    return (date.fromisoformat(fact.last_day) - date.fromisoformat(fact.first_day)).days + 1


class _Episodes:
    """The episodes of several messages, by the days on which they began, in the zone's time zone.

    `about`: only those in which one of these entities writes or is mentioned.
    """

    def __init__(self, files: ZoneFiles, about: list[str] | None) -> None:
        self._files, self._about = files, about
        self._offset = zone_utc_offset(files)

    @cached_property
    def _theirs(self) -> set[str]:
        events = events_mentioning(self._files.identity.connection, self._about or ())
        connection = self._files.memory.connection
        return {id_ for _, id_ in episode_list.episodes_with_events(connection, events)}

    def beginning(self, first_day: str, last_day: str) -> list[ListedEpisode]:
        """Return the episodes that began from `first_day` to `last_day`."""
        episodes = episode_list.episodes_beginning(
            self._files.memory.connection,
            _STRATEGY,
            _start(date.fromisoformat(first_day).toordinal(), self._offset),
            _start(date.fromisoformat(last_day).toordinal() + 1, self._offset),
        )
        if self._about is None or not episodes:
            return episodes
        return [episode for episode in episodes if episode.id in self._theirs]

    def day_of(self, episode: ListedEpisode) -> str:
        """Return the day on which an episode began."""
        return _iso(local_day(episode.start_time, self._offset))

    def added_to(self, day: TimelineDay) -> TimelineDay:
        """Return a day with the episodes that began on it."""
        found = self.beginning(day.day, day.day)
        if not found:
            return day
        return msgspec.structs.replace(day, episodes=titled_episodes(self._files, found))


def _start(day: int, utc_offset: int) -> int:
    """Return when a day (an ordinal) begins (unix ms), at a UTC offset in minutes."""
    return (day - _EPOCH) * _DAY_MS - utc_offset * 60_000


def _days(files: ZoneFiles, places: list[_Place]) -> Iterator[TimelineDay]:
    """Yield days with their items. A fact whose event is being forgotten is left out."""
    listed = fact_list.with_ids(files.memory.connection, [place.id for place in places], unix_ms())
    events = {fact.id: fact.source_event_id for fact in listed}
    facts = {fact.id: fact for fact in with_details(files, listed)}
    changes = changes_of(files, [fact.id for fact in facts.values() if not fact.current])
    for day, of_day in groupby(places, key=attrgetter("day")):
        items = []
        for place in of_day:
            fact = facts.get(place.id)
            if fact is None:
                continue
            after = changes[fact.id].after if fact.id in changes else []
            offset = event_list.utc_offset(files.events.connection, events[fact.id])
            items.append(
                TimelineItem(
                    id=fact.id,
                    type="fact",
                    text=fact.text,
                    context=fact.context,
                    as_of=fact.as_of,
                    said_on=_iso(local_day(place.as_of, offset or 0)),
                    when=fact.when,
                    dated_by="said" if fact.when is None else "when",
                    current=fact.current,
                    superseded_by=after[0] if after else None,
                    said=fact.said,
                    said_by=fact.said_by,
                    entities=fact.entities,
                    source_event_ids=fact.source_event_ids,
                )
            )
        if items:
            yield TimelineDay(day=day, items=items)
