"""Tell assistants from people."""

from __future__ import annotations

from recollect.schemas.events import Direction

#: Sender names of chat interfaces for anyone but the user.
ASSISTANT_ROLES = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "agent", "system", "tool", "function"}
)


def is_assistant(sender_id: str, direction: Direction | None = None) -> bool:
    """Return whether a message is an assistant's: outgoing, or sent under an assistant role."""
    return direction == "out" or sender_id.strip().lower() in ASSISTANT_ROLES
