"""Episodes and their messages."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.choices import EpisodeStrategy
from recollect.schemas.wire.entries.list_entries import Page


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that belong together."""

    id: Annotated[str, Meta(description="Id of this version of the episode.")]
    strategy: Annotated[
        EpisodeStrategy,
        Meta(
            description="What its messages have in common: thread, session, day (the sender's "
            "local day, on all platforms), time_window (no long silence between them), topic, or "
            "consolidation (what was concluded from them)."
        ),
    ]
    title: Annotated[str, Meta(description="The beginning of one of its first messages.")]
    start: Annotated[str, Meta(description="Time of its first message.")]
    end: Annotated[str, Meta(description="Time of its last message.")]
    message_count: Annotated[int, Meta(description="Number of messages.")]
    participants: Annotated[
        list[str], Meta(description="Who wrote its first messages, under their canonical names.")
    ]
    platform: Annotated[str | None, Meta(description="Platform; null for a day.")] = None
    thread_id: Annotated[str | None, Meta(description="Thread of its messages.")] = None
    previous: Annotated[str | None, Meta(description="Id of the previous version.")] = None
    current: Annotated[bool, Meta(description="No later version exists.")] = True


class EpisodePage(Page[Episode], frozen=True, kw_only=True):
    """A page of episodes: newest first, the best for a query first, or the versions of one."""

    episodes: Annotated[list[Episode], Meta(description="The episodes.")]


class EpisodeMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of an episode."""

    id: Annotated[str, Meta(description="Id of the event.")]
    at: Annotated[str, Meta(description="When it was written.")]
    platform: Annotated[str, Meta(description="Its platform.")]
    sender: Annotated[str, Meta(description="Name of the sender, or else the id.")]
    text: Annotated[str, Meta(description="Its text.")]
    source_event_id: Annotated[str, Meta(description="The source's own id of the event.")]


class EpisodeMessages(Page[EpisodeMessage], frozen=True, kw_only=True):
    """An episode, and a page of its messages in the order of their times."""

    episode: Annotated[Episode, Meta(description="The episode.")]
    messages: Annotated[
        list[EpisodeMessage],
        Meta(description="Its messages, without those that were edited or deleted since."),
    ]
