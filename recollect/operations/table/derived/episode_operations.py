"""Operations on episodes: messages that belong together."""

from __future__ import annotations

from typing import Annotated, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.memories import episode_listing
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import PAGE, Cursor, Limit, described
from recollect.schemas.wire import (
    EpisodeMessages,
    EpisodePage,
    EpisodeStrategy,
    Time,
)

_AT = "2026-05-08T13:56:00.000Z"
_ID = "01KR2EKR005DBHN5QC1J2M6W3V"
_EPISODE: dict[str, Any] = {
    "id": _ID,
    "strategy": "day",
    "title": "I live in Turin.",
    "start": _AT,
    "end": "2026-05-08T13:57:00.000Z",
    "message_count": 2,
    "participants": ["Ada", "Bob"],
    "platform": None,
    "thread_id": None,
    "previous": None,
    "current": True,
}
_MESSAGE = {
    "id": "01KR3XZBC0BAQNHSCT9EJ4NDPT",
    "at": _AT,
    "platform": "chat",
    "sender": "Ada",
    "text": "I live in Turin.",
    "source_event_id": "m1",
}
_TAG = "episodes"
_TIME = "a date (in the time zone of the latest message), or a time."

EpisodeId = Annotated[str, described(minLength=1, maxLength=2_000, description="Id of an episode.")]


@operation(
    "GET /episodes",
    right="read",
    title="List episodes",
    tag=_TAG,
    tool=Tool(
        name="list_episodes",
        title="List episodes",
        description="List episodes: messages that belong together because they are of one thread, "
        "session, day or topic, or follow each other without a long silence. With query, those "
        f"that answer it best come first. get_episode returns the messages. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
    ),
    example=(None, {"episodes": [_EPISODE], "cursor": f"{_AT}/{_ID}"}),
)
def episodes(
    zone: OpenZone,
    *,
    strategy: Annotated[
        EpisodeStrategy | None, described(description="Only episodes of this strategy.")
    ] = None,
    query: Annotated[
        str | None,
        described(
            description="Only episodes with messages that match this, by words or by meaning; the "
            "best ones first, on one page."
        ),
    ] = None,
    entity: Annotated[
        str | None,
        described(
            description="Only episodes in which this person or thing writes or is mentioned: name "
            "or id."
        ),
    ] = None,
    platform: Annotated[
        str | None,
        described(description="Only episodes of this platform; a day is of no single one."),
    ] = None,
    first: Annotated[
        Time | None, described(description=f"Only episodes that last until this: {_TIME}")
    ] = None,
    last: Annotated[
        Time | None,
        described(description=f"Only episodes that begin by this, inclusive: {_TIME}"),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> EpisodePage:
    """Return a page of episodes, newest first: messages that belong together.

    Each message is in an episode of each strategy that applies to it. Only the newest version of an
    episode is listed.

    Raises:
        InvalidInput: `entity` is unknown, or another value is invalid.

    >>> [(day.title, day.message_count) for day in zone.episodes(strategy="day")]
    [('I live in Turin.', 2)]
    """
    return episode_listing.episode_page(
        zone,
        strategy=strategy,
        query=query,
        entity=entity,
        platform=platform,
        first=first,
        last=last,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "GET /episodes/{id}",
    right="read",
    title="Get an episode",
    tag=_TAG,
    tool=Tool(
        name="get_episode",
        title="Get an episode",
        description="Get an episode with its messages, in the order in which they were written, a "
        f"page at a time. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
    ),
    example=(None, {"episode": _EPISODE, "messages": [_MESSAGE], "cursor": None}),
)
def episode(
    zone: OpenZone, id: EpisodeId, *, cursor: Cursor = None, limit: Limit = PAGE
) -> EpisodeMessages:
    """Return a version of an episode, and a page of its messages, earliest first.

    Messages that were edited or deleted since are left out.

    Raises:
        UnknownId: the zone has no episode with this id.

    >>> (day,) = zone.episodes(strategy="day")
    >>> [(message.sender, message.text) for message in zone.episode(day.id)]
    [('Ada', 'I live in Turin.'), ('Bob', 'I moved to Oslo.')]
    """
    return episode_listing.episode(zone, id, cursor=cursor, limit=limit)


@operation(
    "GET /episodes/{id}/history",
    right="read",
    title="History of an episode",
    tag=_TAG,
    tool=Tool(
        name="episode_history",
        title="History of an episode",
        description="Get the versions of an episode, the first one first. An episode that was "
        f"analysed gets a new version when another message belongs to it. {DATA_WARNING}",
        quotes_memories=True,
    ),
    example=(None, {"episodes": [_EPISODE], "cursor": None}),
)
def episode_history(zone: OpenZone, id: EpisodeId) -> EpisodePage:
    """Return all versions of an episode on one page, the first one first.

    A new version begins with the first message after an analysis of the episode. It has the
    messages of the versions before it.

    Raises:
        UnknownId: the zone has no episode with this id.

    >>> (day,) = zone.episodes(strategy="day")
    >>> [version.current for version in zone.episode_history(day.id)]
    [True]
    """
    return episode_listing.episode_history(zone, id)


class EpisodeOperations:
    """Episodes of a zone."""

    episodes = episodes
    episode = episode
    episode_history = episode_history
