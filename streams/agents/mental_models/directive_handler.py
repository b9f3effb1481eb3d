"""The agent that keeps directives: the standing instructions of users to the agent.

They are taken only from a user's own messages to the agent, and from those given by hand. Which of
them are obeyed is a query, so it does not depend on the order in which messages arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import DecidedPart, Directive
from recollect.schemas.events import Content, Deletion, Edit, Event, Message, Remember
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State
from recollect.streams.mental_models.directives import FoundDirective, directives_in, form_of

#: The type of a remembered text that is a directive.
DIRECTIVE = "directive"


class _Versions(NamedTuple):
    """What a message orders, whether a later version of it exists, and the earlier versions."""

    found: Sequence[FoundDirective]
    is_replaced: bool
    earlier: Sequence[tuple[int, str]]


class DirectiveHandler(Agent):
    """Keeps the directives in a user's messages to the agent."""

    kinds = frozenset({"message", "remember", "edit", "deletion"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        assert isinstance(content, Content)
        found = _directives(content)
        has_versions = bool(found) or isinstance(content, Edit | Deletion)
        versions = conversation.revisions(event, event.number) if has_versions else ()
        earlier = [each for each in versions if _age(each) < _age(event)]
        return Extract(
            _Versions(
                found,
                len(earlier) < len(versions),
                [(each.number, each.id) for each in earlier],
            )
        )

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        versions: _Versions = extract.content
        rows = [
            Directive(
                id=row_id(event.occurred_at, "directive", event.id, str(each.start)),
                form=each.form,
                text=each.text,
                lifts=int(each.lifts),
                event_id=event.id,
                said_at=event.occurred_at,
                char_start=each.start,
                char_end=each.end,
                number=event.number,
                is_standing=int(not versions.is_replaced),
            )
            for each in versions.found
        ]
        parts = [DecidedPart((event.number,), [*rows])]
        for number, event_id in versions.earlier:
            withdrawn = [
                msgspec.structs.replace(row, is_standing=0)
                for row in state.directives_of(event_id)
                if row.is_standing
            ]
            if withdrawn:
                parts.append(DecidedPart(tuple(sorted({number, event.number})), [*withdrawn]))
        return parts


def _age(event: Event) -> tuple[int, int]:
    return event.occurred_at, event.number


def _may_order(content: Content) -> bool:
    """Return whether a user says this to the agent; a group has other people in it."""
    return content.direction == "in" and content.peer_kind in (None, "dm")


def _directives(content: Content) -> list[FoundDirective]:
    text = content.content
    if isinstance(content, Deletion):
        return []
    if isinstance(content, Remember):
        if content.memory_type != DIRECTIVE:
            return []
        form, lifts = form_of(text)
        return [FoundDirective(form, text, lifts, 0, len(text), "by hand")]
    if isinstance(content, Message | Edit) and _may_order(content):
        return directives_in(text)
    return []
