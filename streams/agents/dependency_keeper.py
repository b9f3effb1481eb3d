"""The agent that keeps stated dependencies: "if the flight moves, so does the pick-up".

The facts on its two sides, and those that a change makes uncertain, are found by queries. So the
order in which messages arrive does not matter, and undoing the change undoes the uncertainty.
"""

from __future__ import annotations

from typing import Literal

from recollect.schemas.changes import AnyRow, DecidedPart, DependencyTerm, StatedDependency
from recollect.schemas.events import Content, Deletion, Event
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.message_versions import (
    MessageVersion,
    message_version,
    withdrawals,
)
from recollect.streams.agents.state import State
from recollect.streams.consolidation.stated_dependencies import Dependency, stated_dependencies


class DependencyKeeper(Agent):
    """Keeps the dependencies that people state, and withdraws those of edited messages."""

    kinds = frozenset({"message", "remember", "edit", "deletion"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        assert isinstance(content, Content)
        is_said = not isinstance(content, Deletion) and content.direction != "out"
        found = stated_dependencies(content.content) if is_said else []
        return Extract(message_version(event, found, conversation))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        version: MessageVersion[Dependency] = extract.content
        puts: list[AnyRow] = []
        for dependency in version.found:
            id_ = row_id(event.occurred_at, "dependency", event.id, str(dependency.start))
            standing = int(not version.is_replaced)
            puts.append(
                StatedDependency(
                    id=id_,
                    event_id=event.id,
                    said_at=event.occurred_at,
                    char_start=dependency.start,
                    char_end=dependency.end,
                    number=event.number,
                    is_standing=standing,
                )
            )
            count = len(dependency.condition)
            for at, term in enumerate((*dependency.condition, *dependency.consequence)):
                side: Literal["condition", "consequence"]
                side = "condition" if at < count else "consequence"
                puts.append(DependencyTerm(id_, at, side, term))
        withdrawn = withdrawals(event, version.earlier, state.dependencies_of)
        return [DecidedPart((event.number,), puts), *withdrawn]
