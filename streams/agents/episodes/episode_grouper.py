"""The agent that groups events into episodes: by thread, session, day, silence and topic (A9).

Under the strategies thread, session and day, the event alone determines its episode. Under
time_window and topic, an episode is a stretch of a conversation in the order of the messages' own
times. A message that arrives in order extends the last stretch or begins a new one: one row. A
message that arrives late may join two stretches or split one; then events are moved between their
episodes. The result does not depend on the order of arrival.

An episode grows in place until it is analysed. The next event then makes a new version, which
includes the events of the earlier versions by reference, so no event is copied. The boundaries of
an analysed episode are fixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date

import msgspec

from recollect.projections.events.event_queries import NearbyEvent, NearbyEvents
from recollect.projections.memory.episode_queries import EpisodeDefinition
from recollect.schemas.changes import DecidedPart, Episode, EpisodeEvent
from recollect.schemas.choices import EpisodeStrategy
from recollect.schemas.events import Content, Event, message_of
from recollect.schemas.ids import next_version_id, row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.episodes.episode_segments import MINUTE_MS, Boundaries, boundaries
from recollect.streams.agents.memories.memory_versions import is_private
from recollect.streams.agents.state import State
from recollect.text.dates.found_dates import local_day

_DAY_MS = 24 * 60 * MINUTE_MS
_EPOCH = date(1970, 1, 1).toordinal()

#: The messages before and after a message on which a boundary may depend, and how far away they may
#: be; the parameters of a definition may not exceed these.
MOST_COMPARED = 4
LONGEST_GAP_MS = 12 * 60 * MINUTE_MS


class EpisodeGrouper(Agent):
    """Puts each message into an episode of every definition that applies to it."""

    kinds = frozenset({"message", "turn_completed", "remember", "edit"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = message_of(event)
        if is_private(event) or not (content.content or content.attachments):
            # The end of a turn is not a message if it has no text.
            return Extract()
        return Extract(conversation.nearby(event, MOST_COMPARED, LONGEST_GAP_MS))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        if extract.content is None:
            return []
        grouping = _Grouping(event, extract.content, state)
        for definition in state.episode_definitions():
            grouping.group(definition)
        return grouping.parts()


def open_version(state: State, episode_id: str) -> tuple[str, str | None]:
    """Return the id of the version of an episode that can still grow, and of the version before.

    The version may not exist yet. Other agents that write episodes, such as consolidation, add
    events to this version too.
    """
    parent = None
    while (found := state.episode(episode_id)) is not None and found.is_analysed:
        parent, episode_id = episode_id, next_version_id(episode_id)
    return episode_id, parent


class _Grouping:
    """The episodes of one event."""

    def __init__(self, event: Event, nearby: NearbyEvents, state: State) -> None:
        self._event = event
        self._content = message_of(event)
        self._nearby = nearby
        self._state = state
        self._this = NearbyEvent(
            event.number,
            event.id,
            event.occurred_at,
            self._content.sender_name or "",
            self._content.content,
        )
        self._rows: list[Episode | EpisodeEvent] = []
        self._moved: list[DecidedPart] = []

    def group(self, definition: EpisodeDefinition) -> None:
        """Put the event into an episode of a definition, if it applies."""
        if definition.strategy in ("time_window", "topic"):
            self._divide(definition.id, boundaries(definition.parameters))
        elif (key := _key(definition.strategy, self._event, self._content)) is not None:
            at, parts = key
            self._join(definition.id, row_id(at, "episode", definition.id, *parts))

    def parts(self) -> list[DecidedPart]:
        """Return the rows of all definitions."""
        return [DecidedPart((self._event.number,), puts=[*self._rows]), *self._moved]

    def _join(self, definition_id: str, episode_id: str) -> None:
        version, parent = open_version(self._state, episode_id)
        if self._state.episode(version) is None:
            self._rows.append(self._episode(definition_id, version, parent))
        self._rows.append(_member(version, definition_id, self._this))

    def _episode(self, definition_id: str, id_: str, parent: str | None = None) -> Episode:
        is_of_day = definition_id == "day"
        return Episode(
            id=id_,
            definition_id=definition_id,
            platform=None if is_of_day else self._event.platform,
            thread_id=None if is_of_day else self._content.thread_id,
            parent_id=parent,
            created_at=self._event.ingested_at,
        )

    # Stretches of a conversation

    def _divide(self, definition_id: str, by: Boundaries) -> None:
        """Put the event into a stretch of its conversation, and move the boundaries after it."""
        earlier, later = self._nearby
        begins = by.begins(self._this, earlier)
        after: list[bool] = []
        changed: list[int] = []
        for place, message in enumerate(later[: by.reach]):
            between = later[:place][::-1]
            without = by.begins(message, (*between, *earlier))
            after.append(by.begins(message, (*between, self._this, *earlier)))
            if without != after[-1]:
                changed.append(place)
        leads = begins and bool(after) and not after[0]
        if (changed or leads) and not (leads and changed == [0]):
            touched = self._open_episodes(definition_id, (*earlier[:1], *later[: by.reach]))
            if touched:
                begin = {self._this.id: begins}
                begin |= {message.id: flag for message, flag in zip(later, after, strict=False)}
                self._regroup(definition_id, touched, begin)
                return
        neighbours = earlier[:1] if not begins else later[:1] if leads else ()
        joined = next(
            (self._episode_of(neighbour, definition_id) for neighbour in neighbours), None
        )
        self._join(definition_id, joined or _first_id(definition_id, self._this))

    def _episode_of(self, message: NearbyEvent, definition_id: str) -> str | None:
        return self._state.episode_of_event(message.id, definition_id)

    def _open_episodes(self, definition_id: str, messages: Sequence[NearbyEvent]) -> list[str]:
        """Return the episodes of messages; none if an episode is analysed or a later version."""
        episodes: dict[str, None] = {}
        for message in messages:
            if (id_ := self._episode_of(message, definition_id)) is None:
                continue
            state = self._state.episode(id_)
            if state is None or state.is_analysed or state.parent_id is not None:
                return []
            episodes[id_] = None
        return list(episodes)

    def _regroup(
        self, definition_id: str, touched: Sequence[str], begin: Mapping[str, bool]
    ) -> None:
        """Divide the events of these episodes again; `begin`: event id -> whether it begins one.

        Each stretch keeps the id of the episode that most of its events were in.
        """
        members = [self._state.episode_members(id_) for id_ in touched]
        begin = {of_one[0].event_id: True for of_one in members if of_one} | dict(begin)
        this = _member("", definition_id, self._this)
        stretches: list[list[EpisodeEvent]] = []
        for member in sorted(
            [this, *(member for of_one in members for member in of_one)],
            key=lambda member: member.event_id,
        ):
            if not stretches or begin.get(member.event_id, False):
                stretches.append([])
            stretches[-1].append(member)
        kept = _kept_ids(stretches)
        for place, stretch in enumerate(stretches):
            id_ = kept.get(place) or self._unused_id(definition_id, stretch[0], kept.values())
            kept[place] = id_
            if self._state.episode(id_) is None:
                sources = {stretch[0].number, self._event.number}
                self._move(sources, self._episode(definition_id, id_))
            for member in stretch:
                if member.event_id == this.event_id:
                    self._rows.append(msgspec.structs.replace(member, episode_id=id_))
                elif member.episode_id != id_:
                    self._move(
                        {member.number, self._event.number},
                        msgspec.structs.replace(member, is_standing=0),
                        msgspec.structs.replace(member, episode_id=id_),
                    )

    def _unused_id(self, definition_id: str, first: EpisodeEvent, used: Collection[str]) -> str:
        """Return an id for a stretch that begins with an event, and that has no episode yet."""
        id_ = row_id(first.occurred_at, "episode", definition_id, first.event_id)
        while id_ in used or self._state.episode_members(id_):
            id_ = next_version_id(id_)
        return id_

    def _move(self, sources: AbstractSet[int], *rows: Episode | EpisodeEvent) -> None:
        self._moved.append(DecidedPart(tuple(sorted(sources)), puts=[*rows]))


def _kept_ids(stretches: Sequence[Sequence[EpisodeEvent]]) -> dict[int, str]:
    """Return index of a stretch -> the id that it keeps: the id of most of its events."""
    counts = [
        (-count, id_, place)
        for place, stretch in enumerate(stretches)
        for id_, count in Counter(member.episode_id for member in stretch).items()
        if id_
    ]
    kept: dict[int, str] = {}
    for _, id_, place in sorted(counts):
        if place not in kept and id_ not in kept.values():
            kept[place] = id_
    return kept


def _first_id(definition_id: str, first: NearbyEvent) -> str:
    return row_id(first.occurred_at, "episode", definition_id, first.id)


def _member(episode_id: str, definition_id: str, event: NearbyEvent) -> EpisodeEvent:
    return EpisodeEvent(episode_id, event.id, definition_id, event.number, event.occurred_at)


def _key(
    strategy: EpisodeStrategy, event: Event, content: Content
) -> tuple[int, tuple[str, ...]] | None:
    """Return the time (unix ms) and words that identify an event's episode; None if it has none."""
    place = (event.platform, content.peer_id or "")
    if strategy == "thread" and content.thread_id:
        return 0, (*place, content.thread_id)
    # A session that is a thread of its own is not listed twice.
    if strategy == "session" and content.session_id and content.session_id != content.thread_id:
        return 0, (*place, content.session_id)
    if strategy == "day":
        day = date.fromordinal(local_day(event.occurred_at, content.utc_offset))
        return (day.toordinal() - _EPOCH) * _DAY_MS, (day.isoformat(),)
    return None
