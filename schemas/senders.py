"""Whether a message comes from a person or an assistant."""

from __future__ import annotations

from recollect.schemas.events import Direction

#: The sender names that chat interfaces use for anybody but the user.
ASSISTANT_ROLES = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "agent", "system", "tool", "function"}
)


def is_assistant(sender_id: str, direction: Direction | None = None) -> bool:
    """Return whether a message is an assistant's: outgoing, or with its role as the sender."""
    return direction == "out" or sender_id.strip().lower() in ASSISTANT_ROLES
