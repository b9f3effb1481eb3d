"""The agent that keeps stated dependencies: "if the flight moves, so does the pick-up".

Which facts are on the two sides, and which of them are uncertain because the other side changed,
is a query, so it does not depend on the order in which messages arrive, and is undone with the
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from recollect.schemas.changes import AnyRow, DecidedPart, DependencyTerm, StatedDependency
from recollect.schemas.events import Content, Deletion, Edit, Event
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State
from recollect.streams.consolidation.stated_dependencies import Dependency, stated_dependencies


class _Stated(NamedTuple):
    """What a message states, whether a later version of it exists, and the earlier versions."""

    found: Sequence[Dependency]
    is_replaced: bool
    earlier: Sequence[tuple[int, str]]


class DependencyKeeper(Agent):
    """Keeps the dependencies that people state, and withdraws those of edited messages."""

    kinds = frozenset({"message", "remember", "edit", "deletion"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        assert isinstance(content, Content)
        is_said = not isinstance(content, Deletion) and content.direction != "out"
        found = stated_dependencies(content.content) if is_said else []
        has_versions = bool(found) or isinstance(content, Edit | Deletion)
        versions = conversation.revisions(event, event.number) if has_versions else ()
        earlier = [each for each in versions if _age(each) < _age(event)]
        return Extract(
            _Stated(
                found,
                len(earlier) < len(versions),
                [(each.number, each.id) for each in earlier],
            )
        )

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        stated: _Stated = extract.content
        puts: list[AnyRow] = []
        for each in stated.found:
            id_ = row_id(event.occurred_at, "dependency", event.id, str(each.start))
            standing = int(not stated.is_replaced)
            puts.append(
                StatedDependency(
                    id=id_,
                    event_id=event.id,
                    said_at=event.occurred_at,
                    char_start=each.start,
                    char_end=each.end,
                    number=event.number,
                    is_standing=standing,
                )
            )
            count = len(each.condition)
            for at, term in enumerate((*each.condition, *each.consequence)):
                side: Literal["condition", "consequence"]
                side = "condition" if at < count else "consequence"
                puts.append(DependencyTerm(id_, at, side, term))
        parts = [DecidedPart((event.number,), puts)]
        for number, event_id in stated.earlier:
            withdrawn = [
                msgspec.structs.replace(row, is_standing=0)
                for row in state.dependencies_of(event_id)
                if row.is_standing
            ]
            if withdrawn:
                parts.append(DecidedPart(tuple(sorted({number, event.number})), [*withdrawn]))
        return parts


def _age(event: Event) -> tuple[int, int]:
    return event.occurred_at, event.number
