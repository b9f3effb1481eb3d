"""What recall answers."""

from __future__ import annotations

import msgspec


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What stood before a change, or stands since: its id and text, and when it changed."""

    id: str
    text: str
    at: str


class Bundled(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that comes with the observation that it supports."""

    id: str
    text: str
    as_of: str


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A memory that was recalled; docs/reference.md says what each field means.

    `score` is 0 to 1, and means the same in every answer: how well this answers as compared with
    the best there could be, times how likely it is that anything found was meant. `arms` gives
    the rank in each arm that found it.
    `source_event_ids` is empty for a mental model alone: a command wrote it, and commands are
    no events that could be read. `supersedes` is what the memory replaced, and `superseded_by`
    what replaced it, latest first; those of a turn are those of the facts in it. `facts` are the
    newest that support an observation; they are no results of their own beside it. `part`: which
    of several questions asked at once it answers.
    """

    id: str
    type: str
    text: str
    as_of: str
    score: float
    is_stale: bool
    entity_ids: list[str]
    platform: str | None
    source_event_ids: list[str]
    arms: dict[str, int] | None = None
    supersedes: list[Change] = []
    superseded_by: list[Change] = []
    facts: list[Bundled] = []
    part: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The results, best first, and how long finding them took (without embedding the query)."""

    query: str
    results: list[Result]
    ms: float
