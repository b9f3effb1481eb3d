"""The agent that keeps directives: the standing instructions of users to the agent.

They come only from a user's own messages to the agent, and from directives added by hand. Which of
them are in force is computed by a query, so it does not depend on the order of arrival.
"""

from __future__ import annotations

from recollect.schemas.changes import DecidedPart, Directive
from recollect.schemas.events import Content, Deletion, Edit, Event, Message, Remember
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.message_versions import (
    MessageVersion,
    message_version,
    withdrawals,
)
from recollect.streams.agents.state import State
from recollect.streams.mental_models.directives import FoundDirective, directives_in, form_of

#: The type of a remembered text that is a directive.
DIRECTIVE = "directive"


class DirectiveHandler(Agent):
    """Keeps the directives in a user's messages to the agent."""

    kinds = frozenset({"message", "remember", "edit", "deletion"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        content = event.payload
        assert isinstance(content, Content)
        return Extract(message_version(event, _directives(content), conversation))

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        version: MessageVersion[FoundDirective] = extract.content
        rows = [
            Directive(
                id=row_id(event.occurred_at, "directive", event.id, str(directive.start)),
                form=directive.form,
                text=directive.text,
                lifts=int(directive.lifts),
                event_id=event.id,
                said_at=event.occurred_at,
                char_start=directive.start,
                char_end=directive.end,
                number=event.number,
                is_standing=int(not version.is_replaced),
            )
            for directive in version.found
        ]
        withdrawn = withdrawals(event, version.earlier, state.directives_of)
        return [DecidedPart((event.number,), [*rows]), *withdrawn]


def _may_order(content: Content) -> bool:
    """Return whether a user addresses the agent, not a group with other people in it."""
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
