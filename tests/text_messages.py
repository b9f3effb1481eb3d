"""Text messages of one person, each in a conversation of its own."""

from __future__ import annotations

from recollect.schemas.inbound import InboundEvent


def text_message(number: int, day: str, text: str) -> InboundEvent:
    """Return a message of Petra's; `day`: YYYY-MM-DD."""
    return InboundEvent(
        platform="sms",
        id=f"m{number}",
        sender_id="petra",
        sender_name="Petra",
        occurred_at=f"{day}T12:00:00Z",
        content=text,
        peer_id=f"chat-{number}",
        peer_kind="dm",
        thread_id=f"chat-{number}",
    )
