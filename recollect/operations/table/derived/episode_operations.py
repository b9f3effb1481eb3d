"""Operations on episodes: messages that belong together."""

from __future__ import annotations

from typing import Annotated, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.derived import episode_listing
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
        verb="list",
        title="List episodes",
        description="List episodes: groups of messages from one thread, session, day or topic, or "
        "without a long pause between them. With query, the episodes that answer it best come "
        f"first. get_episode returns the messages. {DATA_WARNING}",
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
            description="Only episodes with messages that match this text by words or meaning, "
            "best first, on one page."
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
        described(description="Only episodes of this platform; day episodes have no platform."),
    ] = None,
    first: Annotated[
        Time | None, described(description=f"Only episodes that end at this time or later: {_TIME}")
    ] = None,
    last: Annotated[
        Time | None,
        described(description=f"Only episodes that begin at this time or earlier: {_TIME}"),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> EpisodePage:
    """Return a page of episodes (groups of messages that belong together), newest first.

    Each message is in one episode of each strategy that applies to it. Only the newest version of
    an episode is listed.

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
        verb="get",
        title="Get an episode",
        description="Get an episode with its messages, earliest first, a page at a time. "
        f"{DATA_WARNING}",
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
        verb="get",
        title="History of an episode",
        description="Get the versions of an episode, oldest first. When a message is added to an "
        f"episode that was already analysed, the episode gets a new version. {DATA_WARNING}",
        quotes_memories=True,
    ),
    example=(None, {"episodes": [_EPISODE], "cursor": None}),
)
def episode_history(zone: OpenZone, id: EpisodeId) -> EpisodePage:
    """Return all versions of an episode on one page, oldest first.

    A new version begins with the first message after an analysis of the episode. It includes the
    messages of the earlier versions.

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
