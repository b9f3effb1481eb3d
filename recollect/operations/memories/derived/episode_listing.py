"""Listing episodes, showing their messages, and their versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import cast

from recollect.home.open_zone import OpenZone
from recollect.operations.answers import recalling
from recollect.operations.memories.listing import resolve_entities
from recollect.operations.memories.page_cursors import check_limit, page_of, place_of
from recollect.projections.events import event_list
from recollect.projections.events.event_list import ListedEvent
from recollect.projections.events.turns_for_recall import latest_event_time
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_list
from recollect.projections.identity.entities_for_recall import canonical_ids, events_mentioning
from recollect.projections.identity.entity_queries import handle_owner
from recollect.projections.memory.listing import episode_list
from recollect.projections.memory.listing.episode_list import EpisodeFilter, ListedEpisode
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.ids import handle_row_id
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import (
    Episode,
    EpisodeMessage,
    EpisodeMessages,
    EpisodePage,
    EpisodeStrategy,
    Query,
    Time,
)
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

_DAY_MS = 86_400_000
# Messages of an episode whose senders are listed, and from which its title is taken.
_FIRST_MESSAGES = 50
_LEAST_TITLE_WORDS = 5
_TITLE_LENGTH = 120
# Messages that answer a query, whose episodes are listed.
_SEARCHED = 100


def episode_page(
    zone: OpenZone,
    *,
    strategy: EpisodeStrategy | None,
    query: str | None,
    entity: str | None,
    platform: str | None,
    first: Time | None,
    last: Time | None,
    cursor: str | None,
    limit: int,
) -> EpisodePage:
    """Return a page of current episodes, newest first; with a query, the best ones first.

    Raises:
        InvalidInput: `entity` is unknown, or another value is invalid.
    """
    check_limit(limit)
    if query is not None and cursor is not None:
        raise InvalidInput(
            "cursor: not allowed with `query`, which returns all its episodes on one page; "
            "leave `cursor` out"
        )
    after = place_of(cursor)
    if not zone.exists():
        return EpisodePage(episodes=[])
    answers = None if query is None else _events_answering(zone, query)
    with zone.files() as files, files.read_transaction():
        offset = zone_utc_offset(files)
        connection = files.memory.connection
        ids: AbstractSet[str] | None = None
        if entity is not None:
            about = events_mentioning(files.identity.connection, resolve_entities(files, entity))
            ids = {id_ for _, id_ in episode_list.episodes_with_events(connection, about)}
        rank: dict[str, int] = {}
        if answers is not None:
            places = {event: place for place, event in enumerate(answers)}
            for event, id_ in episode_list.episodes_with_events(connection, answers):
                rank[id_] = min(rank.get(id_, places[event]), places[event])
            ids = rank.keys() if ids is None else ids & rank.keys()
        which = EpisodeFilter(
            strategy,
            platform,
            None if first is None else _bound(first, "first", offset, days=0),
            None if last is None else _bound(last, "last", offset, days=1),
            None if ids is None else sorted(ids),
        )
        if answers is not None:
            every = episode_list.episodes(connection, which, after, len(rank) + 1)
            best = sorted(every, key=lambda each: rank[each.id])[:limit]
            return EpisodePage(episodes=titled_episodes(files, best))
        episodes = episode_list.episodes(connection, which, after, limit + 1)
        page, more = page_of(episodes, limit, lambda each: (each.start_time, each.id))
        return EpisodePage(episodes=titled_episodes(files, page), cursor=more)


def _events_answering(zone: OpenZone, query: str) -> list[str]:
    answer = recalling.recall(zone, Query(query, max_results=_SEARCHED, scope=("events",)))
    return [result.id for result in answer.results]


def zone_utc_offset(files: ZoneFiles) -> int:
    """Return the UTC offset of the latest message, in minutes."""
    latest = latest_event_time(files.events.connection)
    return 0 if latest is None else latest[1]


def _bound(given: Time, name: str, utc_offset: int, *, days: int) -> int:
    """Return a bound in unix ms: the time itself, or for a date the start of the day after `days`.

    A date is a day in the time zone of the zone's latest message.
    """
    at = parse_query_time(given, name)
    if not isinstance(given, str):
        return at + days
    try:
        date.fromisoformat(given.strip())
    except ValueError:
        return at + days
    return at + days * _DAY_MS - utc_offset * 60_000


def episode(zone: OpenZone, id_: str, *, cursor: str | None, limit: int) -> EpisodeMessages:
    """Return a version of an episode with a page of its messages, in the order of their times.

    Raises:
        UnknownId: the zone has no episode with this id.
        InvalidInput: the cursor or the limit is invalid.
    """
    check_limit(limit)
    after = (-1, -1) if cursor is None else _parse_message_cursor(cursor)
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        version = next(
            (version for version in _versions(zone, files, id_) if version.id == id_), None
        )
        assert version is not None
        members = episode_list.events(files.memory.connection, id_, after, limit + 1)
        page = members[:limit]
        listed = _standing(files, [event for _, _, event in page])
        names = _SenderNames(files, listed.values())
        (wire,) = titled_episodes(files, [version])
        return EpisodeMessages(
            episode=wire,
            messages=[_message(listed[event], names) for _, _, event in page if event in listed],
            cursor=f"{page[-1][0]}:{page[-1][1]}" if len(members) > limit else None,
        )


def _parse_message_cursor(cursor: str) -> tuple[int, int]:
    at, _, number = cursor.partition(":")
    if not (at.isdecimal() and number.isdecimal() and len(cursor) < 40 and cursor.isascii()):
        raise InvalidInput(f"cursor {cursor[:60]!r} is invalid; give one from a page of messages")
    return int(at), int(number)


def episode_history(zone: OpenZone, id_: str) -> EpisodePage:
    """Return all versions of an episode, the first one first.

    Raises:
        UnknownId: the zone has no episode with this id.
    """
    zone.must_exist()
    with zone.files() as files, files.read_transaction():
        return EpisodePage(episodes=titled_episodes(files, _versions(zone, files, id_)))


def _versions(zone: OpenZone, files: ZoneFiles, id_: str) -> list[ListedEpisode]:
    found = episode_list.versions(files.memory.connection, id_)
    if all(version.id != id_ for version in found):
        raise UnknownId(f"zone {zone.name} has no episode {id_!r}; `episodes` lists them")
    return found


def titled_episodes(files: ZoneFiles, found: Sequence[ListedEpisode]) -> list[Episode]:
    """Return episodes in the form of the answer, with titles and participants."""
    first = {
        episode.id: episode_list.first_events(files.memory.connection, episode.id, _FIRST_MESSAGES)
        for episode in found
    }
    events_by_id = _standing(
        files, sorted({event for events in first.values() for event in events})
    )
    names = _SenderNames(files, events_by_id.values())
    return [
        Episode(
            id=episode.id,
            strategy=cast("EpisodeStrategy", episode.strategy),
            title=_title(messages),
            start=format_time(episode.start_time),
            end=format_time(episode.end_time),
            message_count=episode.event_count,
            participants=list(dict.fromkeys(names.of(message) for message in messages)),
            platform=episode.platform,
            thread_id=episode.thread_id,
            previous=episode.parent_id,
            current=episode.is_current,
        )
        for episode in found
        for messages in [
            sorted(
                (events_by_id[event] for event in first[episode.id] if event in events_by_id),
                key=lambda message: (message.occurred_at, message.number),
            )
        ]
    ]


def _standing(files: ZoneFiles, event_ids: Sequence[str]) -> dict[str, ListedEvent]:
    """Return id -> event, without events that were edited or deleted."""
    connection = files.events.connection
    replaced = {each.event_id for each in event_list.replacements(connection, event_ids)}
    found = event_list.with_ids(connection, event_ids)
    return {id_: event for id_, event in found.items() if id_ not in replaced}


def _title(messages: Sequence[ListedEvent]) -> str:
    """Return the first sentence of the first message that has a few words."""
    texts = [message.text for message in messages]
    text = next((text for text in texts if len(tokenise(text).words) >= _LEAST_TITLE_WORDS), "")
    text = text or next(iter(texts), "")
    spans = sentences(text)
    sentence = text[slice(*spans[0])] if spans else text
    line = " ".join(sentence.split())
    if len(line) <= _TITLE_LENGTH:
        return line
    return line[:_TITLE_LENGTH].rsplit(" ", 1)[0] + "…"


def _message(event: ListedEvent, names: _SenderNames) -> EpisodeMessage:
    return EpisodeMessage(
        id=event.id,
        at=format_time(event.occurred_at),
        platform=event.platform,
        sender=names.of(event),
        text=event.text,
        source_event_id=event.source_id,
    )


class _SenderNames:
    """The canonical names of the senders of messages."""

    def __init__(self, files: ZoneFiles, messages: Iterable[ListedEvent]) -> None:
        connection = files.identity.connection
        accounts = {(message.platform, message.sender_id) for message in messages}
        owners: dict[tuple[str, str], str] = {}
        for account in accounts:
            owner = handle_owner(connection, handle_row_id(*account))
            if owner is not None:
                owners[account] = owner
        canonical = canonical_ids(connection, sorted(set(owners.values())))
        names = entity_list.names_of(connection, sorted(set(canonical.values())))
        self._names = {
            account: names.get(canonical.get(owner, ""), "") for account, owner in owners.items()
        }

    def of(self, message: ListedEvent) -> str:
        """Return the name of a message's sender: canonical, else as given, else the id."""
        name = self._names.get((message.platform, message.sender_id))
        return name or message.sender_name or message.sender_id
