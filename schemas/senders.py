"""Who speaks: a person, or an assistant."""

from __future__ import annotations

from schemas.events import Direction

#: What chat interfaces call those who are not the user.
ASSISTANT_ROLES = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "agent", "system", "tool", "function"}
)


def is_assistant(sender_id: str, direction: Direction | None = None) -> bool:
    """Return whether a message is an assistant's: sent out by it, or under the name of its role."""
    return direction == "out" or sender_id.strip().lower() in ASSISTANT_ROLES
