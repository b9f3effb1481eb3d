"""The versions of a message, for agents whose rows stand until it is edited or deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from recollect.schemas.changes import AnyRow, DecidedPart, Directive, StatedDependency
from recollect.schemas.events import Deletion, Edit, Event
from recollect.streams.agents.agent import Conversation

Found = TypeVar("Found")
StandingRow = TypeVar("StandingRow", Directive, StatedDependency)


class MessageVersion(NamedTuple, Generic[Found]):
    """What was found in one version of a message.

    `is_replaced`: whether a later version of it exists. `earlier`: (number, id) of the earlier
    versions.
    """

    found: Sequence[Found]
    is_replaced: bool
    earlier: Sequence[tuple[int, str]]


def message_version(
    event: Event, found: Sequence[Found], conversation: Conversation
) -> MessageVersion[Found]:
    """Return what was found in an event; with its other versions, if anything was found."""
    has_versions = bool(found) or isinstance(event.payload, Edit | Deletion)
    versions = conversation.revisions(event, event.number) if has_versions else ()
    earlier = [each for each in versions if _age(each) < _age(event)]
    return MessageVersion(
        found, len(earlier) < len(versions), [(each.number, each.id) for each in earlier]
    )


def withdrawals(
    event: Event,
    earlier: Sequence[tuple[int, str]],
    rows_of: Callable[[Sequence[str]], Sequence[StandingRow]],
) -> list[DecidedPart]:
    """Return the rows of a message's earlier versions, which no longer stand after an event.

    `rows_of`: event ids -> their rows, in the order of the ids.
    """
    if not earlier:
        return []
    numbers = {event_id: number for number, event_id in earlier}
    withdrawn: dict[str, list[AnyRow]] = {}
    for row in rows_of(list(numbers)):
        if row.is_standing:
            withdrawn.setdefault(row.event_id, []).append(
                msgspec.structs.replace(row, is_standing=0)
            )
    return [
        DecidedPart(tuple(sorted({numbers[event_id], event.number})), found)
        for event_id, found in withdrawn.items()
    ]


def _age(event: Event) -> tuple[int, int]:
    return event.occurred_at, event.number
